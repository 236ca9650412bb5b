"""The channel: what a handler knows of its request, and its way to talk to the client while it works.

Sends are awaitable: they are a checkpoint, feel the backpressure of a slow client, and say what became of the event
(`Sent`). None raises because the client is gone. A cancelled send sent nothing. (GenMCP: `GenMCP.Mux.Channel`.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import trio

from genmcp.asking import Asking
from genmcp.backstage import Backstage
from genmcp.endings import CloseReason
from genmcp.mcp import McpError, MissingCapability, as_error, jsonrpc
from genmcp.mcp import v2607 as mcp
from genmcp.meta import ChannelMeta
from genmcp.outbox import Resumable, Sent
from genmcp.progress import check_finite

if TYPE_CHECKING:
    from actors import Pid, Registry
    from genmcp.schema import HeaderParam

__all__ = ["Channel", "CloseReason", "Match", "Sent"]

Match = Callable[[Any], bool] | type | tuple[type, ...]
"""Which message to take: those of a type, or those that a function is true for."""


class Channel(Asking):
    """One request's channel. Made by the worker; `genmcp.testing.channel` makes one for unit tests.

    Attributes:
        tool_name: The tool of a `tools/call`, else None.
        backstage: What the worker and the Suite do with it; handlers need nothing of it.
    """

    def __init__(self, backstage: Backstage, *, tool_name: str | None = None) -> None:
        self.backstage = backstage
        self.tool_name = tool_name

    def __repr__(self) -> str:
        what = self.tool_name or "request"
        return f"<Channel of {what} {self.request_id!r}, {self.status}>"

    # -- who and where

    @property
    def pid(self) -> Pid:
        """The worker's address: give it to whoever produces the result, as `str(channel.pid)`."""
        return self.backstage.worker.pid

    @property
    def registry(self) -> Registry:
        """The node's registry: names, topics, sends, monitors."""
        return self.backstage.worker.registry

    @property
    def request_id(self) -> mcp.RequestId | None:
        """The JSON-RPC id of the request; None for a notification."""
        return self.backstage.request_id

    @property
    def meta(self) -> ChannelMeta:
        """What the request says of itself and what the mount says of the caller."""
        return self.backstage.found.channel

    @property
    def progress_token(self) -> mcp.ProgressToken | None:
        """The client's token for progress, or None."""
        return self.backstage.found.progress_token

    @property
    def log_level(self) -> mcp.LoggingLevel | None:
        """The lowest level of log message that the client wants, or None for none."""
        return self.backstage.found.log_level

    @property
    def close_reason(self) -> CloseReason | None:
        """What ended the request, once something other than a return did; else None. A `finally` can ask as well."""
        return self.backstage.ending()

    @property
    def status(self) -> Literal["open", "suspended", "closed"]:
        """`suspended` while it waits for the client's answer; `closed` once answered, closed, or left by the client."""
        stage = self.backstage
        return "suspended" if stage.suspended else "closed" if stage.closed else "open"

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
        return await self.backstage.worker.receive(timeout=timeout, match=match)

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
        check = self.backstage.check_headers
        if mirrored and check is not None:
            check(mirrored, arguments)

    # -- talking to the client

    async def start_stream(self) -> Sent:
        """Open the SSE stream now, so that keep-alive comments protect slow work. Opening it again does nothing."""
        await trio.lowlevel.checkpoint()
        if self.backstage.closed:
            return Sent.CLOSED
        self.backstage.outbox.start()
        return Sent.SENT

    async def close_stream(self, retry: float = 1.0) -> Sent:
        """Close the client's connection while the work goes on; the client comes back for the rest (O-23).

        Spares connections during long work. Clients of 2025-11-25 know to come back; for any other the stream stays
        open (`NOT_WANTED`). Whatever is sent meanwhile is kept for them.

        Args:
            retry: Seconds after which the client is asked to come back.
        """
        await trio.lowlevel.checkpoint()
        outbox = self.backstage.outbox
        if self.backstage.closed:
            return Sent.CLOSED
        return Sent.SENT if isinstance(outbox, Resumable) and outbox.close_stream(retry) else Sent.NOT_WANTED

    async def send_progress(self, progress: float, total: float | None = None, message: str | None = None) -> Sent:
        """Report progress, if the client asked for it with a progress token.

        Args:
            progress: How far the work is; must increase with each report, else it is dropped (X-11).
            total: How far it will go, if known.
            message: A text for people.

        Returns:
            SENT also for a report that waits for its interval, where those are merged.

        Raises:
            TypeError: `progress` or `total` is not a number.
            ValueError: It is not finite, so it has no JSON form.
        """
        check_finite(progress, total)
        stage = self.backstage
        if stage.subscription or stage.progress is None or not stage.progress.increases(progress):
            await trio.lowlevel.checkpoint()
            return stage.not_wanted()
        notification = stage.progress.report(progress, total, message)
        if notification is None:
            await trio.lowlevel.checkpoint()
            return Sent.CLOSED if stage.closed else Sent.SENT
        return await stage.send(notification)

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
            return self.backstage.not_wanted()
        params = mcp.LoggingMessageNotificationParams(level=level, data=data, logger=logger)
        return await self.backstage.send(mcp.LoggingMessageNotification(params=params))

    def _wants(self, level: mcp.LoggingLevel) -> bool:
        if self.log_level is None or self.backstage.subscription:
            return False
        return mcp.LOGGING_LEVELS.index(level) >= mcp.LOGGING_LEVELS.index(self.log_level)

    async def send_notification(self, notification: mcp.ServerNotification) -> Sent:
        """Send any notification on this request's stream.

        On a subscription's stream it is stamped with the subscription's id, unless it carries one already (M-13),
        and dropped (`NOT_WANTED`) when the acknowledged filter does not allow it.
        """
        return await self.backstage.send_through_gate(notification)

    async def send_result(self, result: mcp.ServerResult) -> Sent:
        """Answer the request now; the handler runs on, and what it returns is ignored.

        Raises:
            TypeError: The result holds a value that is not JSON. Nothing was sent.
        """
        return await self._answer(result)

    async def send_error(self, error: McpError | str) -> Sent:
        """Answer the request with an error now; a text is -32603 with that text. The handler runs on.

        Raises:
            ValueError: Its code is one that the protocol reserves. Nothing was sent.
        """
        return await self._answer(as_error(error))

    async def _answer(self, final: mcp.ServerResult | McpError) -> Sent:
        await trio.lowlevel.checkpoint()
        if self.backstage.closed:
            return Sent.CLOSED
        self.backstage.end(final)
        return Sent.SENT

    async def close(self) -> Sent:
        """End the request from the server's side, without a response of its own.

        A stream ends (a subscription's with its result); without a stream the client gets -32603. `handle_close` runs
        after the callback returned.
        """
        await trio.lowlevel.checkpoint()
        if self.backstage.closed:
            return Sent.CLOSED
        self.backstage.close()
        return Sent.SENT
