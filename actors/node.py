"""A node: the nursery that all actors run in, and everything that belongs to it. Also `Actor`, which knows both.

    async with Node(name="main") as node:
        pid = node.spawn(work, 42)

The nursery makes orphans impossible; an exception in an actor never reaches it. Leaving the block, or
`stop`, ends the actors in order: those nobody supervises first, then the supervised ones in reverse order of
their start, system actors last. Cancelling a scope around the node ends everything at once.
"""

from __future__ import annotations

import contextvars
import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import TracebackType
from typing import Any, Self, cast

import trio

from actors.actor import RunningCell
from actors.address import Pid, check_node_name, new_incarnation
from actors.cell import Body, ExitHook, current_cell
from actors.errors import StoppedError
from actors.exits import ExitReason, NoProcess, lone_leaf
from actors.introspect import ActorInfo, Counts, info
from actors.loop import Loop, on_loop
from actors.registry import Registry
from actors.stopping import stop_everything
from actors.supervisor import Child, Supervisor

# actors start from this, not from their spawner's context: a request's context must not live on in a background actor
_BASE = contextvars.Context()


class Actor(RunningCell):
    """One actor: `actors.current()` is the one that the code runs in.

    Attributes:
        node: Its node.
        pid: Its address.
        label: What it is, for people.
    """

    __slots__ = ("node",)

    node: Node

    @property
    def registry(self) -> Registry:
        """The node's registry."""
        return self.node.registry


