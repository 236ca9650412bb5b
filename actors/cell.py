"""One actor's state, as the registry sees it: its mailbox, what points at it, and what was asked of it.

Nothing in here runs anything; `actors.actor` does. What an actor may hold is made when it is first needed:
most actors live for one request and need no names, topics, timers or monitors, many not even a mailbox.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Protocol

import trio

from actors.address import Pid, Ref
from actors.errors import NoProcessError
from actors.exits import KILLED, ExitReason
from actors.mailbox import Mailbox

Body = Callable[..., Awaitable[object]]
ExitHook = Callable[[ExitReason], object]


class Bound(Protocol):
    """A timer, as far as an actor's end is concerned."""

    def drop(self) -> None:
        """Never fire."""


class Home(Protocol):
    """Where an actor is known: what points at it, and is told of its end."""

    lost: int

    def release(self, cell: Cell) -> None:
        """Forget the actor: its pid, names, topics and timers."""


class Cell:
    """One actor's state.

    Args:
        pid: Its address.
        body: What it runs.
        args: The body's arguments.
        label: What it is, for people.
        capacity: How many user messages may wait.
        grace: Seconds between a stop and the kill.
        system: Whether it is part of the machinery: not listed, not to be addressed from outside.
        born: When it was spawned, in trio's time.
        home: Where it is known.
    """

    __slots__ = (
        "_annotations",
        "_args",
        "_asked",
        "_body",
        "_capacity",
        "_clean_ups",
        "_home",
        "_scope",
        "born",
        "ended",
        "grace",
        "hooks",
        "label",
        "mailbox",
        "names",
        "on_started",
        "pid",
        "system",
        "timers",
        "topics",
        "watched_by",
        "watching",
    )

    def __init__(
        self,
        pid: Pid,
        body: Body,
        args: tuple[Any, ...],
        label: str,
        capacity: float,
        grace: float,
        system: bool,
        born: float,
        home: Home,
    ) -> None:
        self.pid = pid
        self._body = body
        self._args = args
        self.label = label
        self._capacity = capacity
        self.grace = grace
        self.system = system
        self.born = born
        self._home = home
        self.ended = False
        self.mailbox: Mailbox | None = None
        self.names: list[str] | None = None
        self.topics: set[str] | None = None
        self.timers: set[Bound] | None = None
        self.watched_by: dict[Ref, Cell] | None = None
        self.watching: dict[Ref, Cell] | None = None
        self.hooks: list[ExitHook] | None = None
        self.on_started: Callable[[], None] | None = None
        self._asked: ExitReason | None = None
        self._scope: trio.CancelScope | None = None
        self._clean_ups: list[trio.CancelScope] | None = None
        self._annotations: dict[str, str] | None = None

    def __repr__(self) -> str:
        return f"<actor {self.pid} {self.label}>"

    @property
    def killed(self) -> bool:
        """Whether it was killed, though it may not have ended yet."""
        return self._asked == KILLED

    @property
    def status(self) -> str:
        """One of `starting`, `running`, `waiting` (for a message), `stopping`."""
        if self._asked is not None:
            return "stopping"
        if self._scope is None:
            return "starting"
        return "waiting" if self.mailbox is not None and self.mailbox.waiting else "running"

    def open(self) -> Mailbox:
        """Open the mailbox.

        Returns:
            The mailbox.

        Raises:
            NoProcessError: The actor has ended.
        """
        if self.ended:
            raise NoProcessError(self.pid)
        self.mailbox = Mailbox(self._capacity)
        return self.mailbox

    def put(self, message: object) -> bool:
        """Put a user message into the mailbox.

        Args:
            message: Anything.

        Returns:
            False if it is full.
        """
        return (self.mailbox or self.open()).put(message)

    def put_exempt(self, message: object) -> None:
        """Put a message of the runtime's into the mailbox, full or not.

        Args:
            message: A `Down`, a timer's message.
        """
        (self.mailbox or self.open()).put_exempt(message)

    def on_exit(self, hook: ExitHook) -> Callable[[], None]:
        """Have a function called when the actor has ended.

        Args:
            hook: Gets the exit reason.

        Returns:
            A function that takes the hook off again.
        """
        hooks = self.hooks = self.hooks if self.hooks is not None else []
        hooks.append(hook)

        def forget() -> None:
            if hook in hooks:
                hooks.remove(hook)

        return forget

    def stop(self, reason: ExitReason) -> bool:
        """Ask it to end; the first reason stays.

        Args:
            reason: Its exit reason, unless the body ends otherwise.

        Returns:
            False if it had been asked before.
        """
        if self._asked is not None:
            return False
        self._asked = reason
        if self._scope is not None:
            self._scope.cancel(reason=f"stop: {reason}")
        return True

    def kill(self) -> None:
        """End it at its next checkpoint, even inside `clean_up`."""
        self._asked = KILLED
        if self._scope is not None:
            self._scope.cancel(reason="killed")
        for scope in self._clean_ups or ():
            scope.cancel(reason="killed")


CURRENT: ContextVar[Cell] = ContextVar("actors.current")


def current_cell() -> Cell | None:
    """Find the actor that this code runs in.

    Returns:
        None outside of every actor.
    """
    return CURRENT.get(None)
