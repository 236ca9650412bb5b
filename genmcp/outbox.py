"""What a worker sees of its client: a place to put notifications and one final event.

The floor above implements it (a relay that turns events into JSON or SSE), and so does
`genmcp.testing` in memory. A worker knows nothing of HTTP.
"""

from __future__ import annotations

import enum
from typing import Protocol, runtime_checkable

from genmcp.mcp import McpError
from genmcp.mcp import v2607 as mcp


class Sent(enum.Enum):
    """What became of an event that a handler sent."""

    SENT = "sent"
    """It was handed over, in order."""
    CLOSED = "closed"
    """Nobody takes it: the request was answered or closed, or the client is gone."""
    NOT_WANTED = "not_wanted"
    """The client did not ask for it: no progress token, progress that does not increase, a log below its level."""


class Outbox(Protocol):
    """The client's side of one request, as the worker sees it. All but `room` are synchronous and never wait."""

    @property
    def closed(self) -> bool:
        """True once nothing is taken any more: the last event was given, or nobody listens."""
        ...

    def start(self) -> None:
        """Commit to a stream now. Calling it again does nothing."""
        ...

    def put(self, notification: mcp.ServerNotification) -> bool:
        """Hand over one notification, which commits to a stream.

        Returns:
            False when it was not taken: the client is slow (await `room` and try again) or gone (`closed`).

        Raises:
            TypeError: The notification holds a value that is not JSON.
        """
        ...

    async def room(self) -> None:
        """Wait until `put` may succeed again; return at once when the outbox is closed."""
        ...

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        """Hand over the last event; None ends the stream without a response. Later calls do nothing.

        Raises:
            TypeError: The result holds a value that is not JSON. Nothing was sent, and `end` may be called again.
        """
        ...


@runtime_checkable
class Resumable(Protocol):
    """An outbox whose client may come back for what it has missed."""

    def close_stream(self, retry: float) -> bool:
        """Close the connection although there is no answer yet; the client comes back after `retry` seconds.

        Returns:
            False when this client would not.
        """
        ...


class ClosedOutbox:
    """The outbox of a notification, which is never answered: it takes nothing."""

    closed = True

    def start(self) -> None:
        """Do nothing."""

    def put(self, notification: mcp.ServerNotification) -> bool:
        """Refuse the notification."""
        del notification
        return False

    async def room(self) -> None:
        """Return at once."""

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        """Do nothing."""
        del final
