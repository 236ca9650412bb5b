"""Timers: one heap and one task for all of a node's.

A task a timer would cost 30 µs and 4 kB; an entry in the heap costs half a microsecond. A cancelled
timer stays in the heap until it is due, or until more than half of the heap is cancelled.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import math
from collections.abc import Callable
from functools import partial

import trio

from actors.address import PREFIX, Pid
from actors.cell import Cell, current_cell
from actors.directory import Directory
from actors.loop import Loop, on_loop

logger = logging.getLogger("actors")
KILL_PATIENCE = 1.0  # seconds a killed actor gets to reach a checkpoint before the log says that it does not
_SMALL = 64  # a heap this small is not worth rebuilding


class Timer:
    """A message that will be sent; `cancel` it if it shall not.

    Args:
        table: Where it waits.
        deadline: When it is due, in trio's time.
        period: Seconds between ticks; None for one.
        action: What to do.
        cells: The actors it ends with.
    """

    __slots__ = ("_action", "_cells", "_table", "deadline", "period")

    def __init__(
        self, table: TimerTable, deadline: float, period: float | None, action: Callable[[], object], *cells: Cell
    ) -> None:
        self._table = table
        self.deadline = deadline
        self.period = period
        self._action: Callable[[], object] | None = action
        self._cells = cells
        for cell in cells:
            if cell.timers is None:
                cell.timers = set()
            cell.timers.add(self)

    @property
    def loop(self) -> Loop:
        """The node's thread."""
        return self._table.loop

    @property
    def active(self) -> bool:
        """Whether it will still fire."""
        return self._action is not None

    @on_loop
    def cancel(self) -> float | None:
        """See that it does not fire any more. From any thread.

        Returns:
            The seconds that were left, or None if it had fired, or ended with its actor, before.
        """
        if self._action is None:
            return None
        self.drop()
        return max(0.0, self.deadline - trio.current_time())

    def drop(self) -> None:
        """Forget what to do, and be forgotten."""
        if self._action is not None:
            self._action = None
            self._table.forget_one()
            cells, self._cells = self._cells, ()  # it may stay in the heap for long, and shall hold no ended actor
            for cell in cells:
                assert cell.timers is not None
                cell.timers.remove(self)

    def fire(self, now: float) -> bool:
        """Do it; True if it is to be done again, at `deadline`. Ticks that were missed are left out."""
        action = self._action
        if action is None:
            return False
        if self.period is None:
            self.drop()
        else:
            self.deadline += self.period
            if self.deadline <= now:
                self.deadline = now + self.period
        action()
        return self._action is not None


