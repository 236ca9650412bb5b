"""HTTP/1.1 on one connection: Hypercorn's protocol, corrected in six places.

* The head of a response leaves together with the first event of its body, so that an answer is one
  packet. The head waits here, where responses without a body (202, 204, HEAD, `100 Continue`) are known,
  never by looking at bytes.
* While a request runs, a client may have sent bytes of its next one. Hypercorn stops reading then and
  misses the disconnect; we read on, up to `READ_AHEAD` bytes, and see the end of file behind them.
* A client that has shut its sending side may still be waiting for its answer. `Http1.probe` gives the
  bytes that mean nothing to such a client and draw a reset from one that is gone.
* Bytes behind a WebSocket upgrade wait until the application has accepted it. (In Hypercorn 0.18 one such
  byte ends the server's process.)
* A body's length must be said in one way (RFC 9112 §6.1): a proxy that reads `Content-Length` where h11 reads chunks
  would see one request where we see two. And a target may hold a whole URL, whose host then counts (§3.2.2).
* `100 Continue` waits until the application had its chance to refuse, which spares the client the upload.

And it is shortened in one. A plain request (`plain_request`) with a plain answer (`http1_stream`) never sees h11, which
was half of all that a call cost. When either turns out to be anything else, or the client sends more or leaves
meanwhile, h11 is told of the request after the fact, and goes on from there.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus

import h11
import trio
from hypercorn.events import Closed, RawData, Updated
from hypercorn.events import Event as ConnectionEvent
from hypercorn.protocol.events import Data, Event, Request, Response, StreamClosed
from hypercorn.protocol.h11 import H11Protocol, H11WSConnection
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.protocol.ws_stream import WSStream
from hypercorn.typing import H11SendableEvent

from transport.http1_stream import STREAM_ID, Http1Stream
from transport.line import Line, Parts
from transport.outgoing import PeerGone
from transport.plain_request import plain_request

__all__ = ["READ_AHEAD", "Http1", "ReadGate"]

READ_AHEAD = 2**16
"""Bytes kept of the requests behind the one that runs; beyond, TCP holds the client back."""

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"  # not 102: Python's http.client skips only 100
COMMENT = b":\n\n"
REFUSAL = b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"%s"}}'


class ReadGate:
    """Hypercorn's `can_read` event: where Hypercorn waits for it, we keep reading."""

    __slots__ = ("_open", "_scope", "_until_open")

    def __init__(self, until_open: Callable[[], Awaitable[None]]) -> None:
        self._until_open = until_open
        self._open = False
        self._scope: trio.CancelScope | None = None

    async def clear(self) -> None:
        """Close it; does not checkpoint."""
        self._open = False

    async def set(self) -> None:
        """Open it: the next request may be parsed; does not checkpoint."""
        self._open = True
        if self._scope is not None:
            self._scope.cancel()

    def is_set(self) -> bool:
        """Whether the next request may be parsed."""
        return self._open

    async def wait(self) -> None:
        """Read ahead until it is open."""
        if not self._open:
            with trio.CancelScope() as self._scope:
                await self._until_open()
            self._scope = None


