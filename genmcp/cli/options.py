"""Options of the command line made from the table of settings, and read by the same rules as the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from genmcp.settings import TABLE, Setting, Settings, SettingsError

__all__ = ["settings_from", "settings_options"]

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def settings_options(names: Iterable[str] | None = None) -> Callable[[CommandT], CommandT]:
    """Make a decorator that gives a command one option for each setting, or for those named.

    The values arrive as texts, None when the option was not given; `settings_from` makes settings of them.
    """
    chosen = [row for row in TABLE if names is None or row.name in names]

    def decorate(command: CommandT) -> CommandT:
        for row in reversed(chosen):
            command = _option(row)(command)
        return command

    return decorate


def settings_from(given: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Settings:
    """Make settings of what the options gave, then of the environment, then of the defaults.

    Raises:
        click.UsageError: A value is wrong; the text names the option or variable.
    """
    texts = {row.name: (row.env, environ[row.env]) for row in TABLE if row.env in environ}
    for row in TABLE:
        value = given.get(row.name)
        if value is not None and value != ():
            texts[row.name] = (row.option, _as_text(value))
    try:
        return Settings.from_texts(texts)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


def _option(row: Setting) -> Callable[[CommandT], CommandT]:
    flag = f"{row.option}/--no-{row.option.removeprefix('--')}" if row.kind == "flag" else row.option
    metavar = {"seconds": "TIME", "bytes": "SIZE", "count": "N", "file": "FILE", "text": "TEXT", "list": "NAME"}
    return click.option(
        flag,
        row.name,
        default=None,
        multiple=row.kind == "list",
        metavar=None if row.kind == "flag" else "|".join(row.choices) or metavar[row.kind],
        help=f"{row.help}  [{row.env}; default: {row.show(row.default)}]",
    )


def _as_text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
