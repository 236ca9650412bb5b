"""Where the frames of a stream go. Who writes them sees a `Wire` and nothing of HTTP or ASGI.

On our own connection, HTTP/1.1, a frame is one chunk that goes straight to the connection's outbox, past
ASGI, h11 and every task. That is sound because h11's chunked writer keeps no state between chunks, and
because what is sent through ASGI goes through the same outbox, so order is kept; the end of the stream
stays an ordinary ASGI event. HTTP/2, HTTP/1.0 and other servers get a bounded queue and one task.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from math import inf
from types import TracebackType
from typing import Any, Protocol, Self

import trio

from transport.outgoing import HIGH_WATER, PeerGone

__all__ = ["DirectWire", "PeerGone", "QueuedWire", "Wire", "client_stalled", "open_wire"]

Send = Callable[[Any], Awaitable[None]]


class Wire(Protocol):
    """A stream's way to its client. Use it as an async context manager for the life of the stream.

    Leaving it normally waits until what is queued was handed to the server; leaving it with an exception
    drops the queue. Nothing can be written before or after.
    """

    @property
    def stalled(self) -> bool:
        """True when the client was dropped because it did not read, not because it left."""
        ...

    def write(self, frame: bytes) -> bool:
        """Send a frame: never waits, all or nothing, in order. False: full, or nobody takes it."""
        ...

    async def room(self) -> None:
        """Wait until `write` may take a frame again.

        Raises:
            PeerGone: It never will.
        """
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...


class DirectConnection(Protocol):
    """What a wire asks of `transport.connection.Connection`."""

    @property
    def gone(self) -> bool:
        """Nothing is sent any more."""
        ...

    @property
    def stalled(self) -> bool:
        """The client was dropped because it did not read."""
        ...

    @property
    def pending(self) -> int:
        """Bytes that wait for the client to read."""
        ...

    @property
    def write(self) -> Callable[[bytes], None]:
        """Sends bytes without waiting and without failing."""
        ...

    async def room(self) -> None:
        """Wait until little enough is pending; raise PeerGone when nobody will read it."""
        ...


class MayStall(Protocol):
    """A connection, or a stream of one, that knows whether its client was dropped for not reading."""

    @property
    def stalled(self) -> bool:
        """The client was dropped because it did not read."""
        ...


class DirectWire:
    """Frames as HTTP/1.1 chunks on our own connection.

    The head and a first piece of the body must have gone out through ASGI, and the response must have no
    content-length.
    """

    __slots__ = ("_connection", "_open")

    def __init__(self, connection: DirectConnection) -> None:
        self._connection = connection
        self._open = False

    @property
    def stalled(self) -> bool:
        """True when the client was dropped because it did not read."""
        return self._connection.stalled

    def write(self, frame: bytes) -> bool:
        """Send a frame; see `Wire.write`."""
        connection = self._connection
        # The chunk of an empty frame would be the end of the body.
        if not self._open or connection.gone or connection.pending > HIGH_WATER or not frame:
            return False
        connection.write(b"%x\r\n%b\r\n" % (len(frame), frame))
        return True

    async def room(self) -> None:
        """Wait until `write` may take a frame again; see `Wire.room`."""
        if not self._open:
            raise PeerGone
        await self._connection.room()

    async def __aenter__(self) -> Self:
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False


class QueuedWire:
    """Frames through any ASGI server: a bounded queue and one task that sends it.

    Args:
        send: ASGI's.
        write_deadline: Seconds that one piece, 64 KiB at most, may take; inf when the server has its own deadline.
        hosts: Parts of our own server whose `stalled` counts as the wire's.
    """

    __slots__ = (
        "_deadline",
        "_ended",
        "_gone",
        "_hosts",
        "_manager",
        "_moved",
        "_nursery",
        "_queue",
        "_send",
        "_size",
        "_timed_out",
        "_wake",
    )

    def __init__(self, send: Send, *, write_deadline: float, hosts: tuple[MayStall, ...] = ()) -> None:
        self._send = send
        self._deadline = write_deadline
        self._hosts = hosts
        self._queue: list[bytes] = []
        self._size = 0  # bytes in the queue and in the piece that is being sent
        self._gone = True  # until it is entered
        self._ended = False
        self._timed_out = False
        self._wake: trio.Event | None = None
        self._moved: trio.Event | None = None
        self._manager: AbstractAsyncContextManager[trio.Nursery, bool | None] = trio.open_nursery()
        self._nursery: trio.Nursery | None = None

    @property
    def stalled(self) -> bool:
        """True when the client was dropped because it did not read."""
        return self._timed_out or any(host.stalled for host in self._hosts)

    def write(self, frame: bytes) -> bool:
        """Send a frame; see `Wire.write`."""
        if self._gone or self._ended or self._size > HIGH_WATER or not frame:
            return False
        self._queue.append(frame)
        self._size += len(frame)
        self._notify()
        return True

    async def room(self) -> None:
        """Wait until `write` may take a frame again; see `Wire.room`."""
        while self._size > HIGH_WATER and not self._gone:
            if self._moved is None:
                self._moved = trio.Event()
            await self._moved.wait()
        if self._gone or self._ended:
            raise PeerGone

    async def __aenter__(self) -> Self:
        self._nursery = await self._manager.__aenter__()
        self._nursery.start_soon(self._run)
        self._gone = False
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        self._notify()
        if kind is not None and self._nursery is not None:
            self._nursery.cancel_scope.cancel()
        try:
            # The stream's own exception goes round the nursery, which would wrap it in a group.
            await self._manager.__aexit__(None, None, None)
        except ExceptionGroup as faults:
            raise faults.exceptions[0] from None  # there is only one task
        finally:
            self._lose()

    async def _run(self) -> None:
        try:
            while not self._gone:
                if self._queue:
                    await self._send_queue()
                elif self._ended:
                    return
                else:
                    self._wake = trio.Event()
                    await self._wake.wait()
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):  # how servers say that a client left
            self._lose()

    async def _send_queue(self) -> None:
        piece = b"".join(self._queue)
        self._queue.clear()
        with trio.move_on_after(self._deadline) as scope:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        self._size -= len(piece)
        if scope.cancelled_caught:
            self._timed_out = True
        if self.stalled:
            self._lose()
        self._look_again()

    def _lose(self) -> None:
        self._gone = True
        self._queue.clear()
        self._look_again()

    def _notify(self) -> None:
        if self._wake is not None:
            self._wake.set()
            self._wake = None

    def _look_again(self) -> None:
        if self._moved is not None:
            self._moved.set()
            self._moved = None


def client_stalled(scope: Any) -> bool:
    """Whether the client of a request was dropped by our server because it did not read, and did not leave itself."""
    return any(host.stalled for host in _hosts(scope))


def _hosts(scope: Any) -> tuple[MayStall, ...]:
    """The connection and the HTTP/2 stream of a request, if it came by our own server."""
    state = scope.get("state") or {}
    return tuple(state[key] for key in ("genmcp.connection", "genmcp.stream") if key in state)


def open_wire(scope: Any, send: Send, write_deadline: float) -> Wire:
    """Choose the way for the frames of one response.

    Args:
        scope: ASGI's, of the request.
        send: ASGI's.
        write_deadline: Seconds without progress after which a client that does not read is given up, where
            the server has no deadline of its own.

    Returns:
        A wire to be entered after the head and a first piece of the body were sent.
    """
    hosts = _hosts(scope)
    if not hosts:
        return QueuedWire(send, write_deadline=write_deadline)
    if scope["http_version"] == "1.1":
        return DirectWire(scope["state"]["genmcp.connection"])
    return QueuedWire(send, write_deadline=inf, hosts=hosts)
