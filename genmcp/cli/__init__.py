"""The command line: ``python -m genmcp COMMAND``."""

from genmcp.cli.commands import main

__all__ = ["main"]
