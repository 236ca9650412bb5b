"""One HTTP request on its way up the ladder: what has been learnt of it so far, and the way to answer it."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from genmcp.mcp import McpError, jsonrpc
from transport.asgi import Pairs, Receive, Scope, Send
from transport.headers import Headers
from transport.media import Accepted, accepted

NO_CONTENT = 204


class Exchange:
    """One HTTP request and its answer. Steps of the ladder fill it in; see `transport.ladder`.

    Attributes:
        scope: The ASGI scope.
        receive: The ASGI channel of incoming events.
        send: The ASGI channel of outgoing events.
        headers: The headers, read.
        http_method: `POST`, usually.
        extra_headers: Put on every answer: those of CORS, when the page's origin is allowed.
        started: Whether an answer is under way, so that no other can be given.
        body_read: Whether nothing of the request is left to be read.
        message_id: The JSON-RPC id to echo; UNSET as long as none could be read, and for notifications; None is null.
        method: The JSON-RPC method.
        params: The JSON-RPC params as they came.
    """

    __slots__ = (
        "body_read",
        "extra_headers",
        "headers",
        "http_method",
        "message_id",
        "method",
        "params",
        "receive",
        "scope",
        "send",
        "started",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive = receive
        self.send = send
        self.headers = Headers(scope["headers"])
        self.http_method: str = scope["method"]
        self.extra_headers: Pairs = ()
        self.started = False
        self.body_read = False
        self.message_id: int | str | UnsetType | None = UNSET
        self.method = ""
        self.params: Any = None

    @property
    def accepted(self) -> Accepted:
        """Which forms of an answer the client takes."""
        return accepted(self.headers.get(b"accept"))

    async def answer(self, status: int, body: bytes = b"", headers: Pairs = ()) -> None:
        """Send a complete answer; a body is JSON."""
        self.started = True
        head = [*headers, *self.extra_headers]
        if body:
            head.insert(0, (b"content-type", b"application/json"))
        if status != NO_CONTENT:  # which must not have one
            head.append((b"content-length", b"%d" % len(body)))
        try:
            await self.send({"type": "http.response.start", "status": status, "headers": head})
            await self.send({"type": "http.response.body", "body": b"" if self.http_method == "HEAD" else body})
        except OSError:
            pass  # ASGI's way to say that the client has left: nobody is waiting for this answer

    async def refuse(self, error: McpError, status: int, headers: Pairs = ()) -> None:
        """Answer with an error that has the request's id, if one could be read (B-12, AMB-04)."""
        await self.answer(status, jsonrpc.error_bytes(self.message_id, error), headers)
