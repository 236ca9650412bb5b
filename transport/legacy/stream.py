"""The messages of one response of a session: kept in order, delivered by whichever connection carries them now.

Theory. A stream belongs to its session, not to a connection. The connection that posted the request is its first
`Carrier`; when that goes, what is written is kept, within bounds, until another one asks for it by `Last-Event-ID`.

    undecided ──first message, start()──▶ committed ──last answer──▶ over
        └───────── last answer: one JSON text with its own status ────▲

* Undecided, nothing has an id. A client that leaves then cannot come back, so nothing is kept for it.
* Committed, every message is an event with an id; the newest `KEPT` ones can be asked for again.
"""

from __future__ import annotations

import logging
import secrets
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Protocol

import trio

from genmcp.mcp import InternalError
from transport.legacy import events
from transport.legacy.attendance import Attendance
from transport.legacy.revision import Revision
from transport.legacy.sink import Sink
from transport.legacy.store import Store

LOG = logging.getLogger("genmcp")

KEPT = 256
"""Events of one stream that can be asked for again."""
KEPT_BYTES = 2**20
"""Bytes of them; one that is larger by itself is kept all the same until a newer one comes."""


class Carrier(Protocol):
    """The connection that delivers a stream now."""

    number: int
    """Of the next event that it will send."""

    def moved(self) -> None:
        """Look again: there is more to send, or nothing more will come."""
        ...

    def close(self, last: bytes) -> None:
        """End the response after these bytes, although the stream goes on."""
        ...

    def replaced(self) -> None:
        """End the response: another connection carries the stream now."""
        ...


class Stream:
    """One response, and the `Sink` of whoever answers; see the module.

    Args:
        store: Where it is kept once its events have ids.
        session_id: Whose it is.
        revision: What the client speaks.
        answers: How many answers end it.
        batch: Whether they answer one array of requests.
        prefix: How its name begins.
        may_stream: Whether the client takes streams at all.
        capacity: Events that a connection may lag behind before writers wait.
        elsewhere: Returns the session's stream of changes, for requests to a client that takes no stream here.

    Attributes:
        name: Part of its events' ids.
        session_id: Whose it is.
        committed: Its messages are events.
        over: The last answer was given.
        answers: The answers so far, as long as it is not committed.
        status: The HTTP status of the only answer.
        attendances: Told when nobody reads, and when somebody does again.
        first: The number of the oldest event that is kept.
        batch: Its answers are those of one array of requests.
        lost: Events that were dropped before anybody read them.
    """

    def __init__(
        self,
        store: Store[Stream],
        session_id: str,
        revision: Revision,
        *,
        answers: int = 1,
        batch: bool = False,
        prefix: str = "",
        may_stream: bool = True,
        capacity: int = 64,
        elsewhere: Callable[[], Sink | None] = lambda: None,
    ) -> None:
        self.name = prefix + secrets.token_hex(8)
        self.session_id = session_id
        self.committed = False
        self.over = False
        self.answers: list[bytes] = []
        self.status = 202
        self.attendances: list[Attendance] = []
        self.batch = batch
        self.lost = 0
        self.size = 0
        self._store = store
        self._revision = revision
        self._left = answers
        self._may_stream = may_stream
        self._capacity = capacity
        self._elsewhere = elsewhere
        self._frames: deque[bytes] = deque()
        self.first = 0
        self._carrier: Carrier | None = None
        self._moved: trio.Event | None = None

    # -- whoever answers: transport.legacy.turn.Sink

    def start(self) -> None:
        """Commit to events, unless the client takes none or has left."""
        if self._may_stream and not self.committed and not self.over and self._carrier is not None:
            self.commit()

    def commit(self) -> None:
        """Commit to events: what was answered so far become the first ones."""
        self.committed = True
        self._store.keep(self)
        if self._revision.priming:
            self._append(events.priming(events.event_id(self.name, 0)))
        for answer in self.answers:
            self._add(answer)
        self.answers.clear()
        self._tell()

    def write(self, message: bytes) -> bool:
        """See `Sink.write`. For a client that takes no stream, or has left before there was one, it is dropped."""
        if self.over:
            return False
        self.start()
        if not self.committed:
            return True
        if self._lag >= self._capacity:
            return False
        self._add(message)
        self._tell()
        return True

    def ask(self, message: bytes) -> bool:
        """See `Sink.ask`: on this stream, or on the session's stream of changes if this one cannot (O-44)."""
        if self._may_stream and (self.committed or self._carrier is not None):
            return self.write(message)
        other = self._elsewhere()
        if other is None:
            raise InternalError("There is no stream on which the client could be asked")
        return other.write(message)

    async def room(self) -> None:
        """See `Sink.room`."""
        while not self.over and self.committed and self._lag >= self._capacity:
            if self._moved is None:
                self._moved = trio.Event()
            await self._moved.wait()

    def finish(self, message: bytes | None, status: int) -> None:
        """See `Sink.finish`; the last of the answers ends the stream."""
        if self.over:
            return
        self._left -= 1
        self.status = status
        if message is not None and self.committed:
            self._add(message)
        elif message is not None:
            self.answers.append(message)
        if self._left <= 0:
            self.over = True
            self._store.ended(self)
        self._tell()

    def pause(self, retry: float) -> bool:
        """See `Sink.pause`: only clients of 2025-11-25 know to come back (O-23, O-24)."""
        if not self._revision.priming:
            return False
        self.start()
        if not self.committed or self._carrier is None:
            return False
        self._carrier.close(events.retry(retry))
        return True

    # -- whoever carries it

    def attach(self, carrier: Carrier) -> None:
        """Let a connection carry the stream, instead of any other."""
        before, self._carrier = self._carrier, carrier
        for attendance in self.attendances:
            attendance.back()
        if before is not None and before is not carrier:
            before.replaced()

    def detach(self, carrier: Carrier, patience: float) -> None:
        """Note that a connection carries the stream no longer."""
        if self._carrier is carrier:
            self._carrier = None
            self.look_again()
            if not self.over:
                for attendance in self.attendances:
                    attendance.left(patience)

    def frames_from(self, number: int) -> list[bytes]:
        """Return the events from a number on, as far as they are kept."""
        return list(islice(self._frames, max(0, number - self.first), None)) if number < self.end else []

    @property
    def end(self) -> int:
        """The number that the next event will have."""
        return self.first + len(self._frames)

    def look_again(self) -> None:
        """Let whoever waits for room look again."""
        if self._moved is not None:
            self._moved.set()
            self._moved = None

    # -- inside

    @property
    def _lag(self) -> int:
        return 0 if self._carrier is None else self.end - self._carrier.number

    def _add(self, message: bytes) -> None:
        self._append(events.numbered(message, events.event_id(self.name, self.end)))

    def _append(self, frame: bytes) -> None:
        self._frames.append(frame)
        self.size += len(frame)
        fits = self._store.grew(self, len(frame))
        while len(self._frames) > 1 and (not fits or len(self._frames) > KEPT or self.size > KEPT_BYTES):
            if self._carrier is not None and self._carrier.number <= self.first:
                return  # its client has yet to get it, and will: writers wait for that
            self._drop()
            fits = self._store.grew(self, 0)

    def _drop(self) -> None:
        frame = self._frames.popleft()
        self.first += 1
        self.size -= len(frame)
        self._store.grew(self, -len(frame))
        if self._carrier is None:
            self.lost += 1
            if self.lost == 1:
                LOG.warning("A 2025 client is away for long: the oldest events of its stream %s are dropped", self.name)

    def _tell(self) -> None:
        self.look_again()
        if self._carrier is not None:
            self._carrier.moved()
