from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace, TracebackType
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from genmcp.mcp import McpError
from transport import relay as module
from transport.outgoing import PeerGone
from transport.relay import Relay

COMMENT = b":\n\n"


class PlainCodec:
    """Writes what it is given: texts as JSON, errors with a status."""

    def notification(self, notification: Any) -> bytes:
        return json.dumps(notification).encode()

    def final(self, final: Any) -> tuple[int, bytes]:
        if isinstance(final, McpError):
            return final.status_after_dispatch, b'{"error":%d}' % final.code
        return 200, json.dumps(final).encode()


class Client:
    """Both ASGI channels of one request, and a note of when what came."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: dict[bytes, bytes] = {}
        self.pieces: list[tuple[float, bytes]] = []
        self.complete = False
        self.began = trio.current_time()
        self._left = trio.Event()

    def leave(self) -> None:
        self._left.set()

    async def receive(self) -> dict[str, Any]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        else:
            self.take(message["body"])
            self.complete = not message.get("more_body", False)

    def take(self, piece: bytes) -> None:
        self.pieces.append((trio.current_time() - self.began, piece))

    @property
    def body(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    @property
    def events(self) -> list[str]:
        """The data of each event, in order."""
        lines = self.body.decode().splitlines()
        return [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]

    def times_of(self, piece: bytes) -> list[float]:
        return [round(at, 3) for at, found in self.pieces if found == piece]


class FakeWire:
    """A wire that hands frames to the client at once, until it is told to be full or gone."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.full = False
        self.gone = False
        self.moved = trio.Event()
        self.stalled = False

    def write(self, frame: bytes) -> bool:
        if self.full or self.gone:
            return False
        self.client.take(frame)
        return True

    async def room(self) -> None:
        if self.full:
            await self.moved.wait()
        if self.gone:
            raise PeerGone

    def set(self, *, full: bool = False, gone: bool = False) -> None:
        self.full, self.gone = full, gone
        self.moved.set()
        self.moved = trio.Event()

    async def __aenter__(self) -> FakeWire:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave it; there is no queue to flush."""


class Case:
    """One relay that runs, its client, its wire, and who was told that the client left."""

    def __init__(self, nursery: trio.Nursery, patch: pytest.MonkeyPatch, **options: Any) -> None:
        self.client = Client()
        self.wire = FakeWire(self.client)
        self.told: list[str] = []
        self.scope: dict[str, Any] = {"type": "http", "state": {}}
        self.relay = Relay(PlainCodec(), **options)
        self.relay.on_leaving(self.told.append)
        self.done = trio.Event()
        self.cancel_scope = trio.CancelScope()
        self.send: Callable[[Any], Any] = self.client.send
        self._nursery = nursery
        patch.setattr(module, "open_wire", lambda scope, send, deadline: self.wire)

    def put(self, text: Any) -> bool:
        return self.relay.put(text)

    def end(self, final: Any) -> None:
        self.relay.end(final)

    def run(self) -> None:
        self._nursery.start_soon(self._run)

    async def _run(self) -> None:
        with self.cancel_scope:
            await self.relay.run(self.scope, self.client.receive, self.send, [(b"x-extra", b"1")])
        self.done.set()

    async def open(self) -> None:
        """Run until the stream is open."""
        self.relay.start()
        self.run()
        await trio.testing.wait_all_tasks_blocked()


@pytest.fixture
def make(nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> Any:
    def make_case(**options: Any) -> Case:
        return Case(nursery, monkeypatch, **options)

    return make_case


Make = Callable[..., Case]


# -- one JSON object


async def test_a_quick_result_is_one_json_object(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    case.run()
    await trio.sleep(1)
    case.end({"answer": 42})
    await case.done.wait()
    assert (case.client.status, case.client.body, case.client.complete) == (200, b'{"answer": 42}', True)
    assert case.client.headers == {b"content-type": b"application/json", b"content-length": b"14", b"x-extra": b"1"}


async def test_an_answer_before_the_run_is_delivered(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    case.end("done")
    case.run()
    await case.done.wait()
    assert (case.client.status, case.client.body) == (200, b'"done"')


@pytest.mark.parametrize(
    ("code", "status"), [(-32601, 404), (-32021, 400), (-32020, 400), (-32602, 200), (-32603, 200)]
)
async def test_an_error_alone_has_its_own_status(make: Make, autojump_clock: MockClock, code: int, status: int) -> None:
    case = make()
    case.end(McpError(code, "x"))
    case.run()
    await case.done.wait()
    assert (case.client.status, case.client.body) == (status, b'{"error":%d}' % code)


async def test_no_answer_without_a_stream_is_an_error(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    case.end(None)
    case.run()
    await case.done.wait()
    assert (case.client.status, case.client.body) == (200, b'{"error":-32603}')


# -- a stream


async def test_the_first_notification_commits_to_a_stream(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    case.run()
    await trio.sleep(1)
    assert case.put("one")
    await trio.testing.wait_all_tasks_blocked()
    assert case.client.status == 200
    assert case.client.headers[b"content-type"] == b"text/event-stream"
    assert case.client.headers[b"x-extra"] == b"1"
    assert case.client.body == COMMENT + b'event: message\ndata: "one"\n\n'
    case.end("done")
    await case.done.wait()
    assert (case.client.events, case.client.complete) == (['"one"', '"done"'], True)


async def test_starting_commits_and_writes_a_comment_at_once(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    case.run()
    await trio.testing.wait_all_tasks_blocked()
    case.relay.start()
    await trio.testing.wait_all_tasks_blocked()
    assert (case.client.status, case.client.body, case.client.times_of(COMMENT)) == (200, COMMENT, [0])
    case.end("done")


async def test_starting_twice_is_starting_once(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    case.relay.start()
    await trio.testing.wait_all_tasks_blocked()
    assert case.client.body == COMMENT
    case.end("done")


async def test_a_slow_request_becomes_a_stream(make: Make, autojump_clock: MockClock) -> None:
    case = make(keep_alive=15)
    case.run()
    await trio.sleep(14.9)
    assert case.client.status is None
    await trio.sleep(30.2)
    case.end("done")
    await case.done.wait()
    assert case.client.times_of(COMMENT) == [15, 30, 45]
    assert case.client.events == ['"done"']


async def test_an_error_on_a_stream_is_its_last_event(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    case.end(McpError(-32601, "x"))
    await case.done.wait()
    assert (case.client.status, case.client.events, case.client.complete) == (200, ['{"error":-32601}'], True)


async def test_a_stream_may_end_without_a_response(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    case.end(None)
    await case.done.wait()
    assert (case.client.body, case.client.complete) == (COMMENT, True)


async def test_all_before_the_run_is_one_complete_stream(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    assert case.put("one")
    case.end("done")
    case.run()
    await case.done.wait()
    assert (case.client.events, case.client.complete) == (['"one"', '"done"'], True)


async def test_each_event_goes_out_by_itself(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    for number in range(5):
        await trio.sleep(0.1)
        assert case.put(number)
    case.end("done")
    await case.done.wait()
    arrived = [round(at, 3) for at, piece in case.client.pieces if b"data" in piece]
    assert arrived == [0.1, 0.2, 0.3, 0.4, 0.5, 0.5]


async def test_events_put_the_next_comment_off(make: Make, autojump_clock: MockClock) -> None:
    case = make(keep_alive=10)
    await case.open()
    await trio.sleep(7)
    assert case.put("one")
    await trio.sleep(14)
    case.end("done")
    await case.done.wait()
    assert case.client.times_of(COMMENT) == [0, 17]


async def test_a_full_wire_gets_no_comments(make: Make, autojump_clock: MockClock) -> None:
    case = make(keep_alive=10)
    await case.open()
    case.wire.full = True
    await trio.sleep(35)
    assert case.client.times_of(COMMENT) == [0]
    case.end("done")


async def test_nothing_follows_the_last_event(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    case.end("done")
    assert case.relay.closed
    assert not case.put("late")
    case.end("again")
    case.relay.start()
    await case.relay.room()
    await case.done.wait()
    assert case.client.events == ['"done"']


async def test_a_result_that_is_not_json_may_be_replaced(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    with pytest.raises(TypeError):
        case.end({"answer": object()})
    assert not case.relay.closed
    case.end("instead")
    case.run()
    await case.done.wait()
    assert case.client.body == b'"instead"'


async def test_a_notification_that_is_not_json_commits_to_nothing(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    with pytest.raises(TypeError):
        case.put(object())
    case.end("done")
    case.run()
    await case.done.wait()
    assert case.client.headers[b"content-type"] == b"application/json"


# -- backpressure


async def test_events_before_the_stream_is_open_are_bounded(
    make: Make, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    case = make(capacity=64)
    assert [case.put(number) for number in range(65)] == [True] * 64 + [False]
    roomy = trio.Event()

    async def wait_for_room() -> None:
        await case.relay.room()
        roomy.set()

    nursery.start_soon(wait_for_room)
    await trio.testing.wait_all_tasks_blocked()
    assert not roomy.is_set()
    case.run()
    await roomy.wait()
    assert case.put(64)
    case.end("done")
    await case.done.wait()
    assert case.client.events == [*map(str, range(65)), '"done"']


async def test_a_full_wire_refuses_and_room_waits_for_it(
    make: Make, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    case = make()
    await case.open()
    case.wire.full = True
    assert not case.put("one")
    waited = trio.Event()

    async def wait_for_room() -> None:
        await case.relay.room()
        waited.set()

    nursery.start_soon(wait_for_room)
    await trio.testing.wait_all_tasks_blocked()
    assert not waited.is_set()
    case.wire.set(full=False)
    await waited.wait()
    assert case.put("one")
    case.end("done")


async def test_room_returns_when_the_relay_is_closed_meanwhile(
    make: Make, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    case = make(capacity=1)
    assert case.put("one")
    returned = trio.Event()

    async def wait_for_room() -> None:
        await case.relay.room()
        returned.set()

    nursery.start_soon(wait_for_room)
    await trio.testing.wait_all_tasks_blocked()
    case.end("done")
    await returned.wait()
    assert not case.put("two")


async def test_events_that_arrive_while_the_head_is_sent_keep_their_order(
    make: Make, autojump_clock: MockClock
) -> None:
    case = make()
    sent = 0

    async def slow_send(message: dict[str, Any]) -> None:
        nonlocal sent
        sent += 1
        if sent <= 2:  # the head, and the first piece of the body
            assert case.put(2 * sent - 1)
        await case.client.send(message)
        if sent <= 2:
            assert case.put(2 * sent)

    case.send = slow_send
    assert case.put(0)
    await case.open()
    assert case.put(5)
    case.end("done")
    await case.done.wait()
    assert case.client.events == ["0", "1", "2", "3", "4", "5", '"done"']


async def test_a_wire_that_is_full_at_once_keeps_the_order(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    opening = case.client.send

    async def send(message: dict[str, Any]) -> None:
        await opening(message)
        if message.get("more_body"):
            assert case.put("one")
            assert case.put("two")

    case.send = send
    case.wire.full = True
    await case.open()
    assert case.put("three")
    assert case.client.events == []
    case.wire.set(full=False)
    await trio.testing.wait_all_tasks_blocked()
    assert case.put("four")
    case.end("done")
    await case.done.wait()
    assert case.client.events == ['"one"', '"two"', '"three"', '"four"', '"done"']


async def test_a_wire_that_is_lost_at_once_is_a_client_that_left(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    opening = case.client.send

    async def send(message: dict[str, Any]) -> None:
        await opening(message)
        if message.get("more_body"):
            assert case.put("one")

    case.send = send
    case.wire.gone = True
    await case.open()
    assert (case.told, case.client.complete) == (["client_gone"], False)


async def test_events_of_the_body_are_not_taken_for_leaving(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    incoming = [{"type": "http.request", "body": b"", "more_body": False}] * 2
    leaving = case.client.receive

    async def receive() -> dict[str, Any]:
        return incoming.pop() if incoming else await leaving()

    case.client.receive = receive  # type: ignore[method-assign]  # as a server that repeats the end of the body
    case.run()
    await trio.sleep(1)
    case.end("done")
    await case.done.wait()
    assert (case.told, case.client.body) == ([], b'"done"')


# -- a client that leaves


async def test_leaving_before_the_answer_is_told_once(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    case.run()
    await trio.sleep(1)
    case.client.leave()
    await case.done.wait()
    assert (case.told, case.relay.closed, case.client.status) == (["client_gone"], True, None)
    assert not case.put("late")
    case.end("late")
    assert case.told == ["client_gone"]


async def test_leaving_a_stream_is_told_once_and_ends_it(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    case.client.leave()
    await case.done.wait()
    assert (case.told, case.client.complete) == (["client_gone"], False)


async def test_leaving_after_the_last_event_is_not_told(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    case.end("done")
    case.client.leave()
    await case.done.wait()
    assert case.told == []


async def test_a_connection_dropped_for_not_reading_is_told_as_stalled(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    case.wire.stalled = True
    case.client.leave()
    await case.done.wait()
    assert case.told == ["stalled"]


async def test_a_client_that_does_not_read_is_given_up_before_the_stream(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    case.scope["state"]["genmcp.connection"] = SimpleNamespace(stalled=True)
    case.run()
    await trio.sleep(1)
    case.client.leave()
    await case.done.wait()
    assert case.told == ["stalled"]


async def test_a_stalled_wire_is_noticed_without_a_disconnect(make: Make, autojump_clock: MockClock) -> None:
    case = make(keep_alive=10)
    await case.open()
    case.wire.gone = case.wire.stalled = True
    await case.done.wait()
    assert (case.told, case.client.complete, trio.current_time() - case.client.began) == (["stalled"], False, 10)


async def test_a_wire_without_a_reader_ends_the_stream(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    await case.open()
    case.wire.set(gone=True)
    assert not case.put("one")
    await case.relay.room()
    await case.done.wait()
    assert (case.told, case.relay.closed, case.client.complete) == (["client_gone"], True, False)


async def test_a_send_that_fails_means_that_the_client_left(make: Make, autojump_clock: MockClock) -> None:
    case = make()

    async def broken(message: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()
        raise BrokenPipeError

    case.send = broken
    case.relay.start()
    case.run()
    await case.done.wait()
    assert case.told == ["client_gone"]


async def test_cancelling_the_run_means_that_the_client_left(make: Make, autojump_clock: MockClock) -> None:
    case = make()
    case.run()
    await trio.sleep(1)
    case.cancel_scope.cancel()
    await case.done.wait()
    assert case.told == ["client_gone"]


# -- what the client accepts


async def test_a_client_without_streams_waits_for_its_object(make: Make, autojump_clock: MockClock) -> None:
    case = make(may_stream=False)
    case.run()
    case.relay.start()
    assert case.put("dropped")
    await trio.sleep(100)
    assert case.client.status is None
    case.end("done")
    await case.done.wait()
    assert (case.client.headers[b"content-type"], case.client.body) == (b"application/json", b'"done"')


async def test_a_client_without_json_gets_results_as_a_stream(make: Make, autojump_clock: MockClock) -> None:
    case = make(may_answer_json=False)
    case.run()
    await trio.sleep(1)
    case.end("done")
    await case.done.wait()
    assert (case.client.headers[b"content-type"], case.client.events) == (b"text/event-stream", ['"done"'])


async def test_a_client_without_json_still_gets_the_status_of_an_error(make: Make, autojump_clock: MockClock) -> None:
    case = make(may_answer_json=False)
    case.end(McpError(-32601, "x"))
    case.run()
    await case.done.wait()
    assert (case.client.status, case.client.body) == (404, b'{"error":-32601}')
