"""Bytes or parsed JSON to typed requests and notifications."""

from typing import Any, cast

from genmcp.mcp.errors import InvalidParams, MethodNotFound
from genmcp.mcp.jsonrpc import check_message, parse
from genmcp.mcp.model import decode_as
from genmcp.mcp.v2607.tools import CallToolRequest
from genmcp.mcp.v2607.unions import CLIENT_NOTIFICATIONS, REQUESTS, ClientNotification, ClientRequest

# A bare CallToolRequest would let any JSON value pass as arguments.
_KINDS: dict[str, Any] = {**REQUESTS, CallToolRequest.method: CallToolRequest[dict[str, Any]]}


def decode(message: bytes | dict[str, Any], *, require_meta: bool = True) -> ClientRequest | ClientNotification:
    """Return a client's message as its struct, unknown members kept.

    Args:
        message: the body, or what `jsonrpc.parse` made of it.
        require_meta: False for messages of the 2025 revisions, whose `_meta` is optional.

    Returns:
        A request if the message has an `id`, a notification otherwise.

    Raises:
        ParseError: not JSON.
        InvalidRequest: JSON, but not one request or notification.
        MethodNotFound: a method that clients cannot call.
        InvalidParams: `params` do not fit the method; the text names the path and what was expected.
    """
    raw: Any = parse(message) if isinstance(message, bytes | bytearray) else message
    method = check_message(raw)
    if "id" not in raw:
        return _decode_notification(method, raw)
    kind = _KINDS.get(method)
    if kind is None:
        raise MethodNotFound(method)
    request = decode_as(kind, raw)
    if require_meta and "_meta" not in raw["params"]:
        raise InvalidParams("params._meta is required.")
    return cast("ClientRequest", request)


def _decode_notification(method: str, raw: Any) -> ClientNotification:
    kind = CLIENT_NOTIFICATIONS.get(method)
    if kind is None:
        raise MethodNotFound(method)
    return cast("ClientNotification", decode_as(kind, raw))
