import math
import random
from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.testing import assert_checkpoints

from actors.mailbox import Mailbox, Match
from actors.testing import settle


def even(message: int) -> bool:
    return message % 2 == 0


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox(5)


async def test_messages_come_in_order(mailbox: Mailbox) -> None:
    assert all(mailbox.put(n) for n in (1, 2, 3))
    assert [await mailbox.receive() for _ in range(3)] == [1, 2, 3]
    assert (mailbox.handled, mailbox.size) == (3, 0)


async def test_full_mailbox_refuses_user_messages_only(mailbox: Mailbox) -> None:
    assert [mailbox.put(n) for n in range(6)] == [True] * 5 + [False]
    mailbox.put_exempt("down")
    assert mailbox.size == 6
    assert [await mailbox.receive() for _ in range(6)] == [0, 1, 2, 3, 4, "down"]
    assert mailbox.put(9)


async def test_runtime_messages_do_not_count(mailbox: Mailbox) -> None:
    for n in range(20):
        mailbox.put_exempt(n)
    assert mailbox.put("user")


async def test_selective_receive_keeps_the_rest_in_order(mailbox: Mailbox) -> None:
    for n in (1, 3, 4, 5):
        mailbox.put(n)
    assert await mailbox.receive(even) == 4
    mailbox.put(7)
    assert [await mailbox.receive() for _ in range(4)] == [1, 3, 5, 7]


async def test_none_is_a_message_like_any_other(mailbox: Mailbox) -> None:
    mailbox.put(None)
    assert mailbox.receive_nowait(lambda message: message is None) is None


async def test_waiting_selective_receiver_sets_others_aside(mailbox: Mailbox, nursery: trio.Nursery) -> None:
    got: list[int] = []

    async def want_even() -> None:
        got.append(await mailbox.receive(even))

    nursery.start_soon(want_even)
    await settle()
    assert mailbox.waiting
    for n in (1, 3, 6):
        mailbox.put(n)
    await settle()
    assert got == [6]
    assert [mailbox.receive_nowait(), mailbox.receive_nowait()] == [1, 3]


async def test_what_one_task_sets_aside_wakes_another(mailbox: Mailbox, nursery: trio.Nursery) -> None:
    got: dict[str, Any] = {}

    async def take(key: str, match: Callable[[int], bool]) -> None:
        got[key] = await mailbox.receive(match)

    nursery.start_soon(take, "even", even)
    await settle()
    nursery.start_soon(take, "big", lambda n: n > 100)
    await settle()
    mailbox.put(101)
    await settle()
    assert got == {"big": 101}
    mailbox.put(2)
    await settle()
    assert got == {"big": 101, "even": 2}
    assert mailbox.size == 0


async def test_task_that_was_just_handed_another_looks_again(mailbox: Mailbox, nursery: trio.Nursery) -> None:
    got: list[int] = []

    async def take(match: Callable[[int], bool]) -> None:
        got.append(await mailbox.receive(match))

    nursery.start_soon(take, even)
    await settle()
    nursery.start_soon(take, lambda n: n > 100)
    await settle()
    mailbox.put(101)  # to the first task, which does not want it
    mailbox.put(1)  # to the second, which must find 101 all the same
    await settle()
    assert got == [101]
    assert mailbox.receive_nowait() == 1
    mailbox.put(2)
    await settle()
    assert got == [101, 2]


async def test_two_receivers_share_one_message_correctly(mailbox: Mailbox, nursery: trio.Nursery) -> None:
    got: list[int] = []

    async def take(match: Callable[[int], bool] | None) -> None:
        got.append(await mailbox.receive(match))

    nursery.start_soon(take, even)
    await settle()
    for _ in range(2):
        nursery.start_soon(take, None)
    await settle()
    mailbox.put(1)
    await settle()
    assert got == [1]
    mailbox.put(3)
    await settle()
    mailbox.put(4)
    await settle()
    assert got == [1, 3, 4]


