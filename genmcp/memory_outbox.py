"""An outbox in memory: what tests read instead of a connection."""

from __future__ import annotations

from typing import Any

import trio

from genmcp.mcp import InternalError, McpError
from genmcp.mcp import v2607 as mcp


class MemoryOutbox:
    """An outbox that keeps what it gets, in order.

    Args:
        capacity: Notifications that may wait unread before `put` refuses; reading `notifications` does not empty it,
            `read` does.
    """

    def __init__(self, capacity: int = 64) -> None:
        self.notifications: list[mcp.ServerNotification] = []
        self.final: Any = None
        self.streaming = False
        self.ended = trio.Event()
        self._capacity = capacity
        self._read = 0
        self._changed = trio.Event()
        self._gone = False

    @property
    def closed(self) -> bool:
        """True once it has ended, or its client left."""
        return self._gone or self.ended.is_set()

    def start(self) -> None:
        """Note that a stream was begun."""
        self.streaming = True

    def put(self, notification: mcp.ServerNotification) -> bool:
        """Keep a notification, unless the client has fallen behind or is gone."""
        if self.closed or len(self.notifications) - self._read >= self._capacity:
            return False
        mcp.encode(notification)
        self.streaming = True
        self.notifications.append(notification)
        self._wake()
        return True

    async def room(self) -> None:
        """Wait until the client has read something, or is gone."""
        while not self.closed and len(self.notifications) - self._read >= self._capacity:
            await self._changed.wait()

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        """Keep the last event."""
        if self.ended.is_set():
            return
        if final is None and not self.streaming:
            final = InternalError("The request ended without an answer")
        if final is not None and not isinstance(final, McpError):
            mcp.encode(final)
        self.final = final
        self.ended.set()
        self._wake()

    def leave(self) -> None:
        """Take nothing any more: the client is gone."""
        self._gone = True
        self._wake()

    async def read(self) -> mcp.ServerNotification:
        """Wait for the next notification that was not read yet.

        Raises:
            trio.EndOfChannel: The request ended, and every notification was read.
        """
        while self._read >= len(self.notifications):
            if self.closed:
                raise trio.EndOfChannel
            await self._changed.wait()
        self._read += 1
        self._wake()
        return self.notifications[self._read - 1]

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
