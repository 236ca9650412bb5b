"""Which progress reports go out: strictly increasing ones, at most one an interval when asked to merge (X-11, C7)."""

from __future__ import annotations

import math
from typing import TypeGuard

import trio

from genmcp.mcp import v2607 as mcp


class Progress:
    """The progress of one request.

    Attributes:
        dropped: Reports that did not increase.
    """

    __slots__ = ("_interval", "_last", "_next", "_sent", "_token", "_waiting", "dropped")

    def __init__(self, token: mcp.ProgressToken, interval: float | None = None) -> None:
        self._token = token
        self._interval = interval
        self._last = -math.inf
        self._next = -math.inf
        self._sent = -math.inf  # the furthest that went out; reports of several tasks may wait for room together
        self._waiting: mcp.ProgressNotification | None = None
        self.dropped = 0

    def increases(self, progress: float) -> bool:
        """Tell whether a report goes further than those before it; one that does not is dropped, and counted."""
        if progress > self._last:
            return True
        self.dropped += 1
        return False

    def report(self, progress: float, total: float | None, message: str | None) -> mcp.ProgressNotification | None:
        """Return the notification to send now, or None: it waits for its interval, unless a newer one replaces it."""
        self._last = progress
        params = mcp.ProgressNotificationParams(
            progress_token=self._token, progress=progress, total=total, message=message
        )
        notification = mcp.ProgressNotification(params=params)
        return notification if self._interval is None else self._merge(notification, self._interval)

    def overtaken(self, notification: mcp.ServerNotification) -> bool:
        """Tell whether a report that waited to be sent was overtaken by one further on; it is dropped, and counted."""
        late = self._is_ours(notification) and notification.params.progress <= self._sent
        self.dropped += late
        return late

    def went_out(self, notification: mcp.ServerNotification) -> None:
        """Note that a notification was sent."""
        if self._is_ours(notification):
            self._sent = notification.params.progress

    def _is_ours(self, notification: mcp.ServerNotification) -> TypeGuard[mcp.ProgressNotification]:
        return isinstance(notification, mcp.ProgressNotification) and notification.params.progress_token == self._token

    def _merge(self, notification: mcp.ProgressNotification, interval: float) -> mcp.ProgressNotification | None:
        now = trio.current_time()
        if now < self._next:
            self._waiting = notification
            return None
        self._next = now + interval
        self._waiting = None
        return notification

    def flush(self) -> mcp.ProgressNotification | None:
        """Return the newest report that waits for its interval, so that it goes out before the result."""
        waiting, self._waiting = self._waiting, None
        return waiting


def check_finite(*values: float | None) -> None:
    """Refuse numbers that have no JSON form.

    Raises:
        TypeError: One is not a number.
        ValueError: One is not finite.
    """
    for value in values:
        if value is not None and not math.isfinite(value):
            raise ValueError(f"progress and total must be finite numbers, not {value!r}")
