"""The 2025 revisions over HTTP: sessions by `Mcp-Session-Id`, POST, GET and DELETE, streams to come back to.

| request | answer |
|---|---|
| POST `initialize` | 200 and the new session's id |
| POST without the id | 400 |
| any with an id that is none, is too old, or was ended | 404: the client begins again (O-16, O-17) |
| POST of a request | its answer: JSON, or a stream from the first message on |
| POST of a response or notification | 202 |
| POST of an array | as its members; 2025-03-26 only |
| GET | the stream of changes; with `Last-Event-ID`, what was missed of any stream of the session |
| DELETE | 200; the session is over |

Errors of legacy requests have status 200: these clients drop the body of any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from genmcp.mcp import InvalidRequest, McpError, MethodNotFound, jsonrpc
from genmcp.worker import RequestContext
from transport import refusal
from transport.era import is_modern
from transport.exchange import Exchange
from transport.headers import LAST_EVENT, SESSION, VERSION
from transport.legacy.carrier import Carrier
from transport.legacy.desk import Desk
from transport.legacy.listening import Listening
from transport.legacy.messages import INITIALIZE, is_response, members_of
from transport.legacy.revision import REVISIONS
from transport.legacy.session import Session
from transport.legacy.sessions import Sessions
from transport.legacy.store import Store
from transport.legacy.stream import Stream
from transport.media import EVENT_STREAM
from transport.refusal import Refusal


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds the delivery of answers.

    Attributes:
        keep_alive: Seconds of quiet after which a stream gets a comment.
        write_deadline: Seconds without progress after which a client that does not read is dropped.
        capacity: Events that a client may lag behind before its worker has to wait.
        patience: Seconds for which a worker lives on, and a stream is kept, when nobody reads.
    """

    keep_alive: float = 15.0
    write_deadline: float = 30.0
    capacity: int = 64
    patience: float = 600.0


