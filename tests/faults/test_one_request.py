"""No single request ends the process, or keeps a client without its answer."""

from __future__ import annotations

import struct
import time

import httpx
import pytest
import trio

from tests.faults.watch import Watched
from tests.interop.wire import call, headers_for, request

pytestmark = pytest.mark.slow

UPGRADE = (
    b"GET %b HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Spell an HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


async def assert_still_answers(server: Watched) -> None:
    fresh = await server.dial()
    assert await fresh.tool("echo", {"value": 1}) == "1"


@pytest.mark.parametrize("path", [b"/mcp", b"/health/live", b"/registry/actors", b"/nowhere"])
async def test_websocket_upgrade_with_trailing_bytes_is_refused(server: Watched, path: bytes) -> None:
    client = await server.dial()
    await client.send(UPGRADE % path + b"x")
    status, headers, body = await client.answer()
    assert (status, headers["content-type"]) == (405, "application/json")
    assert b'"code":-32600' in body
    await assert_still_answers(server)


@pytest.mark.parametrize(
    "sent",
    [
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
        PREFACE + b"\xff" * 20_000,
        PREFACE + frame(4, 0, 0, b"\x00\x04\xff\xff\xff\xff"),
        PREFACE + frame(4, 0, 0, b"123"),
        PREFACE + frame(0, 1, 1, b"data of no stream"),
        PREFACE + frame(8, 0, 0, b"\x7f\xff\xff\xff") * 2,
        PREFACE + frame(1, 4, 1, b"\xff\xff\xff\xff\xff\xff"),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500,
        b"\x00" * 100,
        b"GET /mcp\r\n\r\n",
        b"POST /%ff%fe\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
async def test_bad_start_ends_its_connection_only(server: Watched, sent: bytes) -> None:
    client = await server.dial()
    await client.send(sent)
    await client.rest()
    await assert_still_answers(server)


async def test_data_after_a_413_is_dropped(server: Watched) -> None:
    client = await server.dial_http2()
    stream = client.h2.get_next_available_stream_id()
    client.h2.send_headers(stream, client.fields(call("echo"), 20_000_000))
    for _ in range(30):
        client.h2.send_data(stream, b"x" * 1000)
        await client.flush()
        await trio.sleep(0.002)
    await client.pump(lambda: stream in client.ended)
    assert client.statuses[stream] == 413
    beside = await client.json(await client.begin(call("echo", {"value": 1})))
    assert beside["result"]["content"][0]["text"] == "1"
    await assert_still_answers(server)


@pytest.mark.parametrize("kind", ["continuations", "references", "lines"])
async def test_header_flood_is_cut_off(server: Watched, kind: str) -> None:
    before = await server.census()
    client = await server.dial()
    with pytest.raises(trio.BrokenResourceError):  # noqa: PT012  (whichever piece finds the connection closed)
        if kind == "lines":
            await client.send(b"POST /mcp HTTP/1.1\r\n")
        else:
            await client.send(PREFACE + frame(4, 0, 0, b"") + frame(1, 0, 1, b"\x82"))
        flood = {
            "continuations": frame(9, 0, 1, b"") * 100,
            "references": frame(9, 0, 1, b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4000 + b"\xbe" * 10_000),
            "lines": b"a: b\r\n" * 1000,
        }
        with trio.fail_after(5):
            while True:
                await client.send(flood[kind])
    assert (await server.census())["memory"] - before["memory"] < 10_000_000
    await assert_still_answers(server)


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
async def test_refused_body_of_20_mb_still_reads_its_413(server: Watched, chunked: bool) -> None:
    client = await server.dial()
    whole = client.spelled(call("echo"), {"Content-Length": "20000000"})
    head, _, _ = whole.partition(b"\r\n\r\n")
    if chunked:
        head = head.replace(b"Content-Length: 20000000", b"Transfer-Encoding: chunked")
    piece = b"%x\r\n%b\r\n" % (100_000, b"x" * 100_000) if chunked else b"x" * 100_000

    async def send() -> None:
        try:
            await client.send(head + b"\r\n\r\n")
            for _ in range(200):
                await client.send(piece)
        except trio.BrokenResourceError:
            pass  # what follows the answer is dropped for a second, then reset

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        status, _, body = await client.answer()
        nursery.cancel_scope.cancel()
    assert (status, b'"code":-32600' in body) == (413, True)
    await assert_still_answers(server)


async def test_refused_upload_is_not_asked_for(server: Watched) -> None:
    client = await server.dial()
    await client.send(
        client.spelled(b"", {**headers_for(call("echo")), "Content-Length": "99999999", "Expect": "100-continue"})
    )
    assert (await client.answer())[0] == 413


@pytest.mark.parametrize("pause", [10.0, 0.05], ids=["stops", "trickles"])
async def test_body_that_comes_too_slowly_is_408(server: Watched, pause: float) -> None:
    client = await server.dial()
    whole = client.spelled(call("echo"))
    started = time.monotonic()

    async def trickle() -> None:
        for byte in whole[-50:-1]:
            await trio.sleep(pause)
            await client.send(bytes([byte]))

    async with trio.open_nursery() as nursery:
        await client.send(whole[:-50])
        nursery.start_soon(trickle)
        status, _, body = await client.answer()
        nursery.cancel_scope.cancel()
    assert (status, b'"code":-32600' in body) == (408, True)
    assert 0.4 < time.monotonic() - started < 1.5


async def test_answers_without_a_body_come_at_once(server: Watched) -> None:
    client = await server.dial()
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}}
    started = time.monotonic()
    await client.post(notification)
    assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 202")
    await client.send(b"HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    preflight = b"OPTIONS /mcp HTTP/1.1\r\nHost: %b\r\nOrigin: http://%b\r\nAccess-Control-Request-Method: POST\r\n\r\n"
    own = httpx.URL(server.process.url).netloc
    await client.send(preflight % (own, own))
    assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 204")
    whole = client.spelled(call("echo"), {"Expect": "100-continue"})
    head, _, content = whole.partition(b"\r\n\r\n")
    await client.send(head + b"\r\n\r\n")
    assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
    await client.send(content)
    assert (await client.answer())[0] == 200
    assert time.monotonic() - started < 0.5


async def test_million_brackets_do_not_hold_the_others(server: Watched) -> None:
    nasty = [b"[" * 4_000_000, b"[" + b"1e300," * 600_000 + b"1]", b"[" + b"[]," * 1_200_000 + b"1]"]
    for body in nasty:
        client = await server.dial()
        await client.send(client.spelled(body, headers_for(call("echo"))))
        await client.answer()
        started = time.monotonic()
        await assert_still_answers(server)
        assert time.monotonic() - started < 1


async def test_huge_subscription_is_refused_at_once(server: Watched) -> None:
    client = await server.dial()
    uris = [f"file:///{number}" for number in range(200_000)]
    started = time.monotonic()
    await client.post(request("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}}))
    answer = await client.until(b"at most 1000 URIs", 10)
    assert b'"code":-32602' in answer
    assert time.monotonic() - started < 3