class Http1(H11Protocol):
    """HTTP/1.1 and WebSocket on a `Line`.

    Args:
        line: The connection.
        parts: What Hypercorn's class takes.
        header_limit: Largest head of a request in bytes; a larger one is answered with 431.
    """

    def __init__(self, line: Line, parts: Parts, *, header_limit: int) -> None:
        super().__init__(*parts)
        self._parts = parts
        self._header_limit = header_limit
        self.connection = self._parser()
        self.can_read = ReadGate(self._read_ahead)
        self._line = line
        self._untold = b""  # the request that is being answered, if h11 knows nothing of it
        self._head = b""  # of the response, until the first event of its body
        self._between_events = True  # of a stream: a comment may be put in

    def _parser(self) -> h11.Connection:
        return h11.Connection(h11.SERVER, max_incomplete_event_size=self._header_limit)

    @property
    def unread(self) -> bool:
        """Whether the client may have sent bytes that nobody will read: closing now would be a reset."""
        parser = self.connection
        return parser.their_state in (h11.SEND_BODY, h11.ERROR) or bool(parser.trailing_data[0])

    def probe(self) -> bytes | None:
        """Bytes that mean nothing to a client that waits for this response.

        Returns:
            b"" when nothing may be said now but the answer itself will tell; None when there is no way to
            ask, so that the end of file has to count as a disconnect (HTTP/1.0, WebSocket).
        """
        self._tell_h11()
        parser = self.connection
        if not isinstance(parser, h11.Connection) or parser.their_http_version != b"1.1":
            return None
        if parser.our_state is h11.SEND_RESPONSE:
            return CONTINUE
        if parser.our_state is not h11.SEND_BODY:
            return b""
        head, self._head = self._head, b""
        return head + self._comment()

    def _comment(self) -> bytes:
        """An SSE comment as a chunk, if the response that is being sent is such a stream."""
        if not isinstance(self.stream, HTTPStream) or not self._between_events:
            return b""
        headers = {bytes(name).lower(): bytes(value) for name, value in self.stream.response.get("headers", [])}
        if b"content-length" in headers or not headers.get(b"content-type", b"").startswith(b"text/event-stream"):
            return b""
        return b"%x\r\n%b\r\n" % (len(COMMENT), COMMENT)

    async def handle(self, event: ConnectionEvent) -> None:
        """Take what the client sent, or the end of the connection."""
        if isinstance(event, RawData):
            request = plain_request(event.data) if self._is_idle() else None
            if request is not None:
                self._untold = event.data
                await self.send(Updated(idle=False))
                await self._open("POST", request.target, "1.1", request.headers, request.body)
                return
            self._tell_h11()
        await super().handle(event)

    def _is_idle(self) -> bool:
        """Whether what comes now is the beginning of a request."""
        parser = self.connection
        return self.stream is None and parser.their_state is h11.IDLE and not parser.trailing_data[0]

    def _tell_h11(self) -> None:
        """Have h11 read the request that was read without it, if there is one: from now on it frames the answer."""
        if self._untold:
            self.connection.receive_data(self._untold)
            self._untold = b""
            while not isinstance(self.connection.next_event(), h11.EndOfMessage):
                pass

    async def stream_send(self, event: Event) -> None:
        """Send one event of the response."""
        self._tell_h11()
        if isinstance(event, StreamClosed):
            self._head = b""  # the application failed before its body began: there is no response
        if isinstance(event, Response) and event.status_code >= HTTPStatus.OK and self._is_last():
            event = replace(event, headers=[*event.headers, (b"connection", b"close")])
        await super().stream_send(event)
        if isinstance(event, Response) and event.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            await self._handle_events()  # what the client sent behind its upgrade

    @property
    def takes_plain_answer(self) -> bool:
        """Whether the whole request has come, and the connection is to go on after the answer."""
        if self.keep_alive_requests >= self.config.keep_alive_max_requests or self.context.terminated.is_set():
            return False
        # h11 says DONE of a client only if it speaks HTTP/1.1, asks for no upgrade and has not said that it will close
        return bool(self._untold) or self.connection.their_state is h11.DONE

    def _is_last(self) -> bool:
        """Whether the connection ends with the answer that begins now, which its client must be told (RFC 9112 §9.6).

        It does when the server stops, and when the request's body was not read: nobody will.
        """
        return self.context.terminated.is_set() or self.connection.their_state is h11.SEND_BODY

    async def send_plain_answer(self, data: bytes) -> None:
        """Send a whole answer and be ready for the next request."""
        await self.send(RawData(data))
        await self._close_stream()
        if self._untold:
            self._untold = b""
        else:
            self._renew_parser()
        await self.can_read.set()
        await self.send(Closed() if self.context.terminated.is_set() else Updated(idle=True))

    def _renew_parser(self) -> None:
        """Go on with a parser that does not wait for an answer; it takes over what has come after the request."""
        ahead, ended = self.connection.trailing_data
        self.connection = self._parser()
        if ahead:
            self.connection.receive_data(ahead)
        if ended:
            self.connection.receive_data(b"")

    async def _check_protocol(self, event: h11.Request) -> None:
        """Leave it to `_create_stream`, which goes through the headers once for everything."""

    async def _create_stream(self, request: h11.Request) -> None:
        request = _in_origin_form(request)
        headers = list(request.headers)
        names = {name for name, _ in headers}
        if b"upgrade" in names or request.method == b"PRI":
            await super()._check_protocol(request)  # HTTP/2 raises from here
        if b"transfer-encoding" in names and (b"content-length" in names or request.http_version < b"1.1"):
            # the length of the body is said in two ways, or in one that HTTP/1.0 does not have
            await self._send_error_response(HTTPStatus.BAD_REQUEST)
            await self.send(Closed())
            return
        if b"upgrade" not in names:
            method, version = request.method.decode("ascii").upper(), request.http_version.decode()
            await self._open(method, request.target, version, headers)
            return
        await super()._create_stream(request)
        if self.stream is not None and self.stream.closed:  # refused without asking the application
            await self._maybe_recycle()
        elif isinstance(self.stream, WSStream) and isinstance(self.connection, H11WSConnection):
            self.connection = WebSocketBytes(self.connection, self.stream)

    async def _open(
        self, method: str, target: bytes, version: str, headers: list[tuple[bytes, bytes]], body: bytes | None = None
    ) -> None:
        """Give a request to the application, and its body if that is here already."""
        self.stream = stream = Http1Stream(self, self._parts, self.stream_send)
        await stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=headers,
                http_version=version,
                method=method,
                raw_path=target,
                state=self.connection_state,
            )
        )
        self.keep_alive_requests += 1
        await self.context.mark_request()
        if stream.closed:  # refused without asking the application
            await self._maybe_recycle()
        elif body is not None:
            await stream.app_put({"type": "http.request", "body": body, "more_body": False})

    async def _send_error_response(self, status_code: int) -> None:
        """Refuse what is not an HTTP request, with a JSON-RPC error as every refusal has."""
        body = REFUSAL % HTTPStatus(status_code).phrase.lower().encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            *self.config.response_headers("h11"),
        ]
        await self._send_h11_event(h11.Response(status_code=status_code, headers=headers))
        await self._send_h11_event(h11.Data(data=body))
        await self._send_h11_event(h11.EndOfMessage())

    async def _send_h11_event(self, event: H11SendableEvent) -> None:
        if isinstance(event, h11.InformationalResponse) and event.status_code == HTTPStatus.CONTINUE:
            for _ in range(2):  # trio shuffles the tasks of one turn: only after two has the application had one
                await trio.lowlevel.checkpoint()
            if self.connection.our_state is not h11.SEND_RESPONSE:
                return  # refused: nobody will read the body
        try:
            data = self.connection.send(event)
        except h11.LocalProtocolError:
            if self.connection.their_state is not h11.ERROR:
                raise
            return  # the client broke the protocol and was told so; the application's answer is of no use
        if isinstance(event, h11.Response):
            self._head, self._between_events = data, True
            return
        if isinstance(event, h11.Data):
            self._between_events = event.data[-2:] == b"\n\n"
        if self._head:
            data, self._head = self._head + data, b""
        await self.send(RawData(data=data))

    async def _read_ahead(self) -> None:
        """Read while a request runs and bytes of the next are here, to see the end of file behind them."""
        if self._line.closing:
            await self._line.discard()
        room = READ_AHEAD - len(self.connection.trailing_data[0])
        while room > 0:
            data = await self._line.receive(room)
            self.connection.receive_data(data)
            if not data:
                break
            room -= len(data)
        await self._line.until_answered(eof=room > 0)


