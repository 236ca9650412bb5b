"""Worker threads for synchronous handlers: a limiter of their own, and a queue that is not endless (H1, H2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import trio

from genmcp.errors import McpError
from genmcp.mcp.errors import INTERNAL_ERROR

T = TypeVar("T")


class Threads:
    """Threads in which `def` handlers run; trio's own default limiter stays free for everything else.

    Args:
        limit: Threads at the same time.
        queue: Calls that may wait for one; one more is refused at once.
    """

    def __init__(self, limit: int = 40, queue: int = 100) -> None:
        self._queue = queue
        self._limiter = trio.CapacityLimiter(limit)

    @property
    def waiting(self) -> int:
        """Calls that wait for a thread now."""
        return self._limiter.statistics().tasks_waiting

    async def run(self, fn: Callable[[], T]) -> T:
        """Run `fn` in a thread and return what it returns.

        Cancellation returns at once: the thread runs on, holds its place until it ends, and its result is dropped.

        Raises:
            McpError: -32603, at once: every thread is busy and the queue is full.
        """
        if self._limiter.available_tokens < 1 and self.waiting >= self._queue:
            raise McpError(INTERNAL_ERROR, "The server is busy: too many synchronous handlers wait for a thread")
        return await trio.to_thread.run_sync(fn, abandon_on_cancel=True, limiter=self._limiter)
