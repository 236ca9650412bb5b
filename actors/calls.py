"""Request and reply between actors: call, cast, reply."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import trio

from actors.address import Pid
from actors.cell import current_cell
from actors.errors import ActorError, CallExitError, CallTimeoutError
from actors.exits import Crashed, ExitReason, NoProcess
from actors.loop import on_loop
from actors.messages import Cast, Delivery
from actors.topics import Topics


class From:
    """Where a reply goes: good for one reply, from any actor or thread, now or later.

    Attributes:
        pid: Who called; None if it was no actor.
    """

    __slots__ = ("_done", "_reason", "_value", "pid")

    def __init__(self, pid: Pid | None) -> None:
        self.pid = pid
        self._done = trio.Event()
        self._value: Any = None
        self._reason: ExitReason | None = None

    def settle(self, value: object, reason: ExitReason | None = None) -> bool:
        """Give the outcome; False if there is one already, or nobody waits any more."""
        if self._done.is_set():
            return False
        self._value = value
        self._reason = reason
        self._done.set()
        return True

    def callee_ended(self, reason: ExitReason) -> None:
        """Give the outcome that the callee ended without a reply."""
        self.settle(None, reason)

    async def outcome(self) -> tuple[Any, ExitReason | None]:
        """Wait for a value, or the reason why there is none."""
        await self._done.wait()
        return self._value, self._reason


class Call(msgspec.Struct, frozen=True):
    """A request that wants a reply: `registry.reply(call.from_, value)`.

    Attributes:
        request: What was asked.
        from_: Where the reply goes.
    """

    request: Any
    from_: From


class Calls(Topics):
    """The part of the registry that knows requests and replies."""

    async def call(self, to: Pid | str, request: object, timeout: float | None = 5.0) -> Any:
        """Send a `Call` and wait for the reply; also from outside of every actor.

        The reply does not go through the caller's mailbox. Cancelled or timed out, the request may still be
        worked on; a late reply is dropped. A full mailbox is waited for, within the timeout.

        Args:
            to: A pid, its string, or a registered name.
            request: Any object.
            timeout: Seconds; None waits for ever.

        Returns:
            What was given to `reply`.

        Raises:
            CallTimeoutError: No reply in time.
            CallExitError: The callee ended first (its crash is the cause), or is not there.
            ActorError: An actor calls itself.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        caller = current_cell()
        callee = self.find(to)
        if callee is None:
            raise CallExitError(to, NoProcess())
        if callee is caller:
            raise ActorError(f"{callee.pid} called itself: nobody would be there to reply")
        from_ = From(None if caller is None else caller.pid)
        forget = callee.on_exit(from_.callee_ended)
        try:
            with trio.move_on_after(math.inf if timeout is None else timeout):
                await self.put_wait(callee, Call(request, from_))
                value, reason = await from_.outcome()
                if reason is None:
                    return value
                raise CallExitError(to, reason) from (reason.error if isinstance(reason, Crashed) else None)
        finally:
            forget()
            from_.settle(None)  # from now on a reply is late
        raise CallTimeoutError(to, timeout or 0.0)

    def cast(self, to: Pid | str, request: object) -> Delivery:
        """Send a `Cast`: a request that wants no reply. As `send`.

        Args:
            to: A pid, its string, or a registered name.
            request: Any object.

        Returns:
            What became of it.
        """
        return self.send(to, Cast(request))

    @on_loop
    def reply(self, from_: From, value: object) -> bool:
        """Answer a `Call`. From any thread, and any actor.

        Args:
            from_: The call's `from_`.
            value: What `call` returns.

        Returns:
            Whether somebody still waited for it.
        """
        return from_.settle(value)
