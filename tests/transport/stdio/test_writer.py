from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
import trio.testing
from trio.testing import MockClock

from transport.stdio.writer import MUCH, PIECE, Writer


@asynccontextmanager
async def writing(**options: float) -> AsyncIterator[tuple[Writer, trio.abc.ReceiveStream, list[bool]]]:
    """A writer whose reader takes nothing by itself, and what its task has returned."""
    send, receive = trio.testing.lockstep_stream_one_way_pair()
    writer = Writer(send, capacity=3, **options)
    returned: list[bool] = []

    async def run() -> None:
        returned.append(await writer.run())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await trio.testing.wait_all_tasks_blocked()
        yield writer, receive, returned
        nursery.cancel_scope.cancel()


async def read(receive: trio.abc.ReceiveStream, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += await receive.receive_some()
    return data


async def test_messages_go_out_in_order(autojump_clock: MockClock) -> None:
    async with writing() as (writer, receive, _):
        assert writer.write(b"a")
        writer.answer(b"b")
        assert writer.write(b"c")
        assert await read(receive, 6) == b"a\nb\nc\n"


async def test_events_wait_for_room_and_answers_do_not(autojump_clock: MockClock) -> None:
    async with writing() as (writer, receive, _):
        assert [writer.write(b"event") for _ in range(4)] == [True, True, True, False]
        writer.answer(b"answer")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read, receive, 10)
            await writer.room()
        assert writer.write(b"more")


async def test_large_events_fill_the_way_before_many_do(autojump_clock: MockClock) -> None:
    async with writing() as (writer, _, _returned):
        assert writer.write(b"x" * MUCH)
        assert not writer.write(b"y")


async def test_low_waits_until_most_is_read(autojump_clock: MockClock) -> None:
    async with writing() as (writer, receive, _):
        writer.answer(b"x" * MUCH)
        with trio.move_on_after(1) as waiting:
            await writer.low()
        assert waiting.cancelled_caught
        await read(receive, PIECE)
        await writer.low()


async def test_client_that_reads_nothing_is_given_up(autojump_clock: MockClock) -> None:
    async with writing(deadline=30) as (writer, _, returned):
        assert writer.write(b"a")
        await trio.sleep(31)
        assert returned == [False]
        assert writer.stalled
        assert writer.closed
        assert not writer.write(b"b")


async def test_deadline_moves_with_what_is_read(autojump_clock: MockClock) -> None:
    async with writing(deadline=30) as (writer, receive, returned):
        writer.answer(b"x" * (5 * PIECE))
        for _ in range(5):
            await trio.sleep(20)
            await receive.receive_some(PIECE)
        assert returned == []
        assert not writer.stalled


async def test_close_writes_what_waits_and_takes_no_more(autojump_clock: MockClock) -> None:
    async with writing() as (writer, receive, returned):
        writer.answer(b"a")
        writer.close()
        writer.answer(b"b")
        assert await read(receive, 2) == b"a\n"
        await trio.testing.wait_all_tasks_blocked()
        assert returned == [True]
        assert writer.done


async def test_client_that_is_gone_frees_who_waits(autojump_clock: MockClock) -> None:
    async with writing() as (writer, receive, returned):
        while writer.write(b"event"):
            pass
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.room)
            nursery.start_soon(writer.low)
            await trio.testing.wait_all_tasks_blocked()
            await receive.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert returned == [False]
        assert not writer.stalled
