"""The one trio thread that everything of a node happens in, and the way there from other threads."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import trio

from actors.errors import StoppedError

P = ParamSpec("P")
R = TypeVar("R")


class Loop:
    """Knows the node's thread, and hops there.

    Args:
        node: The node's name, for error texts.
    """

    def __init__(self, node: str) -> None:
        self.node = node
        self.thread: int | None = None
        self._token: trio.lowlevel.TrioToken | None = None

    def attach(self) -> None:
        """Make the calling trio thread the node's own."""
        self.thread = threading.get_ident()
        self._token = trio.lowlevel.current_trio_token()

    def soon(self, fn: Callable[..., object], *args: object) -> bool:
        """Have `fn(*args)` called in the node's thread, after what was asked for before it.

        Args:
            fn: A function that never raises (trio would end the whole run).
            args: Its arguments.

        Returns:
            False if there is no run (any more) to call it.
        """
        if self._token is None:
            return False
        try:
            self._token.run_sync_soon(fn, *args)
        except trio.RunFinishedError:
            return False
        return True

    def run(self, fn: Callable[[], R]) -> R:
        """Call `fn` in the node's thread and wait for what it returns or raises.

        The token is given so that a cancelled worker thread can still tidy up through here.

        Args:
            fn: What to call.

        Returns:
            What it returned.

        Raises:
            StoppedError: There is no run (any more).
        """
        if self._token is None:
            raise StoppedError(self.node, "it was never started")
        try:
            return trio.from_thread.run_sync(fn, trio_token=self._token)
        except trio.RunFinishedError:
            raise StoppedError(self.node, "its trio run is over") from None


class HasLoop(Protocol):
    """Whatever lives in a node's thread."""

    @property
    def loop(self) -> Loop:
        """Its thread."""
        ...


SelfT = TypeVar("SelfT", bound=HasLoop)


def on_loop(method: Callable[Concatenate[SelfT, P], R]) -> Callable[Concatenate[SelfT, P], R]:
    """Let a method be called from any thread: elsewhere it hops to the node's thread and waits.

    trio carries the caller's context along, so `current()` is the same actor there.

    Args:
        method: A plain method.

    Returns:
        The method, callable from everywhere.
    """

    @functools.wraps(method)
    def hop(self: SelfT, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if threading.get_ident() == self.loop.thread:
            return method(self, *args, **kwargs)
        return self.loop.run(functools.partial(method, self, *args, **kwargs))

    return hop
