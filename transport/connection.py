"""One client connection: its life, what it reads, and how it ends.

The protocols are Hypercorn's, corrected (`http1`, `http2`); the socket is ours.

Reading. The reader never stops listening while a request runs. End of file is not yet a disconnect: the
client may have shut its sending side only, so it is asked with bytes that mean nothing to it, and a reset
says that nobody is there. Of HTTP/1.0, HTTP/2, WebSocket and TLS clients the end of file is a disconnect.

Writing. Everything goes through one outbox (`outgoing`). A client that takes nothing for the write
deadline is dropped, and `Connection.stalled` says so.

Ending. A connection ends when its client has gone, when it was idle for too long, after an answer that
says so, or by `close_idle` and `abort`. Every running application call then receives `http.disconnect`,
and the socket is closed at once, however long those calls go on. An exception is logged and ends its own
connection, never the listener.

    handshake ──▶ idle ◀──▶ busy ──▶ closing (the last answer goes out; what still comes is dropped) ──▶ gone
"""

import logging
import os
import socket as stdlib_socket
import struct
from math import inf
from typing import Any, Literal

import h2.exceptions
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H2CProtocolRequiredError, H2ProtocolAssumedError
from hypercorn.typing import AppWrapper, ConnectionState, WorkerContext
from hypercorn.utils import parse_socket_addr

from transport.http1 import Http1
from transport.http2 import Http2
from transport.line import Parts
from transport.outgoing import Outgoing, PeerGone
from transport.tasks import AppTasks, contain

__all__ = ["CONNECTION_KEY", "Connection"]

CONNECTION_KEY = "genmcp.connection"
"""Where the state of a scope holds the connection."""

READ_SIZE = 2**16
HEADER_LIMIT = 2**16
TURN = 2**16  # bytes sent before other tasks have a turn; each write counts as WRITE more
WRITE = 2**10
PROBE_PATIENCE = 0.3  # seconds before a client that only sends too much is asked
PROBE_PAUSES = (0.02, 0.2, 0.7)  # seconds after a probe at which the answer to it is looked for

LOG = logging.getLogger("genmcp.transport")

Stream = trio.SocketStream | trio.SSLStream[trio.SocketStream]


