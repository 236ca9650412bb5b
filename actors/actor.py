"""One actor: a task, its mailbox and its fate. The one place where an exception becomes an exit reason.

    the body                                          reason                     besides
    ------------------------------------------------  -------------------------  ------------------------------
    returns                                           Normal (Killed if killed)
    raises Exit(reason)                               that reason                logged unless clean
    is cancelled by its own scope: stop, kill         the reason asked, Killed
    is cancelled from outside the node                Shutdown                   Cancelled goes on
    raises anything else                              Crashed(error)             logged once, goes no further
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
from collections.abc import Iterator
from typing import Any, TypeVar, overload

import trio

from actors.cell import CURRENT, Cell
from actors.errors import Exit, ReceiveTimeoutError
from actors.exits import KILLED, NORMAL, Crashed, ExitReason, Shutdown, ends_all, lone_leaf
from actors.mailbox import Match
from actors.messages import Down

logger = logging.getLogger("actors")
_RESERVED = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "pid", "label", "annotations"}

T = TypeVar("T")


class RunningCell(Cell):
    """An actor as its own body sees it, and the run of that body."""

    __slots__ = ()

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
        if mailbox.size:
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
        if self.killed:
            scope.cancel(reason="killed")
        self._clean_ups = [*(self._clean_ups or ()), scope]
        try:
            with scope:
                yield scope
        finally:
            self._clean_ups.remove(scope)
        if scope.cancelled_caught:
            logger.warning("clean-up of actor %s (%s) was cut short", self.pid, self.label)

    # -- its life --------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run the body and settle how it ended; the table above says what comes out."""
        CURRENT.set(self)
        reason: ExitReason = KILLED  # of KeyboardInterrupt and whatever else is not ours to judge
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
        except BaseException as error:
            if ends_all(error):
                raise
            reason, cancelled = self._judged(error)
            if cancelled is not None:
                raise cancelled from None
        finally:
            self._end(reason)
            del reason  # it may hold the traceback that holds this frame

    def _returned(self, stopped: bool) -> ExitReason:
        if self._asked is not None and (stopped or self.killed):
            return self._asked
        return NORMAL

    def _judged(self, error: BaseException) -> tuple[ExitReason, BaseException | None]:
        """Return the exit reason, and the cancellations of a group, which go on."""
        if not isinstance(error, BaseExceptionGroup):
            return self._failed(error), None
        cancelled, rest = error.split(trio.Cancelled)
        return (self._asked or Shutdown()) if rest is None else self._failed(rest), cancelled

    def _failed(self, error: BaseException) -> ExitReason:
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
        if self.watching:
            for ref, target in self.watching.items():
                assert target.watched_by is not None
                del target.watched_by[ref]
        if self.watched_by:
            for ref, watcher in self.watched_by.items():
                assert watcher.watching is not None
                del watcher.watching[ref]
                watcher.put_exempt(Down(ref, self.pid, reason))
        for hook in tuple(self.hooks or ()):  # a hook may take another off
            try:
                hook(reason)
            except Exception:
                logger.exception("an on_exit function of actor %s (%s) failed", self.pid, self.label)
        # an ended actor that somebody still holds keeps nothing else alive, and is part of no cycle
        self._body, self._args, self.hooks = _over, (), None


async def _over() -> None:
    """Stand for the body of an actor that has ended."""


def _as_match(match: Any) -> Match | None:
    if isinstance(match, type | tuple):
        return lambda message: isinstance(message, match)
    found: Match | None = match
    return found
