"""A legacy client's stream of changes: what a 2026 client gets by `subscriptions/listen` (O-30, O-31, F3).

It is a subscription of the same handler, opened in the client's stead, whose notifications go out bare. What it asks
for grows with `resources/subscribe`: a new worker takes the place of the old one, which goes when the new one is
acknowledged, so that nothing is missed between the two. What is no longer subscribed is left out on the way.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import trio

from genmcp.mcp import McpError
from genmcp.mcp import v2607 as mcp
from genmcp.suite.listen import covers
from genmcp.worker import RequestContext, Worker, start_request
from transport.legacy.attendance import Attendance
from transport.legacy.codec import LegacyCodec
from transport.legacy.session import Session
from transport.legacy.sink import Sink
from transport.legacy.turn import House
from transport.legacy.up import listen_request


class Listening:
    """The session's `Ear`; see the module.

    Args:
        house: What every turn of the server shares.
        session: Whose stream it is.
        sink: Where its messages go.
        context: What is known of the caller.
        on_over: Called once when it is over, whoever ended it.

    Attributes:
        attendance: Whether anybody reads what goes to the sink.
    """

    def __init__(
        self,
        house: House,
        session: Session,
        sink: Sink,
        context: RequestContext,
        on_over: Callable[[], None] = lambda: None,
    ) -> None:
        self._house = house
        self._session = session
        self._sink = sink
        self._context = context
        self._on_over = on_over
        self._codec = LegacyCodec(session.client.revision)
        self._current: _Subscription | None = None
        self._asked: frozenset[str] = frozenset()
        self._over = False
        self.attendance = Attendance(house.node, self.leave)

    async def begin(self) -> None:
        """Listen, and return once that is so.

        Raises:
            McpError: The server has no subscriptions, or refuses this one.
            actors.StoppedError: The node is stopping.
        """
        before = self._session.ear
        self._session.ear = self
        if before is not None:
            before.leave()
        try:
            await self._open()
        except BaseException:
            self.leave()
            raise

    async def renew(self) -> None:
        """Listen to what the session watches now; see `begin`."""
        if not self._over and not self._asked.issuperset(self._session.watched):
            await self._open()

    def leave(self) -> None:
        """End: the client is gone for good, the session is over, or another stream takes its place."""
        if self._over:
            return
        self._over = True
        self.attendance.back()
        if self._session.ear is self:
            self._session.ear = None
        if self._current is not None:
            self._current.leave()
        self._sink.finish(None, 200)
        self._on_over()

    async def _open(self) -> None:
        uris = list(self._session.watched)
        self._asked = frozenset(uris)
        fresh = _Subscription(self)
        request = listen_request(secrets.token_hex(8), self._session.client, self._session.level, uris)
        fresh.worker = start_request(
            self._house.node, self._house.server, request, fresh, self._context, self._house.settings
        )
        self._house.count(fresh.worker.pid)
        self._house.node.on_exit(fresh.worker.pid, lambda _: fresh.end(None))
        try:
            await fresh.settled.wait()
        except BaseException:
            fresh.leave()
            raise
        if fresh.error is not None:
            raise fresh.error
        before, self._current = self._current, fresh
        if before is not None:
            before.leave()
        if self._over:
            fresh.leave()

    @property
    def sink(self) -> Sink:
        """Where messages to the client go when they belong to no request."""
        return self._sink

    # -- of its subscriptions

    def send(self, notification: mcp.ServerNotification) -> bool:
        """Send a notification, unless it is of a resource that is not watched any more."""
        if isinstance(notification, mcp.ResourceUpdatedNotification) and not self._watches(notification.params.uri):
            return True
        message = self._codec.notification(notification)
        return message is None or self._sink.write(message)

    def _watches(self, uri: str) -> bool:
        return covers(tuple(self._session.watched), uri)

    async def room(self) -> None:
        """Wait until `send` may succeed."""
        await self._sink.room()

    def lost(self, subscription: _Subscription) -> None:
        """Note that the server has ended a subscription; the stream ends with the one that is current."""
        if subscription is self._current:
            self.leave()


class _Subscription:
    """The outbox of one listen worker."""

    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self._over = False
        self.settled = trio.Event()
        self.error: McpError | None = None
        self.worker: Worker | None = None

    @property
    def closed(self) -> bool:
        """See `genmcp.outbox.Outbox.closed`."""
        return self._over

    def start(self) -> None:
        """See `genmcp.outbox.Outbox.start`: the subscription is accepted, its source of events was joined."""
        self.settled.set()

    def put(self, notification: mcp.ServerNotification) -> bool:
        """See `genmcp.outbox.Outbox.put`."""
        return not self._over and self._listening.send(notification)

    async def room(self) -> None:
        """See `genmcp.outbox.Outbox.room`."""
        if not self._over:
            await self._listening.room()

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        """See `genmcp.outbox.Outbox.end`."""
        if self._over:
            return
        self._over = True
        if isinstance(final, McpError):
            self.error = final
        self.settled.set()
        self._listening.lost(self)

    def leave(self) -> None:
        """Stop the worker: another one has taken its place, or the stream is over."""
        if not self._over:
            self._over = True
            self.settled.set()
            if self.worker is not None:
                self.worker.client_gone()
