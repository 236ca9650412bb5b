"""A watch over the loop: who held it for too long, so that everybody else stood still.

One task step that blocks (`time.sleep`, a synchronous client, a long computation) stops every actor, timer and
connection of the process. `watch_steps` measures each step and names the actor, in one log record, once a minute for
each label. A task of an actor's own nursery counts as that actor.

It costs two readings of the clock a step: 0.5 µs, about 1 % of a request.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from math import inf
from time import perf_counter

import trio

from actors.cell import CURRENT

__all__ = ["SlowSteps", "watch_steps"]

AGAIN_AFTER = 60.0
"""Seconds until the same label is named again."""
REMEMBERED = 100
"""Labels that are remembered for that: clients may choose what is in one."""

logger = logging.getLogger("actors")


class SlowSteps(trio.abc.Instrument):
    """The instrument behind `watch_steps`.

    Args:
        limit: Seconds that a step may take.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._task: trio.lowlevel.Task | None = None
        self._began = perf_counter()
        self._named: dict[str, float] = {}

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Judge the step before, and time this one."""
        now = perf_counter()
        if now - self._began > self._limit:
            self._tell(now)
        self._began = now
        self._task = task

    def before_io_wait(self, timeout: float) -> None:
        """Judge the last step of a turn."""
        del timeout
        now = perf_counter()
        if now - self._began > self._limit:
            self._tell(now)
        self._task = None

    def after_io_wait(self, timeout: float) -> None:
        """Leave out the time in which nobody had anything to do."""
        del timeout
        self._began = perf_counter()

    def _tell(self, now: float) -> None:
        task = self._task
        if task is None:
            return  # the loop itself, or a process that was suspended
        actor = task.context.get(CURRENT)
        label = task.name if actor is None else actor.label
        if now < self._named.get(label, -inf) + AGAIN_AFTER:
            return
        if len(self._named) >= REMEMBERED:
            self._named.clear()
        self._named[label] = now
        logger.warning(
            "%s held the loop for %.2f s, and nothing else could run: call what blocks in a `def` tool or with "
            "trio.to_thread.run_sync, and let long computations await trio.lowlevel.checkpoint() now and then",
            f"task {label}" if actor is None else f"actor {actor.pid} ({label})",
            now - self._began,
        )


@contextlib.contextmanager
def watch_steps(limit: float) -> Iterator[None]:
    """Have a log record written for each step of this trio run that takes too long.

    Args:
        limit: Seconds; 0 watches nothing, and costs nothing.
    """
    if not limit:
        yield
        return
    watch = SlowSteps(limit)
    trio.lowlevel.add_instrument(watch)
    try:
        yield
    finally:
        with contextlib.suppress(KeyError):  # trio takes an instrument off that fails
            trio.lowlevel.remove_instrument(watch)
