"""From a session's stream to one HTTP response: a JSON text, or server-sent events as long as the connection lives.

The ASGI task of the request runs it. It waits in `receive()`, so that it sees the client leave; the stream wakes it.
A client that leaves is nobody's end: the stream goes on and waits for another carrier.
"""

from __future__ import annotations

import math

import trio

from transport import sse
from transport.asgi import Pairs
from transport.body import ClientLeftError
from transport.exchange import Exchange
from transport.legacy.stream import Stream
from transport.wire import PeerGone, Wire, open_wire

QUICK = 2
"""Turns of the loop that a worker gets before the task waits in `receive()`; see `transport.relay.QUICK`."""


class Carrier:
    """One HTTP response that carries a stream.

    Args:
        stream: What it carries.
        exchange: The request that it answers.
        keep_alive: Seconds of quiet after which a comment is sent, and an unanswered request becomes a stream.
        write_deadline: Seconds without progress after which a client that does not read is dropped.
        patience: Seconds for which the stream's workers live on when nobody reads.

    Attributes:
        number: Of the next event to send.
    """

    def __init__(
        self, stream: Stream, exchange: Exchange, *, keep_alive: float, write_deadline: float, patience: float
    ) -> None:
        self.number = 0
        self._stream = stream
        self._exchange = exchange
        self._keep_alive = keep_alive
        self._write_deadline = write_deadline
        self._patience = patience
        self._wire: Wire | None = None
        self._waiting: trio.CancelScope | None = None
        self._last: bytes | None = None  # the end of this response, though not of the stream
        self._last_write = -math.inf

    # -- the stream's side

    def moved(self) -> None:
        """See `transport.legacy.stream.Carrier.moved`."""
        if self._wire is None or not self._flush(self._wire) or self._stream.over:
            self._wake()

    def close(self, last: bytes) -> None:
        """See `transport.legacy.stream.Carrier.close`."""
        if self._last is None:
            self._last = last
        self._wake()

    def replaced(self) -> None:
        """See `transport.legacy.stream.Carrier.replaced`."""
        self.close(b"")

    # -- the task's side

    async def answer(self) -> None:
        """Answer the request that the stream belongs to; return when the response is complete or the client left."""
        accepted = self._exchange.accepted
        self._stream.attach(self)
        try:
            await self._decided(may_stream=accepted.stream)
            if self._stream.over and not accepted.json and accepted.stream and self._stream.answers:
                self._stream.commit()
            if self._stream.committed:
                await self._events(())
            elif self._last is None:
                await self._json()
        except (ClientLeftError, OSError):
            pass  # the stream goes on without its client
        finally:
            self._stream.detach(self, self._patience)

    async def resume(self, number: int, headers: Pairs = ()) -> None:
        """Carry a stream from an event on; return when the stream is over or the client left."""
        self.number = min(number, self._stream.end)
        self._stream.attach(self)
        try:
            await self._events(headers)
        except (ClientLeftError, OSError):
            pass  # as above
        finally:
            self._stream.detach(self, self._patience)

    async def _decided(self, *, may_stream: bool) -> None:
        stream = self._stream
        for _ in range(QUICK):
            if not stream.over and not stream.committed:
                await trio.lowlevel.checkpoint()
        while not stream.over and not stream.committed and self._last is None:
            await self._wait(trio.current_time() + (self._keep_alive if may_stream else math.inf))
            stream.start()  # does nothing if the wait ended with an answer

    async def _wait(self, until: float) -> None:
        """Wait until a moment, or until the stream moves.

        Raises:
            ClientLeftError: The client left.
        """
        with trio.CancelScope(deadline=until) as waiting:
            self._waiting = waiting
            try:
                while (await self._exchange.receive())["type"] != "http.disconnect":
                    pass
                raise ClientLeftError
            finally:
                self._waiting = None

    async def _json(self) -> None:
        answers, status = self._stream.answers, self._stream.status
        if self._stream.batch and answers:
            await self._exchange.answer(200, b"[%b]" % b",".join(answers))
        else:
            await self._exchange.answer(status, answers[0] if answers else b"")

    async def _events(self, headers: Pairs) -> None:
        exchange = self._exchange
        head = [*sse.HEADERS, *headers, *exchange.extra_headers]
        await exchange.send({"type": "http.response.start", "status": 200, "headers": head})
        body = sse.COMMENT + self._take()  # the first bytes go out at once
        if not self._ends:
            await exchange.send({"type": "http.response.body", "body": body, "more_body": True})
            async with open_wire(exchange.scope, exchange.send, self._write_deadline) as wire:
                await self._hold(wire)
            body = self._take()
        await exchange.send({"type": "http.response.body", "body": body + (self._last or b"")})

    @property
    def _ends(self) -> bool:
        return self._stream.over or self._last is not None

    async def _hold(self, wire: Wire) -> None:
        """Send events as they come, with comments while it is quiet, until the response ends."""
        self._wire = wire
        self._last_write = trio.current_time()
        try:
            while not self._ends:
                if not self._flush(wire):
                    await wire.room()
                else:
                    await self._wait(self._last_write + self._keep_alive)
                    self._comment_if_quiet(wire)
        except PeerGone:
            raise ClientLeftError from None
        finally:
            self._wire = None

    def _flush(self, wire: Wire) -> bool:
        """Send what there is. Returns False if the wire is full before that."""
        for frame in self._stream.frames_from(self.number):
            if not wire.write(frame):
                return False
            self.number = max(self.number, self._stream.first) + 1
            self._last_write = trio.current_time()
        self._stream.look_again()
        return True

    def _take(self) -> bytes:
        frames = self._stream.frames_from(self.number)
        self.number = self._stream.end
        self._stream.look_again()
        return b"".join(frames)

    def _comment_if_quiet(self, wire: Wire) -> None:
        now = trio.current_time()
        if not self._ends and now >= self._last_write + self._keep_alive:
            self._last_write = now
            if not wire.write(sse.COMMENT) and wire.stalled:
                raise ClientLeftError

    def _wake(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
