"""How an ending is told: to the handler as `channel.close_reason`, to the client as an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from actors import ExitReason, Shutdown
from genmcp.mcp import InternalError, McpError

CloseReason = Literal["client_gone", "stalled", "timeout", "shutdown", "killed", "overloaded", "expired", "closed"]

GONE: frozenset[CloseReason | None] = frozenset({"client_gone", "stalled"})
"""What `channel.close_reason` says when there is no client any more."""

REPLY = Shutdown("reply")
"""The exit reason of a worker that has answered."""

CLOSED = Shutdown("closed")
"""The exit reason of a worker that closed its channel."""

CLOSE_REASONS: Mapping[str | None, CloseReason] = {
    "shutdown": "shutdown",
    "client_disconnected": "client_gone",
    "timeout": "timeout",
    "overloaded": "overloaded",
    "expired": "expired",
}
"""What `channel.close_reason` says for the detail of a `Shutdown`; any other stop is `killed`."""

TOLD: Mapping[CloseReason, str] = {
    "shutdown": "The server is shutting down",
    "overloaded": "More messages came for this request than its handler took",
    "expired": "The request waited longer than the server allows",
    "timeout": "The request took longer than it may take",
    "killed": "The request was stopped by the server",
}
"""What the client reads in the -32603 of a stop."""


def close_reason(reason: ExitReason, *, node_stops: bool) -> CloseReason:
    """Return what `channel.close_reason` says of a stop; one without a detail may be the node's, or somebody's."""
    if not isinstance(reason, Shutdown):
        return "killed"
    return CLOSE_REASONS.get(reason.detail, "shutdown" if node_stops and reason.detail is None else "killed")


def stopped(reason: CloseReason, time_limit: float | None) -> McpError:
    """Return the -32603 that tells the client why its request was stopped."""
    if reason == "timeout" and time_limit is not None:
        return InternalError(f"The request took longer than the {time_limit:g} s that it may take")
    return InternalError(TOLD.get(reason, TOLD["killed"]))
