"""One request of 2026-07-28 on the shared channel: its worker's outbox, from the first event to the answer.

Nothing is sent of a request that the client has cancelled, nor after its answer. A request that ends without an answer
gets an error: there is no stream of its own whose end would say so.
"""

from __future__ import annotations

from collections.abc import Callable

from actors import Pid
from genmcp.mcp import McpError, jsonrpc
from genmcp.mcp import v2607 as mcp
from genmcp.worker import Worker
from transport.codec import ModernCodec, no_answer
from transport.stdio.running import How
from transport.stdio.writer import Writer


class Turn:
    """The outbox of one request; see the module.

    Args:
        request: The request.
        writer: The way to the client.
        on_over: Called once when it is over, before the answer is handed over.
        announce_end: Whether `notifications/cancelled` goes before the result of a subscription that we end (DIS-01).

    Attributes:
        worker: Who answers, once it runs.
        subscription: Whether it is a `subscriptions/listen`.
    """

    __slots__ = ("_announce_end", "_codec", "_id", "_on_over", "_over", "_writer", "subscription", "worker")

    def __init__(
        self, request: mcp.ClientRequest, writer: Writer, on_over: Callable[[], None], *, announce_end: bool = False
    ) -> None:
        self.worker: Worker | None = None
        self.subscription = isinstance(request, mcp.SubscriptionsListenRequest)
        self._id = request.id
        self._codec = ModernCodec(request.id)
        self._writer = writer
        self._on_over = on_over
        self._announce_end = announce_end and self.subscription
        self._over = False

    # -- the worker's side: genmcp.outbox.Outbox

    @property
    def closed(self) -> bool:
        """See `genmcp.outbox.Outbox.closed`."""
        return self._over or self._writer.closed

    def start(self) -> None:
        """See `genmcp.outbox.Outbox.start`: there is nothing to open."""

    def put(self, notification: mcp.ServerNotification) -> bool:
        """See `genmcp.outbox.Outbox.put`."""
        return not self.closed and self._writer.write(self._codec.notification(notification))

    async def room(self) -> None:
        """See `genmcp.outbox.Outbox.room`."""
        if not self.closed:
            await self._writer.room()

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        """See `genmcp.outbox.Outbox.end`; None is an error here."""
        if self._over:
            return
        _, answer = self._codec.final(no_answer() if final is None else final)
        self._close()
        if self._announce_end and not isinstance(final, McpError):
            params = mcp.CancelledNotificationParams(
                request_id=self._id,
                reason="The server ends the subscription",
                meta={mcp.SUBSCRIPTION_ID_KEY: self._id},  # as every notification of it (S-07)
            )
            self._writer.answer(jsonrpc.notification_bytes(mcp.CancelledNotification(params=params)))
        self._writer.answer(answer)

    # -- the client's side

    @property
    def worker_pid(self) -> Pid | None:
        """See `Ongoing.worker_pid`."""
        return None if self.worker is None else self.worker.pid

    def leave(self, how: How = "client_gone") -> None:
        """See `Ongoing.leave`."""
        if self._over:
            return
        self._close()
        if self.worker is not None:
            self.worker.client_gone(how)

    def _close(self) -> None:
        self._over = True
        self._on_over()