class TimerTable:
    """The heap, and the task that waits for its top.

    Args:
        loop: The node's thread.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.active = 0
        self._heap: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._scope: trio.CancelScope | None = None
        self._life = trio.CancelScope(shield=True)

    def add(self, timer: Timer) -> None:
        """Let a timer wait for its deadline."""
        self.active += 1
        if self._life.cancel_called:
            timer.drop()
            return
        self._push(timer)
        if self._scope is not None and timer.deadline < self._scope.deadline:
            self._scope.deadline = timer.deadline

    def forget_one(self) -> None:
        """Count a timer that will not fire, and rebuild the heap if most are like it."""
        self.active -= 1
        if len(self._heap) > max(_SMALL, 2 * self.active):
            self._heap = [entry for entry in self._heap if entry[2].active]
            heapq.heapify(self._heap)

    async def run(self) -> None:
        """Fire what is due, until `close`; a cancellation from outside must not keep a stop from being bounded."""
        with self._life:
            while True:
                self._fire()
                deadline = self._heap[0][0] if self._heap else math.inf
                # an earlier timer moves the deadline of this scope: nobody has to wake the task for it
                with trio.CancelScope(deadline=deadline) as self._scope:
                    await trio.sleep_forever()

    def close(self) -> None:
        """Fire nothing any more."""
        self._life.cancel(reason="the node has ended")
        for _, _, timer in self._heap:
            timer.drop()

    def _push(self, timer: Timer) -> None:
        heapq.heappush(self._heap, (timer.deadline, next(self._order), timer))

    def _fire(self) -> None:
        now = trio.current_time()
        while self._heap and self._heap[0][0] <= now:
            timer = heapq.heappop(self._heap)[2]
            if timer.fire(now):
                self._push(timer)


class Timers(Directory):
    """The part of the registry that knows timers."""

    def __init__(self, loop: Loop, incarnation: str) -> None:
        super().__init__(loop, incarnation)
        self.timers = TimerTable(loop)

    @on_loop
    def send_after(self, delay: float, message: object, to: Pid | str | None = None) -> Timer:
        """Send a message later, once. It does not count against the mailbox's capacity.

        The timer ends with the actor that set it and with the actor it is for, whichever is first; a name is
        looked up when it fires. From any thread.

        Args:
            delay: Seconds.
            message: Any object.
            to: A pid, its string, or a registered name; default the current actor.

        Returns:
            The timer; not active if the pid has ended.

        Raises:
            ValueError: The delay is negative or no number.
        """
        if not delay >= 0:
            raise ValueError(f"a delay is 0 or more seconds, not {delay}")
        return self._set(delay, None, message, to)

    @on_loop
    def send_every(self, period: float, message: object, to: Pid | str | None = None) -> Timer:
        """Send a message again and again, first after one period.

        A tick that finds the mailbox full is left out, and counted as dropped. Otherwise as `send_after`.

        Args:
            period: Seconds.
            message: Any object, the same each time.
            to: A pid, its string, or a registered name; default the current actor.

        Returns:
            The timer; not active if the pid has ended.

        Raises:
            ValueError: The period is not above 0.
        """
        if not period > 0:
            raise ValueError(f"a period is more than 0 seconds, not {period}")
        return self._set(period, period, message, to)

    def _set(self, delay: float, period: float | None, message: object, to: Pid | str | None) -> Timer:
        address = self.self_or(None).pid if to is None else to
        named = isinstance(address, str) and not address.startswith(PREFIX)
        ends_with = {current_cell(), None if named else self.find(address)}
        cells = [cell for cell in ends_with if cell is not None and not cell.ended]
        action = partial(self._deliver, address, message, period is None)
        timer = self.at(trio.current_time() + delay, action, *cells, period=period)
        if not named and self.find(address) is None:
            timer.drop()
        return timer

    def _deliver(self, to: Pid | str, message: object, exempt: bool) -> None:
        cell = self.find(to)
        if cell is not None and exempt:
            cell.put_exempt(message)
        elif cell is None or not cell.put(message):
            self.count_lost(cell)

    # -- for the other parts of the registry -------------------------------------------------------------

    def at(self, deadline: float, action: Callable[[], object], *cells: Cell, period: float | None = None) -> Timer:
        """Have something done at a time, unless one of the actors ends first."""
        timer = Timer(self.timers, deadline, period, action, *cells)
        self.timers.add(timer)
        return timer

    def kill_after_grace(self, cell: Cell) -> None:
        """Kill an actor that was asked to stop and is still there when its grace is over."""
        if cell.grace < math.inf:
            self.at(trio.current_time() + cell.grace, partial(self.kill_now, cell), cell)

    def kill_now(self, cell: Cell) -> None:
        """Kill an actor; say so in the log if that does not end it."""
        cell.kill()
        self.at(trio.current_time() + KILL_PATIENCE, partial(report_unkillable, cell), cell)


def report_unkillable(cell: Cell) -> None:
    """Log that a killed actor is still there: its body is inside a shield of its own, or in a thread."""
    logger.error(
        "actor %s (%s) is unkillable: it was killed and has not reached a checkpoint that a kill can cancel "
        "(a shielded scope without deadline, or a thread)",
        cell.pid,
        cell.label,
    )
