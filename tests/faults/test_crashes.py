"""A tool that fails, or is killed, ends its own request and nothing else (J3, J4, G4)."""

from __future__ import annotations

import pytest
import trio

from tests.faults.raw import Raw
from tests.faults.watch import Watched, log_of, new_key
from tests.interop.wire import call

pytestmark = pytest.mark.slow

SECRET = "the password is swordfish"


@pytest.mark.logs_tracebacks
@pytest.mark.parametrize("stream", [False, True], ids=["json", "sse"])
async def test_crash_is_masked_and_logged_once(server: Watched, stream: bool) -> None:
    since = len(server.process.lines)
    client = await server.dial()
    await client.post(call("crash", {"text": SECRET, "stream": stream}))
    status, _, body = await client.answer()
    assert (status, b'"code":-32603' in body, SECRET.encode() in body) == (200, True, False)

    lines = log_of(server.process, since, lambda line: line.startswith(f"RuntimeError: {SECRET}"))
    assert (await client.tool("echo", {"value": "next"})) == "'next'"  # on the same connection
    logged = "".join(lines)
    assert logged.count("Traceback") == 1
    record = next(line for line in lines if "crashed" in line)
    assert "pid:" in record
    assert "method=tools/call" in record
    assert "tool=crash" in record
    reference = record.partition("reference=")[2].split()[0]
    assert reference.encode() in body


@pytest.mark.logs_tracebacks
async def test_crash_leaves_ninety_neighbours_alone(server: Watched) -> None:
    neighbours = [await waiting(server) for _ in range(90)]
    for _ in range(10):
        client = await server.dial()
        await client.post(call("crash", {"text": "once more"}))
        await client.answer()
    for pid in server.workers():
        server.push(pid, "go on")
    for client in neighbours:
        assert b"got go on" in (await client.answer())[2]


async def test_worker_stopped_by_the_registry_ends_its_stream_with_an_error(server: Watched) -> None:
    key = new_key()
    client = await server.dial()
    await client.post(call("park", {"key": key}))
    await client.until(b":\n\n")
    for pid in server.workers():
        assert server.registry("DELETE", f"/actors/{pid}").status_code == 200
    ending = await client.until(b"0\r\n\r\n")
    assert b'"code":-32603' in ending
    assert b'"id":1' in ending
    await server.noted(key, "closed killed")
    assert await client.tool("echo", {"value": 1}) == "1"


async def test_killed_worker_ends_its_stream_with_an_error(server: Watched) -> None:
    client = await waiting(server, stream=True)
    pid = await server.only_worker()
    assert await server.tool("kill", {"pid": pid})
    ending = await client.until(b"0\r\n\r\n")
    assert b'"code":-32603' in ending
    assert await client.tool("echo", {"value": 1}) == "1"


async def waiting(server: Watched, *, stream: bool = False) -> Raw:
    key = new_key()
    client = await server.dial()
    await client.post(call("wait", {"key": key, "stream": stream}))
    await server.noted(key, "began")
    if stream:
        with trio.fail_after(1):
            await client.until(b":\n\n")
    return client
