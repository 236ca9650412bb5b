"""Why an actor ended: the exit reasons, and how a Python exception becomes one.

The reasons are Erlang's (`normal`, `shutdown`, `{shutdown, term}`, `killed`, `noproc`, and a crash).
They are values: compare them, match them, put them in messages.
"""

from __future__ import annotations

import msgspec


class ExitReason(msgspec.Struct, frozen=True):
    """Why an actor ended; the base of `Normal`, `Shutdown`, `Killed`, `NoProcess` and `Crashed`."""

    @property
    def is_clean(self) -> bool:
        """True for `Normal` and `Shutdown`: nothing went wrong, nothing is logged, transient children stay down."""
        return False


class Normal(ExitReason, frozen=True):
    """The body returned by itself."""

    @property
    def is_clean(self) -> bool:
        """Always true."""
        return True


class Shutdown(ExitReason, frozen=True):
    """Somebody asked the actor to stop, or it chose to; `detail` says why in a word or two."""

    detail: str | None = None

    @property
    def is_clean(self) -> bool:
        """Always true."""
        return True


class Killed(ExitReason, frozen=True):
    """The actor was killed: its clean-up was cut short too."""


class NoProcess(ExitReason, frozen=True):
    """There was no such actor (any more) when it was looked for; its true reason is unknown."""


class Crashed(ExitReason, frozen=True):
    """The body raised `error`; the traceback was logged once."""

    error: BaseException


NORMAL = Normal()
KILLED = Killed()


def lone_leaf(error: BaseException) -> BaseException:
    """Unwrap groups that hold a single exception.

    A trio nursery wraps even one error in a group, which says nothing that the error does not.

    Args:
        error: Any exception.

    Returns:
        The only leaf of nested one-element groups, or `error` itself.
    """
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


_ENDS_ALL = (KeyboardInterrupt, SystemExit, GeneratorExit)


def ends_all(error: BaseException) -> bool:
    """Tell whether an exception is meant for the whole program and not for an actor: an interrupt, an exit.

    Whatever else is no `Exception` (asyncio's CancelledError, a test library's outcome) is a crash like any other.

    Args:
        error: Any exception.

    Returns:
        Whether it is one of those, or a group that holds one.
    """
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(_ENDS_ALL) is not None
    return isinstance(error, _ENDS_ALL)