class LegacyHttp:
    """Serves the 2025 revisions of one endpoint.

    Args:
        desk: Answers the messages.
        sessions: Knows the sessions.
        delivery: Bounds of the answers.
        context: Says what is known of a request's caller.
        require_room: Raises a `Refusal` when too many workers live.
        header_limit: Bytes of all headers.
    """

    def __init__(
        self,
        desk: Desk,
        sessions: Sessions,
        delivery: Delivery,
        context: Callable[[Exchange], RequestContext],
        require_room: Callable[[], None],
        header_limit: int = 64 * 2**10,
    ) -> None:
        self.sessions = sessions
        self.streams: Store[Stream] = Store(age=delivery.patience)
        self._desk = desk
        self._delivery = delivery
        self._context = context
        self._require_room = require_room
        self._header_limit = header_limit

    async def without_body(self, exchange: Exchange) -> bool:
        """Answer a GET or DELETE that is not a modern one, for which there is neither. Returns False for others.

        Raises:
            McpError, Refusal: As `post`.
        """
        headers = exchange.headers
        if exchange.http_method not in ("GET", "DELETE") or is_modern(headers, None):
            return False
        if headers.size > self._header_limit:
            raise refusal.headers_too_large(self._header_limit)
        exchange.body_read = True  # neither has one that anybody would miss
        await (self.get(exchange) if exchange.http_method == "GET" else self.delete(exchange))
        return True

    # -- POST

    async def post(self, exchange: Exchange, message: Any) -> None:
        """Answer a POST whose body is of a legacy client.

        Raises:
            McpError: It is refused.
            Refusal: Likewise, for reasons of HTTP.
        """
        if isinstance(message, dict) and message.get("method") == INITIALIZE and "id" in message:
            await self._initialize(exchange, message)
            return
        if not isinstance(message, list) and not is_response(message):
            _check(exchange, message)  # so that a refusal has its id
        session_id, session, context = await self._session(exchange)
        try:
            await self._post(exchange, session_id, session, context, message)
        finally:
            self.sessions.settle(session_id)

    async def _initialize(self, exchange: Exchange, message: dict[str, Any]) -> None:
        """Open a session. An id that comes along is of an older one and means nothing here."""
        _check(exchange, message)
        context = self._context(exchange)
        self._require_room()
        try:
            client, result = await self._desk.open(message, context)
        except McpError as error:
            raise _shown(error) from None
        session_id = await self.sessions.controller.create(client, context.principal, exchange.scope)
        body = jsonrpc.response_bytes(message["id"], result)
        await exchange.answer(200, body, [(SESSION, session_id.encode("ascii"))])

    async def _post(
        self, exchange: Exchange, session_id: str, session: Session, context: RequestContext, message: Any
    ) -> None:
        single = not isinstance(message, list)
        messages = [message] if single else members_of(message, session.client.revision)
        requests = []
        for each in messages:
            if is_response(each):
                self._desk.response(session, each)
            elif _check(exchange, each, single=single):
                requests.append(each)
            else:
                self._desk.notification(session, each)
        if not requests:
            await exchange.answer(202)
            return
        await self._requests(exchange, session_id, session, context, requests, batch=not single)

    async def _requests(
        self,
        exchange: Exchange,
        session_id: str,
        session: Session,
        context: RequestContext,
        requests: list[dict[str, Any]],
        *,
        batch: bool,
    ) -> None:
        """Answer one request, or those of an array, on one response."""
        self._require_room()
        stream = Stream(
            self.streams,
            session_id,
            session.client.revision,
            answers=len(requests),
            batch=batch,
            may_stream=exchange.accepted.stream,
            capacity=self._delivery.capacity,
            elsewhere=lambda: None if session.ear is None else session.ear.sink,
        )
        carrier = self._carrier(stream, exchange)
        stream.attach(carrier)
        exchange.started = True
        for request in requests:
            turn = await self._desk.request(session, request, stream, context, lambda: self._over(session_id))
            if turn is not None:
                stream.attendances.append(turn.attendance)
        await carrier.answer()

    def _over(self, session_id: str) -> None:
        self.sessions.settle(session_id)

    # -- GET

    async def get(self, exchange: Exchange) -> None:
        """Open the session's stream of changes, or carry on with a stream that it has missed the end of (O-11, O-22).

        Raises:
            McpError, Refusal: As `post`.
        """
        session_id, session, context = await self._session(exchange)
        try:
            if not exchange.accepted.stream:
                raise refusal.not_acceptable(exchange.headers.get(b"accept"), EVENT_STREAM)
            last_event = exchange.headers.get(LAST_EVENT)
            if last_event is None:
                await self._listen(exchange, session_id, session, context)
            else:
                await self._resume(exchange, session_id, session, context, last_event.decode("latin-1"))
        finally:
            self.sessions.settle(session_id)

    async def _listen(self, exchange: Exchange, session_id: str, session: Session, context: RequestContext) -> None:
        self._require_room()
        capacity = self._delivery.capacity
        stream = Stream(self.streams, session_id, session.client.revision, prefix=LISTENING, capacity=capacity)
        stream.commit()
        carrier = self._carrier(stream, exchange)
        listening = Listening(self._desk, session, stream, context, lambda: self._over(session_id))
        try:
            await listening.begin()
        except MethodNotFound:
            raise refusal.wrong_method("GET", b"POST, DELETE") from None
        stream.attendances.append(listening.attendance)
        exchange.started = True
        await carrier.resume(0)

    async def _resume(
        self, exchange: Exchange, session_id: str, session: Session, context: RequestContext, last_event: str
    ) -> None:
        found = self.streams.find(session_id, last_event)
        reopened = last_event.startswith(LISTENING) and (found is None or found[0].over)
        if found is not None and not reopened:
            exchange.started = True
            await self._carrier(found[0], exchange).resume(found[1])
        elif reopened:
            await self._listen(exchange, session_id, session, context)  # what was missed is lost; changes are not
        else:
            raise InvalidRequest("Nothing is kept of the stream that the header Last-Event-ID names.")

    # -- DELETE

    async def delete(self, exchange: Exchange) -> None:
        """End the session (O-18).

        Raises:
            McpError, Refusal: As `post`.
        """
        session_id, _, context = await self._session(exchange)
        await self.sessions.end(session_id, context.principal, exchange.scope)
        self.streams.forget_session(session_id)
        await exchange.answer(200)

    # -- of all

    async def _session(self, exchange: Exchange) -> tuple[str, Session, RequestContext]:
        """Return the session that a request belongs to.

        Raises:
            InvalidRequest: 400, it names none, or a version that is not served.
            Refusal: 404, the one it names is none, too old, or ended.
        """
        headers = exchange.headers
        version = headers.get(VERSION)
        if version is not None and version.decode("latin-1") not in REVISIONS:
            raise InvalidRequest(f"The header MCP-Protocol-Version names a revision that is not served: {version!r}")
        given = headers.get(SESSION)
        if given is None:
            raise InvalidRequest("The header Mcp-Session-Id is required: initialize returns it.")
        session_id = given.decode("latin-1")
        context = self._context(exchange)
        session = await self.sessions.find(session_id, context.principal, exchange.scope)
        if session is None:
            raise Refusal(404, "There is no such session, or it is over: initialize again")
        return session_id, session, context

    def _carrier(self, stream: Stream, exchange: Exchange) -> Carrier:
        delivery = self._delivery
        return Carrier(
            stream,
            exchange,
            keep_alive=delivery.keep_alive,
            write_deadline=delivery.write_deadline,
            patience=delivery.patience,
        )


LISTENING = "changes-"
"""How the names of streams of changes begin: one that is lost can be opened again."""


def null_id(exchange: Exchange) -> bool:
    """Say whether the client's revision writes the id of an unreadable request as null, as far as headers tell."""
    version = exchange.headers.get(VERSION)
    revision = None if version is None else REVISIONS.get(version.decode("latin-1"))
    return revision is not None and revision.null_ids


def _check(exchange: Exchange, message: Any, *, single: bool = True) -> bool:
    """Check one message's envelope. Returns True for a request."""
    if single:
        exchange.message_id = jsonrpc.request_id_of(message)  # first: whatever is wrong can be answered to it
    method = jsonrpc.check_message(message)
    if single:
        exchange.method = method
    return "id" in message


def _shown(error: McpError) -> McpError:
    """Return an error with the status with which legacy clients read its body."""
    error.status = error.status or 200
    return error


__all__ = ["INITIALIZE", "Delivery", "LegacyHttp", "is_response", "null_id"]
