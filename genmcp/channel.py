"""The channel: what a handler knows of its request, and its way to talk to the client while it works.

Sends are awaitable: they are a checkpoint, feel the backpressure of a slow client, and say what became of the event
(`Sent`). None raises because the client is gone. A cancelled send sent nothing. (GenMCP: `GenMCP.Mux.Channel`.)
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import trio

from actors import Shutdown
from genmcp.asking import Asking
from genmcp.endings import CloseReason, as_mcp_error, stopped
from genmcp.mcp import McpError, MissingCapability, jsonrpc
from genmcp.mcp import v2607 as mcp
from genmcp.meta import ChannelMeta, FoundMeta
from genmcp.progress import Progress
from genmcp.threads import Threads

if TYPE_CHECKING:
    from actors import Actor, Pid, Registry, Timer
    from genmcp.limits import HeaderCheck
    from genmcp.outbox import Outbox
    from genmcp.schema import HeaderParam

Match = Callable[[Any], bool] | type | tuple[type, ...]
"""Which message to take: those of a type, or those that a function is true for."""


class Sent(enum.Enum):
    """What became of an event that a handler sent."""

    SENT = "sent"
    """It was handed over, in order."""
    CLOSED = "closed"
    """Nobody takes it: the request was answered or closed, or the client is gone."""
    NOT_WANTED = "not_wanted"
    """The client did not ask for it: no progress token, progress that does not increase, a log below its level."""


class Channel(Asking):
    """One request's channel. Made by the worker; `genmcp.testing.channel` makes one for unit tests.

    Attributes:
        request_id: The JSON-RPC id of the request; None for a notification.
        tool_name: The tool of a `tools/call`, else None.
        meta: What the request says of itself and what the mount says of the caller.
        progress_token: The client's token for progress, or None.
        log_level: The lowest level of log message the client wants, or None for none.
        close_reason: What ended the request, once something other than a return did; else None.
    """

    def __init__(
        self,
        *,
        outbox: Outbox,
        meta: ChannelMeta,
        actor: Actor | None = None,
        request_id: mcp.RequestId | None = None,
        tool_name: str | None = None,
        progress_token: mcp.ProgressToken | None = None,
        log_level: mcp.LoggingLevel | None = None,
        progress_interval: float | None = None,
        subscription: bool = False,
        threads: Threads | None = None,
        default_timeout: float | None = None,
        check_headers: HeaderCheck | None = None,
    ) -> None:
        self.request_id = request_id
        self.tool_name = tool_name
        self.meta = meta
        self.progress_token = progress_token
        self.log_level: mcp.LoggingLevel | None = log_level
        self.close_reason: CloseReason | None = None
        self._actor = actor
        self._outbox = outbox
        self._answered = False
        self._waiting = False
        self._finish_anyway = False
        self._finalize: Callable[[mcp.ServerResult], mcp.ServerResult] | None = None
        self._threads = threads if threads is not None else Threads()
        self._default_timeout = default_timeout
        self._check_headers = check_headers
        self._time_limit: float | None = None
        self._timer: Timer | None = None
        self._progress = Progress(progress_token, progress_interval) if progress_token is not None else None
        self._progress_interval = progress_interval
        self._subscription = subscription
        self._gate: Callable[[mcp.ServerNotification], Awaitable[bool]] | None = None
        self._leaving: list[Callable[[], None]] = []
        self._held: list[mcp.ServerNotification] | None = None

    def __repr__(self) -> str:
        what = self.tool_name or "request"
        return f"<Channel of {what} {self.request_id!r}, {self.status}>"

    # -- who and where

    @property
    def pid(self) -> Pid:
        """The worker's address: give it to whoever produces the result, as `str(channel.pid)`."""
        return self._worker.pid

    @property
    def registry(self) -> Registry:
        """The node's registry: names, topics, sends, monitors."""
        return self._worker.registry

    @property
    def incarnation(self) -> str:
        """Which run of the node this is; part of every pid."""
        return self._worker.node.incarnation

    @property
    def status(self) -> Literal["open", "suspended", "closed"]:
        """`suspended` while it waits for the client's answer; `closed` once answered, closed, or left by the client."""
        return "suspended" if self._waiting else "closed" if self._closed else "open"

    @property
    def finishes(self) -> bool:
        """True while a handler runs that asked to finish although the client left (`on_close="finish"`)."""
        return self._finish_anyway

    @property
    def _closed(self) -> bool:
        return self._answered or self._waiting or self.close_reason is not None or self._outbox.closed

    @property
    def _worker(self) -> Actor:
        if self._actor is None:
            raise RuntimeError(
                "this channel belongs to no worker; make it with genmcp.testing.channel(node) to use its mailbox"
            )
        return self._actor

    async def receive(self, *, timeout: float | None = None, match: Match | None = None) -> Any:
        """Wait for the next message of the worker's mailbox.

        Args:
            timeout: Seconds to wait; None waits as long as the request lives.
            match: A type, a tuple of types, or a predicate: take the first message that matches; the others stay.

        Returns:
            The message: the object that was sent inside this process, a registered struct or a JSON value if it
            came from the registry API.

        Raises:
            actors.ReceiveTimeoutError: Nothing came in time.

        Cancellation leaves the mailbox as it was.
        """
        return await self._worker.receive(timeout=timeout, match=match)

    def require_capability(self, name: str, *path: str) -> None:
        """Make sure that the client declared a capability on this request.

        Args:
            name: `sampling`, `elicitation`, `roots`, `extensions` or `experimental`.
            path: What it must hold, as in `require_capability("elicitation", "url")`.

        Raises:
            MissingCapability: It did not. Unhandled, it answers -32021, with HTTP status 400 (M-10).
        """
        declared: Any = mcp.to_dict(self.meta.client_capabilities)
        if (name, path) == ("elicitation", ("form",)) and declared.get(name) == {}:
            return  # an empty object means form, and only that
        for step in (name, *path):
            declared = declared.get(step) if isinstance(declared, dict) else None
        if declared is None:
            required: dict[str, Any] = {}
            for step in reversed((name, *path)):
                required = {step: required}
            raise MissingCapability(required)

    def check_headers(self, mirrored: Mapping[str, HeaderParam], arguments: Mapping[str, Any]) -> None:
        """Make sure that the request's `Mcp-Param-…` headers say what its arguments say (H-43 to H-47).

        The Suite does so for every tool; only a low-level server calls it, with
        `genmcp.schema.header_parameters(input_schema)`. Where requests have no headers it does nothing.

        Raises:
            HeaderMismatch: A header is missing, malformed, unexpected, or differs; unhandled, it is -32020.
        """
        if mirrored and self._check_headers is not None:
            self._check_headers(mirrored, arguments)

    # -- talking to the client

    async def start_stream(self) -> Sent:
        """Open the SSE stream now, so that keep-alive comments protect slow work. Opening it again does nothing."""
        await trio.lowlevel.checkpoint()
        if self._closed:
            return Sent.CLOSED
        self._outbox.start()
        return Sent.SENT

    async def send_progress(self, progress: float, total: float | None = None, message: str | None = None) -> Sent:
        """Report progress, if the client asked for it with a progress token.

        Args:
            progress: How far the work is; must increase with each report, else it is dropped (X-11).
            total: How far it will go, if known.
            message: A text for people.
        """
        if self._progress is None or self._subscription:
            await trio.lowlevel.checkpoint()
            return Sent.CLOSED if self._closed else Sent.NOT_WANTED
        notification = self._progress.report(progress, total, message)
        if notification is None:
            await trio.lowlevel.checkpoint()
            return Sent.CLOSED if self._closed else Sent.NOT_WANTED
        return await self._send(notification)

    async def send_log(self, level: mcp.LoggingLevel, data: Any, logger: str | None = None) -> Sent:
        """Send a log message, if the client asked for its level on this request (L-03, L-04).

        Args:
            level: debug, info, notice, warning, error, critical, alert or emergency.
            data: Any JSON value.
            logger: The name of the logger, if it has one.

        Raises:
            ValueError: The level is none of these.
            TypeError: `data` is not a JSON value.
        """
        if level not in mcp.LOGGING_LEVELS:
            raise ValueError(f"unknown log level {level!r}; expected one of {', '.join(mcp.LOGGING_LEVELS)}")
        jsonrpc.dump(data)
        if not self._wants(level):
            await trio.lowlevel.checkpoint()
            return Sent.CLOSED if self._closed else Sent.NOT_WANTED
        params = mcp.LoggingMessageNotificationParams(level=level, data=data, logger=logger)
        return await self._send(mcp.LoggingMessageNotification(params=params))

    def _wants(self, level: mcp.LoggingLevel) -> bool:
        if self.log_level is None or self._subscription:
            return False
        return mcp.LOGGING_LEVELS.index(level) >= mcp.LOGGING_LEVELS.index(self.log_level)

    async def send_notification(self, notification: mcp.ServerNotification) -> Sent:
        """Send any notification on this request's stream.

        On a subscription's stream it is stamped with the subscription's id, unless it carries one already (M-13),
        and dropped (`NOT_WANTED`) when the acknowledged filter does not allow it.
        """
        if self._gate is not None and not await self._gate(notification):
            await trio.lowlevel.checkpoint()
            return Sent.NOT_WANTED
        return await self._send(notification)

    async def _send(self, notification: mcp.ServerNotification) -> Sent:
        await trio.lowlevel.checkpoint()
        if self._subscription and self.request_id is not None:
            notification = mcp.with_subscription_id(notification, self.request_id)
        if self._held is not None and not self._closed:
            self._held.append(notification)
            return Sent.SENT
        while not self._closed:
            if self._outbox.put(notification):
                return Sent.SENT
            await self._outbox.room()
        return Sent.CLOSED

    async def send_result(self, result: mcp.ServerResult) -> Sent:
        """Answer the request now; the handler runs on, and what it returns is ignored.

        Raises:
            TypeError: The result holds a value that is not JSON. Nothing was sent.
        """
        return await self._answer(result)

    async def send_error(self, error: McpError | str) -> Sent:
        """Answer the request with an error now; a text is -32603 with that text. The handler runs on."""
        return await self._answer(as_mcp_error(error))

    async def _answer(self, final: mcp.ServerResult | McpError) -> Sent:
        await trio.lowlevel.checkpoint()
        if self._closed:
            return Sent.CLOSED
        self._end(final)
        return Sent.SENT

    async def close(self) -> Sent:
        """End the request from the server's side, without a response of its own.

        A stream ends (a subscription's with its result); without a stream the client gets -32603. `handle_close` runs
        after the callback returned.
        """
        await trio.lowlevel.checkpoint()
        if self._closed:
            return Sent.CLOSED
        self._end(self._listen_result() if self._subscription else None)
        self.close_reason = "closed"
        return Sent.SENT

    # -- for the worker and the Suite

    def _bind(self, actor: Actor) -> None:
        self._actor = actor

    def _lose(self, reason: CloseReason) -> None:
        """Note what ended the request from outside; the first reason stands."""
        if self.close_reason is None:
            self.close_reason = reason

    def _hold(self) -> None:
        """Keep back what is sent until `_release`: the acknowledgement of a subscription comes first."""
        self._held = []

    async def _release(
        self, first: mcp.ServerNotification, gate: Callable[[mcp.ServerNotification], Awaitable[bool]]
    ) -> None:
        """Send `first`, then what was kept back and passes `gate`; from now on everything must pass it."""
        held, self._held = self._held or [], None
        await self._send(first)
        self._gate = gate
        for notification in held:
            await self.send_notification(notification)

    def _on_exit(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the worker ends, however it ends."""
        self._leaving.append(callback)

    @contextmanager
    def _finishing(self) -> Iterator[None]:
        """Let the handler's work go on in this block although the client leaves."""
        self._finish_anyway = True
        try:
            yield
        finally:
            self._finish_anyway = False

    def _limit_time(self, seconds: float) -> None:
        """End the request with `Shutdown("timeout")` unless it has ended by then."""
        self._time_limit = seconds
        self._timer = self.registry.stop_after(seconds, self.pid, Shutdown("timeout"))

    def _end(self, final: mcp.ServerResult | McpError | None) -> None:
        """Hand over the last event, after any progress that was waiting for its interval."""
        if not self._answered:
            self._hand_over(final)
            self._answered = True

    def _hand_over(self, final: mcp.ServerResult | McpError | None) -> None:
        waiting = self._progress.flush() if self._progress is not None else None
        if waiting is not None:
            self._outbox.put(waiting)
        if self._finalize is not None and final is not None and not isinstance(final, McpError):
            final = self._finalize(final)
        self._outbox.end(final)

    @contextmanager
    def _suspended(self, question: mcp.InputRequiredResult) -> Iterator[None]:
        """End the request with a question, and be nobody's channel until `_rebind`; the time limit stands still."""
        self._hand_over(question)
        self._waiting = True
        left = self._timer.cancel() if self._timer is not None else None
        try:
            yield
        finally:
            self._waiting = False
            if left is not None:
                self._timer = self.registry.stop_after(left, self.pid, Shutdown("timeout"))

    def _rebind(self, outbox: Outbox, request_id: mcp.RequestId, found: FoundMeta) -> None:
        """Become the channel of a retry: what belongs to the request before it is replaced."""
        self._outbox = outbox
        self._waiting = False
        self.request_id = request_id
        self.meta = found.channel
        self.progress_token = found.progress_token
        self.log_level = found.log_level
        interval = self._progress_interval
        self._progress = Progress(found.progress_token, interval) if found.progress_token is not None else None

    def _end_by_stop(self) -> None:
        """Tell the client that a stop ended its request; a subscription's ends with its result."""
        if self._subscription:
            self._end(self._listen_result())
        else:
            self._end(stopped(self.close_reason or "killed", self._time_limit))

    def _listen_result(self) -> mcp.SubscriptionsListenResult:
        assert self.request_id is not None  # a subscription is a request
        return mcp.listen_result(self.request_id)