def _in_origin_form(request: h11.Request) -> h11.Request:
    """Give the request that a target like `http://host/path` stands for: that path, at that host."""
    scheme, separator, rest = request.target.partition(b"://")
    if not separator or scheme.lower() not in (b"http", b"https"):
        return request
    authority = re.split(rb"[/?]", rest, maxsplit=1)[0]
    target = rest[len(authority) :]
    headers = [(name, authority if name == b"host" else value) for name, value in request.headers]
    return h11.Request(
        method=request.method,
        target=target if target.startswith(b"/") else b"/" + target,
        headers=headers,
        http_version=request.http_version,
    )


class WebSocketBytes(H11WSConnection):
    """Hypercorn's stand-in for h11 after an upgrade; holds what comes before the upgrade is accepted."""

    def __init__(self, made: H11WSConnection, stream: WSStream) -> None:
        super().__init__(made.h11_connection)
        self._stream = stream

    def receive_data(self, data: bytes) -> None:
        """Take bytes of the client.

        Raises:
            PeerGone: More than `READ_AHEAD` of them came before the upgrade was accepted.
        """
        super().receive_data(data)
        if not self._stream.handshake.accepted and len(self.buffer) > READ_AHEAD:
            raise PeerGone

    def next_event(self) -> Data | type[h11.NEED_DATA]:
        """Give all bytes as one event, once the application has accepted."""
        return super().next_event() if self._stream.handshake.accepted else h11.NEED_DATA
