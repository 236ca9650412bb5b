"""One actor: a task, its mailbox and its fate. The one place where an exception becomes an exit reason.

    the body                                          reason                     besides
    ------------------------------------------------  -------------------------  ------------------------------
    returns                                           Normal (Killed if killed)
    raises Exit(reason)                               that reason                logged unless clean
    is cancelled by its own scope: stop, kill         the reason asked, Killed
    is cancelled from outside the node                Shutdown                   Cancelled goes on
    raises an Exception                               Crashed(error)             logged once, goes no further
    raises a group with one leaf                      as the leaf
    raises a group with Cancelled and errors          Crashed(the errors)        the Cancelled part goes on
    KeyboardInterrupt, SystemExit                     Killed                     goes on

An actor never ends its nursery or a sibling, and never swallows the Cancelled of whoever is above. What
happens at the end is synchronous: names and topics are free before anybody hears of it, so that a
successor never finds its name taken.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar, overload

import trio

from actors.address import Pid, Ref
from actors.errors import Exit, NoProcessError, ReceiveTimeoutError
from actors.exits import Crashed, ExitReason, Killed, Normal, Shutdown, lone_leaf
from actors.mailbox import Mailbox, Match
from actors.messages import Down

logger = logging.getLogger("actors")
_current: ContextVar[Cell] = ContextVar("actors.current")
_NORMAL = Normal()
_KILLED = Killed()
_RESERVED = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "pid", "label", "annotations"}

T = TypeVar("T")
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
    """One actor's state. Its public face is `Actor`, which knows the node too.

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
        # made when first needed: most actors live for one request and need none of them
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

    # -- what the body does ------------------------------------------------------------------------

    @property
    def exit_asked(self) -> ExitReason | None:
        """Why the actor is being stopped or killed; None if nobody asked (a cancellation then comes from outside)."""
        return self._asked

    def annotate(self, **fields: str) -> None:
        """Have fields put into the record that is logged if this actor crashes.

        They stand in the text and on the record: as attributes of the same name unless logging uses that
        name itself, and all of them in `record.annotations`.

        Args:
            fields: For instance `reference="…"`, `method="tools/call"`.
        """
        self._annotations = {**(self._annotations or {}), **fields}

    def started(self) -> None:
        """Tell the supervisor that waits for it that this child is ready to work (`Child(…, acknowledge=True)`)."""
        if self.on_started is not None:
            self.on_started()
            self.on_started = None

    @overload
    async def receive(self, *, timeout: float | None = None, match: type[T]) -> T: ...
    @overload
    async def receive(self, *, timeout: float | None = None, match: Match | tuple[type, ...] | None = None) -> Any: ...
    async def receive(self, *, timeout: float | None = None, match: Any = None) -> Any:
        """Wait for the next message, or for the next that matches.

        What does not match stays in the mailbox, in order. Several tasks of one actor may receive at once.
        Always a checkpoint; cancelled, it leaves the mailbox as it was.

        Args:
            timeout: Seconds to wait; a message that is there already is taken even with 0. None waits for ever.
            match: A type, a tuple of types, or a predicate.

        Returns:
            The message.

        Raises:
            ReceiveTimeoutError: None came in time.
        """
        wanted = _as_match(match)
        mailbox = self.mailbox or self.open()
        if timeout is None:
            return await mailbox.receive(wanted)
        if len(mailbox):
            timeout = max(timeout, 0.0)
            await trio.lowlevel.checkpoint_if_cancelled()
            with contextlib.suppress(trio.WouldBlock):
                message = mailbox.receive_nowait(wanted)
                await trio.lowlevel.cancel_shielded_checkpoint()
                return message
        with trio.move_on_after(timeout):
            return await mailbox.receive(wanted)
        raise ReceiveTimeoutError(self.pid, timeout)

    @overload
    def receive_nowait(self, match: type[T]) -> T: ...
    @overload
    def receive_nowait(self, match: Match | tuple[type, ...] | None = None) -> Any: ...
    def receive_nowait(self, match: Any = None) -> Any:
        """Take a message that is there already.

        Args:
            match: A type, a tuple of types, or a predicate.

        Returns:
            The message.

        Raises:
            trio.WouldBlock: None is there.
        """
        return (self.mailbox or self.open()).receive_nowait(_as_match(match))

    @contextlib.contextmanager
    def clean_up(self, grace: float | None = None) -> Iterator[trio.CancelScope]:
        """Shield a block from the stop that is going on, for a bounded time; a kill cancels it all the same.

        Use it in `finally` or `except trio.Cancelled` around clean-up that awaits. What is not done in time is
        cut, with a warning in the log.

        Args:
            grace: Seconds; default the actor's own grace.

        Yields:
            The scope of the block.
        """
        seconds = self.grace if grace is None else grace
        scope = trio.CancelScope(shield=True, deadline=trio.current_time() + seconds)
        if self._asked == _KILLED:
            scope.cancel(reason="killed")
        self._clean_ups = [*(self._clean_ups or ()), scope]
        try:
            with scope:
                yield scope
        finally:
            self._clean_ups.remove(scope)
        if scope.cancelled_caught:
            logger.warning("clean-up of actor %s (%s) was cut short", self.pid, self.label)

    # -- what is done to it --------------------------------------------------------------------------

    def open(self) -> Mailbox:
        """Open the mailbox.

        Raises:
            NoProcessError: The actor has ended.
        """
        if self.ended:
            raise NoProcessError(self.pid)
        self.mailbox = Mailbox(self._capacity)
        return self.mailbox

    def put(self, message: object) -> bool:
        """Put a user message into the mailbox; False if it is full."""
        return (self.mailbox or self.open()).put(message)

    def put_exempt(self, message: object) -> None:
        """Put a message of the runtime's into the mailbox."""
        (self.mailbox or self.open()).put_exempt(message)

    def on_exit(self, hook: ExitHook) -> Callable[[], None]:
        """Have `hook(reason)` called when the actor has ended; returns what takes the hook off again."""
        hooks = self.hooks = self.hooks if self.hooks is not None else []
        hooks.append(hook)

        def forget() -> None:
            if hook in hooks:
                hooks.remove(hook)

        return forget

    def stop(self, reason: ExitReason) -> bool:
        """Ask it to end with `reason`; the first reason stays.

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
        self._asked = _KILLED
        if self._scope is not None:
            self._scope.cancel(reason="killed")
        for scope in self._clean_ups or ():
            scope.cancel(reason="killed")

    @property
    def status(self) -> str:
        """One of `starting`, `running`, `waiting` (for a message), `stopping`."""
        if self._asked is not None:
            return "stopping"
        if self._scope is None:
            return "starting"
        return "waiting" if self.mailbox is not None and self.mailbox.waiting else "running"

    # -- its life --------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run the body and settle how it ended; the table above says what comes out."""
        _current.set(self)
        reason: ExitReason = _KILLED  # of KeyboardInterrupt and whatever else is not ours to judge
        try:
            with trio.CancelScope() as scope:
                self._scope = scope
                if self._asked is not None:
                    scope.cancel(reason=f"stop: {self._asked}")
                # a task in a cancelled scope would run to its first checkpoint: nothing of the body may happen then
                await trio.lowlevel.checkpoint_if_cancelled()
                await self._body(*self._args)
            reason = self._returned(scope.cancelled_caught)
        except trio.Cancelled:
            reason = self._asked or Shutdown()
            raise
        except Exception as error:
            reason = self._failed(error)
        except BaseExceptionGroup as group:
            cancelled, rest = group.split(trio.Cancelled)
            if cancelled is None or not (rest is None or isinstance(rest, Exception)):
                raise
            reason = (self._asked or Shutdown()) if rest is None else self._failed(rest)
            raise cancelled from None
        finally:
            self._end(reason)
            del reason  # it may hold the traceback that holds this frame

    def _returned(self, stopped: bool) -> ExitReason:
        if self._asked is not None and (stopped or self._asked == _KILLED):
            return self._asked
        return _NORMAL

    def _failed(self, error: Exception) -> ExitReason:
        leaf = lone_leaf(error)
        if not isinstance(leaf, Exit):
            self._log("crashed", leaf, leaf)
            return Crashed(leaf)
        if not leaf.reason.is_clean:
            self._log("exited", leaf.reason, leaf)
        return leaf.reason

    def _log(self, what: str, why: object, error: BaseException) -> None:
        fields = self._annotations or {}
        extra: dict[str, object] = {name: field for name, field in fields.items() if name not in _RESERVED}
        extra |= {"pid": str(self.pid), "label": self.label, "annotations": fields}
        noted = "".join(f" {name}={field}" for name, field in fields.items())
        with contextlib.suppress(Exception):  # a broken log handler must not keep the actor from ending
            kind = type(why).__name__
            logger.error(
                "actor %s (%s) %s: %s: %s%s", self.pid, self.label, what, kind, why, noted, exc_info=error, extra=extra
            )

    @trio.lowlevel.enable_ki_protection
    def _end(self, reason: ExitReason) -> None:
        """Let go of everything, then tell who watches. No await: nobody sees a state in between."""
        self.ended = True
        self._home.release(self)
        if self.mailbox is not None:
            self._home.lost += self.mailbox.close()
        for ref, target in (self.watching or {}).items():
            assert target.watched_by is not None
            del target.watched_by[ref]
        for ref, watcher in (self.watched_by or {}).items():
            assert watcher.watching is not None
            del watcher.watching[ref]
            watcher.put_exempt(Down(ref, self.pid, reason))
        for hook in self.hooks or ():
            try:
                hook(reason)
            except Exception:
                logger.exception("an on_exit function of actor %s (%s) failed", self.pid, self.label)
        self._args = ()  # an ended actor that somebody still holds keeps nothing else alive


def current_cell() -> Cell | None:
    """Find the actor that this code runs in.

    Returns:
        None outside of every actor.
    """
    return _current.get(None)


def _as_match(match: Any) -> Match | None:
    if isinstance(match, type | tuple):
        return lambda message: isinstance(message, match)
    found: Match | None = match
    return found
