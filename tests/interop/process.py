"""A real server in a process of its own: `python -m genmcp serve` on a free port, ended by its pid."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 30.0
STOP_SECONDS = 15.0
_URL = re.compile(r"https?://[\w.\-\[\]:]+:\d+/mcp\b")


@dataclass
class ServerProcess:
    """A server that answers.

    Attributes:
        url: Where its MCP endpoint is.
        process: The process, for signals; `serving` ends it.
        lines: What it has printed on both its outputs so far.
    """

    url: str
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        """The URL without its path."""
        return self.url.removesuffix("/mcp")


@contextlib.contextmanager
def serving(app: str, *options: str, env: Mapping[str, str] | None = None) -> Iterator[ServerProcess]:
    """Run `python -m genmcp serve APP --port 0 OPTIONS` from the project's root until the block ends.

    Args:
        app: What to serve, as on the command line (`file.py:name`).
        options: Further options of `serve`.
        env: What to add to this process's environment.

    Raises:
        RuntimeError: The process ended or named no URL within half a minute; the message holds its output.
    """
    command = [sys.executable, "-m", "genmcp", "serve", app, "--port", "0", *options]
    surroundings = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "COLUMNS": "200", **(env or {})}
    with subprocess.Popen(
        command, cwd=ROOT, env=surroundings, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        lines: list[str] = []
        urls: queue.Queue[str | None] = queue.Queue()
        assert process.stdout is not None
        reader = threading.Thread(target=_collect, args=(process.stdout, lines, urls), daemon=True)
        reader.start()
        try:
            yield ServerProcess(_first_url(urls, lines), process, lines)
        finally:
            _end(process)
            reader.join(timeout=STOP_SECONDS)


def _collect(output: IO[str], lines: list[str], urls: queue.Queue[str | None]) -> None:
    """Keep reading, so that a talkative server never blocks on a full pipe."""
    for line in output:
        lines.append(line)
        if found := _URL.search(line):
            urls.put(found.group())
    urls.put(None)


def _first_url(urls: queue.Queue[str | None], lines: list[str]) -> str:
    with contextlib.suppress(queue.Empty):
        url = urls.get(timeout=START_SECONDS)
        if url is not None:
            return url
    raise RuntimeError("the server did not start; it printed:\n" + "".join(lines))


def _end(process: subprocess.Popen[str]) -> None:
    """Ask the process to stop, and end it if it does not."""
    if process.poll() is not None:
        return
    process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    if process.poll() is None:
        process.kill()