class Node:
    """Runs actors. Use it as `async with Node(…) as node`.

    Args:
        name: Part of every pid; letters, digits and `_ . @ -`.
        mailbox_capacity: How many user messages may wait for one actor, unless its `spawn` says otherwise.
        grace: Seconds that a stopped actor's clean-up may take before it is killed, likewise.

    Raises:
        ValueError: Not a name that a pid can carry.
    """

    def __init__(self, name: str = "genmcp", *, mailbox_capacity: float = 1000, grace: float = 10.0) -> None:
        self.name = check_node_name(name)
        self.incarnation = new_incarnation()
        self.mailbox_capacity = mailbox_capacity
        self.grace = grace
        self.stopping = False
        self.loop = Loop(name)
        self.registry = Registry(self.loop, self.incarnation)
        self._serials = itertools.count(1)
        self._supervisors: list[Supervisor] = []
        self._stopped = trio.Event()
        self._nursery: trio.Nursery | None = None
        self._manager: AbstractAsyncContextManager[trio.Nursery] | None = None

    def __repr__(self) -> str:
        return f"<Node {self.name}.{self.incarnation}>"

    async def __aenter__(self) -> Self:
        if self._manager is not None:
            raise RuntimeError("a node runs once: make a new one")
        self.loop.attach()
        self._manager = trio.open_nursery()
        self._nursery = await self._manager.__aenter__()
        _BASE.run(self._nursery.start_soon, self.registry.timers.run)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        assert self._manager is not None
        with trio.CancelScope(shield=True):  # bounded: by the grace periods, then by kills
            await self.stop()
        self.registry.timers.close()
        try:
            return await self._manager.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            # the nursery wraps whatever leaves it; what the block raised shall leave it as it is
            leaf = lone_leaf(group)
            if error is not None and leaf is lone_leaf(error):
                return False
            raise leaf from None

    # -- actors ------------------------------------------------------------------------------------------

    @on_loop
    def spawn(
        self,
        fn: Body,
        *args: Any,
        name: str | None = None,
        label: str = "",
        capacity: float | None = None,
        grace: float | None = None,
        system: bool = False,
    ) -> Pid:
        """Start an actor and return at once; it takes its first step later. From any thread.

        The actor does not inherit the caller's context variables. How it ends is nobody's business but its own:
        `monitor` it to be told, or `supervise` it.

        Args:
            fn: Its body, an `async def` function; `current()` is the actor in there.
            args: The body's arguments.
            name: A name it has from the start.
            label: What it is, for people; default the function's name.
            capacity: How many user messages may wait for it; default the node's.
            grace: Seconds between a stop and the kill; default the node's.
            system: Part of the machinery: not listed by `snapshot`, not to be addressed from outside.

        Returns:
            Its pid.

        Raises:
            AlreadyRegisteredError: The name is taken; nothing was started.
            StoppedError: The node is not running, or stopping.
        """
        if self.stopping or self._nursery is None:
            raise StoppedError(self.name, "no actor can be spawned")
        actor = Actor(
            Pid(self.name, self.incarnation, next(self._serials)),
            fn,
            args,
            label or getattr(fn, "__qualname__", "actor"),
            self.mailbox_capacity if capacity is None else capacity,
            self.grace if grace is None else grace,
            system,
            trio.current_time(),
            self.registry,
        )
        actor.node = self
        self.registry.add(actor, name)
        _BASE.run(partial(self._nursery.start_soon, actor.run, name=actor.label))
        return actor.pid

    @on_loop
    def actor(self, pid: Pid | str) -> Actor | None:
        """Find a living actor. From any thread.

        Args:
            pid: A pid, its string, or a registered name.

        Returns:
            The actor, or None.
        """
        return cast("Actor | None", self.registry.find(pid))

    @on_loop
    def on_exit(self, pid: Pid | str, fn: ExitHook) -> Callable[[], None]:
        """Have a function called when an actor has ended; its names and topics are free by then.

        It is called in the actor's task, synchronously, after every `Down` was sent; an exception in it is logged.
        If there is no such actor it is called at once, with `NoProcess`.

        Args:
            pid: A pid, its string, or a registered name.
            fn: Gets the exit reason.

        Returns:
            A function that takes `fn` off again.
        """
        cell = self.registry.find(pid)
        if cell is not None:
            return cell.on_exit(fn)
        fn(NoProcess())
        return lambda: None

    async def wait(self, pid: Pid | str) -> ExitReason:
        """Wait until an actor has ended.

        Args:
            pid: A pid, its string, or a registered name.

        Returns:
            How it ended; `NoProcess` if there is no such actor.
        """
        over = trio.Event()
        reasons: list[ExitReason] = []

        def ended(reason: ExitReason) -> None:
            reasons.append(reason)
            over.set()

        forget = self.on_exit(pid, ended)
        try:
            await over.wait()
        finally:
            forget()
        return reasons[0]

    async def supervise(
        self, children: Sequence[Child | Body], *, max_restarts: int = 3, period: float = 5.0
    ) -> Supervisor:
        """Start children in order and keep them running; see `actors.supervisor` for the rules.

        Args:
            children: What to run; a bare function is `Child(fn)`.
            max_restarts: How many restarts are borne …
            period: … within so many seconds.

        Returns:
            The supervisor, when all children have started. It is stopped with the node, or by its `stop()`.

        Raises:
            StartError: A child did not start; those before it were stopped.
            StoppedError: The node is not running, or stopping.
        """
        each = [child if isinstance(child, Child) else Child(child) for child in children]
        supervisor = Supervisor(self.spawn, self.registry, each, max_restarts, period)
        self._supervisors.append(supervisor)
        self.on_exit(supervisor.pid, lambda _: self._supervisors.remove(supervisor))
        await supervisor.started()
        return supervisor

    # -- looking ---------------------------------------------------------------------------------------

    @on_loop
    def snapshot(self) -> tuple[ActorInfo, ...]:
        """Describe every actor but system actors. From any thread.

        Returns:
            One entry each, oldest first.
        """
        now = trio.current_time()
        return tuple(info(cell, now) for cell in self.registry.cells() if not cell.system)

    @on_loop
    def counts(self) -> Counts:
        """Count what the node holds, to see that nothing leaks. From any thread.

        Returns:
            Actors (system actors too), names, topic memberships, monitors and timers.
        """
        return self.registry.counts()

    @property
    def messages_lost(self) -> int:
        """How many messages nobody took: left at an actor's end, or refused when their sender could not be told."""
        return self.registry.lost

    # -- the end -----------------------------------------------------------------------------------------

    async def stop(self, *, grace: float | None = None) -> None:
        """Stop every actor and wait until they have ended. Nothing can be spawned from now on.

        First those that nobody supervises, then supervised ones in reverse order of their start, then system actors.
        An actor that cannot even be killed is logged and left; leaving the node's block has to wait for it.
        Cancelling the caller does not undo it. A second call waits for the first one.

        Args:
            grace: Seconds that each of these steps may take before kills (a supervised child: at most); default the
                node's.
        """
        if self._nursery is None:
            return
        if not self.stopping:
            self.stopping = True
            # a task of its own: the caller may be an actor, which is about to be stopped
            _BASE.run(self._nursery.start_soon, self._stop, self.grace if grace is None else grace)
        await self._stopped.wait()

    async def _stop(self, grace: float) -> None:
        with trio.CancelScope(shield=True):
            await stop_everything(self.registry, tuple(self._supervisors), grace)
        self._stopped.set()


def current() -> Actor:
    """Find the actor that this code runs in; also in worker threads started from it by `trio.to_thread`.

    Returns:
        The actor.

    Raises:
        RuntimeError: The code runs in no actor.
    """
    cell = current_cell()
    if cell is None:
        raise RuntimeError(
            "actors.current() was called outside of an actor: only code that node.spawn or node.supervise started, "
            "and the tasks and trio.to_thread threads it starts, run in one"
        )
    return cast("Actor", cell)
