"""Answers that the front gives by itself, without a worker, for reasons of HTTP rather than of MCP.

Each has a JSON-RPC error as its body and says what to change: the option of `transport.endpoint` and the setting of
`python -m genmcp serve`. An empty or foreign body would make dual-era clients take the server for one of 2025 (H-58).

| status | code | when |
|---|---|---|
| 403 | -32600 | the page's origin is not allowed |
| 404 | -32600 | there is no endpoint at this path |
| 405 | -32600 | not a POST; `Allow` names what is served |
| 406 | -32600 | the client accepts nothing that could be sent |
| 408 | -32600 | the body did not arrive in time |
| 413 | -32600 | the body is too large |
| 415 | -32600 | the body is not declared as JSON |
| 421 | -32600 | the host name is not allowed |
| 431 | -32600 | the headers are too large |
| 503 | -32603 | too many live workers, or the server is stopping; `Retry-After` says when to come back |
"""

from __future__ import annotations

from msgspec import UNSET

from genmcp.mcp import Code, McpError, jsonrpc
from transport.asgi import Pairs, Receive, Scope, Send

_SHOWN = 100


class Refusal(Exception):
    """The front refuses a request by itself.

    Attributes:
        status: The HTTP status.
        error: The JSON-RPC error of the body.
        headers: Headers that belong to the status, such as `Allow`.
    """

    def __init__(
        self,
        status: int,
        message: str,
        headers: Pairs = (),
        *,
        code: int = Code.INVALID_REQUEST,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = McpError(code, message, status=status)
        self.headers = headers


def foreign_host(host: bytes | None) -> Refusal:
    """421: the check against DNS rebinding does not know this name."""
    return Refusal(
        421,
        f"The host {_shown(host)} is not allowed here; the server's owner can add it with allowed_hosts "
        "(--allow-host, GENMCP_ALLOW_HOSTS)",
    )


def foreign_origin(origin: bytes | None) -> Refusal:
    """403: pages of this origin may not call."""
    return Refusal(
        403,
        f"The origin {_shown(origin)} is not allowed here; the server's owner can add it with allowed_origins "
        "(--allow-origin, GENMCP_ALLOW_ORIGINS)",
    )


def no_such_path(path: str, served: str) -> Refusal:
    """404: the endpoint is elsewhere."""
    return Refusal(
        404, f"There is no MCP endpoint at {path[:_SHOWN]!r}; it is at {served!r} (path, --path, GENMCP_PATH)"
    )


def wrong_method(http_method: str, allow: bytes) -> Refusal:
    """405: the endpoint takes POST (H-51)."""
    return Refusal(
        405,
        f"{http_method[:20]} is not served here: send each JSON-RPC message as a POST",
        [(b"allow", allow)],
    )


async def refuse_websocket(scope: Scope, receive: Receive, send: Send) -> None:
    """Turn a WebSocket handshake away: 405 as for any GET, where the server can say it; else by a close (403)."""
    await receive()
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1002})
        return
    refused = wrong_method("A WebSocket", b"POST")
    body = jsonrpc.error_bytes(UNSET, refused.error)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *refused.headers]
    await send({"type": "websocket.http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


def not_acceptable(accept: bytes | None, needed: str) -> Refusal:
    """406: nothing that the client accepts could be sent."""
    return Refusal(406, f"The header Accept is {_shown(accept)} but the answer needs {needed}")


def body_too_slow(deadline: float) -> Refusal:
    """408: the body did not arrive within the deadline."""
    return Refusal(
        408, f"The body did not arrive within {deadline:g} s (body_deadline, --body-deadline, GENMCP_BODY_DEADLINE)"
    )


def body_too_large(limit: int) -> Refusal:
    """413: the body is larger than the limit; what is left of it is not read."""
    return Refusal(413, f"The body is larger than {limit} bytes (body_limit, --max-body, GENMCP_MAX_BODY)")


def not_json(content_type: bytes | None) -> Refusal:
    """415: the body is not declared as JSON. Also what makes browsers ask before they post."""
    return Refusal(415, f"The header Content-Type is {_shown(content_type)} but must be application/json")


def headers_too_large(limit: int) -> Refusal:
    """431: all headers together are larger than the limit."""
    return Refusal(431, f"The headers are larger than {limit} bytes (header_limit, --max-header, GENMCP_MAX_HEADER)")


def overloaded(limit: int, retry_after: int) -> Refusal:
    """503: as many workers live as may."""
    return Refusal(
        503,
        f"The server is busy: {limit} requests are running (max_workers, --live-workers, GENMCP_LIVE_WORKERS)",
        [(b"retry-after", b"%d" % retry_after)],
        code=Code.INTERNAL_ERROR,
    )


def stopping(retry_after: int) -> Refusal:
    """503: the node takes no new work."""
    return Refusal(
        503, "The server is shutting down", [(b"retry-after", b"%d" % retry_after)], code=Code.INTERNAL_ERROR
    )


def _shown(value: bytes | None) -> str:
    return "missing" if value is None else repr(value[:_SHOWN].decode("latin-1"))