async def test_message_behind_one_just_handed_over_stays_behind(mailbox: Mailbox, nursery: trio.Nursery) -> None:
    got: list[int] = []

    async def want_even() -> None:
        got.append(await mailbox.receive(even))

    nursery.start_soon(want_even)
    await settle()
    mailbox.put(1)  # handed to the task, which did not look at it yet
    mailbox.put(3)
    assert not mailbox.fold(5)
    with pytest.raises(trio.WouldBlock):
        mailbox.receive_nowait(lambda n: n == 3)
    mailbox.put(2)
    await settle()
    assert [mailbox.receive_nowait(), mailbox.receive_nowait()] == [1, 3]
    assert got == [2]


async def test_failing_predicate_loses_no_message(mailbox: Mailbox, nursery: trio.Nursery) -> None:
    failed = trio.Event()

    async def fail() -> None:
        with pytest.raises(ZeroDivisionError):
            await mailbox.receive(lambda n: n / 0)
        failed.set()

    nursery.start_soon(fail)
    await settle()
    mailbox.put(1)
    await failed.wait()
    assert mailbox.receive_nowait() == 1
    assert mailbox.size == 0


async def test_cancelled_receive_leaves_the_mailbox_as_it_was(mailbox: Mailbox) -> None:
    for match in (None, even):
        with trio.move_on_after(0):
            await mailbox.receive(match)
        assert not mailbox.waiting
    mailbox.put(1)
    mailbox.put(2)
    with trio.CancelScope() as scope:
        scope.cancel()
        await mailbox.receive()
    assert [mailbox.receive_nowait(), mailbox.receive_nowait()] == [1, 2]


async def test_waiter_cancelled_between_two_looks_is_not_counted(mailbox: Mailbox, nursery: trio.Nursery) -> None:
    scope = trio.CancelScope()

    async def take() -> None:
        with scope:
            await mailbox.receive(even)

    nursery.start_soon(take)
    await settle()
    mailbox.put(1)
    scope.cancel()
    await settle()
    assert not mailbox.waiting
    assert [mailbox.put(n) for n in range(5)] == [True] * 4 + [False]


async def test_receive_always_checkpoints(mailbox: Mailbox) -> None:
    mailbox.put(1)
    mailbox.put(2)
    with assert_checkpoints():
        await mailbox.receive()
    with assert_checkpoints():
        await mailbox.receive(even)


async def test_receive_nowait_raises_when_nothing_is_there(mailbox: Mailbox) -> None:
    mailbox.put(1)
    with pytest.raises(trio.WouldBlock):
        mailbox.receive_nowait(even)
    assert mailbox.receive_nowait() == 1
    with pytest.raises(trio.WouldBlock):
        mailbox.receive_nowait()


async def test_handed_over_message_takes_no_room(nursery: trio.Nursery) -> None:
    mailbox = Mailbox(1)
    nursery.start_soon(mailbox.receive)
    await settle()
    assert [mailbox.put(n) for n in (1, 2, 3)] == [True, True, False]
    await settle()
    assert mailbox.size == 1


async def test_handed_over_runtime_message_is_not_counted(mailbox: Mailbox, nursery: trio.Nursery) -> None:
    nursery.start_soon(mailbox.receive)
    await settle()
    mailbox.put_exempt("down")
    await settle()
    assert (mailbox.handled, mailbox.waiting) == (1, False)


async def test_fold_finds_equal_messages_of_one_type() -> None:
    mailbox = Mailbox(2)
    mailbox.put(1)
    mailbox.put("changed")
    assert mailbox.fold("changed")
    assert not mailbox.fold("other")
    assert not mailbox.fold(True)
    assert mailbox.folded == 1
    assert [mailbox.receive_nowait(), mailbox.receive_nowait()] == [1, "changed"]


async def test_failing_comparison_does_not_fold(mailbox: Mailbox) -> None:
    class Odd:
        __hash__ = None  # type: ignore[assignment] # equality that fails, as of an array

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

    mailbox.put(Odd())
    assert not mailbox.fold(Odd())


