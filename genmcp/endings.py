"""How an ending is told: to the handler as `channel.close_reason`, to the client as an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from actors import ExitReason, Shutdown
from genmcp.mcp import McpError
from genmcp.mcp.errors import INTERNAL_ERROR

CloseReason = Literal["client_gone", "stalled", "timeout", "shutdown", "killed", "overloaded", "expired", "closed"]

CLOSE_REASONS: Mapping[str | None, CloseReason] = {
    None: "shutdown",
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
    "killed": "The request was stopped by the server",
}
"""What the client reads in the -32603 of a stop."""


def close_reason(reason: ExitReason) -> CloseReason:
    """Return what `channel.close_reason` says of a stop."""
    return CLOSE_REASONS.get(reason.detail, "killed") if isinstance(reason, Shutdown) else "killed"


def stopped(reason: CloseReason, time_limit: float | None) -> McpError:
    """Return the -32603 that tells the client why its request was stopped."""
    if reason == "timeout":
        return McpError(INTERNAL_ERROR, f"The request took longer than the {time_limit:g} s that it may take")
    return McpError(INTERNAL_ERROR, TOLD.get(reason, TOLD["killed"]))


def as_mcp_error(reason: McpError | str) -> McpError:
    """Return the error a text stands for: -32603 with that text, meant for the client."""
    return reason if isinstance(reason, McpError) else McpError(INTERNAL_ERROR, reason)
