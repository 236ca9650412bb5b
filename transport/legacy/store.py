"""The streams that a client may come back to, within bounds (O-21, O-22).

A stream is kept from the moment its client got an event's id. A running one stays; one that is over stays for a while,
as the client may have missed its end. When all of them together hold too many bytes, those that ended first go first.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, Protocol, TypeVar

import trio

from transport.legacy.events import place_of


class Kept(Protocol):
    """A stream, as the store sees it."""

    name: str
    session_id: str

    @property
    def size(self) -> int:
        """Bytes of the events that it holds."""
        ...


StreamT = TypeVar("StreamT", bound=Kept)


class Store(Generic[StreamT]):
    """The kept streams of one endpoint.

    Args:
        age: Seconds for which a stream that is over is kept.
        most_bytes: Bytes of all events of all streams.
        most_over: Streams that are over and kept.
    """

    def __init__(self, *, age: float = 600.0, most_bytes: int = 64 * 2**20, most_over: int = 10_000) -> None:
        self._age = age
        self._most_bytes = most_bytes
        self._most_over = most_over
        self._streams: dict[str, StreamT] = {}
        self._over: OrderedDict[str, float] = OrderedDict()
        self._of_session: dict[str, set[str]] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._streams)

    def keep(self, stream: StreamT) -> None:
        """Keep a running stream, which holds nothing yet."""
        self._streams[stream.name] = stream
        self._of_session.setdefault(stream.session_id, set()).add(stream.name)

    def grew(self, stream: StreamT, by: int) -> bool:
        """Note that a stream holds more, or less, if it is kept. Returns False if all of them hold too much."""
        if stream.name in self._streams:
            self.size += by
            self._sweep()
        return self.size <= self._most_bytes

    def ended(self, stream: StreamT) -> None:
        """Note that a kept stream is over."""
        if stream.name in self._streams:
            self._over[stream.name] = trio.current_time() + self._age
            self._sweep()

    def find(self, session_id: str, last_event: str) -> tuple[StreamT, int] | None:
        """Return the stream of an event's id, and the number of the event after that one.

        Only the session's own streams are found: no other's messages are ever replayed.
        """
        self._sweep()
        place = place_of(last_event)
        stream = self._streams.get(place[0]) if place is not None else None
        if place is None or stream is None or stream.session_id != session_id:
            return None
        return stream, place[1] + 1

    def forget_session(self, session_id: str) -> None:
        """Forget every stream of a session that has ended."""
        for name in tuple(self._of_session.get(session_id, ())):
            self._forget(name)

    def _sweep(self) -> None:
        now = trio.current_time()
        while self._over:
            name, until = next(iter(self._over.items()))
            if until > now and self.size <= self._most_bytes and len(self._over) <= self._most_over:
                return
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._over.pop(name, None)
        stream = self._streams.pop(name, None)
        if stream is None:
            return
        self.size -= stream.size
        names = self._of_session[stream.session_id]
        names.discard(name)
        if not names:
            del self._of_session[stream.session_id]
