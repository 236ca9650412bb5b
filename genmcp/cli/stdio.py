"""``python -m genmcp stdio``: serve the client that started the process, over standard input and output."""

from __future__ import annotations

import os
import sys
from typing import Any

import click
import msgspec

from genmcp.cli.options import settings_from, settings_options
from genmcp.cli.process import DEMO, leave, log_to_stderr
from genmcp.settings import Settings
from genmcp.units import show_seconds

__all__ = ["stdio"]

GRACE = 0.3
"""Seconds that calls get after a signal, unless something else is asked for: hosts kill what is not gone soon."""

CHOSEN = (
    "legacy",
    "log_level",
    "write_deadline",
    "tool_timeout",
    "token_age",
    "conversation_age",
    "conversations",
    "max_body",
    "live_workers",
    "mailbox",
    "outbox",
    "threads",
    "thread_queue",
    "slow_step",
)
"""The settings that mean something without HTTP."""

GRACE_HELP = (
    "Time that running requests get to end after SIGTERM or SIGINT; 0.2 s when the client closes our input.  "
    f"[GENMCP_GRACE; default: {show_seconds(GRACE)}]"
)
ANNOUNCE_HELP = (
    "Whether notifications/cancelled goes before the result of a subscription that the server ends; one page of the "
    "specification asks for it, clients do well without.  [default: no]"
)


@click.command()
@click.argument("app", required=False, envvar="GENMCP_APP")
@click.option("--grace", default=None, metavar="TIME", help=GRACE_HELP)
@settings_options(CHOSEN)
@click.option("--announce-end/--no-announce-end", default=False, help=ANNOUNCE_HELP)
def stdio(app: str | None, announce_end: bool, **given: Any) -> None:
    """Serve APP over standard input and output, for the MCP client that starts this command.

    APP is as for serve. Whatever the application or its child processes print goes to standard error, and so does the
    log; a client's configuration names this command, with APP as an absolute path:

        python -m genmcp stdio /path/to/app.py:suite
    """
    settings = _settings(given)
    log_to_stderr(settings)
    _run(app, settings, announce_end=announce_end)
    leave()


def _settings(given: dict[str, Any]) -> Settings:
    settings = settings_from(given)
    if given["grace"] is None and "GENMCP_GRACE" not in os.environ:
        settings = msgspec.structs.replace(settings, grace=GRACE)
    return settings


def _run(app: str | None, settings: Settings, *, announce_end: bool) -> None:
    # Imported here, so that `--help` and wrong options answer at once.
    from transport.stdio.descriptors import StdioError, take_standard_streams

    hint = "Waiting for MCP messages on standard input: clients start this command. To try a server: genmcp serve"
    if sys.stdin is not None and sys.stdin.isatty():
        click.echo(hint, err=True)
    try:
        streams = take_standard_streams()  # before the application can print
    except StdioError as error:
        raise click.ClickException(str(error)) from None

    from actors import StartError
    from genmcp.cli.application import AppError, load
    from genmcp.errors import ConfigurationError
    from transport.stdio.run import run_stdio

    try:
        run_stdio(load(app or DEMO), settings=settings, streams=streams, announce_end=announce_end)
    except (AppError, ConfigurationError, StartError) as error:
        raise click.ClickException(str(error)) from None
