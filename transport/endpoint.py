"""One MCP endpoint, an ASGI application on trio: `endpoint(server)` (api.md §4, §9).

It answers POSTs of the 2026-07-28 revision, and hands what is of an older one to `transport.legacy`. What it does with
one, in order: a CORS preflight is answered; the head climbs the first rungs of `transport.ladder`; the body is read; a
notification goes to its worker and is answered 202; a request climbs on, is decoded, and gets a worker whose events
`transport.relay` delivers.

Every failure has a JSON-RPC body. Whatever a client sends, the answer is never a 500: that is for faults on this side,
which are logged with a reference that the client gets too.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from actors import Node
from genmcp import telemetry
from genmcp.mcp import InternalError, InvalidParams, McpError, MethodNotFound, UnsupportedProtocolVersion, jsonrpc
from genmcp.mcp import v2607 as mcp
from genmcp.server import Server
from genmcp.worker import WorkerSettings
from transport import cors, ladder
from transport.asgi import Pairs, Receive, Scope, Send
from transport.body import ClientLeftError, discard_body, read_body
from transport.dispatch import Caller, Dispatcher, Limits
from transport.era import is_legacy, is_modern, legacy_version
from transport.exchange import Exchange
from transport.headers import VERSION
from transport.host import node_of, require_trio
from transport.legacy.controller import SealedSessions, SessionController
from transport.legacy.desk import Desk
from transport.legacy.http import Delivery, LegacyHttp, null_id
from transport.legacy.sessions import Sessions
from transport.policy import HostPolicy, OriginPolicy
from transport.refusal import Refusal, refuse_websocket

LOG = logging.getLogger("genmcp")

DISCARD_FOR = 1.0
"""Seconds for which the rest of a refused body is taken, on servers that would be blocked by it."""


class Endpoint:
    """The ASGI application that `endpoint` makes. One call answers one HTTP request.

    Attributes:
        legacy: What serves the 2025 revisions beside; None if nothing does.
    """

    def __init__(
        self,
        server: Server[Any],
        dispatcher: Dispatcher,
        rules: ladder.Rules,
        node: Node | None,
        legacy: LegacyHttp | None = None,
    ) -> None:
        self._server = server
        self.legacy = legacy
        self._dispatcher = dispatcher
        self._rules = rules
        self._node = node
        self._on_trio = False

    @property
    def live_workers(self) -> int:
        """How many workers of this endpoint live."""
        return self._dispatcher.live

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection.

        Raises:
            RuntimeError: There is no running node, or this is not trio; the text says what to do.
        """
        if not self._on_trio:
            require_trio()
            self._on_trio = True
        if scope["type"] != "http":
            await (_lifespan(receive, send) if scope["type"] == "lifespan" else refuse_websocket(scope, receive, send))
            return
        node = node_of(self._server, self._node)
        exchange = Exchange(scope, receive, send)
        try:
            await self._serve(exchange, node)
        except ClientLeftError:
            return  # nobody is left to be answered
        except Refusal as refused:
            await self._refuse(exchange, refused.error, refused.status, refused.headers)
        except McpError as error:
            await self._refuse(exchange, error, error.status_before_dispatch)
        except Exception:
            await self._crashed(exchange)

    async def _serve(self, exchange: Exchange, node: Node) -> None:
        rules = self._rules
        page = exchange.headers.get(b"origin")
        if page is not None and await self._browser(exchange, page):
            return
        for check in ladder.DOOR:
            check(exchange, rules)
        if self.legacy is not None and await self.legacy.without_body(exchange):
            return
        for check in ladder.HEAD:
            check(exchange, rules)
        message = await self._message(exchange)
        if self.legacy is not None and is_legacy(exchange.headers, message):
            await self.legacy.post(exchange, message)
            return
        if not ladder.envelope(exchange, message):
            await self._notification(exchange, node, message)
            return
        if not is_modern(exchange.headers, exchange.params):
            ladder.require_served(legacy_version(exchange.headers, message))
        for rung in ladder.REQUEST:
            rung(exchange)
        request = ladder.typed_request(exchange, message)
        del message  # which a stream would keep for as long as it is open
        await self._dispatcher.request(exchange, node, request)

    async def _message(self, exchange: Exchange) -> Any:
        body = await read_body(exchange.receive, limit=self._rules.body_limit, deadline=self._rules.body_deadline)
        exchange.body_read = True
        return jsonrpc.parse(body)

    async def _browser(self, exchange: Exchange, page: bytes) -> bool:
        """Answer a preflight (True), or see to it that the page may read the answer."""
        allowed = self._rules.origins.allows(page, exchange.headers.get(b"host"))
        if allowed:
            exchange.extra_headers = cors.response_headers(page)
        if not cors.is_preflight(exchange.http_method, exchange.headers):
            return False
        if not allowed:
            ladder.origin(exchange, self._rules)
        requested = exchange.headers.get(b"access-control-request-headers")
        exchange.extra_headers = cors.preflight_headers(page, requested)
        await exchange.answer(204)
        return True

    async def _notification(self, exchange: Exchange, node: Node, message: dict[str, Any]) -> None:
        """Take a notification: no routing header is demanded (H-13), a version that is not served is refused."""
        version = exchange.headers.routing(VERSION)
        if version is not None:
            ladder.require_served(version)
        try:
            notification = cast("mcp.ClientNotification", mcp.decode(message))  # it has no id
        except (MethodNotFound, InvalidParams):
            await exchange.answer(202)  # unknown ones are ignored, and so are malformed cancellations (X-06, AMB-07)
            return
        await self._dispatcher.notification(exchange, node, notification)

    async def _refuse(self, exchange: Exchange, error: McpError, status: int, headers: Pairs = ()) -> None:
        if isinstance(error, UnsupportedProtocolVersion):
            telemetry.emit("transport.version_rejected", requested=error.requested)
        else:
            telemetry.emit("transport.request_rejected", code=error.code, status=status, message=error.message)
        if self.legacy is not None and exchange.method == "" and null_id(exchange):
            exchange.message_id = None
        await exchange.refuse(error, status, headers)
        if not exchange.body_read and not _ends_connections(exchange.scope):
            await discard_body(exchange.receive, DISCARD_FOR)

    async def _crashed(self, exchange: Exchange) -> None:
        """Answer a fault of this side: masked, with a reference to the log."""
        reference = secrets.token_hex(4)
        LOG.exception("The endpoint failed on %s (reference %s)", exchange.method or "a request", reference)
        telemetry.emit("transport.server_crashed", method=exchange.method, reference=reference)
        if not exchange.started:
            error = InternalError("Internal error", {"reference": reference})
            await exchange.refuse(error, error.status_before_dispatch)


