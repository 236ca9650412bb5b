"""Takes the messages of legacy clients, whatever carries them, and answers each one.

| message | what happens |
|---|---|
| `initialize` | `open`: the client is read, the server asked what it can do |
| `ping`, `logging/setLevel`, `resources/subscribe`, `resources/unsubscribe` | answered here |
| a method of both eras | a turn: the worker of the 2026 request answers |
| any other request | -32601 |
| `notifications/cancelled` | cancels the session's own request of that id |
| any other notification | taken; nothing here needs it |
| a response | goes to whoever asked |
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from actors import Node, Pid, StoppedError
from genmcp.mcp import InternalError, InvalidParams, McpError, MethodNotFound, jsonrpc
from genmcp.mcp import v2607 as mcp
from genmcp.server import Server
from genmcp.suite.listen import MAX_URI, MAX_URIS
from genmcp.worker import RequestContext, WorkerSettings
from transport.legacy.client import Client, read_client
from transport.legacy.codec import LegacyCodec
from transport.legacy.handshake import discover, initialize_result
from transport.legacy.session import Session
from transport.legacy.sink import Sink
from transport.legacy.turn import Turn
from transport.legacy.up import SHARED_METHODS, params_of, request_up

EMPTY: dict[str, Any] = {}
"""The result without keys that these revisions expect of requests that only change something."""

Own = Callable[["Desk", Session, dict[str, Any], RequestContext], Awaitable[dict[str, Any]]]


class Desk:
    """Answers legacy messages of one server.

    Args:
        server: The server, which runs on a node by the time of the first message.
        settings: Limits of its workers.
        count: Told of every worker that is started.
    """

    def __init__(
        self,
        server: Server[Any],
        settings: WorkerSettings | None = None,
        count: Callable[[Node, Pid], None] = lambda node, pid: None,
    ) -> None:
        self.server = server
        self.settings = settings or WorkerSettings()
        self._count = count

    @property
    def node(self) -> Node:
        """The node that the server runs on."""
        return self.server.node

    def count(self, pid: Pid) -> None:
        """Count a worker as living until it has ended."""
        self._count(self.node, pid)

    async def open(self, message: dict[str, Any], context: RequestContext) -> tuple[Client, dict[str, Any]]:
        """Answer an `initialize`.

        Returns:
            The client, of which to make a `Session`, and the result.

        Raises:
            McpError: Its params are malformed, or the server refuses.
        """
        client = read_client(message.get("params"))
        try:
            return client, await initialize_result(self, client, context)
        except StoppedError:
            raise InternalError("The server is shutting down") from None

    async def request(
        self,
        session: Session,
        message: dict[str, Any],
        sink: Sink,
        context: RequestContext,
        on_over: Callable[[], None] = lambda: None,
    ) -> Turn | None:
        """Answer one request of a session: to the sink, now or when its worker has ended.

        Args:
            session: Whose request it is.
            message: The request, whose envelope was checked.
            sink: Where the answer goes.
            context: What is known of the caller.
            on_over: Called once when the request is over, before the sink has the answer.

        Returns:
            The turn, if a worker answers.
        """
        turn: Turn | None = None
        try:
            own = OWN_METHODS.get(message["method"])
            if own is None:
                request = request_up(message, session.client, session.level)
                turn = Turn(self, session, request, sink, context, on_over)
                turn.begin()
                return turn
            answer = await own(self, session, params_of(message), context)
            data = jsonrpc.response_bytes(message["id"], answer)
            status = 200
        except (McpError, StoppedError) as fault:
            error = fault if isinstance(fault, McpError) else InternalError("The server is shutting down")
            status, data = LegacyCodec(session.client.revision).final(message["id"], error)
        if turn is None:
            on_over()
        sink.finish(data, status)
        return None

    def notification(self, session: Session, message: dict[str, Any]) -> None:
        """Take one notification of a session."""
        if message["method"] == mcp.CancelledNotification.method:
            params = message.get("params")
            session.cancel(params.get("requestId") if isinstance(params, dict) else None)

    def response(self, session: Session, message: dict[str, Any]) -> bool:
        """Take one response of a session. Returns False if nobody waits for it; it does no harm then."""
        return session.answer(message)


async def _ping(desk: Desk, session: Session, params: dict[str, Any], context: RequestContext) -> dict[str, Any]:
    return EMPTY


async def _set_level(desk: Desk, session: Session, params: dict[str, Any], context: RequestContext) -> dict[str, Any]:
    level = params.get("level")
    if level not in mcp.LOGGING_LEVELS:
        raise InvalidParams(f"params.level: expected one of {', '.join(mcp.LOGGING_LEVELS)}")
    session.level = level
    return EMPTY


async def _subscribe(desk: Desk, session: Session, params: dict[str, Any], context: RequestContext) -> dict[str, Any]:
    uri = _uri(params)
    if uri not in session.watched:
        resources = (await discover(desk, session.client, context)).capabilities.resources
        if resources is None or not resources.subscribe:
            raise MethodNotFound("resources/subscribe")
        if len(session.watched) >= MAX_URIS:
            raise InvalidParams(f"a session can watch {MAX_URIS} resources at most")
        session.watched[uri] = None
        try:
            if session.ear is not None:
                await session.ear.renew()
        except BaseException:
            session.watched.pop(uri, None)
            raise
    return EMPTY


async def _unsubscribe(desk: Desk, session: Session, params: dict[str, Any], context: RequestContext) -> dict[str, Any]:
    session.watched.pop(_uri(params), None)
    return EMPTY


def _uri(params: dict[str, Any]) -> str:
    uri = params.get("uri")
    if not isinstance(uri, str) or len(uri) > MAX_URI:
        raise InvalidParams(f"params.uri: expected a URI of at most {MAX_URI} characters")
    return uri


OWN_METHODS: dict[str, Own] = {
    "ping": _ping,
    "logging/setLevel": _set_level,
    "resources/subscribe": _subscribe,
    "resources/unsubscribe": _unsubscribe,
}
"""The methods that only the 2025 revisions have, but `initialize`."""

METHODS = SHARED_METHODS | OWN_METHODS.keys() | {"initialize"}
"""Every method that a legacy client may call."""
