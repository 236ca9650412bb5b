"""Who comes in, and who is turned away."""

import logging
from collections.abc import AsyncIterator
from functools import partial

import pytest
import trio
from hypercorn.config import Config

from genmcp.address import Address
from genmcp.settings import Settings
from transport.door import Door, hypercorn_config
from transport.http import Front
from transport.listeners import connection_limit, open_listeners
from transport.policy import HostPolicy, OriginPolicy

HEALTH = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
async def door(nursery: trio.Nursery) -> AsyncIterator[Door]:
    front = Front(hosts=HostPolicy(), origins=OriginPolicy())
    door = Door(front, await open_listeners(Address("127.0.0.1", 0)), Settings(idle_timeout=30), limit=2)
    nursery.start_soon(door.accept, nursery)
    yield door
    await door.refuse()


async def enter(door: Door) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", door.listeners.address.port)


async def answer_to(stream: trio.SocketStream) -> bytes:
    try:
        await stream.send_all(HEALTH)
        return bytes(await stream.receive_some())[:12]
    except trio.BrokenResourceError:
        return b""


async def test_one_client_too_many_is_turned_away(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    inside = [await enter(door) for _ in range(2)]
    assert [await answer_to(stream) for stream in inside] == [b"HTTP/1.1 200"] * 2
    with caplog.at_level(logging.ERROR, "genmcp"):
        for _ in range(3):
            async with await enter(door) as stream:
                assert await answer_to(stream) == b""
    assert [record.getMessage() for record in caplog.records] == [
        "Clients are turned away: 2 connections are open (raise the limit of open files)"
    ]
    for stream in inside:
        await stream.aclose()
    while door.connections:
        await trio.sleep(0.01)
    async with await enter(door) as stream:
        assert await answer_to(stream) == b"HTTP/1.1 200"


async def test_refusing_ends_idle_connections_at_once(door: Door) -> None:
    async with await enter(door) as idle:
        assert await answer_to(idle) == b"HTTP/1.1 200"
        await door.refuse()
        with trio.fail_after(1):
            assert await idle.receive_some() == b""
    with pytest.raises(OSError, match="connect"):
        await enter(door)


def test_limits_of_hypercorn_follow_the_settings() -> None:
    config = hypercorn_config(Settings(max_header=10_000, idle_timeout=7, tls_handshake=3))
    assert config.keep_alive_timeout == 7
    assert config.ssl_handshake_timeout == 3
    assert config.h11_max_incomplete_size >= 10_000


@pytest.mark.parametrize(("files", "connections"), [(None, None), (60, 45), (1024, 896), (20_000, 19_872)])
def test_some_descriptors_are_kept_for_files(files: int | None, connections: int | None) -> None:
    assert connection_limit(files) == connections


def test_date_is_written_again_when_the_second_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    config = hypercorn_config(Settings())
    for second in (1_700_000_000.0, 1_700_000_000.9, 1_700_000_001.0):
        for module in ("transport.door", "hypercorn.config"):
            monkeypatch.setattr(f"{module}.time", partial(float, second))
        headers = config.response_headers("h11")
        assert headers == Config().response_headers("h11")[:1]  # without the name of the server
        headers.append((b"x-own", b"a"))  # the caller's list is its own
