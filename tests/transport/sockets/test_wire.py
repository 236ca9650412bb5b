"""Frames on their way to real clients, whole and in order whichever wire they take."""

from __future__ import annotations

import re
import ssl
from typing import Any

import pytest
import trio

from tests.transport.sockets.host import DEADLINE, H2Client, Host, in_time, request
from transport.wire import DirectWire, PeerGone, QueuedWire, open_wire

pytestmark = pytest.mark.slow


def frames(body: bytes) -> list[int]:
    return [int(number) for number in re.findall(rb"data: (\d+) y", body)]


async def test_direct_frames_arrive_whole_and_in_order(host: Host) -> None:
    await host.open()
    client = await host.client()
    for _ in range(2):  # and the connection serves the next stream
        await client.send(request("/wire"))
        body = await client.until(b"data: end\n\n\r\n0\r\n\r\n")
        assert frames(body) == list(range(3000))
        assert body.count(b": mixed\n\n") == 30


async def test_direct_frames_arrive_over_tls(host: Host, certificate: ssl.SSLContext) -> None:
    await host.open(tls=certificate)
    client = await host.client()
    await client.send(request("/wire"))
    assert frames(await client.until(b"data: end\n\n\r\n0\r\n\r\n")) == list(range(3000))


async def test_queued_frames_arrive_over_http2(host: Host) -> None:
    await host.open()
    client = await host.h2_client()
    first, second = await client.request("/wire"), await client.request("/wire")
    await client.pump(lambda: client.ended >= {first, second})
    assert frames(client.bodies[first]) == frames(client.bodies[second]) == list(range(3000))
    assert client.bodies[first].endswith(b"data: end\n\n")


async def test_queued_frames_arrive_over_http10(host: Host) -> None:
    await host.open()
    client = await host.client()
    await client.send(request("/wire", version=b"1.0"))
    body = await client.rest()
    assert frames(body) == list(range(3000))
    assert body.endswith(b"data: end\n\n")


