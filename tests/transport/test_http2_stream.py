"""What one HTTP/2 stream holds back, and whose turn it is."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from h2.errors import ErrorCodes
from hypercorn.protocol.h2 import BUFFER_HIGH_WATER, BufferCompleteError
from hypercorn.trio.worker_context import EventWrapper
from priority.priority import DeadlockError

from transport.http2_stream import Http2Stream, Turns

HIGH = b"x" * BUFFER_HIGH_WATER


class Owner:
    """The connection's part."""

    def __init__(self) -> None:
        self.resets: list[tuple[int, ErrorCodes | None, float]] = []
        self.taken: list[tuple[int, int]] = []
        self.stream = Http2Stream(self, 7, event_class=EventWrapper, deadline=30)

    async def end_stream(self, stream_id: int, code: ErrorCodes | None) -> None:
        self.resets.append((stream_id, code, trio.current_time()))
        await self.stream.close()

    def body_taken(self, stream_id: int, size: int) -> None:
        self.taken.append((stream_id, size))


async def test_a_little_never_waits() -> None:
    stream = Owner().stream
    with trio.testing.assert_no_checkpoints():
        await stream.push(HIGH[:-1])
    assert await stream.pop(10) == HIGH[:10]


async def test_every_push_over_the_mark_waits(autojump_clock: trio.testing.MockClock) -> None:
    stream = Owner().stream
    for _ in range(3):  # Hypercorn's lets every second one through
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.push, HIGH)
            await trio.testing.wait_all_tasks_blocked()
            assert len(nursery.child_tasks) == 1
            assert await stream.pop(2**20) == HIGH


async def test_a_shut_window_ends_the_stream_at_the_deadline(autojump_clock: trio.testing.MockClock) -> None:
    owner = Owner()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(owner.stream.push, HIGH)
        await trio.sleep(5)
        assert await owner.stream.pop(0) == b""
    ((stream_id, code, at),) = owner.resets
    assert (stream_id, code) == (7, ErrorCodes.CANCEL)
    assert at == pytest.approx(35)
    assert owner.stream.stalled


async def test_progress_moves_the_deadline(autojump_clock: trio.testing.MockClock) -> None:
    owner = Owner()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(owner.stream.push, HIGH * 2)
        for _ in range(10):
            await trio.sleep(20)
            assert await owner.stream.pop(1) == b"x"
            assert await owner.stream.pop(0) == b""
        assert owner.resets == []
    assert owner.resets[0][2] == pytest.approx(230)


async def test_waiting_for_a_turn_is_not_a_stall(autojump_clock: trio.testing.MockClock) -> None:
    owner = Owner()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(owner.stream.push, HIGH)
        await trio.sleep(10_000)
        assert await owner.stream.pop(2**20) == HIGH
    assert owner.resets == []
    assert not owner.stream.stalled


async def test_the_end_of_an_answer_has_the_deadline_too(autojump_clock: trio.testing.MockClock) -> None:
    owner = Owner()
    await owner.stream.push(b"end")
    owner.stream.set_complete()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(owner.stream.drain)
        await trio.testing.wait_all_tasks_blocked()
        await owner.stream.pop(0)
    assert owner.stream.stalled
    assert owner.stream.ended


async def test_a_closed_stream_takes_nothing() -> None:
    stream = Owner().stream
    await stream.close()
    with pytest.raises(BufferCompleteError):
        await stream.push(b"x")


async def test_a_stream_reports_the_body_under_its_number() -> None:
    owner = Owner()
    owner.stream.body_taken(100)
    assert owner.taken == [(7, 100)]


def test_turns_go_round() -> None:
    turns = Turns()
    for stream in (1, 3, 5):
        turns.insert_stream(stream)
    assert [next(turns) for _ in range(6)] == [1, 3, 5, 1, 3, 5]


def test_a_blocked_stream_is_passed_over() -> None:
    turns = Turns()
    for stream in (1, 3):
        turns.insert_stream(stream)
    turns.block(1)
    assert [next(turns) for _ in range(2)] == [3, 3]
    turns.unblock(1)
    assert {next(turns) for _ in range(2)} == {1, 3}


def test_a_removed_stream_does_not_come_back() -> None:
    turns = Turns()
    turns.insert_stream(1)
    turns.remove_stream(1)
    turns.unblock(1)
    turns.remove_stream(1)
    with pytest.raises(DeadlockError):
        next(turns)
