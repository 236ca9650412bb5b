"""The client at the other end: what each of its messages is, and who answers it (V-09, V-10, Q-06, Q-10).

The order of checks is that of HTTP without the rungs that are about headers:

    line      too long -32600 · JSON -32700
    message   one object, `jsonrpc`, `method`, `id` -32600 · an id in use -32600
    era       `_meta` names a version: 2026-07-28 · `initialize`, and whatever follows it: 2025
    request   required `_meta` -32602 · version -32022 · method -32601, params -32602 · room -32603

A process is no session (Q-16): what is of 2026-07-28 stands alone, also between messages of a 2025 client. All of them
share one space of request ids, because there is one channel for the answers.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any, cast

import msgspec
import trio
from msgspec import UNSET

from actors import StoppedError
from genmcp import telemetry
from genmcp.mcp import (
    InternalError,
    InvalidParams,
    InvalidRequest,
    McpError,
    MethodNotFound,
    ParseError,
    UnsupportedProtocolVersion,
    jsonrpc,
)
from genmcp.mcp import v2607 as mcp
from genmcp.server import Server
from genmcp.worker import RequestContext, WorkerSettings, start_request
from transport import ladder
from transport.era import ASSUMED_VERSION, VERSION_KEY
from transport.legacy.desk import EMPTY, Desk
from transport.legacy.messages import INITIALIZE, is_response, members_of
from transport.legacy.session import Session
from transport.stdio.lines import OVERSIZE, Line
from transport.stdio.older import PING, LegacyRequest, LineSink, OlderClient
from transport.stdio.running import How, Running
from transport.stdio.seldom import Seldom
from transport.stdio.turn import Turn
from transport.stdio.writer import Writer

LOG = logging.getLogger("genmcp")


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What messages are measured by.

    Attributes:
        line_limit: Bytes of a line.
        max_workers: Workers that may live at once.
        legacy: Whether the 2025 revisions are spoken.
        announce_end: Whether `notifications/cancelled` goes before the result of a subscription that we end.
    """

    line_limit: int = 4 * 2**20
    max_workers: int = 10_000
    legacy: bool = True
    announce_end: bool = False


