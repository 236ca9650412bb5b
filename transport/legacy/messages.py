"""What kind of message a client has sent, and the members of an array of them (O-38)."""

from __future__ import annotations

from typing import Any, TypeGuard

from genmcp.mcp import InvalidRequest, jsonrpc
from transport.legacy.revision import Revision

INITIALIZE = "initialize"

MOST_IN_BATCH = 100
"""Messages of one array."""


def is_response(message: Any) -> TypeGuard[dict[str, Any]]:
    """Say whether a message is a client's answer to a request of the server."""
    return isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)


def members_of(batch: list[Any], revision: Revision) -> list[Any]:
    """Return the members of an array: all of it is taken, or nothing.

    Raises:
        InvalidRequest: The revision has no arrays, or this one is too long, or a member is none.
    """
    if not revision.batches:
        raise InvalidRequest(f"The message must be one JSON object: {revision.version} has no batches.")
    if not 0 < len(batch) <= MOST_IN_BATCH:
        raise InvalidRequest(f"A batch holds 1 to {MOST_IN_BATCH} messages.")
    for message in batch:
        if not is_response(message) and jsonrpc.check_message(message) == INITIALIZE:
            raise InvalidRequest("initialize cannot be part of a batch.")
    return batch