class Connection:
    """One client on one socket, TCP or Unix, with or without TLS. It is in each scope's state (`CONNECTION_KEY`).

    Args:
        app: The application, as Hypercorn wraps it (`hypercorn.utils.wrap_app`).
        config: Hypercorn's; limits and time-outs are read from it.
        context: Hypercorn's; when it is terminated, each answer ends its connection.
        state: What the lifespan left; copied into each scope's state.
        stream: The accepted socket, or TLS on it (https_compatible).
        write_deadline: Seconds without progress after which a client that does not read is reset.
        keep_alive: Seconds without a request after which the connection ends; default: the config's.
        half_close: Whether a client that shut its sending side gets its answer, or is taken as gone.
        linger: Seconds in which the rest of a refused body is read and dropped, so that the refusal arrives.
        header_limit: Largest head of a request in bytes (HTTP/1.1); default: the config's, at least 64 KiB.

    Attributes:
        closing: The last answer has been handed over.
        write: Sends bytes in order, without waiting and without failing.
    """

    __slots__ = (
        "__weakref__",
        "_app",
        "_config",
        "_context",
        "_half_close",
        "_header_limit",
        "_keep_alive",
        "_linger",
        "_made",
        "_outgoing",
        "_protocol",
        "_reading",
        "_running",
        "_since_turn",
        "_socket",
        "_state",
        "_stream",
        "_tls",
        "_write_deadline",
        "closing",
        "write",
    )

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        state: dict[str, Any],
        stream: Stream,
        *,
        write_deadline: float = 30.0,
        keep_alive: float | None = None,
        half_close: Literal["answer", "cancel"] = "answer",
        linger: float = 1.0,
        header_limit: int | None = None,
    ) -> None:
        self.closing = False
        self._app = app
        self._config = config
        self._context = context
        self._state = state
        self._stream = stream
        self._write_deadline = write_deadline
        self._keep_alive = config.keep_alive_timeout if keep_alive is None else keep_alive
        self._half_close = half_close
        self._linger = linger
        self._header_limit = header_limit or max(HEADER_LIMIT, config.h11_max_incomplete_size)
        self._tls = isinstance(stream, trio.SSLStream)
        self._socket = stream.transport_stream.socket if isinstance(stream, trio.SSLStream) else stream.socket
        self._reading = trio.CancelScope()
        self._running = False  # a request is being answered
        self._since_turn = 0
        self._made: Parts | None = None
        self._protocol: Http1 | Http2 | None = None
        self._outgoing = Outgoing(
            stream,
            self._socket,
            write_deadline=write_deadline,
            on_gone=self._reading.cancel,
            on_empty=self._sent_all,
        )
        self.write = self._outgoing.write

    # -- what others see

    @property
    def busy(self) -> bool:
        """True while a request is unanswered or its answer has not gone out."""
        return self._running or self._outgoing.pending > 0

    @property
    def gone(self) -> bool:
        """True when nothing is sent any more."""
        return self._outgoing.gone

    @property
    def stalled(self) -> bool:
        """True when it was the write deadline that ended it."""
        return self._outgoing.stalled

    @property
    def pending(self) -> int:
        """Bytes that wait for the client to read."""
        return self._outgoing.pending

    async def room(self) -> None:
        """Wait until little enough is pending.

        Raises:
            PeerGone: Nobody will ever read it.
        """
        await self._outgoing.room()

    def close_idle(self) -> None:
        """End the connection if no request is running on it."""
        if not self.busy:
            self._reading.cancel()

    def abort(self) -> None:
        """End now, dropping what is unsent; the client gets a reset."""
        self._outgoing.abort()

    # -- life

    async def run(self) -> None:
        """Serve the client until the connection ends and every application call on it has ended.

        An exception is logged, never raised. Cancellation: the socket is closed, the applications are cancelled.
        """
        try:
            async with trio.open_nursery() as nursery:
                self._outgoing.start(nursery)
                self._reading.deadline = trio.current_time() + self._config.ssl_handshake_timeout
                with self._reading:
                    await self._converse(nursery)
                await self._close()
        except BaseException as error:
            others = contain(error, "A connection failed and was closed")
            if others is not None:
                raise others from None
        finally:
            self._outgoing.lost()
            await trio.aclose_forcefully(self._stream)

    async def _converse(self, nursery: trio.Nursery) -> None:
        """Hear the client until it has nothing to say, or for as long as it may stay."""
        try:
            alpn = await self._shake_hands()
            self._made = self._parts(nursery)
            self._reading.deadline = trio.current_time() + self._keep_alive
            self._protocol = self._http2(self._made) if alpn == "h2" else self._http1(self._made)
            await self._protocol.initiate()
            await self._read()
        except (PeerGone, OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            self._outgoing.lost()

    async def _shake_hands(self) -> str | None:
        if not isinstance(self._stream, trio.SSLStream):
            return None
        await self._stream.do_handshake()
        alpn: str | None = self._stream.selected_alpn_protocol()
        return alpn

    def _parts(self, nursery: trio.Nursery) -> Parts:
        family = self._socket.family
        return Parts(
            self._app,
            self._config,
            self._context,
            AppTasks(nursery),
            ConnectionState({**self._state, CONNECTION_KEY: self}),
            self._tls,
            parse_socket_addr(family, self._socket.getpeername()),
            parse_socket_addr(family, self._socket.getsockname()),
            self._send,
        )

    def _http1(self, parts: Parts) -> Http1:
        return Http1(self, parts, header_limit=self._header_limit)

    def _http2(self, parts: Parts) -> Http2:
        return Http2(self, parts, write_deadline=self._write_deadline)

    async def _close(self) -> None:
        """Tell the applications, let what is queued go out, and close the socket."""
        if self._protocol is not None:
            await self._protocol.handle(Closed())
        await self._outgoing.settled()
        if self._tls and not self.gone:
            with trio.move_on_after(self._linger):
                await self._stream.aclose()  # says close_notify
        self._outgoing.lost()
        await trio.aclose_forcefully(self._stream)

    # -- reading

    async def _read(self) -> None:
        while True:
            data = await self.receive(READ_SIZE)
            ended = not data
            if not self.closing:
                await self._hear(data)
            del data  # up to 64 KiB, which would be kept for as long as the client is idle
            if ended:
                if not self.closing and self.busy:
                    await self.until_answered(eof=True)
                return

    async def _hear(self, data: bytes) -> None:
        assert self._protocol is not None
        try:
            await self._protocol.handle(RawData(data))
        except H2ProtocolAssumedError as start:
            await self._switch(None, None)
            await self._protocol.handle(RawData(start.data))
        except H2CProtocolRequiredError as upgrade:
            await self._switch(upgrade.headers, upgrade.settings)
            await self._protocol.handle(RawData(upgrade.data))

    async def _switch(self, headers: list[tuple[bytes, bytes]] | None, settings: bytes | None) -> None:
        """Go on with HTTP/2, which an HTTP/1.1 client asked for by its preface or by an upgrade."""
        assert self._made is not None
        self._protocol = self._http2(self._made)
        if headers is None:
            await self._send(Updated(idle=True))  # there is no request yet
        try:
            await self._protocol.initiate(headers, settings)
        except (ValueError, h2.exceptions.ProtocolError, struct.error) as error:
            raise PeerGone from error  # it asked for an upgrade with settings that are none

    async def receive(self, limit: int) -> bytes:
        """Read what has come in, at most `limit` bytes; empty at the end of file."""
        if not self._outgoing.direct:
            return bytes(await self._stream.receive_some(limit))
        # The stream's own way is to try first, in vain with a client that waits for its answers: 6 µs a request.
        while True:
            await trio.lowlevel.wait_readable(self._socket)
            try:
                return os.read(self._socket.fileno(), limit)
            except BlockingIOError:  # woken in vain
                continue

    async def discard(self) -> None:
        """Read and drop until the connection ends; never returns normally."""
        while await self.receive(READ_SIZE):
            pass
        self._reading.cancel()
        await trio.sleep_forever()

    async def until_answered(self, *, eof: bool) -> None:
        """Wait for the running answer to go out.

        Args:
            eof: The client sends no more; otherwise it is held back, having sent too much.

        Raises:
            PeerGone: Nobody is there to take it.
        """
        assert self._protocol is not None
        if eof and self._running and (self._tls or self._half_close == "cancel"):
            raise PeerGone
        if not eof:
            await trio.sleep(PROBE_PATIENCE)  # its answer may be on the way; what it sent may be in order
        while self.busy:
            probe = self._protocol.probe()
            if probe is None and eof and self._running:
                raise PeerGone
            self.write(probe or b"")
            await self._hear_of_reset()

    async def _hear_of_reset(self) -> None:
        """Wait for what a probe draws from a client that is gone; return early when the answer is out."""
        for pause in PROBE_PAUSES:
            await trio.sleep(pause)
            if self.gone or self._socket.getsockopt(stdlib_socket.SOL_SOCKET, stdlib_socket.SO_ERROR):
                raise PeerGone
            if not self.busy:
                return

    # -- what the protocol says

    async def _send(self, event: Event) -> None:
        if isinstance(event, RawData):
            self.write(event.data)
            await self._take_turns(len(event.data))
        elif self.closing:
            return
        elif isinstance(event, Updated):
            self._running = not event.idle
            self._reading.deadline = trio.current_time() + self._keep_alive if event.idle else inf
        elif isinstance(event, Closed):
            await self._end_with_this_answer()

    async def _end_with_this_answer(self) -> None:
        assert self._protocol is not None
        self.closing = True
        self._running = False
        await self._protocol.handle(Closed())
        if not self._outgoing.pending:
            self._sent_all()

    async def _take_turns(self, size: int) -> None:
        """Hold back whoever sends faster than the client reads, or so fast that others would starve."""
        if self._outgoing.pending:
            try:
                await self.room()
            except PeerGone:
                return  # the application receives http.disconnect
        self._since_turn += size + WRITE
        if self._since_turn > TURN:
            self._since_turn = 0
            await trio.lowlevel.checkpoint()

    def _sent_all(self) -> None:
        """Every byte is out. If that was the end, drop what a refused client still sends, for a moment.

        Closing with unread bytes would be a reset, and the refusal would be lost to it.
        """
        if not self.closing or self.gone:
            return
        if self._protocol is None or not self._protocol.unread:
            self._reading.cancel()
            return
        self._reading.deadline = trio.current_time() + self._linger
        if not self._tls:
            try:
                self._socket.shutdown(stdlib_socket.SHUT_WR)
            except OSError:
                self._outgoing.lost()
