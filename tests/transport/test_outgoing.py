"""The outbox: what is written at once, what waits, and for how long."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from transport.outgoing import HIGH_WATER, Outgoing, PeerGone

DEADLINE = 30.0


class Reader:
    """A client that takes bytes only as fast as a test reads them."""

    def __init__(self) -> None:
        self.mine, theirs = trio.testing.lockstep_stream_pair()
        self.told: list[str] = []
        self.outgoing = Outgoing(
            theirs,
            None,
            write_deadline=DEADLINE,
            on_gone=lambda: self.told.append("gone"),
            on_empty=lambda: self.told.append("empty"),
        )

    async def take(self, size: int) -> bytes:
        taken = b""
        while len(taken) < size:
            taken += await self.mine.receive_some(size - len(taken))
        return taken


@asynccontextmanager
async def reading() -> AsyncIterator[Reader]:
    reader = Reader()
    async with trio.open_nursery() as nursery:
        reader.outgoing.start(nursery)
        yield reader
        reader.outgoing.lost()


async def test_writing_never_waits_and_keeps_order() -> None:
    async with reading() as reader:
        with trio.testing.assert_no_checkpoints():
            for number in range(10):
                reader.outgoing.write(b"%d" % number)
        assert await reader.take(10) == b"0123456789"


async def test_the_flush_task_exists_only_while_there_is_a_rest() -> None:
    async with reading() as reader:
        before = trio.lowlevel.current_statistics().tasks_living
        reader.outgoing.write(b"x" * 100)
        assert trio.lowlevel.current_statistics().tasks_living == before + 1
        await reader.take(100)
        await trio.testing.wait_all_tasks_blocked()
        assert trio.lowlevel.current_statistics().tasks_living == before
        assert reader.told == ["empty"]
        assert reader.outgoing.pending == 0


async def test_room_waits_above_the_high_water_mark(autojump_clock: trio.testing.MockClock) -> None:
    async with reading() as reader:
        reader.outgoing.write(b"x" * HIGH_WATER)
        with trio.testing.assert_no_checkpoints():
            await reader.outgoing.room()
        reader.outgoing.write(b"x" * 2 * HIGH_WATER)
        with trio.move_on_after(10) as waiting:
            await reader.outgoing.room()
        assert waiting.cancelled_caught
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.take, 2 * HIGH_WATER)
            await reader.outgoing.room()
        assert reader.outgoing.pending <= HIGH_WATER


async def test_a_reader_that_takes_nothing_is_dropped(autojump_clock: trio.testing.MockClock) -> None:
    async with reading() as reader:
        reader.outgoing.write(b"x" * 3 * HIGH_WATER)
        with pytest.raises(PeerGone):
            await reader.outgoing.room()
        assert trio.current_time() == pytest.approx(DEADLINE)
        assert reader.outgoing.stalled
        assert reader.outgoing.gone
        assert reader.outgoing.pending == 0
        assert reader.told == ["gone"]


async def test_progress_moves_the_deadline(autojump_clock: trio.testing.MockClock) -> None:
    async with reading() as reader:
        reader.outgoing.write(b"x" * 3 * HIGH_WATER)
        for _ in range(12):
            await trio.sleep(DEADLINE - 1)
            await reader.take(2**14)
        assert not reader.outgoing.gone


async def test_nothing_is_queued_for_a_client_that_is_gone() -> None:
    async with reading() as reader:
        reader.outgoing.abort()
        reader.outgoing.abort()
        reader.outgoing.write(b"x")
        assert reader.outgoing.pending == 0
        assert reader.told == ["gone"]
        assert not reader.outgoing.stalled
        with pytest.raises(PeerGone):
            await reader.outgoing.room()
        await reader.outgoing.settled()


async def test_a_client_that_closes_ends_whoever_waits() -> None:
    async with reading() as reader:
        reader.outgoing.write(b"x" * 3 * HIGH_WATER)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.mine.aclose)
            with pytest.raises(PeerGone):
                await reader.outgoing.room()
        assert not reader.outgoing.stalled


async def test_settled_waits_for_the_last_byte(autojump_clock: trio.testing.MockClock) -> None:
    async with reading() as reader:
        reader.outgoing.write(b"x" * 3 * HIGH_WATER)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.take, 3 * HIGH_WATER)
            await reader.outgoing.settled()
        assert reader.outgoing.pending == 0
        assert not reader.outgoing.gone