async def test_room_is_given_to_who_waits_for_it(nursery: trio.Nursery) -> None:
    mailbox = Mailbox(1)
    mailbox.put(1)
    put: list[bool] = []

    async def put_when_room() -> None:
        await mailbox.room()
        put.append(mailbox.put(2))

    nursery.start_soon(put_when_room)
    await settle()
    assert put == []
    mailbox.receive_nowait()
    await settle()
    assert put == [True]


async def test_message_handed_over_leaves_room_for_the_next(nursery: trio.Nursery) -> None:
    mailbox = Mailbox(1)
    mailbox.put(0)

    async def put_when_room(n: int) -> None:
        while not mailbox.put(n):
            await mailbox.room()

    for n in range(1, 4):
        nursery.start_soon(put_when_room, n)
    await settle()
    got = []
    for _ in range(4):
        with trio.fail_after(1):
            got.append(await mailbox.receive())
    assert sorted(got) == [0, 1, 2, 3]


async def test_discard_takes_out_what_matches_only(mailbox: Mailbox) -> None:
    for n in (1, 2, 3):
        mailbox.put_exempt(n)
    assert mailbox.receive_nowait(lambda n: n == 1) == 1
    mailbox.put_exempt(4)
    assert mailbox.discard(even) == 2
    assert mailbox.receive_nowait() == 3
    assert mailbox.size == 0


async def test_discarded_user_messages_give_room_back() -> None:
    mailbox = Mailbox(2)
    mailbox.put(1)
    mailbox.put(2)
    assert mailbox.discard(even) == 1
    assert mailbox.put(3)
    assert not mailbox.put(5)


async def test_close_tells_how_many_were_left(nursery: trio.Nursery) -> None:
    mailbox = Mailbox(math.inf)
    for n in range(4):
        mailbox.put(n)
    mailbox.receive_nowait(lambda n: n == 2)
    nursery.start_soon(mailbox.room)
    await settle()
    assert mailbox.close() == 3
    with pytest.raises(trio.ClosedResourceError):
        mailbox.put(1)


async def test_size_is_what_lies_there_whatever_happens() -> None:
    chance = random.Random(2)
    mailbox = Mailbox(20)
    received: list[Any] = []

    async def take(scope: trio.CancelScope, match: Match | None) -> None:
        with scope:
            received.append(await mailbox.receive(match))

    async with trio.open_nursery() as nursery:
        scopes: list[trio.CancelScope] = []
        for number in range(3000):
            match chance.randrange(6):
                case 0 | 1:
                    mailbox.put(number)
                case 2:
                    mailbox.put_exempt(number)
                case 3:
                    scopes.append(trio.CancelScope())
                    wanted = chance.choice([None, lambda item: item % 2 == 0, lambda item: item % 7 == 0])
                    nursery.start_soon(take, scopes[-1], wanted)
                case 4:
                    mailbox.discard(lambda item: item % 5 == 0)
                case 5 if scopes:
                    scopes.pop(chance.randrange(len(scopes))).cancel()
            if chance.random() < 0.7:
                await settle()
            lying = mailbox._outlet.statistics().current_buffer_used + len(mailbox._aside or ())
            assert mailbox.size == lying
        nursery.cancel_scope.cancel()
    assert len(received) > 200


async def test_message_for_a_task_that_was_just_cancelled_waits(nursery: trio.Nursery, mailbox: Mailbox) -> None:
    scope = trio.CancelScope()

    async def take() -> None:
        with scope:
            await mailbox.receive()

    nursery.start_soon(take)
    await settle()
    scope.cancel()
    assert all(mailbox.put(n) for n in range(5))
    await settle()
    assert (mailbox.size, mailbox.waiting, mailbox.put(5)) == (5, False, False)
    assert [await mailbox.receive() for _ in range(5)] == [0, 1, 2, 3, 4]
