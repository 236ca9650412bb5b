"""The channel of a synchronous handler: the same methods, blocking its thread instead of suspending its task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import trio

from genmcp.channel import Channel, CloseReason, Match, Sent
from genmcp.conversation import Answer
from genmcp.errors import ChannelClosedError, McpError
from genmcp.meta import ChannelMeta

if TYPE_CHECKING:
    from actors import Pid, Registry
    from genmcp.mcp import v2607 as mcp

T = TypeVar("T")


class SyncChannel:
    """What a `def` handler gets for a parameter annotated `SyncChannel`; see `genmcp.Channel` for each method.

    The worker of a synchronous handler ends as soon as its request does, but a thread cannot be stopped: look at
    `closed` now and then in long work, and return when it is true.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._token = trio.lowlevel.current_trio_token()
        self._scopes: set[trio.CancelScope] = set()
        self._over = False

    @property
    def closed(self) -> bool:
        """True once the request has ended: nobody waits for what this thread does."""
        return self.status == "closed"

    @property
    def status(self) -> Literal["open", "suspended", "closed"]:
        """As `Channel.status`; `closed` also when the handler's call is over."""
        return "closed" if self._over else self._channel.status

    @property
    def close_reason(self) -> CloseReason | None:
        """What ended the request, once something other than a return did; else None."""
        return self._channel.close_reason

    @property
    def pid(self) -> Pid:
        """The worker's address."""
        return self._channel.pid

    @property
    def registry(self) -> Registry:
        """The node's registry; its functions work from this thread."""
        return self._channel.registry

    @property
    def request_id(self) -> mcp.RequestId | None:
        """The JSON-RPC id of the request."""
        return self._channel.request_id

    @property
    def tool_name(self) -> str | None:
        """The tool of a `tools/call`, else None."""
        return self._channel.tool_name

    @property
    def meta(self) -> ChannelMeta:
        """What the request says of itself and what the mount says of the caller."""
        return self._channel.meta

    @property
    def progress_token(self) -> mcp.ProgressToken | None:
        """The client's token for progress, or None."""
        return self._channel.progress_token

    @property
    def input_responses(self) -> Mapping[str, mcp.InputResponse]:
        """The answers that this run began with; see `Channel.input_responses`."""
        return self._channel.input_responses

    @property
    def request_state(self) -> Any:
        """The state of the `InputRequired` that led to this run. Else None."""
        return self._channel.request_state

    @property
    def log_level(self) -> mcp.LoggingLevel | None:
        """The lowest level of log message that the client wants, or None."""
        return self._channel.log_level

    def require_capability(self, name: str, *path: str) -> None:
        """Make sure that the client declared a capability on this request; see `Channel.require_capability`."""
        self._channel.require_capability(name, *path)

    def receive(self, *, timeout: float | None = None, match: Match | None = None) -> Any:
        """Wait for the next message of the worker's mailbox; see `Channel.receive`.

        Raises:
            ChannelClosedError: The request ended while this waited, or had ended before.
        """
        return self._run(lambda: self._channel.receive(timeout=timeout, match=match))

    def start_stream(self) -> Sent:
        """Open the SSE stream now."""
        return self._send(self._channel.start_stream)

    def close_stream(self, retry: float = 1.0) -> Sent:
        """Close the client's connection while the work goes on; see `Channel.close_stream`."""
        return self._send(lambda: self._channel.close_stream(retry))

    def send_progress(self, progress: float, total: float | None = None, message: str | None = None) -> Sent:
        """Report progress; see `Channel.send_progress`."""
        return self._send(lambda: self._channel.send_progress(progress, total, message))

    def send_log(self, level: mcp.LoggingLevel, data: Any, logger: str | None = None) -> Sent:
        """Send a log message; see `Channel.send_log`."""
        return self._send(lambda: self._channel.send_log(level, data, logger))

    def send_notification(self, notification: mcp.ServerNotification) -> Sent:
        """Send any notification on this request's stream."""
        return self._send(lambda: self._channel.send_notification(notification))

    def send_result(self, result: mcp.ServerResult) -> Sent:
        """Answer the request now; what the handler returns is ignored."""
        return self._send(lambda: self._channel.send_result(result))

    def send_error(self, error: McpError | str) -> Sent:
        """Answer the request with an error now."""
        return self._send(lambda: self._channel.send_error(error))

    def close(self) -> Sent:
        """End the request from the server's side; see `Channel.close`."""
        return self._send(self._channel.close)

    def elicit(self, message: str, form: type[T], **options: Any) -> Answer[T]:
        """Ask the person at the client to fill in a form; see `Channel.elicit`. The thread waits for the answer."""
        return self._run(lambda: self._channel.elicit(message, form, **options))

    def elicit_url(self, message: str, url: str, **options: Any) -> Answer[None]:
        """Ask the person to open a page; see `Channel.elicit_url`."""
        return self._run(lambda: self._channel.elicit_url(message, url, **options))

    def sample(
        self, messages: Sequence[mcp.SamplingMessage] | str, *, max_tokens: int, **options: Any
    ) -> mcp.CreateMessageResult:
        """Ask the client's model; see `Channel.sample`."""
        return self._run(lambda: self._channel.sample(messages, max_tokens=max_tokens, **options))

    def list_roots(self, **options: Any) -> list[mcp.Root]:
        """Ask the client for its roots; see `Channel.list_roots`."""
        return self._run(lambda: self._channel.list_roots(**options))

    def ask(self, requests: Mapping[str, mcp.InputRequest], **options: Any) -> dict[str, Any]:
        """Ask several questions in one round; see `Channel.ask`."""
        return self._run(lambda: self._channel.ask(requests, **options))

    def _send(self, call: Callable[[], Awaitable[Sent]]) -> Sent:
        try:
            return self._run(call)
        except ChannelClosedError:
            return Sent.CLOSED

    def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run `call` on the loop. An abandoned thread's call belongs to no task, so `_end` cancels its scope."""

        async def run() -> T:
            if not self._over:
                with trio.CancelScope() as scope:
                    self._scopes.add(scope)
                    try:
                        return await call()
                    finally:
                        self._scopes.discard(scope)
            raise ChannelClosedError("the request has ended")

        try:
            return trio.from_thread.run(run, trio_token=self._token)
        except trio.RunFinishedError:
            raise ChannelClosedError("the server has ended") from None

    def _end(self) -> None:
        """Wake the thread if it waits on the channel: its task has ended. Called on the loop."""
        self._over = True
        for scope in tuple(self._scopes):
            scope.cancel()
