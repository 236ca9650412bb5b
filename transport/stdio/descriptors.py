"""The process's own streams, taken away from everything else in it (user demand K1, K3).

What a handler prints must not reach the client, and what its child process reads must not be the client's messages.
So both pipes move to private descriptors that no child inherits, and what everybody knows as 0 and 1 becomes something
harmless: nothing to read, and standard error to write to. Replacing `sys.stdout` alone would not do: extensions
written in C and children write to descriptor 1.
"""

from __future__ import annotations

import os
import sys

import msgspec

STDIN, STDOUT, STDERR = 0, 1, 2
FIRST_PRIVATE = 3
"""The private ones must not take the place of a standard one that is closed."""


class StdioError(Exception):
    """This process has no streams to serve; the text is for the person who started it."""


class StandardStreams(msgspec.Struct, frozen=True):
    """The client's pipes.

    Attributes:
        stdin: The descriptor to read messages from.
        stdout: The descriptor to write messages to.
    """

    stdin: int
    stdout: int


def take_standard_streams() -> StandardStreams:
    """Move the client's pipes to private descriptors; do it before any code that might print is imported.

    Afterwards descriptor 0 is at its end, and descriptor 1, `sys.stdout` and what children write go to standard error.

    Raises:
        StdioError: Standard input or output is closed, or this is Windows.
    """
    if sys.platform == "win32":
        raise StdioError(
            "stdio is not supported on Windows: run the server in WSL, or serve over HTTP: python -m genmcp serve"
        )
    if sys.stdout is not None:
        sys.stdout.flush()  # what was printed before belongs to whoever started the process
    taken = StandardStreams(_private(STDIN, "input"), _private(STDOUT, "output"))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, STDIN)
    os.dup2(STDERR if _is_open(STDERR) else nothing, STDOUT)
    os.close(nothing)
    if sys.stderr is not None:
        sys.stdout = sys.stderr  # one buffer, so that prints and logs keep their order
    return taken


def _private(descriptor: int, name: str) -> int:
    import fcntl  # POSIX has it

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    except OSError:
        raise StdioError(
            f"standard {name} is closed: an MCP client starts this command with pipes on standard input and output"
        ) from None


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
