"""The life of a connection: who notices what, when, and what is left afterwards."""

from __future__ import annotations

import logging
import random
import ssl
from pathlib import Path

import pytest
import trio

from tests.transport.sockets.host import DEADLINE, Client, Host, in_time, no_task_left, request, until

pytestmark = pytest.mark.slow

JUNK = b"GET /x HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 50_000
LATE_BYTES = {
    "nothing": b"",
    "stray CRLF": b"\r\n",
    "a second request": request("/echo?second"),
    "50 kB of junk": JUNK,
    "more than is read ahead": request("/echo?big", b"z" * 400_000),
}


# -- a client that leaves


@pytest.mark.parametrize("path", ["/wait", "/stream"])
@pytest.mark.parametrize("behind", LATE_BYTES.values(), ids=LATE_BYTES)
async def test_a_close_is_noticed_whatever_was_sent_behind(host: Host, path: str, behind: bytes) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request(path + "?one"))
    await visit.begun.wait()
    if path == "/stream":
        await client.until(b": hello\n\n")
    with trio.move_on_after(0.2):  # the last of them does not fit in
        await client.send(behind)
    await client.close()
    assert await in_time(visit.left)
    await host.all_gone()


async def test_a_close_in_the_middle_of_a_body_is_noticed(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/echo?one", b"x" * 100)[:-50])
    await until(lambda: host.book.visits != {})
    await client.close()
    assert await in_time(host.book.visit("one").left)


async def test_a_reset_is_noticed_at_once(host: Host) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request("/wait?one"))
    await visit.begun.wait()
    await client.reset()
    assert await in_time(visit.left, 0.2)


async def test_an_http10_close_is_noticed_at_once(host: Host) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request("/wait?one", version=b"1.0"))
    await visit.begun.wait()
    await client.close()
    assert await in_time(visit.left, 0.2)


async def test_a_tls_close_behind_stray_bytes_is_noticed(host: Host, certificate: ssl.SSLContext) -> None:
    await host.open(tls=certificate)
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request("/wait?one") + b"\r\n")
    await visit.begun.wait()
    await client.close()
    assert await in_time(visit.left, 0.2)


# -- a client that only shuts its sending side


@pytest.mark.parametrize(("path", "last"), [("/wait", b"answer"), ("/stream", b"data: answer\n\n\r\n0\r\n\r\n")])
async def test_a_half_closed_client_gets_its_whole_answer(host: Host, path: str, last: bytes) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request(path + "?one"))
    await visit.begun.wait()
    client.raw.shutdown(trio.socket.SHUT_WR)
    await trio.sleep(0.1)
    assert not visit.left.is_set()
    visit.release.set()
    assert (await client.rest()).endswith(last)
    await host.all_gone()


@pytest.mark.parametrize("path", ["/wait", "/stream"])
async def test_a_half_closed_client_that_dies_is_noticed(host: Host, path: str) -> None:
    await host.open()
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request(path + "?one"))
    await visit.begun.wait()
    client.raw.shutdown(trio.socket.SHUT_WR)
    await trio.sleep(0.1)
    await client.close()
    assert await in_time(visit.left)


async def test_a_half_close_can_count_as_leaving(host: Host) -> None:
    await host.open(half_close="cancel")
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request("/wait?one"))
    await visit.begun.wait()
    client.raw.shutdown(trio.socket.SHUT_WR)
    assert await in_time(visit.left, 0.2)


