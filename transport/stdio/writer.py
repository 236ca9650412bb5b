"""Lines to the client: whole, in order, bounded (Q-01, Q-02).

One task writes; everybody else hands over a message, which never waits. So a handler that is cancelled cannot leave
half a line behind, and a client that does not read is felt by those who have something to send:

* events are refused while as many wait as may (`write` is False; await `room`),
* answers are always taken, and there are no more of them than requests,
* and no further message is read from a client that leaves too much unread (`low`).

A client that takes nothing at all for the write deadline is given up.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

import trio

LOG = logging.getLogger("genmcp")

PIECE = 2**16
"""Bytes that are written at a time; the write deadline moves with each."""
MUCH = 2**20
"""Bytes that wait for a client before nothing more is asked of it."""


class Writer:
    """The one way to the client.

    Args:
        stream: Where bytes go.
        capacity: Events that may wait.
        deadline: Seconds in which the client must take something.

    Attributes:
        closed: Nothing is taken any more: the client is gone, or everything was said.
        stalled: It was given up for not reading.
        done: Nothing will be written any more.
    """

    def __init__(self, stream: trio.abc.SendStream, *, capacity: int = 64, deadline: float = 30.0) -> None:
        self.closed = False
        self.stalled = False
        self.done = False
        self._stream = stream
        self._capacity = capacity
        self._deadline = deadline
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._moved: trio.Event | None = None
        self._more: trio.Event | None = None

    def write(self, message: bytes) -> bool:
        """Hand over an event. Returns False if it was not taken: await `room`, or see that it is `closed`."""
        if self.closed or self._full:
            return False
        self._add(message)
        return True

    def answer(self, message: bytes) -> None:
        """Hand over an answer; after the end it is dropped."""
        if not self.closed:
            self._add(message)

    async def room(self) -> None:
        """Wait until `write` may succeed; return at once when closed."""
        await self._until(lambda: not self._full)

    async def low(self) -> None:
        """Wait until the client has read most of what was written; return at once when closed."""
        await self._until(lambda: self._bytes < MUCH)

    def close(self) -> None:
        """Take nothing more; `run` returns once everything is written."""
        self.closed = True
        self._tell()

    async def run(self) -> bool:
        """Write until `close`: the body of the one task that does.

        Returns:
            False if the client was gone before everything was written.
        """
        try:
            while self._lines or not self.closed:
                if self._lines:
                    await self._send(self._take())
                else:
                    self._more = trio.Event()
                    await self._more.wait()
            return True
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            LOG.debug("The client has closed our output")
        except trio.TooSlowError:
            self.stalled = True
            LOG.warning("The client has read nothing for %g s and is given up (--write-deadline)", self._deadline)
        finally:
            self.close()
            self.done = True
        return False

    @property
    def _full(self) -> bool:
        return len(self._lines) >= self._capacity or self._bytes >= MUCH

    def _add(self, message: bytes) -> None:
        self._lines.append(message + b"\n")
        self._bytes += len(message) + 1
        if self._more is not None:
            self._more.set()

    def _take(self) -> bytes:
        """Return the lines that fit into one piece, at least one."""
        taken = [self._lines.popleft()]
        size = len(taken[0])
        while self._lines and size + len(self._lines[0]) <= PIECE:
            size += len(self._lines[0])
            taken.append(self._lines.popleft())
        return b"".join(taken)

    async def _send(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            with trio.fail_after(self._deadline):
                await self._stream.send_all(piece)
            self._bytes -= len(piece)
            self._tell()

    def _tell(self) -> None:
        for event in (self._moved, self._more):
            if event is not None:
                event.set()
        self._moved = None

    async def _until(self, ready: Callable[[], bool]) -> None:
        while not self.closed and not ready():
            if self._moved is None:
                self._moved = trio.Event()
            await self._moved.wait()
