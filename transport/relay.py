"""From a worker's events to one HTTP response: a single JSON object, or a stream of server-sent events.

Theory. The relay is the worker's `Outbox`, and the ASGI task that serves the request runs `Relay.run`. No other task
exists. The task waits in `receive()`, so that it always sees the client leave, inside a cancel scope; an event of the
worker that needs the task (the commitment to a stream, the last event) cancels that scope, and so does its deadline,
the next keep-alive.

    undecided ──first notification, start(), one keep-alive interval──▶ committed ──head is out──▶ open ──▶ over
        └────────────────────end(final): one JSON object with its own status────────────────────────────▲

* undecided: nothing was sent, so an error can still have its status (H-57, AMB-03).
* committed: frames wait here, at most `capacity`, until the head is out.
* open: frames go straight to the wire, in the turn of whoever puts them. The wire limits what waits.
* over: nothing is taken any more (`closed`). Nothing ever follows the last event.

A client that leaves makes the relay closed and is reported to the worker exactly once, whoever notices first. What the
client accepts bends this: one that does not take streams gets one JSON object however long that takes, and
notifications are dropped for it (AMB-23); one that takes only streams gets a stream for every result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import trio

from genmcp.mcp import McpError
from genmcp.mcp import v2607 as mcp
from transport import sse
from transport.asgi import Pairs, Receive, Scope, Send
from transport.body import ClientLeftError
from transport.codec import Codec, no_answer
from transport.wire import PeerGone, Wire, client_stalled, open_wire

Leaving = Literal["client_gone", "stalled"]

STREAM_STATUS = 200

QUICK = 2
"""Turns of the loop that a worker gets before the task waits in `receive()`. A handler that does not wait has answered
by then, which saves a cancelled wait: 20 µs of the 115 µs that a whole request costs in process."""


class Relay:
    """One request's outbox and the delivery of what is put into it. See the module for its states.

    Args:
        codec: How messages are written.
        keep_alive: Seconds of quiet after which a comment is sent, and after which an unanswered request becomes a
            stream.
        write_deadline: Seconds without progress after which a client that does not read is dropped.
        may_stream: Whether the client accepts `text/event-stream`.
        may_answer_json: Whether the client accepts `application/json`.
        capacity: Frames that may wait before the stream is open.
    """

    __slots__ = (
        "_capacity",
        "_closed",
        "_codec",
        "_committed",
        "_final",
        "_keep_alive",
        "_last_write",
        "_may_answer_json",
        "_may_stream",
        "_moved",
        "_on_leaving",
        "_pending",
        "_scope",
        "_waiting",
        "_wire",
        "_write_deadline",
    )

    def __init__(
        self,
        codec: Codec,
        *,
        keep_alive: float = 15.0,
        write_deadline: float = 30.0,
        may_stream: bool = True,
        may_answer_json: bool = True,
        capacity: int = 64,
    ) -> None:
        self._codec = codec
        self._keep_alive = keep_alive
        self._write_deadline = write_deadline
        self._may_stream = may_stream
        self._may_answer_json = may_answer_json or not may_stream
        self._capacity = capacity
        self._closed = False
        self._committed = False
        self._final: tuple[int, bytes | None] | None = None
        self._pending: list[bytes] = []
        self._wire: Wire | None = None
        self._waiting: trio.CancelScope | None = None
        self._moved: trio.Event | None = None  # set when a wait for room must look again
        self._last_write = -math.inf
        self._on_leaving: Callable[[Leaving], None] | None = None
        self._scope: Scope = {}

    # -- the worker's side: genmcp.outbox.Outbox

    @property
    def closed(self) -> bool:
        """True once the last event was given or the client left."""
        return self._closed

    def start(self) -> None:
        """Commit to a stream, unless the client takes none."""
        if self._may_stream and not self._committed and not self._closed:
            self._committed = True
            self._wake()

    def put(self, notification: mcp.ServerNotification) -> bool:
        """See `genmcp.outbox.Outbox.put`."""
        if self._closed:
            return False
        if not self._may_stream:
            self._codec.notification(notification)  # what is not JSON is an error for this client as well
            return True
        if self._wire is not None:
            taken = self._wire.write(sse.event(self._codec.notification(notification)))
            if taken:
                self._last_write = trio.current_time()
            return taken
        if len(self._pending) >= self._capacity:
            return False
        self._pending.append(sse.event(self._codec.notification(notification)))
        self.start()
        return True

    async def room(self) -> None:
        """Wait until `put` may succeed again; return at once when the relay is closed."""
        while not self._closed:
            if self._wire is not None:
                try:
                    await self._wire.room()
                except PeerGone:
                    self._leave(self._how())
                return
            if len(self._pending) < self._capacity:
                return
            if self._moved is None:
                self._moved = trio.Event()
            await self._moved.wait()

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        """See `genmcp.outbox.Outbox.end`. Without a stream, None becomes an error: HTTP must answer something."""
        if self._closed:
            return
        if final is None and not self._committed:
            final = no_answer()
        self._final = (STREAM_STATUS, None) if final is None else self._codec.final(final)
        self._closed = True
        self._wake()

    # -- the ASGI task's side

    def on_leaving(self, tell: Callable[[Leaving], None]) -> None:
        """Say who is told, once, when the client leaves before the last event. Set before `run`."""
        self._on_leaving = tell

    async def run(self, scope: Scope, receive: Receive, send: Send, headers: Pairs = ()) -> None:
        """Deliver the response; return when it is complete or the client has left.

        Args:
            scope: The ASGI scope, whose body was read.
            receive: Its channel of incoming events.
            send: Its channel of outgoing events.
            headers: Put on the response whatever its form.

        Cancellation counts as the client leaving.
        """
        self._scope = scope
        try:
            await self._decided(receive)
            if self._committed:
                await self._stream(receive, send, headers)
            else:
                await self._answer_json(send, headers)
        except (ClientLeftError, OSError):
            pass  # OSError is ASGI's way to say that nobody reads; the worker is told below
        finally:
            if not self._closed:
                self._leave(self._how())
            self._on_leaving = None  # which leads to the worker, and that back here

    async def _decided(self, receive: Receive) -> None:
        """Wait for the first thing that decides the form of the answer."""
        for _ in range(QUICK):
            if not self._closed and not self._committed:
                await trio.lowlevel.checkpoint()
        while not self._committed and not self._closed:
            patience = self._keep_alive if self._may_stream else math.inf
            await self._wait(receive, trio.current_time() + patience)
            self.start()  # does nothing if the wait ended with the answer
        if self._final is not None and self._final[0] == STREAM_STATUS and not self._may_answer_json:
            self._committed = True

    async def _wait(self, receive: Receive, until: float) -> None:
        """Wait until a moment, or until the worker's next event that needs this task.

        Raises:
            ClientLeftError: The client left.
        """
        with trio.CancelScope(deadline=until) as waiting:
            self._waiting = waiting
            try:
                while (await receive())["type"] != "http.disconnect":
                    pass
                raise ClientLeftError
            finally:
                self._waiting = None

    async def _answer_json(self, send: Send, headers: Pairs) -> None:
        assert self._final is not None  # the only way to get here
        status, payload = self._final
        body = payload or b""
        head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *headers]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": body})

    async def _stream(self, receive: Receive, send: Send, headers: Pairs) -> None:
        await send({"type": "http.response.start", "status": STREAM_STATUS, "headers": [*sse.HEADERS, *headers]})
        self._pending.insert(0, sse.COMMENT)  # the first bytes go out at once
        if self._final is None:
            await send({"type": "http.response.body", "body": self._take_pending(), "more_body": True})
        if self._final is None:
            async with open_wire(self._scope, send, self._write_deadline) as wire:
                await self._hold(wire, receive)
        if self._final is None:
            raise ClientLeftError
        last = self._take_pending()
        if self._final[1] is not None:
            last += sse.event(self._final[1])
        await send({"type": "http.response.body", "body": last})

    async def _hold(self, wire: Wire, receive: Receive) -> None:
        """Keep the stream open until the last event, with comments while it is quiet."""
        try:
            await self._hand_over(wire)
            while not self._closed:
                await self._wait(receive, self._last_write + self._keep_alive)
                self._comment_if_quiet(wire)
        except (ClientLeftError, PeerGone):
            self._leave(self._how())

    async def _hand_over(self, wire: Wire) -> None:
        """Open the stream to `put`: what came while the head was on its way goes first."""
        while self._pending:
            if wire.write(self._pending[0]):
                del self._pending[0]
            else:
                await wire.room()
        self._wire = wire
        self._last_write = trio.current_time()
        self._look_again()

    def _comment_if_quiet(self, wire: Wire) -> None:
        """Show that the stream lives. A full wire needs no comment: there are bytes on their way."""
        now = trio.current_time()
        if self._closed or now < self._last_write + self._keep_alive:
            return
        self._last_write = now
        if not wire.write(sse.COMMENT) and wire.stalled:
            raise ClientLeftError

    # -- inside

    def _take_pending(self) -> bytes:
        frames = b"".join(self._pending)
        self._pending.clear()
        self._look_again()
        return frames

    def _wake(self) -> None:
        """Bring the ASGI task out of `receive()`, and whoever waits for room."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._look_again()

    def _look_again(self) -> None:
        if self._moved is not None:
            self._moved.set()
            self._moved = None

    def _leave(self, how: Leaving) -> None:
        """Close because the client left, and say so; after the last event there is nothing to say."""
        if not self._closed:
            self._closed = True
            self._wake()
            if self._on_leaving is not None:
                self._on_leaving(how)

    def _how(self) -> Leaving:
        """Say whether the client was dropped by us, for not reading."""
        stalled = client_stalled(self._scope) if self._wire is None else self._wire.stalled
        return "stalled" if stalled else "client_gone"
