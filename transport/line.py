"""What a connection and the protocol class that speaks on it know of each other.

A protocol class (`http1.Http1`, `http2.Http2`) turns bytes into requests and answers into bytes; the
connection owns the socket. The protocol sees a `Line` and nothing else of it, so the two files do not
import each other.
"""

from typing import NamedTuple, Protocol

from hypercorn.config import Config
from hypercorn.typing import AppWrapper, ConnectionState, WorkerContext

from transport.tasks import AppTasks, EventSink

__all__ = ["Line", "Parts"]


class Line(Protocol):
    """One client's connection, as the protocol that runs on it sees it."""

    @property
    def closing(self) -> bool:
        """The last answer has been handed over; what still comes in is of no use."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes in order, without waiting and without failing."""
        ...

    async def receive(self, limit: int) -> bytes:
        """Read what has come in, at most `limit` bytes; empty at the end of file."""
        ...

    async def until_answered(self, *, eof: bool) -> None:
        """Wait for the running answer to go out; raise PeerGone when nobody is left to take it."""
        ...

    async def discard(self) -> None:
        """Read and drop until the connection ends; never returns normally."""
        ...


class Parts(NamedTuple):
    """The arguments of Hypercorn's protocol classes, in their order."""

    app: AppWrapper
    config: Config
    context: WorkerContext
    task_group: AppTasks
    connection_state: ConnectionState
    ssl: bool
    client: tuple[str, int] | None
    server: tuple[str, int] | None
    send: EventSink
