"""From what a worker says to the bytes of a message, for one request of one revision.

The relay knows how to deliver; a codec knows how a notification and the last event are written, and which HTTP status
the last event has when nothing was sent before it.
"""

from __future__ import annotations

from typing import Protocol

from genmcp.mcp import InternalError, McpError, jsonrpc
from genmcp.mcp import v2607 as mcp


class Codec(Protocol):
    """How one request's messages are written."""

    def notification(self, notification: mcp.ServerNotification) -> bytes:
        """Write a notification. Raises a TypeError if it holds a value that is not JSON."""
        ...

    def final(self, final: mcp.ServerResult | McpError) -> tuple[int, bytes]:
        """Write the last event; return the status it has as the only one. Raises a TypeError as `notification`."""
        ...


class ModernCodec:
    """The 2026-07-28 revision: messages go out as they are.

    Args:
        request_id: The id of the request, echoed with its JSON type (B-06).
    """

    __slots__ = ("_id",)

    def __init__(self, request_id: int | str) -> None:
        self._id = request_id

    def notification(self, notification: mcp.ServerNotification) -> bytes:
        """See `Codec.notification`."""
        return jsonrpc.notification_bytes(notification)

    def final(self, final: mcp.ServerResult | McpError) -> tuple[int, bytes]:
        """See `Codec.final`."""
        if isinstance(final, McpError):
            return final.status_after_dispatch, jsonrpc.error_bytes(self._id, final)
        return 200, jsonrpc.response_bytes(self._id, final)


def no_answer() -> McpError:
    """Return the error for a request that ended without an answer where HTTP must have one."""
    return InternalError("The request ended without an answer")