async def test_a_half_closed_http10_client_gets_a_quick_answer(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/echo", version=b"1.0"))
    client.raw.shutdown(trio.socket.SHUT_WR)
    await client.rest()
    assert client.got == b"" or client.got.endswith(b"got 2")


# -- a client that does not read


async def flood(client: Client) -> None:
    await client.send(request("/flood?one"))


async def test_a_client_that_never_reads_is_dropped_at_the_deadline(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    visit = host.book.visit("one")
    client = await host.client(receive_buffer=4096)
    await flood(client)
    await visit.begun.wait()
    assert not await in_time(visit.left, DEADLINE / 2)
    assert await in_time(visit.left)
    assert host.connection.stalled
    assert host.connection.gone
    assert visit.most_pending <= 3 * 2**16
    await host.all_gone()


async def test_a_tls_client_that_never_reads_is_dropped(host: Host, certificate: ssl.SSLContext) -> None:
    await host.open(tls=certificate, write_deadline=DEADLINE)
    visit = host.book.visit("one")
    await flood(await host.client(receive_buffer=4096))
    assert await in_time(visit.left, DEADLINE + 1)
    assert host.connection.stalled
    assert visit.most_pending <= 3 * 2**16
    await host.all_gone()


async def test_a_slow_reader_beside_a_stalled_one_is_untouched(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    stalled, slow = await host.client(receive_buffer=4096), await host.client(receive_buffer=4096)
    await stalled.send(request("/flood?stalled"))
    await slow.send(request("/flood?slow"))
    ends = trio.current_time() + 4 * DEADLINE
    while trio.current_time() < ends:
        assert await slow.read(65536)
        await trio.sleep(0.002)
    assert host.book.visit("stalled").left.is_set()
    assert not host.book.visit("slow").left.is_set()


async def test_a_client_that_leaves_is_not_called_stalled(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    client = await host.client()
    await client.send(request("/stream?one"))
    await client.until(b": hello\n\n")
    await client.close()
    assert await in_time(host.book.visit("one").left)
    assert host.connection.gone
    assert not host.connection.stalled


# -- a connection without work


async def test_an_idle_connection_ends_after_the_keep_alive_time(host: Host) -> None:
    await host.open(keep_alive=0.2)
    client = await host.client()
    await client.send(request("/echo"))
    await client.until(b"got 2")
    started = trio.current_time()
    assert await client.rest() == b""
    assert 0.1 < trio.current_time() - started < 0.5


async def test_a_client_that_never_asks_is_let_go(host: Host) -> None:
    await host.open(keep_alive=0.1)
    client = await host.client()
    await client.send(b"POST /echo HTTP/1.1\r\nHost: ")  # nor one that never finishes its head
    assert await client.rest() == b""


async def test_a_busy_connection_has_no_idle_time(host: Host) -> None:
    await host.open(keep_alive=0.05)
    client = await host.client()
    visit = host.book.visit("one")
    await client.send(request("/wait?one"))
    assert not await in_time(visit.left, 0.2)
    visit.release.set()
    assert b"answer" in await client.until(b"answer")


async def test_the_config_gives_the_keep_alive_time(host: Host) -> None:
    host.config.keep_alive_timeout = 0.1
    await host.open()
    client = await host.client()
    assert await client.rest() == b""


async def test_close_idle_ends_only_idle_connections(host: Host) -> None:
    await host.open()
    idle, busy = await host.client(), await host.client()
    await idle.send(request("/echo"))
    await idle.until(b"got 2")
    await busy.send(request("/wait?busy"))
    await host.book.visit("busy").begun.wait()
    assert [connection.busy for connection in host.connections] == [False, True]
    for connection in host.connections:
        connection.close_idle()
    assert await idle.rest() == b""
    host.book.visit("busy").release.set()
    assert (await busy.until(b"answer")).startswith(b"HTTP/1.1 200")


async def test_a_terminated_context_ends_each_connection_with_its_answer(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/wait?one"))
    await host.book.visit("one").begun.wait()
    await host.context.terminated.set()
    host.book.visit("one").release.set()
    assert (await client.rest()).endswith(b"answer")
    await host.all_gone()


async def test_abort_resets_a_busy_client(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/stream?one"))
    await client.until(b": hello\n\n")
    host.connection.abort()
    with pytest.raises(trio.BrokenResourceError):
        await client.rest()
    assert await in_time(host.book.visit("one").left)
    await host.all_gone()


async def test_the_socket_is_closed_before_a_stubborn_application_ends(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/never_read?one", b""))
    await until(lambda: "one" in host.book.visits)
    host.connection.abort()
    with pytest.raises(trio.BrokenResourceError):
        await client.rest()
    assert not host.book.visit("one").ended.is_set()
    host.book.visit("one").release.set()
    await host.all_gone()


# -- faults


async def test_a_fault_of_the_application_is_a_500_and_one_log_record(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/crash"))
    assert (await client.rest()).startswith(b"HTTP/1.1 500")
    (record,) = caplog.records
    assert record.name == "genmcp.transport"
    assert "/crash" in record.getMessage()
    assert record.exc_info is not None


@pytest.mark.parametrize("path", ["/crash_in_body", "/too_little"])
async def test_a_fault_within_an_answer_ends_its_connection_only(
    host: Host, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    await host.open()
    client, other = await host.client(), await host.client()
    await client.send(request(path))
    assert not (await client.rest()).endswith(b"0\r\n\r\n")  # not a whole answer
    await other.send(request("/echo"))
    assert await other.until(b"got 2")
    assert len(caplog.records) == 1


async def test_a_fault_of_a_connection_ends_that_connection_only(
    host: Host, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await host.open()
    broken, other = await host.client(), await host.client()
    await other.send(request("/echo"))
    await other.until(b"got 2")
    with monkeypatch.context() as patch:
        patch.setattr("transport.http1.Http1._open", None)
        await broken.send(request("/echo"))
        with pytest.raises((trio.BrokenResourceError, EOFError)):
            await broken.until(b"HTTP/1.1")
    await other.send(request("/echo"))
    assert await other.until(b"got 2")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x00\x05hello", b"GET / HTTP/1.1\r\n\r\n", b""])
async def test_a_failed_handshake_is_quiet(
    host: Host, certificate: ssl.SSLContext, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    await host.open(tls=certificate)
    raw = await trio.open_tcp_stream("127.0.0.1", host.port)
    if data:
        await raw.send_all(data)
    await raw.aclose()
    await until(lambda: len(host.connections) == 1)
    await host.all_gone()
    assert caplog.records == []


async def test_a_handshake_that_takes_too_long_is_given_up(host: Host, certificate: ssl.SSLContext) -> None:
    host.config.ssl_handshake_timeout = 0.1
    await host.open(tls=certificate)
    async with await trio.open_tcp_stream("127.0.0.1", host.port) as silent:
        with trio.fail_after(1):
            assert await silent.receive_some() == b""


async def test_cancelling_a_connection_ends_its_applications(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/wait?one"))
    await host.book.visit("one").begun.wait()
    host.nursery.cancel_scope.cancel()
    with trio.CancelScope(shield=True):
        await until(lambda: host.running == 0)
        assert host.book.visit("one").ended.is_set()


# -- other sockets


async def test_a_unix_socket_is_served_and_its_close_noticed(host: Host, tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    await host.open(unix=path)
    stream = await trio.open_unix_socket(path)
    client = Client(stream, stream.socket)
    await client.send(request("/echo"))
    assert await client.until(b"got 2")
    visit = host.book.visit("one")
    await client.send(request("/wait?one") + b"\r\n")
    await visit.begun.wait()
    await client.close()
    assert await in_time(visit.left)
    await host.all_gone()


async def test_a_half_closed_unix_client_gets_its_answer(host: Host, tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    await host.open(unix=path)
    stream = await trio.open_unix_socket(path)
    client = Client(stream, stream.socket)
    visit = host.book.visit("one")
    await client.send(request("/wait?one"))
    client.raw.shutdown(trio.socket.SHUT_WR)
    await visit.begun.wait()
    await trio.sleep(0.1)
    visit.release.set()
    assert (await client.rest()).endswith(b"answer")
    await client.close()


async def test_tls_carries_pipelined_requests_and_closes_cleanly(host: Host, certificate: ssl.SSLContext) -> None:
    await host.open(tls=certificate)
    client = await host.client()
    await client.send(request("/echo") + request("/echo", b"four") + request("/echo", b"", b"Connection: close"))
    answers = await client.rest()
    assert [answers.count(b"got %d" % size) for size in (2, 4, 0)] == [1, 1, 1]
    await host.all_gone()


# -- leaks


def _rude(dice: random.Random) -> bytes:
    path = dice.choice(["/wait?soak", "/stream?soak", "/flood?soak", "/echo?soak", "/refuse?soak", "/wire?soak"])
    raw = request(path)
    if dice.random() < 0.3:
        raw = raw[: dice.randint(1, len(raw))]
    if dice.random() < 0.4:
        raw += dice.choice([b"\r\n", request("/echo"), request("/echo", b"z" * 300_000), b"\x00garbage\xff" * 20])
    return raw


async def _abort_somehow(host: Host, dice: random.Random) -> None:
    client = await host.client(receive_buffer=4096 if dice.random() < 0.2 else None)
    try:
        with trio.move_on_after(0.05):
            await client.send(_rude(dice))
            if dice.random() < 0.5:
                await client.rest()
        if dice.random() < 0.3:
            client.raw.shutdown(trio.socket.SHUT_WR)
            await trio.sleep(dice.random() * 0.05)
    except (OSError, trio.BrokenResourceError, trio.TooSlowError):
        pass
    await (client.reset() if dice.random() < 0.4 else client.close())


async def _abort_h2_somehow(host: Host, dice: random.Random) -> None:
    client = await host.h2_client()
    try:
        with trio.move_on_after(0.05):
            for _ in range(dice.randint(1, 5)):
                path = dice.choice(["/wait?soak", "/stream?soak", "/flood?soak", "/echo?soak", "/wire?soak"])
                stream = await client.request(path, end=dice.random() < 0.8)
                if dice.random() < 0.3:
                    client.h2.reset_stream(stream)
            await client.flush()
            await client.pump(lambda: False)
    except (OSError, EOFError, trio.BrokenResourceError):
        pass
    await (client.wire.reset() if dice.random() < 0.4 else client.wire.close())


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_aborts_leave_no_task(host: Host, caplog: pytest.LogCaptureFixture, seed: int) -> None:
    await host.open(write_deadline=DEADLINE)
    dice = random.Random(seed)

    async def some() -> None:
        for _ in range(15):
            await (_abort_h2_somehow if dice.random() < 0.25 else _abort_somehow)(host, dice)

    async with no_task_left(host), trio.open_nursery() as clients:
        for _ in range(8):
            clients.start_soon(some)
    assert len(host.connections) >= 100
    assert caplog.records == []
