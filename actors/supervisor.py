"""Supervision, one for one: children start in order, are restarted when they end, and stop in reverse order.

    restart       when it ended with Normal or Shutdown   when it crashed, was killed, …
    ------------  --------------------------------------  ------------------------------
    permanent     restarted                               restarted
    transient     not                                     restarted
    temporary     not                                     not

More than `max_restarts` restarts within `period` seconds: the supervisor stops all of its children, logs it
and ends with `Shutdown("max_restarts")`. A restarted child is a new actor with a new pid: siblings should
know each other by name.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, cast

import msgspec
import trio

from actors.actor import RunningCell
from actors.address import Pid, Ref
from actors.cell import Body
from actors.errors import AlreadyRegisteredError, Exit, ReceiveTimeoutError, StartError, StoppedError
from actors.exits import Crashed, ExitReason, Shutdown
from actors.messages import Down
from actors.registry import Registry
from actors.timers import KILL_PATIENCE

logger = logging.getLogger("actors")
Restart = Literal["permanent", "transient", "temporary"]
Spawn = Callable[..., Pid]


class Child:
    """How to run one supervised actor.

    Args:
        fn: Its body, an `async def` function.
        args: The body's arguments.
        name: The name it is registered under, each time it starts.
        restart: `permanent`, `transient` or `temporary`; see the table above.
        shutdown: Seconds between the stop and the kill.
        acknowledge: Whether it has started only when it calls `current().started()`. Otherwise it has as soon as
            its first step, up to the first await, has gone well.

    Raises:
        ValueError: `restart` is another word, or `shutdown` is below 0.
    """

    __slots__ = ("acknowledge", "args", "fn", "name", "restart", "shutdown")

    def __init__(
        self,
        fn: Body,
        *args: Any,
        name: str | None = None,
        restart: Restart = "permanent",
        shutdown: float = 5.0,
        acknowledge: bool = False,
    ) -> None:
        if restart not in ("permanent", "transient", "temporary"):
            raise ValueError(f"restart={restart!r}: use 'permanent', 'transient' or 'temporary'")
        if not shutdown >= 0:
            raise ValueError(f"shutdown={shutdown}: use seconds, 0 or more")
        self.fn = fn
        self.args = args
        self.name = name
        self.restart = restart
        self.shutdown = shutdown
        self.acknowledge = acknowledge

    @property
    def label(self) -> str:
        """What it is called in the log: its name, or its function's."""
        return self.name or str(getattr(self.fn, "__qualname__", self.fn))

    def comes_back(self, reason: ExitReason) -> bool:
        """Whether it is restarted after it ended with `reason`.

        Args:
            reason: How it ended.
        """
        return self.restart == "permanent" or (self.restart == "transient" and not reason.is_clean)


class _Started(msgspec.Struct, frozen=True):
    """A child acknowledged its start."""

    ref: Ref


