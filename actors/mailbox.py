"""One actor's mailbox: a trio memory channel that only this class touches.

The channel is unbounded and user messages are counted here, because a bounded channel would refuse
`Down` and timer messages too; those travel wrapped in `_Exempt` and are not counted. A message handed
to a task that waits for one does not lie in the mailbox, so it is not counted either.

A receiver that wants only some messages takes the others out of the channel and sets them aside, in
order. What is set aside is older than what is in the channel, so every receiver looks there first.
Another task of the same actor may be waiting in the channel and want what was just set aside: it is
woken with `_LOOK_AGAIN`, which is handed to waiting tasks only and so never lies in the channel.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import trio
from trio.lowlevel import cancel_shielded_checkpoint, checkpoint_if_cancelled

Match = Callable[[Any], bool]
_LOOK_AGAIN = object()
_NOTHING = object()


class _Exempt:
    """A message of the runtime's: never refused, never counted."""

    __slots__ = ("message",)

    def __init__(self, message: object) -> None:
        self.message = message


class Mailbox:
    """The messages that wait for one actor.

    Args:
        capacity: How many user messages may wait; `math.inf` for no limit.
    """

    __slots__ = (
        "_aside",
        "_counted",
        "_exempt",
        "_hungry",
        "_inlet",
        "_outlet",
        "_room",
        "_selecting",
        "_sifted",
        "capacity",
        "dropped",
        "folded",
        "handled",
    )

    def __init__(self, capacity: float) -> None:
        self._inlet, self._outlet = trio.open_memory_channel[Any](math.inf)
        self._aside: deque[Any] | None = None
        self._room: trio.lowlevel.ParkingLot | None = None
        self._counted = 0  # user messages that wait
        self._exempt = 0  # the runtime's that wait
        self._hungry = 0  # tasks that wait in the channel and were not handed anything yet
        self._selecting = 0  # tasks that wait in the channel, or were just handed something, and may set it aside
        self._sifted = 0  # how often something was set aside
        self.capacity = capacity
        self.handled = 0
        self.dropped = 0
        self.folded = 0

    @property
    def size(self) -> int:  # not __len__: an empty mailbox must not be false
        """How many messages wait, the runtime's own included."""
        return self._counted + self._exempt

    @property
    def unread(self) -> int:
        """How many user messages wait."""
        return self._counted

    @property
    def waiting(self) -> bool:
        """Whether a task of the actor waits for a message now."""
        return self._hungry > 0

    def put(self, message: object) -> bool:
        """Put a user message in; never blocks.

        Args:
            message: Anything.

        Returns:
            False if the mailbox is full.
        """
        if self._counted >= self.capacity:
            return False
        if self._goes_to_a_task():
            if self._room is not None:
                self._room.unpark()  # this took no room: the next may come
        else:
            self._counted += 1
        self._inlet.send_nowait(message)
        return True

    def put_exempt(self, message: object) -> None:
        """Put a message of the runtime's in; it is never refused.

        Args:
            message: A `Down`, a timer's message.
        """
        if not self._goes_to_a_task():
            self._exempt += 1
        self._inlet.send_nowait(_Exempt(message))

    def fold(self, message: object) -> bool:
        """Count a message that found no room as one with an equal message that waits already.

        Args:
            message: What `put` refused.

        Returns:
            False if no equal message of the same type waits.
        """
        if not any(_equal(message, waiting) for waiting in self._gather()):
            return False
        self.folded += 1
        return True

    async def room(self) -> None:
        """Wait until `put` is worth trying again, or the mailbox is closed."""
        if self._room is None:
            self._room = trio.lowlevel.ParkingLot()
        await self._room.park()

    async def receive(self, match: Match | None = None) -> Any:
        """Wait for the first message, or the first that matches; the others stay, in order.

        Always a checkpoint. Cancelled, it leaves the mailbox as it was.

        Args:
            match: Says whether a message is wanted.

        Returns:
            The message.
        """
        await checkpoint_if_cancelled()
        if self.size:
            try:
                message = self.receive_nowait(match)
            except trio.WouldBlock:
                pass  # and wait below, where this exception and its frames, a kilobyte an actor, are gone
            else:
                await cancel_shielded_checkpoint()
                return message
        if match is not None:
            return await self._next_matching(match)
        while True:
            item = await self._handed()
            if item is not _LOOK_AGAIN:
                self.handled += 1
                return _open(item)
            if self._aside:
                return self._taken(self._aside.popleft())

    def receive_nowait(self, match: Match | None = None) -> Any:
        """Take the first (matching) message that is there already.

        Args:
            match: Says whether a message is wanted.

        Returns:
            The message.

        Raises:
            trio.WouldBlock: There is none.
        """
        if match is not None:
            item = self._find(match)
            if item is _NOTHING:
                raise trio.WouldBlock
        else:
            item = self._aside.popleft() if self._aside else self._outlet.receive_nowait()
        return self._taken(item)

    def discard(self, match: Match) -> int:
        """Take every waiting message out that matches.

        Args:
            match: Says whether a message is unwanted.

        Returns:
            How many there were.
        """
        aside, self._aside = self._aside or (), deque[Any]()
        found = 0
        for put_back, items in ((self._aside.append, aside), (self._inlet.send_nowait, self._drain())):
            for item in items:
                if match(_open(item)):
                    found += 1
                    self._uncount(item)
                else:
                    put_back(item)
        return found

    def close(self) -> int:
        """Refuse everything from now on and wake who waits for room.

        Returns:
            How many messages were left; they are lost.
        """
        left = self.size
        self._inlet.close()
        self._outlet.close()
        self._aside = None
        if self._room is not None:
            self._room.unpark_all()
        return left

    async def _next_matching(self, match: Match) -> Any:
        self._selecting += 1
        try:
            while True:
                seen = self._sifted
                item = await self._handed()
                found = _NOTHING if item is _LOOK_AGAIN else self._sift(item, match)
                own = 0 if item is _LOOK_AGAIN else 1
                if found is _NOTHING and self._sifted != seen + own:  # another task set something aside
                    found = self._find(match)
                if found is not _NOTHING:
                    return self._taken(found)
        finally:
            self._selecting -= 1

    async def _handed(self) -> Any:
        """Wait in the channel; what comes out was handed over directly, or is counted off here."""
        if self.size > len(self._aside or ()):
            # another task set something aside and more arrived before this one looked again
            item = self._outlet.receive_nowait()
            self._uncount(item)
            return item
        await checkpoint_if_cancelled()  # the one in the channel would yield after this task was counted
        self._hungry += 1
        try:
            return await self._outlet.receive()
        except BaseException:
            self._hungry -= 1
            raise

    def _sift(self, item: Any, match: Match) -> Any:
        """Give `item` back if it matches, else set it aside and tell the other waiting tasks."""
        aside = self._aside = self._aside if self._aside is not None else deque()
        aside.append(item)  # before the predicate runs: if that raises, the message must not be lost
        if type(item) is _Exempt:
            self._exempt += 1
        else:
            self._counted += 1
        if match(_open(item)):
            return aside.pop()
        self._sifted += 1
        while self._goes_to_a_task():
            self._inlet.send_nowait(_LOOK_AGAIN)
        return _NOTHING

    def _goes_to_a_task(self) -> bool:
        """Whether what is sent now is handed to a task that waits in the channel, which it is then said to have been.

        A task that was cancelled has left the channel at once, but counts as hungry until it runs.
        """
        if not self._hungry or not self._outlet.statistics().tasks_waiting_receive:
            return False
        self._hungry -= 1
        return True

    def _find(self, match: Match) -> Any:
        """Take the first match out of what waits, if there is one."""
        aside = self._gather()
        for index, item in enumerate(aside):
            if match(_open(item)):
                del aside[index]
                return item
        return _NOTHING

    def _gather(self) -> deque[Any]:
        """Set everything aside and look at it there.

        Not while a task may hold an older message that it will set aside: it would land behind younger ones.
        """
        aside = self._aside = self._aside if self._aside is not None else deque()
        if not self._selecting:
            aside.extend(self._drain())
        return aside

    def _drain(self) -> list[Any]:
        return [self._outlet.receive_nowait() for _ in range(self._outlet.statistics().current_buffer_used)]

    def _taken(self, item: Any) -> Any:
        self.handled += 1
        self._uncount(item)
        return _open(item)

    def _uncount(self, item: Any) -> None:
        if type(item) is _Exempt:
            self._exempt -= 1
        else:
            self._counted -= 1
            if self._room is not None:
                self._room.unpark()


def _open(item: Any) -> Any:
    return item.message if type(item) is _Exempt else item


def _equal(message: object, item: object) -> bool:
    """Whether two messages are of one type and equal; a comparison that fails is no reason to fold."""
    waiting = _open(item)
    try:
        return type(waiting) is type(message) and bool(waiting == message)
    except Exception:
        return False
