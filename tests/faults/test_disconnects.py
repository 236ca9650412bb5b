"""A client that leaves is noticed within a second, and its handler's clean-up has run by then (A1-A3, A6-A8)."""

from __future__ import annotations

import time

import pytest
import trio

from tests.faults.raw import Raw
from tests.faults.watch import APP, ENVIRON, Watched, new_key
from tests.interop.process import serving
from tests.interop.wire import LOG_LEVEL, META, call

pytestmark = pytest.mark.slow

SECOND = "second request"
BEHIND = {"nothing": b"", "a line break": b"\r\n", "a second request": SECOND, "50 kB": b"x" * 50_000}
MODES = pytest.mark.parametrize("stream", [False, True], ids=["json", "sse"])
LOUD = {**META, LOG_LEVEL: "debug"}


async def waiting_call(server: Watched, stream: bool, behind: bytes | str = b"") -> tuple[Raw, str]:
    """A client whose handler waits for a message, and the handler's key."""
    key = new_key()
    client = await server.dial()
    more = client.spelled(call("echo")) if isinstance(behind, str) else behind
    await client.send(client.spelled(call("wait", {"key": key, "stream": stream})) + more)
    await server.noted(key, "began")
    if stream:
        await client.until(b":\n\n")
    return client, key


async def assert_left_in_time(server: Watched, key: str, left: float, note: str = "cleaned") -> None:
    assert await server.noted(key, note) - left < 1


@MODES
@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND.keys())
async def test_client_that_closes_cancels_its_handler(server: Watched, stream: bool, behind: bytes | str) -> None:
    client, key = await waiting_call(server, stream, behind)
    left = time.monotonic()
    await client.close()
    await assert_left_in_time(server, key, left)


@MODES
async def test_client_that_resets_cancels_its_handler(server: Watched, stream: bool) -> None:
    client, key = await waiting_call(server, stream)
    left = time.monotonic()
    await client.reset()
    await assert_left_in_time(server, key, left, "cancelled")


@MODES
async def test_tls_client_that_closes_cancels_its_handler(tls_server: Watched, stream: bool) -> None:
    client, key = await waiting_call(tls_server, stream, b"\r\n")
    left = time.monotonic()
    await client.close()
    await assert_left_in_time(tls_server, key, left)


async def test_handle_close_is_told_that_the_client_left(server: Watched) -> None:
    key = new_key()
    client = await server.dial()
    await client.post(call("park", {"key": key}))
    await client.until(b":\n\n")
    left = time.monotonic()
    await client.close()
    await assert_left_in_time(server, key, left, "closed client_gone")


async def test_handle_close_runs_before_any_stream() -> None:
    with serving(f"{APP}:low", env=ENVIRON) as process:
        server = Watched(process)
        key = new_key()
        client = await server.dial()
        await client.post(call("hold", {"key": key}))
        await server.noted(key, "began")
        left = time.monotonic()
        await client.close()
        await assert_left_in_time(server, key, left, "closed client_gone with what was made by init")
        await server.close()


async def test_tool_that_finishes_is_not_cancelled(server: Watched) -> None:
    key = new_key()
    client = await server.dial()
    await client.post(call("work_on", {"key": key, "seconds": 0.5}))
    await server.noted(key, "began")
    await client.close()
    assert await server.noted(key, "finished")


@MODES
async def test_client_that_only_stops_sending_gets_its_answer(server: Watched, stream: bool) -> None:
    client, key = await waiting_call(server, stream)
    client.shut_writing()
    await trio.sleep(0.3)
    for pid in server.workers():
        server.push(pid, "hello")
    assert b" got hello" in await client.rest()
    assert await server.noted(key, "finished")


@pytest.mark.parametrize("secure", [False, True], ids=["h2c", "tls"])
async def test_one_reset_stream_cancels_its_handler_alone(server: Watched, tls_server: Watched, secure: bool) -> None:
    target = tls_server if secure else server
    client = await target.dial_http2()
    left_key, other_key, json_key = new_key(), new_key(), new_key()
    leaving = await client.begin(call("wait", {"key": left_key, "stream": True}))
    leaving_json = await client.begin(call("wait", {"key": json_key}))
    staying = await client.begin(call("wait", {"key": other_key}))
    for key in (left_key, other_key, json_key):
        await target.noted(key, "began")
    left = time.monotonic()
    client.h2.reset_stream(leaving)
    client.h2.reset_stream(leaving_json)
    await client.flush()
    await assert_left_in_time(target, left_key, left)
    await assert_left_in_time(target, json_key, left)
    for pid in target.workers():
        target.push(pid, "hello")
    answer = await client.json(staying)
    assert "got hello" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize("secure", [False, True], ids=["tcp", "tls"])
async def test_reader_that_stalls_is_ended_by_the_deadline(server: Watched, tls_server: Watched, secure: bool) -> None:
    target = tls_server if secure else server
    before = await target.census()
    keys = [new_key() for _ in range(5)]
    started = time.monotonic()
    for key in keys:
        client = await target.dial(receive_buffer=4096)
        await client.post(call("flood", {"key": key}, meta=LOUD))
    await trio.sleep(0.7)
    grown = (await target.census())["memory"] - before["memory"]
    for key in keys:
        assert 0.9 < await target.noted(key, "ended stalled") - started < 2.5
    assert grown < 20_000_000
    await target.settles_at(before)


async def test_shut_window_ends_its_stream_alone(server: Watched) -> None:
    before = await server.census()
    client = await server.dial_http2()
    client.acknowledges = False
    key, other_key = new_key(), new_key()
    flood = await client.begin(call("flood", {"key": key}, meta=LOUD))
    await server.noted(key, "began")
    started = time.monotonic()
    await client.pump(lambda: flood in client.resets)
    assert time.monotonic() - started < 2
    assert await server.noted(key, "ended stalled") - started < 2
    client.h2.increment_flow_control_window(2**20)
    beside = await client.begin(call("echo", {"value": other_key}))
    assert other_key in str(await client.json(beside))
    await client.close()
    await server.settles_at(before)