class Supervisor:
    """A system actor that keeps children running; `node.supervise` makes it.

    Args:
        spawn: The node's.
        registry: The node's.
        children: What to run, in order.
        max_restarts: How many restarts are borne …
        period: … within so many seconds.
    """

    def __init__(
        self, spawn: Spawn, registry: Registry, children: Sequence[Child], max_restarts: int, period: float
    ) -> None:
        self._spawn = spawn
        self._registry = registry
        self._children = children
        self._max_restarts = max_restarts
        self._period = period
        self._restarts: deque[float] = deque()
        self._running: dict[int, Ref] = {}
        self._settled = trio.Event()  # all started, or over
        self._over = trio.Event()
        self._failure: StartError | None = None
        self.limit = math.inf  # seconds that any child may take to stop, whatever it asked for
        self.pid = spawn(self._run, label="supervisor", system=True, grace=math.inf)
        self._cell = cast("RunningCell", registry.self_or(self.pid))
        self._cell.on_exit(self._ended)

    def running(self) -> tuple[tuple[str, Pid], ...]:
        """List the children that live.

        Returns:
            Their labels and pids, in the order of the children.
        """
        each = sorted(self._running.items(), key=lambda entry: entry[0])
        return tuple((self._children[index].label, self._registry.self_or(ref.target).pid) for index, ref in each)

    async def started(self) -> None:
        """Wait until every child has started.

        Cancelled, it stops those that have.

        Raises:
            StartError: One did not; the others were stopped.
        """
        try:
            await self._settled.wait()
        except BaseException:
            self._registry.stop(self.pid)
            raise
        if self._failure is not None:
            raise self._failure

    async def stop(self) -> None:
        """Stop the children in reverse order, one at a time, and wait until they have ended.

        Each has its `shutdown` seconds, is then killed, and left if even that does not end it (the log says so).
        """
        self._registry.stop(self.pid)
        await self._over.wait()

    # -- the actor -----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            for index, child in enumerate(self._children):
                await self._start_first(index, child)
            self._settled.set()
            while True:
                message = await self._cell.receive()
                if isinstance(message, Down):
                    await self._child_ended(message)
        finally:
            try:
                with self._cell.clean_up(math.inf):
                    await self._stop_all()
            finally:
                for ref in self._running.values():  # not empty only if the supervisor was killed
                    self._registry.kill(ref.target)

    async def _start_first(self, index: int, child: Child) -> None:
        failed = await self._start(index, child)
        if failed is not None:
            self._failure = StartError(child.label, failed)
            if isinstance(failed, Crashed):
                self._failure.__cause__ = failed.error
            raise Exit(Shutdown("start_failed"))

    async def _start(self, index: int, child: Child) -> ExitReason | None:
        """Run a child; if it does not start, how it ended."""
        try:
            pid = self._spawn(child.fn, *child.args, name=child.name, label=child.label, grace=child.shutdown)
        except AlreadyRegisteredError as error:
            return Crashed(error)
        ref = self._running[index] = self._registry.monitor(pid)
        failed = await (self._acknowledged(ref) if child.acknowledge else self._first_step(ref))
        if failed is not None:
            del self._running[index]
        return failed

    async def _acknowledged(self, ref: Ref) -> ExitReason | None:
        cell = self._registry.self_or(ref.target)
        cell.on_started = partial(self._cell.put_exempt, _Started(ref))
        first = await self._cell.receive(match=lambda m: isinstance(m, Down | _Started) and m.ref is ref)
        return first.reason if isinstance(first, Down) else None

    async def _first_step(self, ref: Ref) -> ExitReason | None:
        # the child's first step is in the next batch; this task may come before it there, but not in the one after
        for _ in range(2):
            await trio.lowlevel.checkpoint()
        with contextlib.suppress(trio.WouldBlock):
            down = self._cell.receive_nowait(lambda m: _is_down(m, ref) and not m.reason.is_clean)
            failed: ExitReason = down.reason
            return failed
        return None

    async def _child_ended(self, down: Down) -> None:
        index = next((index for index, ref in self._running.items() if ref is down.ref), None)
        if index is None:
            return
        del self._running[index]
        child = self._children[index]
        reason: ExitReason | None = down.reason
        while reason is not None and child.comes_back(reason):
            self._count_restart(child, reason)
            try:
                reason = await self._start(index, child)
            except StoppedError:  # the node is stopping: nothing comes back
                return

    def _count_restart(self, child: Child, reason: ExitReason) -> None:
        now = trio.current_time()
        while self._restarts and self._restarts[0] <= now - self._period:
            self._restarts.popleft()
        if len(self._restarts) >= self._max_restarts:
            logger.error(
                "child %s ended (%s): more than %d restarts in %g s, the supervisor gives up",
                child.label,
                reason,
                self._max_restarts,
                self._period,
            )
            raise Exit(Shutdown("max_restarts"))
        self._restarts.append(now)

    async def _stop_all(self) -> None:
        for index in sorted(self._running, reverse=True):
            await self._stop_child(self._running[index], min(self._children[index].shutdown, self.limit))
            del self._running[index]

    async def _stop_child(self, ref: Ref, seconds: float) -> None:
        self._registry.stop(ref.target)
        with contextlib.suppress(ReceiveTimeoutError):
            await self._cell.receive(timeout=seconds, match=lambda m: _is_down(m, ref))
            return
        self._registry.kill(ref.target)
        with contextlib.suppress(ReceiveTimeoutError):
            await self._cell.receive(timeout=KILL_PATIENCE, match=lambda m: _is_down(m, ref))

    def _ended(self, reason: ExitReason) -> None:
        if not self._settled.is_set() and self._failure is None:
            self._failure = StartError("supervisor", reason)
        self._settled.set()
        self._over.set()


def _is_down(message: object, ref: Ref) -> bool:
    return isinstance(message, Down) and message.ref is ref
