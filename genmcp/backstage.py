"""What stands behind a channel: the part that the worker and the Suite use, and no handler.

`Channel` is what authors see of a request; this is what makes it true. One object an open request, reached as
`channel.backstage`, so that nothing else of the framework needs to look inside a channel.

    open ──send_result, send_error, close, the handler's return──▶ answered
      │ ▲
      │ └──rebind: a retry attaches──┐
      └──suspend: a question leaves──┴── suspended

Nothing follows the last event: whoever comes later finds the request closed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import trio

from actors import Actor, Shutdown, Timer
from genmcp.endings import CLOSED, GONE, REPLY, CloseReason, close_reason, stopped
from genmcp.errors import ChannelClosedError
from genmcp.limits import HeaderCheck, WorkerSettings
from genmcp.mcp import McpError, check_own_code
from genmcp.mcp import v2607 as mcp
from genmcp.meta import FoundMeta
from genmcp.outbox import Outbox, Sent
from genmcp.progress import Progress

if TYPE_CHECKING:
    from genmcp.conversation import Dialogue

Gate = Callable[[mcp.ServerNotification], Awaitable[bool]]


class Backstage:
    """The framework's side of one channel.

    Attributes:
        outbox: Where events go.
        found: What the request says of itself.
        request_id: Its id; None for a notification.
        settings: The worker's limits.
        subscription: Whether it is a `subscriptions/listen`.
        check_headers: Compares mirrored headers with arguments, where there are headers.
        actor: The worker's actor, once it runs.
        answered: The last event was given.
        suspended: The request was answered with a question, and no retry has come.
        finishing: A handler runs that asked to finish although the client leaves.
        close_reason: What ended the request, once something other than a return did.
        finalize: Completes a result before it goes out.
        progress: Which reports go out; None without a progress token.
        request: The request that the handler runs with, for its answers and state; None before.
    """

    __slots__ = (
        "_dialogue",
        "_gate",
        "_held",
        "_idle",
        "_leaving",
        "_opening",
        "_time_limit",
        "_timer",
        "actor",
        "answered",
        "check_headers",
        "close_reason",
        "finalize",
        "finishing",
        "found",
        "outbox",
        "progress",
        "request",
        "request_id",
        "settings",
        "subscription",
        "suspended",
    )

    def __init__(
        self,
        outbox: Outbox,
        found: FoundMeta,
        settings: WorkerSettings,
        *,
        request_id: mcp.RequestId | None = None,
        subscription: bool = False,
        check_headers: HeaderCheck | None = None,
    ) -> None:
        self.settings = settings
        self.subscription = subscription
        self.check_headers = check_headers
        self.actor: Actor | None = None
        self.answered = False
        self.finishing = False
        self.close_reason: CloseReason | None = None
        self.finalize: Callable[[mcp.ServerResult], mcp.ServerResult] | None = None
        self.request: mcp.ClientRequest | None = None
        self._dialogue: Dialogue | None = None
        self._gate: Gate | None = None
        self._held: list[mcp.ServerNotification] | None = None
        self._opening: Callable[[], Awaitable[object]] | None = None
        self._idle = False
        self._leaving: list[Callable[[], object]] | None = None
        self._time_limit: float | None = None
        self._timer: Timer | None = None
        self.rebind(outbox, request_id, found)

    def rebind(self, outbox: Outbox, request_id: mcp.RequestId | None, found: FoundMeta) -> None:
        """Belong to another request, a retry: what was of the request before is replaced."""
        self.outbox = outbox
        self.request_id = request_id
        self.found = found
        self.suspended = False
        token = found.progress_token
        self.progress = Progress(token, self.settings.progress_interval) if token is not None else None

    # -- the worker behind it

    @property
    def worker(self) -> Actor:
        """The worker's actor; a RuntimeError if the channel was made without one."""
        if self.actor is None:
            raise RuntimeError(
                "this channel belongs to no worker; open the server with genmcp.testing.connect to use its mailbox"
            )
        return self.actor

    @property
    def incarnation(self) -> str:
        """Which run of the node this is; part of every pid."""
        return self.worker.node.incarnation

    @property
    def stopping(self) -> bool:
        """True once the worker was asked to end."""
        return self.actor is not None and self.actor.exit_asked is not None

    @property
    def conversation(self) -> Dialogue:
        """The request's conversation; a RuntimeError if it is one that cannot ask."""
        if self._dialogue is None:
            raise RuntimeError("only a tools/call, prompts/get or resources/read can ask the client")
        return self._dialogue

    def converse(self, dialogue: Dialogue | None) -> None:
        """Let the request ask its client, or no more."""
        self._dialogue = dialogue

    def on_exit(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the worker has ended, however it ends."""
        self._leaving = [*(self._leaving or ()), callback]

    def take_exit_callbacks(self) -> list[Callable[[], object]]:
        """Return what `on_exit` was given."""
        leaving, self._leaving = self._leaving or [], None
        return leaving

    @contextmanager
    def finish_anyway(self) -> Iterator[None]:
        """Let the handler's work go on in this block although the client leaves (`on_close="finish"`)."""
        self.finishing = True
        try:
            yield
        finally:
            self.finishing = False

    def limit_time(self, seconds: float) -> None:
        """End the request with `Shutdown("timeout")` unless it has ended by then."""
        self._time_limit = seconds
        self._timer = self.worker.registry.stop_after(seconds, self.worker.pid, Shutdown("timeout"))

    async def next_message(self) -> Any:
        """Wait for the next message between two callbacks: no handler runs, so an answer now ends the worker."""
        self._idle = True
        try:
            return await self.worker.receive()
        finally:
            self._idle = False

    # -- what goes out

    @property
    def closed(self) -> bool:
        """True when nothing can be sent: answered, suspended, or the client is gone."""
        return self.answered or self.suspended or self.close_reason is not None or self.outbox.closed

    async def send(self, notification: mcp.ServerNotification) -> Sent:
        """Send a notification that the client wants; past the gate of a subscription."""
        await trio.lowlevel.checkpoint()
        notification = self._stamped(notification)
        if self._held is not None and not self.closed:
            self._held.append(notification)
            return Sent.SENT
        return await self._deliver(notification)

    async def send_through_gate(self, notification: mcp.ServerNotification) -> Sent:
        """Send a notification unless the subscription's acknowledged filter does not allow it."""
        if self._gate is not None and not await self._gate(notification):
            await trio.lowlevel.checkpoint()
            return self.not_wanted()
        return await self.send(notification)

    async def pass_on(self, notification: mcp.ServerNotification) -> None:
        """Send what a message of the mailbox has brought, if the gate allows it.

        Not a checkpoint, where the client takes what it gets: to receive the message was one, and a second one would
        cost a change to a thousand streams a quarter more.
        """
        if self._gate is None or await self._gate(notification):
            await self._deliver(self._stamped(notification))

    def not_wanted(self) -> Sent:
        """Return what became of something that the client did not ask for."""
        return Sent.CLOSED if self.closed else Sent.NOT_WANTED

    def _stamped(self, notification: mcp.ServerNotification) -> mcp.ServerNotification:
        if not self.subscription or self.request_id is None:
            trace = self.found.channel.trace_context
            return mcp.with_trace_context(notification, trace) if trace else notification
        return mcp.with_subscription_id(notification, self.request_id)  # its events belong to others' traces

    async def _deliver(self, notification: mcp.ServerNotification) -> Sent:
        progress = self.progress
        while not self.closed:
            if progress is not None and progress.overtaken(notification):
                return Sent.NOT_WANTED
            if self.outbox.put(notification):
                if progress is not None:
                    progress.went_out(notification)
                return Sent.SENT
            await self.outbox.room()
        return Sent.CLOSED

    # -- a subscription: acknowledged first

    def hold(self) -> None:
        """Keep back what is sent until `release`."""
        self._held = []

    def when_open(self, opening: Callable[[], Awaitable[object]]) -> None:
        """Await `opening` once the worker carries the stream's state: a client that leaves meanwhile shall free it."""
        self._opening = opening

    async def open(self) -> None:
        """Commit to a stream, and do what waits for that."""
        self.outbox.start()
        if self._opening is not None:
            opening, self._opening = self._opening, None
            await opening()

    async def release(self, first: mcp.ServerNotification, gate: Gate) -> None:
        """Send `first`, then what was kept back and passes `gate`; from now on everything must pass it."""
        await trio.lowlevel.checkpoint()
        await self._deliver(self._stamped(first))
        self._gate = gate
        while self._held:
            if await gate(self._held[0]):
                await self._deliver(self._held[0])
            del self._held[0]
        self._held = None

    # -- the end

    def lose(self, reason: CloseReason) -> None:
        """Note what ended the request from outside; the first reason stands."""
        if self.close_reason is None:
            self.close_reason = reason

    def ending(self) -> CloseReason | None:
        """Say what ends the request, also while its handler still unwinds from a stop that the worker notes after."""
        asked = None if self.answered or self.actor is None else self.actor.exit_asked
        if self.close_reason is not None or asked is None:
            return self.close_reason
        return close_reason(asked, node_stops=self.worker.node.stopping)

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        """Hand over the last event; a worker that only waits for messages has nothing left to do then.

        Raises:
            TypeError: The result holds a value that is not JSON. Nothing was sent.
            ValueError: The error has a code that the protocol reserves (B-16 to B-21). Nothing was sent.
            MissingCapability: It is a question that the client cannot answer (I-08). Nothing was sent.
            RuntimeError: It is a question, and this request cannot ask (I-03). Nothing was sent.
        """
        if self.answered:
            return
        if isinstance(final, McpError):
            check_own_code(final.code)
        elif isinstance(final, mcp.InputRequiredResult):
            self.conversation.allow(final)
        if self.close_reason not in GONE:  # no further message for a cancelled request (H-25)
            self._hand_over(final)
        self.answered = True
        if self._idle:
            self.worker.registry.stop(self.worker.pid, CLOSED if self.close_reason == "closed" else REPLY)

    def close(self) -> None:
        """End without a response: a stream ends, a subscription with its result."""
        self.close_reason = "closed"
        self.end(self.listen_result() if self.subscription else None)

    def end_by_stop(self) -> None:
        """Tell the client that a stop ended its request; a subscription's ends with its result."""
        if self.subscription:
            self.end(self.listen_result())
        else:
            self.end(stopped(self.close_reason or "killed", self._time_limit))

    def listen_result(self) -> mcp.SubscriptionsListenResult:
        """Return the result with which a subscription ends."""
        assert self.request_id is not None  # a subscription is a request
        return mcp.listen_result(self.request_id)

    def _hand_over(self, final: mcp.ServerResult | McpError | None) -> None:
        waiting = self.progress.flush() if self.progress is not None else None
        if waiting is not None:
            self.outbox.put(self._stamped(waiting))
        if self.finalize is not None and final is not None and not isinstance(final, McpError):
            final = self.finalize(final)
        self.outbox.end(final)

    @contextmanager
    def suspend(self, question: mcp.InputRequiredResult) -> Iterator[None]:
        """End the request with a question, and be nobody's until `rebind`; the time limit stands still.

        Raises:
            ChannelClosedError: There is nobody to ask any more.
        """
        if self.closed:
            raise ChannelClosedError("the request was answered or its client has left, so nobody can be asked")
        self._hand_over(question)
        self.suspended = True
        left = self._timer.cancel() if self._timer is not None else None
        try:
            yield
        finally:
            self.suspended = False
            if left is not None and self._time_limit is not None:
                self._timer = self.worker.registry.stop_after(left, self.worker.pid, Shutdown("timeout"))
