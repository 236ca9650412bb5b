"""What ``serve`` says at the start: where it listens, what it serves, how to push events at it, how to stop it.

The line that begins with ``Listening on`` is for programs too: the address is what follows, up to the end of the line.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from genmcp import Server, Suite
from genmcp.units import show_seconds
from transport.serving import Serving

__all__ = ["banner_lines", "print_banner"]


def print_banner(serving: Serving, *, demo: bool = False) -> None:
    """Print the start-up lines to standard output, with colours for a person at a terminal."""
    lines = banner_lines(serving, demo=demo)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False)
        for name, text in lines:
            console.print(Text.assemble((f"{name} ", "bold cyan"), text), soft_wrap=True)
    else:
        print("\n".join(f"{name} {text}" for name, text in lines), flush=True)


def banner_lines(serving: Serving, *, demo: bool = False) -> list[tuple[str, str]]:
    """Return the lines as pairs of their first words and the rest."""
    lines = [("Serving", summary(server)) for server in serving.mounts.values()]
    if demo:
        lines.append(("No APP", "was given, so this is the built-in demo; python -m genmcp serve --help says more"))
    lines += [("Listening on", url) for url in serving.urls]
    if serving.admin is not None:
        lines.append(("Registry API at", f"{serving.admin} (its token: python -m genmcp token{_where(serving)})"))
    if serving.connections is not None:
        files = f"{serving.descriptors:,} files may be open (ulimit -n)"
        lines.append(("Room for", f"{serving.connections:,} connections: {files}"))
    grace = show_seconds(serving.settings.grace)
    stop = f"Ctrl-C, or kill {os.getpid()}: requests get {grace} to end; a second time ends at once"
    return [*lines, ("Stop with", stop)]


def summary(server: Server[Any]) -> str:
    """Say what a server is: name, version and what it offers."""
    if not isinstance(server, Suite):
        return f"{type(server).__module__}.{type(server).__qualname__}, a server of its own kind"
    offers = msgspec.structs.asdict(server.offers)
    counts = [f"{len(names)} {kind if len(names) > 1 else kind[:-1]}" for kind, names in offers.items() if names]
    tools = server.offers.tools
    shown = ", ".join(tools[:8]) + (", …" if len(tools) > 8 else "")
    what = ", ".join(counts) or "no tools, resources or prompts of its own"
    return f"{server.identity.name} {server.identity.version} with {what}{': ' if tools else ''}{shown}"


def _where(serving: Serving) -> str:
    """Return the options by which `token`, `send` and `publish` find this server, where the defaults do not."""
    settings = serving.settings
    if settings.admin != "public":
        return f" --admin {settings.admin}"
    if serving.address.path:
        return f" --host {serving.address}"
    host = "" if serving.address.is_loopback or serving.address.is_any else f" --host {serving.address.host}"
    return host + ("" if serving.address.port == 8000 else f" --port {serving.address.port}")
