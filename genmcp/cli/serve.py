"""``python -m genmcp serve``: run a server until it is told to stop."""

from __future__ import annotations

from typing import Any

import click

from genmcp.cli.options import settings_from, settings_options
from genmcp.cli.process import DEMO, leave, log_to_stderr
from genmcp.settings import Settings

__all__ = ["serve"]


@click.command()
@click.argument("app", required=False, envvar="GENMCP_APP")
@settings_options()
def serve(app: str | None, **given: Any) -> None:
    """Serve APP over HTTP until Ctrl-C or SIGTERM.

    APP is module:name or file.py[:name] of a Server (a Suite is one), a Server class, or a function without arguments
    that returns one; the default name is suite. Without APP a built-in demo is served. APP may also be given as
    GENMCP_APP, and every option as the variable that its help names.
    """
    settings = settings_from(given)
    log_to_stderr(settings)
    _run(app, settings)
    leave()


def _run(app: str | None, settings: Settings) -> None:
    # Imported here, so that `--help` and wrong options answer at once.
    from actors import StartError
    from genmcp.cli.application import AppError, load
    from genmcp.cli.banner import print_banner
    from genmcp.errors import ConfigurationError
    from genmcp.settings import SettingsError
    from transport.listeners import ListenError
    from transport.run import run

    try:
        server = load(app or DEMO)
        run(server, settings=settings, started=lambda serving: print_banner(serving, demo=app is None))
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    except (AppError, ListenError, ConfigurationError, StartError) as error:
        raise click.ClickException(str(error)) from None
