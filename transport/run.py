"""`run`: serve until a signal says stop, and end in time whatever hangs. For the main thread of a process."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Self

import trio

from genmcp.settings import Settings
from transport.serve import Served, overridden, serve
from transport.serving import Caller, Serving
from transport.stopping import ALARM

__all__ = ["StopSignals", "run", "spared_collector"]

STDERR = 2
COLLECT_EVERY = 5_000
"""How many more objects there must be before the garbage collector looks at the youngest."""
INTERRUPTED = 130
"""Exit code after a second signal, as a shell would give it for Ctrl-C."""


def run(
    *servers: Served,
    host: str | None = None,
    port: int | None = None,
    settings: Settings | None = None,
    caller: Caller | None = None,
    started: Callable[[Serving], None] = lambda serving: None,
) -> None:
    """Serve until SIGTERM or SIGINT, then stop in order; the blocking form of `serve`, for the main thread.

    Args:
        servers: As for `serve`.
        host: As for `serve`.
        port: As for `serve`.
        settings: As for `serve`; default: what ``GENMCP_…`` variables say.
        caller: As for `serve`.
        started: Called once clients are let in.

    A second signal ends the process at once with exit code 130. If something still hangs 0.9 s after the grace
    period, the process says where on standard error and ends with exit code 1. Until it returns, the garbage collector
    leaves alone what the start has made, and runs less often.

    Raises:
        SettingsError: A variable has a value that it cannot have.
        ListenError: As `serve`, and its other errors.
    """
    settings = overridden(settings or Settings.from_environ(os.environ), host, port)
    with StopSignals(settings.grace) as signals, spared_collector():
        status = _Started(started, signals)
        try:
            trio.run(partial(serve, *servers, settings=settings, caller=caller, task_status=status))
        except BaseExceptionGroup as group:
            raise _only_leaf(group) from None


class _Started(trio.TaskStatus[Serving]):
    """Does at the start what `nursery.start` would wait for."""

    def __init__(self, tell: Callable[[Serving], None], signals: StopSignals) -> None:
        self._tell = tell
        self._signals = signals

    def started(self, value: Serving | None = None) -> None:
        assert value is not None
        gc.collect()
        gc.freeze()  # what the start has made lives as long as the process: the collector need not go through it
        self._tell(value)
        self._signals.call(value.stop)


@contextlib.contextmanager
def spared_collector() -> Iterator[None]:
    """Let the garbage collector run less often in this block, in which a whole process does nothing but serve.

    The default is to do so after 700 objects, which is every twentieth request: 6% of its cost. What may wait for it
    now is some hundreds of requests' own few objects.
    """
    before = gc.get_threshold()
    if before[0]:  # somebody may have switched it off
        gc.set_threshold(max(before[0], COLLECT_EVERY), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _only_leaf(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the one error that nurseries have wrapped, so that callers can catch it by its class."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


class StopSignals:
    """Turns SIGTERM and SIGINT into a stop, and sees to it that the process ends: a context manager.

    The handlers are Python's own and not trio's, because a handler that blocks the loop must not block the stop: the
    alarm is set by the first signal itself. It needs neither the loop nor the interpreter.

    Args:
        grace: Seconds that requests get.
    """

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._asked = False
        self._stop: Callable[[], None] | None = None
        self._before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._received)
        return self

    def __exit__(self, *_: object) -> None:
        if self._asked:
            faulthandler.cancel_dump_traceback_later()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def call(self, stop: Callable[[], None]) -> None:
        """Say what the first signal does: `stop` is called in the running trio loop, at once if it came already."""
        token = trio.lowlevel.current_trio_token()
        self._stop = lambda: token.run_sync_soon(stop)
        if self._asked:
            stop()

    def _received(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._asked:
            os._exit(INTERRUPTED)
        self._asked = True
        # Writes to standard error where every thread hangs, then ends the process with exit code 1.
        faulthandler.dump_traceback_later(self._grace + ALARM, exit=True, file=STDERR)
        if self._stop is not None:
            with contextlib.suppress(trio.RunFinishedError):  # it is ending already
                self._stop()
