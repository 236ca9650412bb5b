"""A hostile client gets errors or nothing; everybody else goes on being served."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator

import pytest
import trio

from tests.faults.raw import Raw
from tests.faults.watch import APP, ENVIRON, TOKEN, Watched, new_key
from tests.interop.process import ServerProcess, serving
from tests.interop.wire import call, headers_for

pytestmark = pytest.mark.slow

IDLE = 0.5
QUICK = 1.0
"""Seconds in which others must be answered meanwhile, on a busy machine; alone it takes 2 ms."""


@pytest.fixture(scope="module")
def strict_process() -> Iterator[ServerProcess]:
    options = ("--idle-timeout", f"{IDLE}", "--write-deadline", "0.5", "--keep-alive", "0.1")
    with serving(f"{APP}:suite", *options, env=ENVIRON) as server:
        yield server


@pytest.fixture
async def strict(strict_process: ServerProcess) -> AsyncIterator[Watched]:
    """A server that has little patience."""
    watched = Watched(strict_process)
    yield watched
    await watched.close()


async def assert_quick(server: Watched) -> None:
    """A newcomer is answered at once."""
    started = time.monotonic()
    client = await server.dial()
    assert await client.tool("echo", {"value": 1}) == "1"
    await client.close()
    assert time.monotonic() - started < QUICK


async def idle_census(server: Watched) -> dict[str, object]:
    """What the server holds when all its connections have timed out, but for one that asks."""
    await trio.sleep(2 * IDLE)
    client = await server.dial()
    found: dict[str, object] = await client.tool("census")
    await client.close()
    found.pop("memory")
    return found


async def test_heads_that_trickle_are_given_up(strict: Watched) -> None:
    before = await idle_census(strict)
    clients = [await strict.dial() for _ in range(300)]
    started = time.monotonic()
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
    with pytest.raises(trio.BrokenResourceError):  # noqa: PT012  (whichever byte finds the connection closed)
        with trio.fail_after(5):
            while True:
                for client in clients:
                    await client.send(head)
                head = b"x"
                await trio.sleep(0.05)
    assert IDLE / 2 < time.monotonic() - started < 4 * IDLE
    await assert_quick(strict)
    assert await idle_census(strict) == before


async def test_two_thousand_silent_connections_hold_nobody_up(strict: Watched) -> None:
    before = await idle_census(strict)
    for _ in range(2000):
        await strict.dial()
    await (await strict.dial()).tool("echo", {"value": 0})  # answered when the crowd before it has been let in
    await assert_quick(strict)
    assert await idle_census(strict) == before


async def test_rapid_resets_do_not_pile_up_workers(server: Watched) -> None:
    before = await server.census()
    client = await server.dial_http2()
    body = call("nap", {"seconds": 30})
    content = json.dumps(body).encode()
    await client.pump(lambda: client.h2.outbound_flow_control_window > 2**20)

    async def attack() -> None:
        for _ in range(40):
            for _ in range(50):
                stream = client.h2.get_next_available_stream_id()
                client.h2.send_headers(stream, client.fields(body, len(content)))
                client.h2.send_data(stream, content, end_stream=True)
                client.h2.reset_stream(stream)
            await client.flush()

    async def take() -> None:
        while data := await client.stream.receive_some():
            client.h2.receive_data(data)  # windows are reopened; the attacker sends what it answers

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        async with trio.open_nursery() as attacking:
            attacking.start_soon(attack)
            await trio.sleep(0.05)
            await assert_quick(server)
        nursery.cancel_scope.cancel()
    now = await server.census()
    assert now["actors"] < 400  # of 2,000
    assert now["memory"] - before["memory"] < 30_000_000
    await client.close()
    await server.settles_at(before)


@pytest.mark.parametrize("kind", ["ping", "settings"])
async def test_flood_of_frames_that_need_answers_is_ended(server: Watched, kind: str) -> None:
    before = await server.census()
    client = await server.dial_http2(receive_buffer=4096)
    frame = (
        b"\x00\x00\x08\x06\x00\x00\x00\x00\x00ffffffff" if kind == "ping" else b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    )
    with pytest.raises(trio.BrokenResourceError):  # noqa: PT012  (whichever piece finds the connection closed)
        with trio.fail_after(10):
            while True:
                await client.send(frame * 1000)
    assert (await server.census())["memory"] - before["memory"] < 10_000_000
    await client.close()
    await server.settles_at(before)


async def test_pipelined_garbage_ends_its_connection(server: Watched) -> None:
    client = await server.dial()
    await client.post(call("echo", {"value": 1}))
    await client.send(b"\x00garbage\r\n\r\n" * 1000)
    answers = await client.rest()
    assert answers.startswith(b"HTTP/1.1 200")
    assert answers.count(b"HTTP/1.1 400") == 1
    await assert_quick(server)


async def test_thousands_of_pipelined_requests_are_answered_in_turn(server: Watched) -> None:
    client = await server.dial()
    one = client.spelled(call("echo", {"value": 1}))

    async def ask() -> None:
        for _ in range(20):
            await client.send(one * 50)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        for number in range(1000):
            assert (await client.answer(20))[0] == 200
            if number == 100:
                await assert_quick(server)


ALLOWED = ["localhost", "LOCALHOST:1", "localhost.", "127.0.0.1", "[::1]:8000", "[fe80::1%25eth0]", "10.1.2.3:80"]
FOREIGN = [
    "evil.example", "localhost.evil.example", "evil.localhost", "localhost@evil.example", "evil.example@localhost",
    "evil.example:80@localhost", "localhost:80@evil.example", "localhost:x", "localhost/evil", "localhost#evil",
    "localhost?evil", "localhost,evil.example", "localhost evil", "localhost..", "[::1].evil.example", "[evil.example]",
    "::1", "0x7f000001", "2130706433", "127.1", "127.0.0.1.evil.example", "loc\xe4lhost", "", "*",
]  # fmt: skip


@pytest.mark.parametrize("host", ALLOWED)
async def test_host_that_is_here_is_served(server: Watched, host: str) -> None:
    client = await server.dial()
    await client.send(spelled_for(client, Host=host))
    assert (await client.answer())[0] == 200


@pytest.mark.parametrize("host", FOREIGN)
async def test_host_that_is_elsewhere_is_refused(server: Watched, host: str) -> None:
    client = await server.dial()
    await client.send(spelled_for(client, Host=host))
    assert (await client.answer())[0] == 421
    for path in (b"/registry/actors", b"/mcp/"):
        other = await server.dial()
        await other.send(b"POST %b HTTP/1.1\r\nHost: %b\r\n\r\n" % (path, host.encode("latin-1")))
        assert (await other.answer())[0] in (421, 400)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost.evil.example", "http://localhost@evil.example", "file://", "",
     "http://evil.example@localhost", "chrome-extension://localhost", "http://localhost/x", "http://[::1", "localhost",
     "http://127.0.0.1.evil.example", "http://localhost, http://evil.example", "http://evil.example#localhost"],
)  # fmt: skip
async def test_page_from_elsewhere_is_refused(server: Watched, origin: str) -> None:
    client = await server.dial()
    await client.send(spelled_for(client, Origin=origin))
    status, headers, _ = await client.answer()
    assert status == 403
    assert "access-control-allow-origin" not in headers


def spelled_for(client: Raw, **changes: str) -> bytes:
    """A good request with other headers, in Latin-1."""
    body = call("echo", {"value": 1})
    content = json.dumps(body).encode()
    fields = {"Host": "localhost", **headers_for(body), "Content-Length": str(len(content)), **changes}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"POST /mcp HTTP/1.1\r\n" + head.encode("latin-1") + b"\r\n" + content


@pytest.mark.parametrize("token", [None, "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper()])
async def test_registry_is_closed_without_the_token(server: Watched, token: str | None) -> None:
    waiting = await server.dial()
    key = new_key()
    await waiting.post(call("wait", {"key": key}))
    await server.noted(key, "began")
    pid = await server.only_worker()
    message = {"to": pid, "topic": "genmcp.tools_changed", "message": "stolen"}
    assert server.registry("GET", "/actors", token=token).status_code == 401
    assert server.registry("POST", "/send", token=token, json=message).status_code == 401
    assert server.registry("POST", "/publish", token=token, json=message).status_code == 401
    assert server.registry("DELETE", f"/actors/{pid}", token=token).status_code == 401
    assert server.workers() == [pid]


@pytest.mark.parametrize(
    "path",
    ["..", "%2e%2e/%2e%2e", "..%2f..%2fhealth%2flive", "%00", "%ff%fe", "x", "pid:genmcp.abc.1", "pid:genmcp.abc.0",
     "pid:genmcp.abc." + "9" * 6000, "-1", "a" * 20_000, "pid:" + "a." * 5000 + "1"],
)  # fmt: skip
async def test_guessed_address_stops_nobody(server: Watched, path: str) -> None:
    client = await server.dial()
    await client.send(
        b"DELETE /registry/actors/%b HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %b\r\n\r\n"
        % (path.encode(), TOKEN.encode())
    )
    assert (await client.answer())[0] in (404, 405)