def endpoint(
    server: Server[Any],
    *,
    node: Node | None = None,
    path: str = "/mcp",
    assigns: Mapping[str, Any] | None = None,
    copy_assigns: Iterable[str] = (),
    principal: Callable[[Scope], str | None] | None = None,
    allowed_origins: Iterable[str] = (),
    allowed_hosts: Iterable[str] = (),
    legacy: bool = True,
    keep_alive: float = 15.0,
    body_limit: int = 4 * 2**20,
    body_deadline: float = 30.0,
    header_limit: int = 64 * 2**10,
    max_workers: int = 10_000,
    outbox: int = 64,
    write_deadline: float = 30.0,
    worker: WorkerSettings | None = None,
    session_controller: SessionController | None = None,
) -> Endpoint:
    """Make the ASGI application that serves `server`: mount it anywhere on trio.

    Args:
        server: A `genmcp.Server`, usually a `genmcp.Suite`. When the first request comes it must run on a node:
            `transport.serve`, `transport.with_node` and `server.attach` see to that.
        node: The node that it must be; None takes any.
        path: Where the endpoint is, when it is the outermost application. Mounted below a path, it needs none.
        assigns: Values for `channel.meta.assigns` of every request.
        copy_assigns: Keys of `scope["state"]` that are copied over `assigns`, for what a middleware found out.
        principal: Says who calls, from the ASGI scope; it may raise an `McpError` to refuse. None reads
            `scope["state"]["principal"]`.
        allowed_origins: Web origins whose pages may call, as browsers write them; the server's own and, on a loopback
            host, loopback ones always may. ``*`` is any. Also the list for CORS.
        allowed_hosts: Host names to accept besides loopback and IP addresses; ``*`` is any.
        legacy: Whether clients of the 2025 revisions are served as well.
        keep_alive: Seconds of quiet after which a stream gets a comment; a request without an answer becomes a stream.
        body_limit: Bytes of a body.
        body_deadline: Seconds in which a body must arrive.
        header_limit: Bytes of all headers.
        max_workers: Workers of this endpoint that may live at once; more are answered 503.
        outbox: Events that may wait before a stream is open.
        write_deadline: Seconds without progress after which a client that does not read is dropped.
        worker: Limits of each worker.
        session_controller: Who keeps the sessions of 2025 clients; default `SealedSessions`, whose ids hold them.

    Raises:
        ValueError: An option has a value that it cannot have; the text names it.
    """
    rules = _rules(path, legacy, allowed_hosts, allowed_origins, header_limit, body_limit, body_deadline)
    limits = Limits(keep_alive=keep_alive, write_deadline=write_deadline, max_workers=max_workers, outbox=outbox)
    caller = Caller(assigns=assigns or {}, copy_assigns=tuple(copy_assigns), principal=principal)
    dispatcher = Dispatcher(server, caller, limits, worker or WorkerSettings())
    older = _older(server, dispatcher, rules, session_controller) if legacy else None
    return Endpoint(server, dispatcher, rules, node, older)


def _rules(
    path: str,
    legacy: bool,
    allowed_hosts: Iterable[str],
    allowed_origins: Iterable[str],
    header_limit: int,
    body_limit: int,
    body_deadline: float,
) -> ladder.Rules:
    if not path.startswith("/"):
        raise ValueError(f"path: {path!r} must start with a slash, for example /mcp")
    return ladder.Rules(
        path=path,
        hosts=HostPolicy(allowed_hosts),
        origins=OriginPolicy(allowed_origins),
        header_limit=header_limit,
        body_limit=body_limit,
        body_deadline=body_deadline,
        allow=b"POST, GET, DELETE" if legacy else b"POST",
    )


def _older(
    server: Server[Any], dispatcher: Dispatcher, rules: ladder.Rules, controller: SessionController | None
) -> LegacyHttp:
    """Serve the 2025 revisions beside, with the same limits and by the same workers."""
    limits = dispatcher.limits
    delivery = Delivery(
        keep_alive=limits.keep_alive,
        write_deadline=limits.write_deadline,
        capacity=limits.outbox,
        patience=dispatcher.worker.conversation_ttl,
    )
    desk = Desk(server, dispatcher.worker, dispatcher.count)
    context = dispatcher.caller.context
    sessions = Sessions(SealedSessions() if controller is None else controller)
    return LegacyHttp(desk, sessions, delivery, context, dispatcher.require_room, rules.header_limit)


async def _lifespan(receive: Receive, send: Send) -> None:
    """Agree to the lifespan protocol, which there is nothing to do for."""
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})


def _ends_connections(scope: Scope) -> bool:
    """Say whether the server deals with unread bodies itself, as the connection of `transport.serve` does."""
    return "genmcp.connection" in (scope.get("state") or {})
