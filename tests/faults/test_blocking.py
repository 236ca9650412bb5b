"""Tools that block, take too long or come too many at once hold up nobody else (H1, H2, H3, H6)."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import trio

from tests.faults.raw import Raw
from tests.faults.watch import APP, ENVIRON, Watched, log_of, new_key
from tests.interop.process import ServerProcess, serving
from tests.interop.wire import call

pytestmark = pytest.mark.slow

SMALL = ("--threads", "2", "--thread-queue", "2", "--live-workers", "20")
TIMED = ("--tool-timeout", "0.2")


@pytest.fixture(scope="module")
def small_process() -> Iterator[ServerProcess]:
    with serving(f"{APP}:suite", *SMALL, env=ENVIRON) as server:
        yield server


@pytest.fixture
async def small(small_process: ServerProcess) -> AsyncIterator[Watched]:
    """A server with two threads, room for two calls that wait for one, and for twenty workers."""
    watched = Watched(small_process)
    yield watched
    await watched.close()


async def posted(server: Watched, name: str, arguments: dict[str, Any]) -> Raw:
    client = await server.dial()
    await client.post(call(name, arguments))
    return client


async def test_sync_tools_block_nobody(server: Watched) -> None:
    blocked = [await posted(server, "block_thread", {"seconds": 1}) for _ in range(5)]
    await trio.sleep(0.05)
    slowest = 0.0
    for _ in range(20):
        started = time.monotonic()
        assert await server.tool("echo", {"value": 1}) == "1"
        slowest = max(slowest, time.monotonic() - started)
    assert slowest < 0.2
    for client in blocked:
        assert b"woke up" in (await client.answer())[2]


async def test_tool_that_holds_the_loop_is_named_once(server: Watched) -> None:
    since = len(server.process.lines)
    for _ in range(2):
        client = await posted(server, "block_loop", {"seconds": 0.5})
        assert b"woke up" in (await client.answer())[2]
    lines = log_of(server.process, since, lambda line: "held the loop" in line)
    await server.tool("echo", {"value": 1})
    (warning,) = [line for line in lines if "held the loop" in line]
    assert "WARNING" in warning
    assert "(tools/call block_loop) held the loop for 0.5" in warning


async def test_calls_beyond_the_threads_are_answered_at_once(small: Watched) -> None:
    started = time.monotonic()
    clients = [await posted(small, "block_thread", {"seconds": 0.4}) for _ in range(10)]
    took: list[tuple[float, int | None]] = []

    async def read(client: Raw) -> None:
        _, _, body = await client.answer()
        took.append((time.monotonic() - started, json.loads(body).get("error", {}).get("code")))

    async with trio.open_nursery() as nursery:
        for client in clients:
            nursery.start_soon(read, client)
        asked = time.monotonic()
        assert await small.tool("echo", {"value": 1}) == "1"
        assert time.monotonic() - asked < 0.2
    refused = [seconds for seconds, code in took if code is not None]
    assert len(refused) == 6
    assert max(refused) < 0.3
    assert {code for _, code in took} == {None, -32603}


async def test_requests_beyond_the_limit_are_answered_503(small: Watched) -> None:
    waiting = [await posted(small, "wait", {"key": new_key()}) for _ in range(20)]
    await trio.sleep(0.2)
    started = time.monotonic()
    client = await posted(small, "echo", {})
    status, headers, body = await client.answer()
    assert (status, headers["retry-after"], json.loads(body)["error"]["code"]) == (503, "1", -32603)
    assert time.monotonic() - started < 0.2
    await waiting.pop().close()
    with trio.fail_after(1):
        while (await client.ask(call("echo"))).get("result") is None:
            await trio.sleep(0.01)


async def test_time_limit_is_told_and_closes() -> None:
    with serving(f"{APP}:suite", *TIMED, env=ENVIRON) as process:
        server = Watched(process)
        started = time.monotonic()
        client = await posted(server, "nap", {"seconds": 5})
        _, _, body = await client.answer()
        assert time.monotonic() - started < 0.5
        assert json.loads(body)["error"]["code"] == -32603
        assert b"0.2 s" in body
        key = new_key()
        streaming = await posted(server, "park", {"key": key})
        assert b'"code":-32603' in await streaming.until(b"0\r\n\r\n")
        assert await server.noted(key, "closed timeout") - started < 1.5
        await server.close()