async def test_a_direct_wire_to_a_stalled_client_says_so(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    client = await host.client(receive_buffer=4096)
    await client.send(request("/wire?one"))
    visit = host.book.visit("one")
    assert await in_time(visit.ended, DEADLINE + 1)
    assert visit.left.is_set()
    assert visit.wire_stalled is True


async def test_a_wire_to_a_client_that_left_is_not_stalled(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    client = await host.client(receive_buffer=4096)
    await client.send(request("/wire?one"))
    visit = host.book.visit("one")
    await visit.begun.wait()
    await trio.sleep(0.05)
    await client.reset()
    assert await in_time(visit.ended)
    assert visit.left.is_set()
    assert visit.wire_stalled is False


async def test_a_queued_wire_to_a_shut_window_says_so(host: Host) -> None:
    await host.open(write_deadline=DEADLINE)
    client: H2Client = await host.h2_client()
    client.acknowledges = False
    stream = await client.request("/wire?one")
    await client.pump(lambda: stream in client.resets, seconds=DEADLINE + 1)
    visit = host.book.visit("one")
    assert await in_time(visit.ended)
    assert visit.wire_stalled is True
    assert not host.connection.stalled


# -- the choice


class FakeConnection:
    """Takes what a direct wire writes."""

    def __init__(self) -> None:
        self.gone = False
        self.stalled = False
        self.pending = 0
        self.written: list[bytes] = []
        self.write = self.written.append

    async def room(self) -> None:
        await trio.lowlevel.checkpoint()


async def nobody(message: Any) -> None:
    await trio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    ("scope", "kind"),
    [
        ({"http_version": "1.1", "state": {"genmcp.connection": FakeConnection()}}, DirectWire),
        ({"http_version": "1.0", "state": {"genmcp.connection": FakeConnection()}}, QueuedWire),
        ({"http_version": "2", "state": {"genmcp.connection": FakeConnection()}}, QueuedWire),
        ({"http_version": "1.1", "state": {}}, QueuedWire),
        ({"http_version": "1.1"}, QueuedWire),
    ],
)
async def test_only_http11_on_our_connection_is_direct(scope: dict[str, Any], kind: type) -> None:
    assert type(open_wire(scope, nobody, 1.0)) is kind


# -- one wire alone


async def test_a_direct_frame_is_one_chunk() -> None:
    connection = FakeConnection()
    async with DirectWire(connection) as wire:
        assert wire.write(b"data: x\n\n")
    assert connection.written == [b"9\r\ndata: x\n\n\r\n"]


async def test_an_empty_frame_never_ends_the_body() -> None:
    connection = FakeConnection()
    async with DirectWire(connection) as wire:
        assert not wire.write(b"")
    assert connection.written == []


async def test_a_full_connection_refuses_a_frame() -> None:
    connection = FakeConnection()
    async with DirectWire(connection) as wire:
        connection.pending = 2**16 + 1
        assert not wire.write(b"x")
        connection.pending = 2**16
        assert wire.write(b"x")
        connection.gone = True
        assert not wire.write(b"x")


async def test_a_wire_takes_nothing_outside_its_life() -> None:
    direct, queued = DirectWire(FakeConnection()), QueuedWire(nobody, write_deadline=1)
    for wire in (direct, queued):
        assert not wire.write(b"early")
        async with wire:
            assert wire.write(b"in time")
        assert not wire.write(b"late")
        with pytest.raises(PeerGone):
            await wire.room()


class Server:
    """An ASGI server's `send`, as fast as a test lets it be."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.pause = 0.0
        self.error: Exception | None = None

    async def send(self, message: Any) -> None:
        await trio.sleep(self.pause)
        if self.error is not None:
            raise self.error
        assert message["type"] == "http.response.body"
        assert message["more_body"] is True
        self.sent.append(message["body"])


async def test_leaving_a_queued_wire_flushes_it(autojump_clock: trio.testing.MockClock) -> None:
    server = Server()
    server.pause = 0.5
    async with QueuedWire(server.send, write_deadline=1) as wire:
        for number in range(10):
            assert wire.write(b"%d" % number)
    assert b"".join(server.sent) == b"0123456789"


async def test_leaving_a_queued_wire_with_an_error_drops_it(autojump_clock: trio.testing.MockClock) -> None:
    server = Server()
    server.pause = 10

    async def fail() -> None:
        async with QueuedWire(server.send, write_deadline=60) as wire:
            wire.write(b"never sent")
            raise KeyError("the stream's own fault")

    with pytest.raises(KeyError):
        await fail()
    assert server.sent == []
    assert trio.current_time() < 10


async def test_a_full_queue_refuses_and_tells_when_there_is_room(autojump_clock: trio.testing.MockClock) -> None:
    server = Server()
    server.pause = 0.5
    async with QueuedWire(server.send, write_deadline=1) as wire:
        while wire.write(b"x" * 10_000):
            pass
        refused_at = trio.current_time()
        await wire.room()
        assert trio.current_time() > refused_at
        assert wire.write(b"x")
    assert 65_536 < len(b"".join(server.sent)) < 90_000


async def test_a_server_that_does_not_take_it_in_time_stalls_the_wire(autojump_clock: trio.testing.MockClock) -> None:
    server = Server()
    server.pause = 100
    async with QueuedWire(server.send, write_deadline=3) as wire:
        while wire.write(b"x" * 10_000):
            pass
        with pytest.raises(PeerGone):
            await wire.room()
        assert trio.current_time() == pytest.approx(3, abs=0.1)
        assert wire.stalled
        assert not wire.write(b"x")


@pytest.mark.parametrize("error", [OSError(), trio.BrokenResourceError(), trio.ClosedResourceError()])
async def test_a_server_that_says_its_client_left_ends_the_wire(error: Exception) -> None:
    server = Server()
    server.error = error
    async with QueuedWire(server.send, write_deadline=3) as wire:
        wire.write(b"x" * 70_000)
        with pytest.raises(PeerGone):
            await wire.room()
        assert not wire.stalled


async def test_another_fault_of_a_server_is_not_hidden() -> None:
    server = Server()
    server.error = ZeroDivisionError()

    async def write() -> None:
        async with QueuedWire(server.send, write_deadline=3) as wire:
            wire.write(b"x")
            await trio.sleep_forever()

    with pytest.raises(ZeroDivisionError):
        await write()


async def test_cancelling_a_queued_wire_ends_it(autojump_clock: trio.testing.MockClock) -> None:
    server = Server()
    server.pause = 100
    with trio.move_on_after(1) as scope:
        async with QueuedWire(server.send, write_deadline=60) as wire:
            wire.write(b"x")
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert trio.current_time() == pytest.approx(1)
