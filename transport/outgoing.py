"""Bytes on their way to one client.

Every byte of a connection goes through one outbox, in order. `write` is synchronous: the kernel takes
what it has room for now, the rest waits, and one flush task, which exists only while there is a rest,
writes it under a deadline that moves with progress. Whoever must feel backpressure awaits `room`.

So nothing is ever half-written when a task is cancelled: writes need no shield and no lock, a cancelled
handler cannot break the framing, and a frame may be written from anybody's turn.
"""

import os
import socket as stdlib_socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress

import trio

__all__ = ["HIGH_WATER", "Outgoing", "PeerGone"]

HIGH_WATER = 2**16
"""Bytes in the outbox above which `room` waits."""

CAN_WRITE_DIRECTLY = sys.platform != "win32"  # os.write does not take a socket there
KERNEL_PIECE = 2**18  # bytes offered to the kernel at once
STREAM_PIECE = 2**14  # one TLS record
RESET_ON_CLOSE = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)


class PeerGone(Exception):
    """The client has closed the connection, or has not taken a byte for too long."""


class Outgoing:
    """The outbox of one connection and the task that empties it.

    Args:
        stream: Where the bytes go.
        socket: The socket under it, or None for a stream without one (then only `stream` is written).
        write_deadline: Seconds without progress after which a client that does not read is dropped.
        on_gone: Called once, when nothing will ever be sent again.
        on_empty: Called whenever the flush task has written the last byte.

    Attributes:
        direct: The bytes go to the socket itself.
        gone: Nothing is sent any more.
        stalled: It was the write deadline that ended the client.
    """

    __slots__ = (
        "_deadline",
        "_drained",
        "_flushing",
        "_nursery",
        "_on_empty",
        "_on_gone",
        "_outbox",
        "_socket",
        "_stream",
        "direct",
        "gone",
        "stalled",
    )

    def __init__(
        self,
        stream: trio.abc.Stream,
        socket: trio.socket.SocketType | None,
        *,
        write_deadline: float,
        on_gone: Callable[[], None],
        on_empty: Callable[[], None],
    ) -> None:
        self.gone = False
        self.stalled = False
        self._stream = stream
        self._socket = socket
        self.direct = CAN_WRITE_DIRECTLY and isinstance(stream, trio.SocketStream)
        self._deadline = write_deadline
        self._on_gone = on_gone
        self._on_empty = on_empty
        self._outbox = bytearray()
        self._nursery: trio.Nursery | None = None
        self._flushing: trio.CancelScope | None = None
        self._drained: trio.Event | None = None

    def start(self, nursery: trio.Nursery) -> None:
        """Give the nursery in which the flush task may run; nothing may be written before."""
        self._nursery = nursery

    @property
    def pending(self) -> int:
        """Bytes that the kernel has not taken yet."""
        return len(self._outbox)

    def write(self, data: bytes) -> None:
        """Send bytes, in order, without waiting and without failing; dropped when the client is gone."""
        if self.gone or not data:
            return
        sent = 0
        if self.direct and not self._outbox:
            try:
                sent = self._offer(data)
            except OSError:
                self.lost()
                return
            if sent == len(data):
                return
        self._outbox += memoryview(data)[sent:]
        if self._flushing is None and self._nursery is not None:
            self._flushing = trio.CancelScope()
            self._nursery.start_soon(self._flush, self._flushing)

    async def room(self) -> None:
        """Wait until at most `HIGH_WATER` bytes are queued.

        Raises:
            PeerGone: Nobody will ever take them.
        """
        while len(self._outbox) > HIGH_WATER and not self.gone:
            await self._progress()
        if self.gone:
            raise PeerGone

    async def settled(self) -> None:
        """Wait until every byte is out, or nobody will take it."""
        while self._outbox and not self.gone:
            await self._progress()

    def lost(self) -> None:
        """Nothing is sent any more: drop what is queued and tell whoever waits. Idempotent."""
        if self.gone:
            return
        self.gone = True
        self._outbox = bytearray()  # not clear(): the traceback of a failed write may still hold a view of it
        if self._flushing is not None:
            self._flushing.cancel()
        self._wake()
        self._on_gone()

    def abort(self) -> None:
        """End now, dropping what is unsent; the client gets a reset when the socket closes."""
        if self._socket is not None:
            with suppress(OSError):  # closed already
                self._socket.setsockopt(stdlib_socket.SOL_SOCKET, stdlib_socket.SO_LINGER, RESET_ON_CLOSE)
        self.lost()

    def _offer(self, data: bytes | memoryview) -> int:
        """Give the kernel what it takes now. Raises OSError when the client has closed."""
        assert self._socket is not None
        try:
            return os.write(self._socket.fileno(), data)  # fileno() is -1 once closed: an OSError too
        except BlockingIOError:
            return 0

    async def _progress(self) -> None:
        if self._drained is None:
            self._drained = trio.Event()
        await self._drained.wait()

    def _wake(self) -> None:
        if self._drained is not None:
            self._drained.set()
            self._drained = None

    async def _flush(self, scope: trio.CancelScope) -> None:
        try:
            with scope:
                await self._write_all(scope)
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            self.lost()
        finally:
            self._flushing = None
        if scope.cancelled_caught and not self.gone:
            self.stalled = True
            self.abort()
        elif not self.gone:
            self._on_empty()

    async def _write_all(self, scope: trio.CancelScope) -> None:
        while self._outbox:
            scope.deadline = trio.current_time() + self._deadline
            sent = 0
            while not sent:
                sent = await self._write_some()
            del self._outbox[:sent]
            if len(self._outbox) <= HIGH_WATER:
                self._wake()

    async def _write_some(self) -> int:
        if not self.direct or self._socket is None:
            piece = bytes(self._outbox[:STREAM_PIECE])
            await self._stream.send_all(piece)
            return len(piece)
        await trio.lowlevel.wait_writable(self._socket)
        with memoryview(self._outbox) as view:
            return self._offer(view[:KERNEL_PIECE])
