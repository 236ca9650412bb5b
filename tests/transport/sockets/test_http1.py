"""HTTP/1.1 and WebSocket as a client sees them."""

from __future__ import annotations

import base64
import contextlib
import os

import pytest
import trio
import wsproto
from wsproto.events import AcceptConnection, CloseConnection, Request, TextMessage
from wsproto.frame_protocol import FrameProtocol

from tests.transport.sockets.host import Client, Host, in_time, request, until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (request("/accepted"), b"202"),
        (request("/nothing"), b"204"),
        (request("/echo").replace(b"POST", b"HEAD"), b"200"),
    ],
    ids=["202", "204", "HEAD"],
)
async def test_an_answer_without_a_body_comes_at_once(host: Host, raw: bytes, status: bytes) -> None:
    await host.open()
    client = await host.client()
    for _ in range(2):  # and the connection stays open
        await client.send(raw)
        assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 " + status)


async def test_an_answer_of_another_length_than_it_says_ends_its_connection(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/too_little") + request("/echo"))
    answer = await client.rest()
    assert answer.endswith(b"short")
    assert answer.count(b"HTTP/1.1") == 1


async def test_continue_is_said_before_the_body(host: Host) -> None:
    await host.open()
    client = await host.client()
    whole = request("/echo", b"body", b"Expect: 100-continue")
    await client.send(whole[:-4])
    assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
    await client.send(whole[-4:])
    assert await client.until(b"got 4")


async def test_an_answer_before_the_body_says_that_it_is_the_last(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/refuse", b"x" * 10)[:-5])
    assert b"\r\nconnection: close\r\n" in (await client.until(b"\r\n\r\n")).lower()


@pytest.mark.parametrize("path", ["/wait?one", "/stream?one"])
async def test_an_answer_while_the_server_stops_says_that_it_is_the_last(host: Host, path: str) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("one")
    if path.startswith("/wait"):
        await client.send(request(path))
        await visit.begun.wait()
        await host.context.terminated.set()
        visit.release.set()
    else:
        await host.context.terminated.set()
        visit.release.set()
        await client.send(request(path))
    assert b"\r\nconnection: close\r\n" in (await client.rest()).lower()
    await host.all_gone()


async def test_a_refusal_spares_the_client_its_upload(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/refuse", b"x" * 10**6, b"Expect: 100-continue")[: -(10**6)])
    assert (await client.rest()).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "raw",
    [
        request("/echo", b"0\r\n\r\n", b"Transfer-Encoding: chunked"),
        request("/echo", b"0\r\n\r\n", b"Transfer-Encoding: chunked", version=b"1.0"),
        b"POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        request("/echo", b"{}", b"Content-Length: 3"),
        request("/echo", b"{}", b"Transfer-Encoding: identity"),
        request("/echo", b"{}").replace(b"Length: 2", b"Length: +2"),
        request("/echo", b"{}").replace(b"Length:", b"Length :"),
    ],
    ids=["both", "both in 1.0", "chunked in 1.0", "two values", "other coding", "sign", "space"],
)
async def test_a_body_whose_length_is_in_doubt_is_refused(host: Host, raw: bytes) -> None:
    await host.open()
    client = await host.client()
    await client.send(raw + request("/echo"))  # what a proxy might take for a part of the first body
    answers = await client.rest()
    assert answers.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501"))
    assert answers.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("target", [b"http://x/echo", b"HTTP://x:1/echo?a=http://y/z", b"https://x/echo"])
async def test_a_target_may_hold_the_whole_url(host: Host, target: bytes) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/echo").replace(b"/echo", target))
    assert await client.until(b"got 2")


async def test_the_host_of_a_whole_url_is_the_one_that_counts(host: Host) -> None:
    host.config.server_names = ["x"]
    await host.open()
    client = await host.client()
    await client.send(request("/echo").replace(b"/echo", b"http://evil.example/echo"))
    assert (await client.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 404")


async def test_head_and_body_leave_in_one_packet(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/echo"))
    assert (await client.read(65536)).endswith(b"got 2")


async def test_connection_close_is_honoured(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/echo", b"{}", b"Connection: close"))
    assert (await client.rest()).endswith(b"got 2")


async def test_an_http10_answer_ends_its_connection(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/echo", version=b"1.0"))
    assert (await client.rest()).endswith(b"got 2")


async def test_pipelined_requests_are_answered_in_order(host: Host) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("slow")
    sizes = [3, 1, 4, 1, 5]
    await client.send(request("/wait?slow") + b"".join(request("/echo", b"x" * size) for size in sizes))
    await visit.begun.wait()
    visit.release.set()
    answers = await client.until(b"HTTP/1.1 200", 6)
    answers += await client.until(b"got 5") if b"got 5" not in answers else b""
    assert [int(part[:1]) for part in answers.split(b"got ")[1:]] == sizes
    assert answers.index(b"answer") < answers.index(b"got 3")


@pytest.mark.parametrize("path", ["/wait", "/stream"])
async def test_a_request_that_comes_while_another_runs_is_answered_after_it(host: Host, path: str) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("first")
    await client.send(request(path + "?first"))
    await visit.begun.wait()
    for part in (request("/echo")[:20], request("/echo")[20:]):
        await client.send(part)
        await trio.sleep(0.05)
    visit.release.set()
    answers = await client.until(b"got 2")
    assert answers.index(b"answer") < answers.index(b"got 2")


async def test_megabytes_behind_a_request_are_answered_in_order(host: Host) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("slow")

    async def send() -> None:
        await client.send(request("/wait?slow") + request("/echo", b"z" * 4_000_000) + request("/echo", b"ab"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        await visit.begun.wait()
        await trio.sleep(0.1)
        visit.release.set()
        got = await client.until(b"got 2")
    assert got.index(b"answer") < got.index(b"got 4000000") < got.index(b"got 2")


async def test_reading_ahead_stays_bounded_over_many_requests(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/wait?one") + request("/echo", b"x" * 200) * 900)  # three times what is read ahead
    await host.book.visit("one").begun.wait()
    host.book.visit("one").release.set()
    held = 0
    with trio.fail_after(5):
        while client.got.count(b"got 200") < 900:
            client.got += await client.read(65536)
            protocol = host.connection._protocol
            assert protocol is not None
            held = max(held, len(protocol.connection.trailing_data[0]))  # type: ignore[union-attr]  # HTTP/1.1's
    assert 0 < held <= 2**17
    assert b"100 Continue" not in client.got


# -- refusals


async def test_a_refused_20_mb_body_still_reads_its_413(host: Host) -> None:
    await host.open()
    client = await host.client()
    refused = trio.Event()

    async def send() -> None:
        with contextlib.suppress(trio.BrokenResourceError):
            await client.send(request("/refuse", b"x" * 20_000_000))
        refused.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        assert b"413" in await client.until(b"too large")
        nursery.cancel_scope.cancel()
    await client.close()
    await host.all_gone()


async def test_a_refused_client_that_reads_last_gets_its_413(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/refuse", b"x" * 20_000_000))
    assert (await client.rest()).endswith(b"too large")


async def test_a_late_refusal_does_not_wedge_the_connection(host: Host) -> None:
    await host.open(linger=0.1)
    client = await host.client()
    visit = host.book.visit("one")
    with trio.move_on_after(0.1):
        await client.send(request("/never_read?one", b"x" * 20_000_000))
    visit.release.set()
    assert (await client.until(b"too large")).startswith(b"HTTP/1.1 413")
    await host.all_gone()


async def test_what_a_refused_client_still_sends_is_not_kept(host: Host) -> None:
    await host.open(linger=0.3)
    client = await host.client()
    sent = 0
    with trio.move_on_after(2):
        try:
            await client.send(request("/refuse?one", b"x" * 10)[:-5])
            await client.until(b"too large")
            while True:
                await client.send(b"x" * 65536)
                sent += 65536
        except trio.BrokenResourceError:
            pass  # reset after the linger time
    assert sent > 2**20
    await host.all_gone()


@pytest.mark.parametrize("limit", [None, 2000])
async def test_a_head_that_is_too_large_is_refused_with_431(host: Host, limit: int | None) -> None:
    await host.open(header_limit=limit)
    client = await host.client()
    with trio.move_on_after(1):
        await client.send(b"POST / HTTP/1.1\r\nX: " + b"y" * (2 * (limit or 2**16)))
    got = await client.rest()
    assert got.startswith(b"HTTP/1.1 431")
    assert b'"code":-32600' in got


async def test_a_head_of_60_kb_is_accepted(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/echo", b"{}", b"X: " + b"y" * 60_000))
    assert await client.until(b"got 2")


@pytest.mark.parametrize(
    "raw",
    [b"BLAH\r\n\r\n", b"\x00\x01\x02\r\n\r\n", request("/echo").replace(b"Host: x\r\n", b"")],
)
async def test_what_is_not_http_is_refused_with_400(host: Host, raw: bytes, caplog: pytest.LogCaptureFixture) -> None:
    await host.open()
    client = await host.client()
    await client.send(raw)
    got = await client.rest()
    assert got.startswith((b"HTTP/1.1 400", b"HTTP/1.1 505"))
    assert b'"jsonrpc":"2.0"' in got
    assert caplog.records == []


async def test_a_broken_body_reaches_the_application_as_a_disconnect(host: Host) -> None:
    await host.open()
    client = await host.client()
    head = b"POST /echo?one HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    await client.send(head + b"5\r\nhello\r\nnonsense\r\n")
    assert (await client.rest()).startswith(b"HTTP/1.1 400")
    assert await in_time(host.book.visit("one").left)


async def test_an_unknown_host_name_is_refused_without_wedging(host: Host) -> None:
    host.config.server_names = ["example.com"]
    await host.open(linger=0.1)
    client = await host.client()
    await client.send(request("/echo"))
    assert (await client.rest()).startswith(b"HTTP/1.1 404")
    await host.all_gone()


async def test_a_body_that_comes_too_slowly_can_be_timed_out(host: Host) -> None:
    """`receive` may be cancelled without losing anything: the endpoint's deadline for the body."""
    await host.open()
    client = await host.client()
    await client.send(request("/impatient", b"x" * 10)[:-5])
    got = await client.rest()
    assert got.startswith(b"HTTP/1.1 408")
    assert got.endswith(b"5 of 10")


# -- probes


async def test_a_waiting_half_closed_client_is_told_to_continue(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/wait?one"))
    client.raw.shutdown(trio.socket.SHUT_WR)
    assert b"100 Continue" in await client.until(b"100 Continue")


async def test_a_half_closed_stream_gets_a_comment_as_its_probe(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/stream?one"))
    await client.until(b": hello\n\n")
    client.raw.shutdown(trio.socket.SHUT_WR)
    assert b"3\r\n:\n\n\r\n" in await client.until(b":\n\n\r\n")


async def test_no_probe_is_put_into_other_bodies(host: Host) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request("/download?one"))
    await client.until(b"first")
    client.raw.shutdown(trio.socket.SHUT_WR)
    await trio.sleep(0.1)
    visit.release.set()
    assert (await client.rest()).strip() == b"4\r\nlast\r\n0"


# -- WebSocket


class Caller:
    """A WebSocket client."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.ws = wsproto.WSConnection(wsproto.ConnectionType.CLIENT)
        self.opening = self.ws.send(Request(host="x", target="/socket?one"))

    async def next(self) -> wsproto.events.Event:
        with trio.fail_after(2):
            while True:
                for event in self.ws.events():
                    return event
                self.ws.receive_data(await self.client.read(65536))

    async def say(self, text: str) -> None:
        await self.client.send(self.ws.send(TextMessage(data=text)))


async def test_a_websocket_passes_through(host: Host) -> None:
    await host.open()
    caller = Caller(await host.client())
    host.book.visit("one").release.set()
    await caller.client.send(caller.opening)
    assert isinstance(await caller.next(), AcceptConnection)
    await caller.say("hello")
    echoed = await caller.next()
    assert isinstance(echoed, TextMessage)
    assert echoed.data == "hello"
    await caller.client.send(caller.ws.send(CloseConnection(code=1000)))
    assert isinstance(await caller.next(), CloseConnection)
    assert await in_time(host.book.visit("one").left)
    await host.all_gone()


async def test_a_websocket_that_leaves_is_noticed(host: Host) -> None:
    await host.open()
    caller = Caller(await host.client())
    host.book.visit("one").release.set()
    await caller.client.send(caller.opening)
    await caller.next()
    await caller.client.close()
    assert await in_time(host.book.visit("one").left, 0.2)


@pytest.mark.parametrize("trailing", [b"x", b"\x81\x05hello" * 3, b"z" * 60_000])
async def test_bytes_behind_an_upgrade_harm_nobody(
    host: Host, trailing: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    await host.open()
    rude, other = await host.client(), await host.client()
    key = base64.b64encode(os.urandom(16))
    head = b"GET /socket?one HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    await rude.send(head + b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n" + trailing)
    await host.book.visit("one").begun.wait()
    host.book.visit("one").release.set()
    assert b"101" in await rude.until(b"\r\n\r\n")
    await rude.close()
    await other.send(request("/echo"))
    assert await other.until(b"got 2")
    assert await in_time(host.book.visit("one").ended)
    assert [record for record in caplog.records if record.exc_info is None] == []


async def test_a_message_sent_with_the_upgrade_is_not_lost(host: Host) -> None:
    await host.open()
    caller = Caller(await host.client())
    early = FrameProtocol(client=True, extensions=[])
    await caller.client.send(caller.opening + early.send_data("early"))
    await host.book.visit("one").begun.wait()
    host.book.visit("one").release.set()
    assert isinstance(await caller.next(), AcceptConnection)
    echoed = await caller.next()
    assert isinstance(echoed, TextMessage)
    assert echoed.data == "early"


async def test_too_much_behind_an_upgrade_ends_it(host: Host) -> None:
    await host.open()
    caller = Caller(await host.client())
    await caller.client.send(caller.opening)
    await host.book.visit("one").begun.wait()
    with pytest.raises(trio.BrokenResourceError):
        await caller.client.send(b"z" * 100 * 65536)
    await until(lambda: host.connection.gone)


async def test_a_bad_websocket_handshake_is_refused(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(b"GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert (await client.rest()).startswith(b"HTTP/1.1 400")
    await host.all_gone()
