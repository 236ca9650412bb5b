"""`run_stdio`: serve the client that started this process. For the main thread of a process."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Mapping
from typing import Any

import trio

from actors.exits import lone_leaf
from genmcp.server import Server
from genmcp.settings import Settings
from transport.run import STDERR, StopSignals
from transport.stdio.descriptors import StandardStreams, take_standard_streams
from transport.stdio.serve import StdioServing, serve_stdio
from transport.stopping import ALARM, BOUND


def run_stdio(
    server: Server[Any],
    *,
    settings: Settings | None = None,
    streams: StandardStreams | None = None,
    assigns: Mapping[str, Any] | None = None,
    announce_end: bool = False,
) -> None:
    """Serve over standard input and output until the client closes them, or until SIGTERM or SIGINT.

    Args:
        server: As for `serve_stdio`.
        settings: As for `serve_stdio`; default: what ``GENMCP_…`` variables say.
        streams: What `take_standard_streams` has returned, if that was done before.
        assigns: As for `serve_stdio`.
        announce_end: As for `serve_stdio`.

    Prints of this process and of its children go to standard error from now on, and stay so. A second signal ends the
    process at once with exit code 130. If something still hangs 0.2 s after everything should be over, the process says
    where on standard error and ends with exit code 1.

    Raises:
        StdioError: There are no such streams.
        SettingsError: A variable has a value that it cannot have.
        ConfigurationError: As `serve_stdio`, and its other errors.
    """
    streams = streams or take_standard_streams()
    settings = settings or Settings.from_environ(os.environ)
    with StopSignals(settings.grace) as signals:
        try:
            trio.run(_serve, server, streams, settings, signals, assigns, announce_end)
        except BaseExceptionGroup as group:
            raise lone_leaf(group) from None
        finally:
            faulthandler.cancel_dump_traceback_later()


class _Started(trio.TaskStatus[StdioServing]):
    def __init__(self, signals: StopSignals) -> None:
        self._signals = signals

    def started(self, value: StdioServing | None = None) -> None:
        assert value is not None
        self._signals.call(value.stop)


async def _serve(
    server: Server[Any],
    streams: StandardStreams,
    settings: Settings,
    signals: StopSignals,
    assigns: Mapping[str, Any] | None,
    announce_end: bool,
) -> None:
    async with (
        trio.lowlevel.FdStream(streams.stdin) as receive,
        trio.lowlevel.FdStream(streams.stdout) as send,
    ):
        await serve_stdio(
            server,
            receive,
            send,
            settings=settings,
            assigns=assigns,
            announce_end=announce_end,
            ends=_alarm,
            task_status=_Started(signals),
        )


def _alarm(seconds: float) -> None:
    """See that the process ends whatever hangs; needs neither the loop nor the interpreter."""
    faulthandler.dump_traceback_later(seconds + ALARM - BOUND, exit=True, file=STDERR)
