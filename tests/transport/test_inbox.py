"""What an application receives, and when whoever sends has to wait."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from transport.inbox import LIMIT, Inbox

DISCONNECT = {"type": "http.disconnect"}


def piece(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_body_is_given_as_it_was_put() -> None:
    inbox = Inbox()
    await inbox.put(piece(b"one"))
    assert await inbox.receive() == piece(b"one")
    await inbox.put(piece(b"two", more=False))
    assert await inbox.receive() == piece(b"two", more=False)


async def test_waiting_pieces_are_joined() -> None:
    inbox = Inbox()
    for _ in range(1000):
        await inbox.put(piece(b"x"))
    await inbox.put(piece(b"", more=False))
    assert await inbox.receive() == piece(b"x" * 1000, more=False)


async def test_an_empty_body_is_given_once(autojump_clock: trio.testing.MockClock) -> None:
    inbox = Inbox()
    await inbox.put(piece(b"", more=False))
    assert await inbox.receive() == piece(b"", more=False)
    with pytest.raises(trio.TooSlowError), trio.fail_after(60):
        await inbox.receive()


async def test_empty_pieces_say_nothing(autojump_clock: trio.testing.MockClock) -> None:
    inbox = Inbox()
    await inbox.put(piece(b""))
    with trio.move_on_after(60) as waiting:
        await inbox.receive()
    assert waiting.cancelled_caught


async def test_receive_waits_for_what_is_put_later(autojump_clock: trio.testing.MockClock) -> None:
    inbox = Inbox()

    async def later() -> None:
        await trio.sleep(5)
        await inbox.put(piece(b"late"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(later)
        assert await inbox.receive() == piece(b"late")
    assert trio.current_time() >= 5


async def test_a_cancelled_receive_loses_nothing(autojump_clock: trio.testing.MockClock) -> None:
    inbox = Inbox()
    with trio.move_on_after(1):
        await inbox.receive()
    await inbox.put(piece(b"kept"))
    with trio.CancelScope() as scope:
        scope.cancel()
        await inbox.receive()
    assert scope.cancelled_caught
    assert await inbox.receive() == piece(b"kept")


async def test_every_waiting_task_is_told_of_the_disconnect(autojump_clock: trio.testing.MockClock) -> None:
    inbox, got = Inbox(), []

    async def wait() -> None:
        got.append(await inbox.receive())

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        await inbox.put(DISCONNECT)
    assert got == [DISCONNECT] * 3


async def test_the_disconnect_comes_after_the_rest_of_the_body_and_stays() -> None:
    inbox = Inbox()
    await inbox.put(piece(b"part"))
    await inbox.put(DISCONNECT)
    assert [await inbox.receive() for _ in range(3)] == [piece(b"part"), DISCONNECT, DISCONNECT]


async def test_asking_for_ever_starves_nobody() -> None:
    inbox = Inbox()
    await inbox.put(DISCONNECT)
    with trio.testing.assert_checkpoints():
        await inbox.receive()


async def test_too_much_unread_holds_the_sender(autojump_clock: trio.testing.MockClock) -> None:
    inbox = Inbox()
    await inbox.put(piece(b"x" * LIMIT))  # exactly what may wait
    with trio.move_on_after(60) as waiting:
        await inbox.put(piece(b"y"))
    assert waiting.cancelled_caught
    assert (await inbox.receive())["body"] == b"x" * LIMIT + b"y"  # it was added nevertheless
    await inbox.put(piece(b"z"))


async def test_taking_lets_the_sender_go_on(autojump_clock: trio.testing.MockClock) -> None:
    inbox = Inbox()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(inbox.put, piece(b"x" * (LIMIT + 1)))
        await trio.testing.wait_all_tasks_blocked()
        assert len(nursery.child_tasks) == 1
        await inbox.receive()
        await trio.testing.wait_all_tasks_blocked()
        assert len(nursery.child_tasks) == 0


async def test_the_disconnect_never_waits() -> None:
    inbox = Inbox()
    with trio.move_on_after(0):
        await inbox.put(piece(b"x" * (LIMIT + 1)))
    with trio.testing.assert_no_checkpoints():
        await inbox.put(DISCONNECT)


async def test_closing_lets_the_sender_go_on_and_drops_the_rest(autojump_clock: trio.testing.MockClock) -> None:
    inbox = Inbox()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(inbox.put, piece(b"x" * (LIMIT + 1)))
        await trio.testing.wait_all_tasks_blocked()
        inbox.close()
    with trio.testing.assert_no_checkpoints():
        await inbox.put(piece(b"x" * (LIMIT + 1)))
    assert inbox._unread() == 0


async def test_what_was_taken_or_dropped_is_reported() -> None:
    taken: list[int] = []
    inbox = Inbox(taken.append)
    with trio.testing.assert_no_checkpoints():
        await inbox.put(piece(b"x" * (2 * LIMIT)))  # its sender is held back by a window instead
    await inbox.receive()
    await inbox.put(piece(b"yy"))
    inbox.close()
    await inbox.put(piece(b"zzz"))
    assert taken == [2 * LIMIT, 2, 3]


async def test_websocket_messages_stay_apart() -> None:
    inbox = Inbox()
    messages: list[dict[str, Any]] = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": "one", "bytes": None},
        {"type": "websocket.receive", "text": None, "bytes": b"two"},
        {"type": "websocket.disconnect", "code": 1000},
    ]
    for message in messages:
        await inbox.put(message)
    assert [await inbox.receive() for _ in messages] == messages


async def test_unread_websocket_messages_hold_the_sender(autojump_clock: trio.testing.MockClock) -> None:
    inbox = Inbox()
    with trio.move_on_after(60) as waiting:
        await inbox.put({"type": "websocket.receive", "text": None, "bytes": b"x" * (LIMIT + 1)})
    assert waiting.cancelled_caught


async def test_a_whole_body_is_given_whole_or_not_at_all() -> None:
    inbox = Inbox()
    await inbox.put(piece(b"one"))
    assert inbox.take_whole() is None
    assert await inbox.receive() == piece(b"one")
    await inbox.put(piece(b"two", more=False))
    assert inbox.take_whole() is None  # the first piece is gone
    other = Inbox()
    await other.put(piece(b"one", more=False))
    assert other.take_whole() == b"one"
    assert other.take_whole() is None
