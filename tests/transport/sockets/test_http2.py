"""HTTP/2 as a client sees it, and clients that it must survive."""

from __future__ import annotations

import base64
import contextlib
import ssl

import h2.settings
import httpx
import pytest
import trio
from h2.errors import ErrorCodes

from tests.transport.sockets.host import DEADLINE, H2Client, Host, in_time, no_task_left, request, until

pytestmark = pytest.mark.slow

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Spell a frame that h2 would not let a client send."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


async def still_serves(host: Host) -> bool:
    client = await host.client()
    await client.send(request("/echo"))
    return bool(await client.until(b"got 2"))


# -- ways in


async def test_prior_knowledge_is_answered(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    first, second = await client.request("/echo"), await client.request("/echo", b"four")
    await client.pump(lambda: client.ended >= {first, second})
    assert client.bodies == {first: b"got 2", second: b"got 4"}
    assert client.statuses == {first: 200, second: 200}


async def test_tls_with_alpn_is_answered(host: Host, certificate: ssl.SSLContext) -> None:
    await host.open(tls=certificate)
    client = await host.h2_client()
    stream = await client.request("/echo")
    await client.pump(lambda: stream in client.ended)
    assert client.bodies[stream] == b"got 2"


async def test_an_upgrade_is_answered(host: Host) -> None:
    await host.open()
    client = await host.client()
    settings = base64.urlsafe_b64encode(b"\x00\x03\x00\x00\x00\x64")
    head = b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    await client.send(head + b"HTTP2-Settings: " + settings + b"\r\n\r\n")
    first = await client.until(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 101")
    await client.send(PREFACE + frame(4, 0, 0, b""))
    assert b"got 0" in first or await client.until(b"got 0")  # the answer may come before the preface


async def test_an_ordinary_client_is_served_over_tls(host: Host, certificate: ssl.SSLContext) -> None:
    await host.open(tls=certificate)
    async with httpx.AsyncClient(http2=True, verify=False) as client:
        answer = await client.post(f"https://localhost:{host.port}/echo", content=b"x" * 300_000)
    assert (answer.http_version, answer.text) == ("HTTP/2", "got 300000")


# -- bodies


async def test_a_large_body_arrives_whole_through_its_window(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    stream = client.h2.get_next_available_stream_id()
    client.h2.send_headers(stream, client.head("/echo"))
    left = 1_000_000
    while left:
        await client.pump(lambda: client.h2.local_flow_control_window(stream) > 0)
        size = min(left, client.h2.local_flow_control_window(stream), 16384)
        left -= size
        client.h2.send_data(stream, b"x" * size, end_stream=not left)
        await client.flush()
    await client.pump(lambda: stream in client.ended)
    assert client.bodies[stream] == b"got 1000000"


async def test_an_unread_body_shuts_its_own_window_only(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    await client.pump(lambda: client.h2.outbound_flow_control_window > 65535)
    unread = client.h2.get_next_available_stream_id()
    client.h2.send_headers(unread, client.head("/never_read?unread"))
    for _ in range(3):
        client.h2.send_data(unread, b"x" * 16384)
    client.h2.send_data(unread, b"x" * (65535 - 3 * 16384))
    await client.flush()
    beside = await client.request("/echo", b"b" * 10_000)
    await client.pump(lambda: beside in client.ended)
    assert client.bodies[beside] == b"got 10000"
    assert client.h2.local_flow_control_window(unread) == 0
    host.book.visit("unread").release.set()
    await client.pump(lambda: unread in client.ended)
    assert client.bodies[unread] == b"too large"


async def test_data_after_an_early_answer_is_dropped(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    await host.open()
    client = await host.h2_client()
    stream = await client.request("/refuse", b"x" * 10_000, end=False)
    await client.pump(lambda: stream in client.ended)
    assert client.bodies[stream] == b"too large"
    for _ in range(10):
        client.h2.send_data(stream, b"x" * 5_000)
    await client.flush()
    beside = await client.request("/echo")
    await client.pump(lambda: beside in client.ended)
    assert client.bodies[beside] == b"got 2"
    assert caplog.records == []


async def test_empty_data_frames_are_not_kept(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    stream = await client.request("/echo", b"", end=False)
    await client.wire.send(frame(0, 0, stream, b"") * 20_000)
    client.h2.send_data(stream, b"end", end_stream=True)
    await client.flush()
    await client.pump(lambda: stream in client.ended)
    assert client.bodies[stream] == b"got 3"


# -- endings


async def test_a_reset_stream_cancels_that_request_only(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    reset, kept = await client.request("/wait?reset"), await client.request("/wait?kept")
    await host.book.visit("kept").begun.wait()
    client.h2.reset_stream(reset, ErrorCodes.CANCEL)
    await client.flush()
    assert await in_time(host.book.visit("reset").left, 0.2)
    assert not host.book.visit("kept").left.is_set()
    host.book.visit("kept").release.set()
    await client.pump(lambda: kept in client.ended)
    assert client.bodies[kept] == b"answer"


async def test_a_close_is_a_disconnect_of_every_stream(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    await client.request("/wait?one")
    await client.request("/stream?two")
    await host.book.visit("two").begun.wait()
    await client.wire.close()
    assert await in_time(host.book.visit("one").left, 0.2)
    assert await in_time(host.book.visit("two").left, 0.2)
    await host.all_gone()


async def test_a_connection_whose_streams_were_reset_is_idle(host: Host) -> None:
    await host.open(keep_alive=0.2)
    client = await host.h2_client()
    client.h2.reset_stream(await client.request("/wait?one"))
    await client.flush()
    await client.drain()
    assert client.goaway


async def test_a_preface_alone_does_not_hold_a_connection(host: Host) -> None:
    await host.open(keep_alive=0.1)
    client = await host.client()
    await client.send(PREFACE[:18])
    await client.rest()
    await host.all_gone()
    assert not host.connection.busy


async def test_a_fault_within_an_answer_resets_its_stream_only(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    await host.open()
    client = await host.h2_client()
    failed, kept = await client.request("/crash_in_body"), await client.request("/wait?kept")
    await client.pump(lambda: failed in client.resets)
    assert client.resets[failed] == ErrorCodes.INTERNAL_ERROR
    host.book.visit("kept").release.set()
    await client.pump(lambda: kept in client.ended)
    assert len(caplog.records) == 1


async def test_a_fault_before_the_answer_is_a_500(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    stream = await client.request("/crash")
    await client.pump(lambda: stream in client.ended)
    assert client.statuses[stream] == 500


async def test_there_is_no_limit_of_requests(host: Host) -> None:
    host.config.keep_alive_max_requests = 3
    await host.open()
    client = await host.h2_client()
    streams = [await client.request("/echo") for _ in range(10)]
    await client.pump(lambda: client.ended >= set(streams))
    assert set(client.bodies.values()) == {b"got 2"}


async def test_a_terminated_context_refuses_new_streams_and_ends(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    kept = await client.request("/wait?kept")
    await host.book.visit("kept").begun.wait()
    await host.context.terminated.set()
    late = await client.request("/echo")
    await client.pump(lambda: late in client.resets)
    assert client.resets[late] == ErrorCodes.REFUSED_STREAM
    host.book.visit("kept").release.set()
    await client.drain()
    assert client.bodies[kept] == b"answer"


async def test_a_client_that_says_goaway_gets_what_runs(host: Host) -> None:
    await host.open(linger=0.1)
    client = await host.h2_client()
    stream = await client.request("/wait?one")
    await host.book.visit("one").begun.wait()
    await client.wire.send(frame(7, 0, 0, b"\x00" * 8))
    await trio.sleep(0.05)
    host.book.visit("one").release.set()
    await client.drain()
    assert client.bodies[stream] == b"answer"
    await host.all_gone()


async def test_close_idle_says_goaway(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    stream = await client.request("/echo")
    await client.pump(lambda: stream in client.ended)
    await until(lambda: not host.connection.busy)
    host.connection.close_idle()
    await client.drain()
    assert client.goaway


# -- clients that do not read


async def test_a_shut_window_resets_its_stream_while_its_neighbour_lives(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    client = await host.h2_client()
    client.acknowledges = False
    client.h2.increment_flow_control_window(2**20)  # the connection's window is open, the stream's is not
    stalled, kept = await client.request("/flood?stalled"), await client.request("/wait?kept")
    visit = host.book.visit("stalled")
    await client.pump(lambda: stalled in client.resets, seconds=DEADLINE + 1)
    assert client.resets[stalled] == ErrorCodes.CANCEL
    assert await in_time(visit.left)
    assert visit.sent <= 4 * 2**16
    assert not host.connection.stalled
    host.book.visit("kept").release.set()
    await client.pump(lambda: kept in client.ended)
    assert client.bodies[kept] == b"answer"


async def test_a_client_that_never_reads_its_socket_is_dropped(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    client = await host.h2_client(receive_buffer=4096)
    client.h2.increment_flow_control_window(2**30)
    client.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 2**30})
    await client.request("/flood?one")
    visit = host.book.visit("one")
    assert await in_time(visit.left, DEADLINE + 1)
    assert host.connection.stalled
    assert visit.most_pending <= 3 * 2**16
    await host.all_gone()


async def test_many_slow_streams_are_not_called_stalled(host: Host) -> None:
    """Each waits for its turn longer than the deadline, but the client takes what it is given."""
    await host.open(write_deadline=DEADLINE)
    client = await host.h2_client(receive_buffer=4096)
    client.h2.increment_flow_control_window(2**30)
    client.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 2**30})
    for number in range(50):
        await client.request(f"/flood?{number}")
    ends = trio.current_time() + 3 * DEADLINE
    while trio.current_time() < ends:
        client.h2.receive_data(await client.wire.read(8192))
        await trio.sleep(0.01)
    assert not any(host.book.visit(str(number)).left.is_set() for number in range(50))


# -- clients that break the rules


@pytest.mark.parametrize(
    "raw",
    [
        PREFACE[:18] + b"GARBAGE" * 10,
        PREFACE + b"\xff" * 100_000,
        PREFACE + frame(4, 0, 0, b"") + frame(1, 4, 1, b"\xff" * 20),
        PREFACE + frame(4, 0, 0, b"") + frame(0, 1, 1, b"data of no stream"),
        PREFACE + frame(4, 0, 0, b"") + frame(7, 0, 0, b"\x00\x00\x00\x00\x00\x00\x00\x01"),
        PREFACE + frame(4, 0, 0, b"") + frame(7, 0, 0, b"\x00" * 8) * 1000,
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nHTTP2-Settings: AAMAAABk_w\r\n\r\n",
    ],
    ids=["preface", "frames", "hpack", "idle stream", "goaway with error", "goaway flood", "settings"],
)
async def test_a_protocol_error_ends_that_connection_only(
    host: Host, raw: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    await host.open(linger=0.1)
    client = await host.client()
    await client.send(raw)
    with contextlib.suppress(trio.BrokenResourceError):
        await client.rest()
    await client.close()
    await host.all_gone()
    assert await still_serves(host)
    assert caplog.records == []


async def test_a_protocol_error_is_a_disconnect_of_what_runs(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    await client.request("/wait?one")
    await host.book.visit("one").begun.wait()
    await client.wire.send(frame(0, 1, 99, b"data of no stream"))
    assert await in_time(host.book.visit("one").left, 0.2)


@pytest.mark.parametrize(
    "head",
    [
        [(":method", "CONNECT"), (":authority", "x")],
        [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":authority", "x"), (":path", "/s")],
        [(":method", "POST"), (":path", b"/\xff\xfe"), (":scheme", "http"), (":authority", "x")],
        [(":method", "POST"), (":path", "echo"), (":scheme", "http"), (":authority", "x")],
        [(":method", "POST"), (":path", "http://x/echo"), (":scheme", "http"), (":authority", "x")],
    ],
    ids=["no path", "bad websocket", "path of other bytes", "path without a slash", "whole url"],
)
async def test_an_odd_request_is_refused_alone(
    host: Host, head: list[tuple[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    await host.open(keep_alive=0.5)
    client = await host.h2_client()
    client.h2.config.validate_outbound_headers = False
    odd = client.h2.get_next_available_stream_id()
    client.h2.send_headers(odd, head)
    await client.flush()
    await client.pump(lambda: odd in client.resets or client.statuses.get(odd) == 400)
    beside = await client.request("/echo")
    await client.pump(lambda: beside in client.ended)
    if odd not in client.resets:
        client.h2.reset_stream(odd)
    await client.drain()  # the connection becomes idle
    assert caplog.records == []


async def test_rapid_resets_do_not_pile_up_applications(host: Host) -> None:
    await host.open()
    async with no_task_left(host):
        client, rude = await host.h2_client(), await host.h2_client()
        for _ in range(1000):
            stream = rude.h2.get_next_available_stream_id()
            rude.h2.send_headers(stream, rude.head("/never_read?stubborn"), end_stream=True)
            rude.h2.reset_stream(stream)
        await rude.flush()
        last = await client.request("/echo")
        await client.pump(lambda: last in client.ended)
        await trio.sleep(0.1)
        assert trio.lowlevel.current_statistics().tasks_living < 300
        host.book.visit("stubborn").release.set()
        await rude.wire.close()
        await client.wire.close()


async def test_a_header_flood_is_cut_off(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    await host.open(linger=0.1)
    client = await host.h2_client()
    await client.wire.send(frame(1, 0, 1, b"\x82\x84"))  # HEADERS without an end, then ever more
    try:
        for _ in range(1000):
            await client.wire.send(frame(9, 0, 1, b"\x00\x03abc\x7f\x81\x7f" + b"y" * 255))
        await client.wire.rest()
    except trio.BrokenResourceError:
        pass
    await client.wire.close()
    await host.all_gone()
    assert await still_serves(host)
    assert caplog.records == []


async def test_a_ping_flood_of_a_client_that_does_not_read_is_bounded(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    client = await host.h2_client(receive_buffer=4096)
    worst = 0
    with trio.move_on_after(3):
        try:
            while True:
                await client.wire.send(frame(6, 0, 0, b"12345678") * 1000)
                worst = max(worst, host.connection.pending)
        except trio.BrokenResourceError:
            pass
    assert worst <= 4 * 2**16
    await until(lambda: host.connection.stalled)


async def test_priority_frames_cost_nothing(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    await client.wire.send(b"".join(frame(2, 0, stream, b"\x00\x00\x00\x00\x10") for stream in range(1, 6001, 2)))
    client.h2.get_next_available_stream_id()
    stream = await client.request("/echo")
    await client.pump(lambda: stream in client.ended)
    assert client.bodies[stream] == b"got 2"


async def test_more_streams_than_allowed_end_that_connection_only(host: Host) -> None:
    host.config.h2_max_concurrent_streams = 5
    await host.open(linger=0.1)
    client = H2Client(await host.client())
    for _ in range(10):
        await client.request("/wait?many")
    await client.drain()
    assert await in_time(host.book.visit("many").left)
    assert await still_serves(host)
