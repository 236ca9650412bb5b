"""A real server in a process of its own, behind pipes: `python -m genmcp stdio`."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING

from tests.interop.process import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.wire import Json

ANSWER_SECONDS = 20.0


def stdio_command(app: str, *options: str) -> list[str]:
    """The command that serves an application over stdio."""
    return [sys.executable, "-m", "genmcp", "stdio", app, *options]


class Piped:
    """A server process and its client's ends of the pipes.

    Attributes:
        process: The process, for signals.
        lines: What it has written to its output, line by line.
    """

    def __init__(self, process: subprocess.Popen[bytes], *, read: bool = True) -> None:
        self.process = process
        self.lines: list[bytes] = []
        self._errors: list[bytes] = []
        self._unread: queue.Queue[Json | None] = queue.Queue()
        self._readers = [threading.Thread(target=self._collect_errors, daemon=True)]
        if read:
            self._readers.append(threading.Thread(target=self._collect, daemon=True))
        for reader in self._readers:
            reader.start()

    def say(self, *messages: Json | bytes) -> None:
        """Send each message on a line of its own."""
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.into.write(line + b"\n")
        self.into.flush()

    def hear(self) -> Json:
        """Return the next message."""
        message = self._unread.get(timeout=ANSWER_SECONDS)
        assert message is not None, f"the output has ended; it logged: {self.errors}"
        return message

    def ask(self, message: Json) -> Json:
        """Send a request and return what comes next."""
        self.say(message)
        return self.hear()

    def hear_rest(self) -> list[Json]:
        """Return everything up to the end of the output."""
        return list(iter(lambda: self._unread.get(timeout=ANSWER_SECONDS), None))

    @property
    def into(self) -> IO[bytes]:
        """The server's input."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def output(self) -> IO[bytes]:
        """The server's output, where no thread reads it."""
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def errors(self) -> str:
        """What it has written to standard error."""
        return b"".join(self._errors).decode()

    def end_input(self) -> tuple[int, float]:
        """Close the server's input; return the exit code and the seconds it took."""
        started = time.monotonic()
        self.into.close()
        return self._ended(started)

    def signal(self, number: signal.Signals) -> tuple[int, float]:
        """Send a signal; return the exit code and the seconds it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        return self._ended(started)

    def _ended(self, started: float) -> tuple[int, float]:
        code = self.process.wait(ANSWER_SECONDS)
        return code, time.monotonic() - started

    def _collect(self) -> None:
        for line in self.output:
            self.lines.append(line)
            self._unread.put(json.loads(line))
        self._unread.put(None)

    def _collect_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line)

    def close(self) -> None:
        """End the process, whatever it does, and read what is left."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(ANSWER_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@contextlib.contextmanager
def piped(app: str, *options: str, read: bool = True) -> Iterator[Piped]:
    """Run `python -m genmcp stdio APP OPTIONS` from the project's root until the block ends.

    Args:
        app: What to serve.
        options: Further options of `stdio`.
        read: Whether its output is read as it comes.
    """
    command, pipe = stdio_command(app, *options), subprocess.PIPE
    environment = {**os.environ, "NO_COLOR": "1"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
    server = Piped(process, read=read)
    try:
        yield server
    finally:
        server.close()