class Peer:
    """Takes the client's messages, one after another, and has them answered side by side.

    Args:
        server: Who answers; it runs on a node.
        writer: The way to the client.
        rules: What messages are measured by.
        context: What is known of the client.
        worker: Limits of each worker.
        nursery: For what the client's session needs to be done later.

    Attributes:
        running: The requests that are being answered.
    """

    def __init__(
        self,
        server: Server[Any],
        writer: Writer,
        rules: Rules,
        context: RequestContext,
        worker: WorkerSettings,
        nursery: trio.Nursery,
    ) -> None:
        self._server = server
        self._writer = writer
        self._rules = rules
        self._context = context
        self._worker = worker
        self.running = Running(server)
        self._older = OlderClient(Desk(server, worker, self.running.count), writer, context, nursery)
        self._stopping = False
        self._broken = Seldom(LOG, logging.WARNING)
        self._cancelled = Seldom(LOG, logging.INFO)

    # -- the end

    def refuse(self) -> None:
        """Take no new requests: the server stops. Subscriptions end."""
        self._stopping = True
        self._older.deafen()
        self.running.end_subscriptions()

    def leave_subscriptions(self) -> None:
        """Stop what only waits for changes: nobody will read them."""
        self._older.deafen()
        self.running.leave(only_subscriptions=True)

    def leave(self, how: How) -> None:
        """Stop everything: the client is gone. Nothing more is sent."""
        self._stopping = True
        self._older.deafen()
        self.running.leave(how)
        self._older.end()

    # -- messages

    async def take(self, line: Line) -> None:
        """Take one line. Whatever is in it, the next one is taken as well."""
        try:
            if line is OVERSIZE:
                limit = self._rules.line_limit
                raise InvalidRequest(f"The line is longer than {limit} bytes (--max-body, GENMCP_MAX_BODY).")
            messages = self._members(_parse(line))
        except McpError as error:
            self._refuse(None, error)
            return
        for message in messages:
            await self._one(message)

    def _members(self, message: Any) -> list[Any]:
        """Return the messages of an array, for a client of the one revision that has them, or the one message."""
        session = self._older.session
        if isinstance(message, list) and session is not None:
            return members_of(message, session.client.revision)
        return [message]

    async def _one(self, message: Any) -> None:
        session = self._older.session
        if session is not None and is_response(message):
            if not self._older.response(session, message):
                LOG.debug("A response to a request that nobody waits for is ignored")
            return
        try:
            method = jsonrpc.check_message(message)
            if "id" in message:
                await self._request(method, message)
            else:
                await self._notification(method, message)
        except McpError as error:
            self._refuse(message, error)
        except StoppedError:
            self._refuse(message, _shutting_down())
        except Exception:
            reference = secrets.token_hex(4)
            LOG.exception("A message of the client could not be taken (reference %s)", reference)
            telemetry.emit("transport.server_crashed", method=message.get("method"), reference=reference)
            self._refuse(message, InternalError("Internal error", {"reference": reference}))

    async def _request(self, method: str, message: dict[str, Any]) -> None:
        if message["id"] in self.running:
            raise InvalidRequest(f"The id {message['id']!r} is that of a request that is being answered.")
        session = self._older.session
        if _names_version(message.get("params")):
            self._modern(message)
        elif session is not None and method != INITIALIZE:
            await self._legacy(session, message)
        elif self._rules.legacy and method in (INITIALIZE, PING):
            self._require_room()
            if method == INITIALIZE:
                await self._older.initialize(message)
            else:  # which a client may send before (O-04)
                self._writer.answer(jsonrpc.response_bytes(message["id"], EMPTY))
        else:
            if method == INITIALIZE:
                ladder.require_served(_asked_version(message))
            self._modern(message)

    def _modern(self, message: dict[str, Any]) -> None:
        """Start the worker of a request that stands alone (V-01)."""
        ladder.require_served(ladder.require_meta(message.get("params")))
        request = cast("mcp.Request", mcp.decode(message))  # it has an id
        self._require_room()
        turn = Turn(request, self._writer, lambda: self.running.over(request.id), announce_end=self._rules.announce_end)
        self.running.add(request.id, turn)
        try:
            node = self._server.node
            turn.worker = start_request(node, self._server, request, turn, self._context, self._worker)
        except BaseException:
            self.running.over(request.id)
            raise
        self.running.count(node, turn.worker.pid)

    async def _legacy(self, session: Session, message: dict[str, Any]) -> None:
        """Answer a request of the session that `initialize` has opened."""
        self._require_room()
        request_id = message["id"]
        sink = LineSink(self._writer, request_id)
        self.running.add(request_id, LegacyRequest(session, sink, request_id))
        try:
            await self._older.request(session, message, sink, lambda: self.running.over(request_id))
        except BaseException:
            self.running.over(request_id)
            raise

    async def _notification(self, method: str, message: dict[str, Any]) -> None:
        if method == mcp.CancelledNotification.method:
            self._cancel(message)
        elif self._older.session is not None:
            await self._older.notification(self._older.session, message)
        # any other one is ignored (AMB-35)

    def _cancel(self, message: dict[str, Any]) -> None:
        """Cancel a request that is being answered; ignore what names none (X-03, X-05, X-06, X-07)."""
        try:
            params = cast("mcp.CancelledNotification", mcp.decode(message)).params
        except (InvalidParams, MethodNotFound) as error:
            self._cancelled("A malformed cancellation is ignored: %s", error.message)
            return
        running = self.running.get(params.request_id)
        what = "is cancelled" if running is not None else "is not being answered, so its cancellation is ignored"
        self._cancelled("The request %r %s: %s", params.request_id, what, (params.reason or "no reason given")[:200])
        if running is not None:
            running.leave()

    # -- inside

    def _refuse(self, message: Any, error: McpError) -> None:
        """Answer with an error; one that belongs to no request is worth a line in the log."""
        found = UNSET if is_response(message) else jsonrpc.request_id_of(message)
        request_id = None if found is UNSET and self._older.null_ids else found
        if isinstance(error, UnsupportedProtocolVersion):
            telemetry.emit("transport.version_rejected", requested=error.requested)
        else:
            status = error.status_before_dispatch
            telemetry.emit("transport.request_rejected", code=error.code, status=status, message=error.message)
        if found is UNSET:
            self._broken("A message of the client is refused: %s", error.message)
        self._writer.answer(jsonrpc.error_bytes(request_id, error))

    def _require_room(self) -> None:
        if self._stopping:
            raise _shutting_down()
        if self.running.live >= self._rules.max_workers:
            raise InternalError(
                f"The server is busy: {self._rules.max_workers} requests are running (--live-workers, "
                "GENMCP_LIVE_WORKERS)"
            )


def _parse(line: bytes) -> Any:
    try:
        return jsonrpc.parse(line)
    except ParseError as error:
        raise ParseError(error.message.replace("The body", "The line", 1)) from None


def _names_version(params: Any) -> bool:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and VERSION_KEY in meta


def _asked_version(message: dict[str, Any]) -> str:
    params = message.get("params")
    asked = params.get("protocolVersion") if isinstance(params, dict) else None
    return asked if isinstance(asked, str) else ASSUMED_VERSION


def _shutting_down() -> McpError:
    return InternalError("The server is shutting down")
