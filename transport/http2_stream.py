"""What one HTTP/2 stream has to send, and whose turn it is.

The sender of a stream waits in `push` while the stream has two frames or more to send. The time for which
the client's window stays shut although there is something to send is limited: then the stream is reset.
A client that does not read the socket at all is the connection's affair, and has the connection's deadline.
"""

from collections.abc import Awaitable, Callable
from math import inf
from typing import Protocol

import trio
from h2.errors import ErrorCodes
from hypercorn.protocol.h2 import BUFFER_HIGH_WATER, BUFFER_LOW_WATER, BufferCompleteError, StreamBuffer
from hypercorn.typing import Event
from priority.priority import DeadlockError, PriorityTree

__all__ = ["Http2Stream", "StreamOwner", "Turns"]


class StreamOwner(Protocol):
    """The HTTP/2 connection, as one of its streams sees it."""

    async def end_stream(self, stream_id: int, code: ErrorCodes | None) -> None:
        """Reset the stream."""
        ...

    def body_taken(self, stream_id: int, size: int) -> None:
        """Reopen the client's window."""
        ...


class Http2Stream(StreamBuffer):
    """The outgoing bytes of one stream; also what the state of the request's scope holds.

    Attributes:
        stream_id: Its number.
        stalled: The client's window stayed shut for the deadline, and the stream was reset for it.
    """

    def __init__(self, owner: StreamOwner, stream_id: int, *, event_class: type[Event], deadline: float) -> None:
        super().__init__(event_class)
        self.stream_id = stream_id
        self.stalled = False
        self._owner = owner
        self._deadline = deadline
        self._due = inf
        self._waits: list[trio.CancelScope] = []

    @property
    def ended(self) -> bool:
        """Whether the application has given its last byte."""
        return self._complete

    def body_taken(self, size: int) -> None:
        """Tell the client that `size` bytes of its body left the inbox."""
        self._owner.body_taken(self.stream_id, size)

    async def push(self, data: bytes) -> None:
        """Add bytes; wait while two frames or more are to be sent.

        Raises:
            BufferCompleteError: The stream is over.
        """
        if self._complete:
            raise BufferCompleteError
        self.buffer += data
        await self._is_empty.clear()
        if len(self.buffer) >= BUFFER_HIGH_WATER:
            await self._paused.clear()
            await self._wait(self._paused.wait)

    async def drain(self) -> None:
        """Wait until every byte was sent, or the stream is over."""
        await self._wait(super().drain)

    async def pop(self, max_length: int) -> bytes:
        """Take at most `max_length` bytes, which is what the client's window allows; does not checkpoint."""
        data = bytes(self.buffer[:max_length])
        del self.buffer[:max_length]
        if data or not self.buffer:
            self._set_due(inf)
        elif self._due == inf:
            self._set_due(trio.current_time() + self._deadline)
        if len(self.buffer) < BUFFER_LOW_WATER:
            await self._paused.set()
        if not self.buffer:
            await self._is_empty.set()
        return data

    def _set_due(self, due: float) -> None:
        if due != self._due:
            self._due = due
            for wait in self._waits:
                wait.deadline = due

    async def _wait(self, until: Callable[[], Awaitable[object]]) -> None:
        with trio.CancelScope(deadline=self._due) as scope:
            self._waits.append(scope)
            try:
                await until()
            finally:
                self._waits.remove(scope)
        if scope.cancelled_caught:
            self.stalled = True
            await self._owner.end_stream(self.stream_id, ErrorCodes.CANCEL)


class Turns(PriorityTree):
    """Whose turn it is to send: round robin. Priorities are ignored (RFC 9113 §5.3 deprecates them).

    The tree that it stands for remembers every stream that a PRIORITY frame names, and fails at the thousandth.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: set[int] = set()
        self._ready: dict[int, None] = {}

    def insert_stream(
        self, stream_id: int, depends_on: int | None = None, weight: int = 16, exclusive: bool = False
    ) -> None:
        """Let a stream take part; what it depends on and its weight do not count."""
        self._known.add(stream_id)
        self._ready[stream_id] = None

    def remove_stream(self, stream_id: int) -> None:
        """Forget a stream."""
        self._known.discard(stream_id)
        self._ready.pop(stream_id, None)

    def block(self, stream_id: int) -> None:
        """Pass a stream over until `unblock`."""
        self._ready.pop(stream_id, None)

    def unblock(self, stream_id: int) -> None:
        """Let a stream have its turn again, if it takes part."""
        if stream_id in self._known:
            self._ready[stream_id] = None

    def __next__(self) -> int:
        for stream_id in self._ready:
            del self._ready[stream_id]
            self._ready[stream_id] = None  # to the end of the queue
            return stream_id
        raise DeadlockError
