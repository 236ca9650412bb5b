"""The commands, each in a module of its own that is imported when it is called: the quick ones stay quick."""

from __future__ import annotations

import importlib

import click

from genmcp._version import __version__

__all__ = ["main"]

COMMANDS = {
    "serve": "genmcp.cli.serve:serve",
    "stdio": "genmcp.cli.stdio:stdio",
    "send": "genmcp.cli.registry:send",
    "publish": "genmcp.cli.registry:publish",
    "token": "genmcp.cli.registry:token",
    "secret": "genmcp.cli.secret:secret",
}
"""Where each command lies."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, the most used first."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, or return None if there is no such one."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="genmcp")
def main() -> None:
    """MCP servers in which every request is answered by its own worker actor."""
