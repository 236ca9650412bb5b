"""The worker: one request, answered by one actor, from `init` to its exit reason.

Theory. A worker's body runs the callbacks in order. What ends it decides three things: what the client sees,
whether `handle_close` runs, and the exit reason.

| what ends it | the client sees | `handle_close` | exit reason |
|---|---|---|---|
| `Result` | the result | no | `Shutdown("reply")`, or its `stop_reason` |
| `Error`, or a raised `McpError` | the error | no | `Shutdown("reply")` |
| `Stop` from `init` | an error | no | its reason |
| `Stop` from `handle_message` | clean: the stream ends without a response; else -32603 | no | its reason |
| another exception | -32603 with `data.reference` | no | `Crashed` |
| `channel.send_result`, `send_error` | the response | no | `Shutdown("reply")`, after the handler's next return |
| `channel.close` | the stream ends; -32603 if there was none | yes | `Shutdown("closed")`, or the reason returned |
| a stop from outside | -32603, or nothing if the client left | yes, not on a kill | that of the stop |

A stop from outside cancels the actor's own scope, so it reaches a handler as `trio.Cancelled` where it awaits.
A subscription ends with its result wherever the table says -32603 for a stop or a close.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

import actors
from actors import Actor, Exit, ExitReason, Node, Pid, Shutdown
from genmcp import telemetry
from genmcp.channel import Channel
from genmcp.conversation import Dialogue
from genmcp.conversation.claims import claim, opened
from genmcp.conversation.state import Answerable, RoundState
from genmcp.endings import as_mcp_error, close_reason
from genmcp.errors import CallbackReturnError, InternalError, McpError
from genmcp.limits import RequestContext, WorkerSettings
from genmcp.mcp import v2607 as mcp
from genmcp.meta import read_meta
from genmcp.outbox import ClosedOutbox, Outbox
from genmcp.server import REPLY, Error, Result, Server, Stop, Stream, exit_reason, refusal

__all__ = ["RequestContext", "Worker", "WorkerSettings", "start_notification", "start_request"]

LOG = logging.getLogger("genmcp")

Outcome: TypeAlias = "Result | Error | Stop | Stream[Any]"

CLOSED = Shutdown("closed")
"""The exit reason of a worker that closed its channel."""

NO_EVENT_LOOP = ("no running event loop", "no current event loop")
ASYNCIO_HINT = (
    "hint: genmcp runs handlers on trio, so an asyncio library finds no event loop here; use one that runs on trio "
    "or anyio, or call its synchronous form from a `def` tool"
)


DEFAULTS = WorkerSettings()


def start_request(
    node: Node,
    server: Server[Any],
    request: mcp.ClientRequest,
    outbox: Outbox,
    context: RequestContext,
    settings: WorkerSettings = DEFAULTS,
) -> Worker:
    """Spawn the worker of a request under the node's supervisor; its events go to `outbox`.

    A retry that brings the answers for which a worker waits is given to that worker instead.

    Raises:
        InvalidParams: A value under the request's `_meta` has the wrong type, or its `requestState` is refused.
        actors.StoppedError: The node is stopping.
    """
    state: RoundState | None = None
    if isinstance(request, Answerable) and request.params.request_state is not None:
        state = opened(request, context.principal, required=server.opens_request_state)
    if state is not None:
        waiting = claim(server.conversations, state, node.incarnation, settings.conversation_ttl)
        if waiting is not None:
            worker: Worker = waiting.owner
            worker.resume(request, outbox, context)
            return worker
    worker = Worker(node, server, request, outbox, context, settings, state)
    worker.pid = node.spawn(worker.run, label=worker.label, capacity=settings.mailbox_capacity, grace=settings.grace)
    node.on_exit(worker.pid, worker.ended)
    return worker


def start_notification(
    node: Node,
    server: Server[Any],
    notification: mcp.ClientNotification,
    context: RequestContext,
    done: Callable[[BaseException | None], None],
    settings: WorkerSettings = DEFAULTS,
) -> Pid:
    """Spawn the worker of a client's notification: `init`, then `handle_notification`.

    `done` is called once when it has ended: with None, or with what the client shall read.
    """

    async def run() -> None:
        actor = actors.current()
        actor.annotate(method=notification.method)
        given = getattr(notification.params, "meta", None)
        meta = read_meta(given or {}, {**server.assigns, **context.assigns}, context.principal)
        channel = Channel(outbox=ClosedOutbox(), meta=meta.channel, actor=actor)
        outcome: BaseException | None = InternalError()
        try:
            state = await server.init()
            if isinstance(state, Stop):
                outcome = refusal(state.reason)
            else:
                await server.handle_notification(notification, channel, state)
                outcome = None
        except McpError as error:
            outcome = error
        finally:
            done(outcome)

    return node.spawn(run, label=notification.method, capacity=settings.mailbox_capacity, grace=settings.grace)


class Worker:
    """The life of one request. The transport keeps it, to say when the client left."""

    __slots__ = ("_channel", "_node", "_request", "_round", "_server", "_settings", "_state", "label", "pid")

    pid: Pid

    def __init__(
        self,
        node: Node,
        server: Server[Any],
        request: mcp.ClientRequest,
        outbox: Outbox,
        context: RequestContext,
        settings: WorkerSettings,
        state: RoundState | None = None,
    ) -> None:
        self._node = node
        self._server = server
        self._request = request
        self._settings = settings
        self._channel = make_channel(server, request, outbox, context, settings)
        self._state: tuple[Any] | None = None  # what `init` or the last `Stream` carried; None before
        self._round = state
        if isinstance(request, Answerable):
            self._channel._dialogue = self._converse(request)
        tool = self._channel.tool_name
        self.label = request.method if tool is None else f"{request.method} {tool}"

    def client_gone(self, reason: Literal["client_gone", "stalled"] = "client_gone") -> None:
        """Say that the client left (H-23): the worker is stopped, unless its handler asked to finish."""
        self._channel._lose(reason)
        if not self._channel.finishes:
            self._node.registry.stop(self.pid, Shutdown("client_disconnected"))

    def resume(self, request: mcp.ClientRequest, outbox: Outbox, context: RequestContext) -> None:
        """Go on with a retry, which owns this worker from now on. One step: nothing happens in between."""
        found = read_meta(request.params.meta, {**self._server.assigns, **context.assigns}, context.principal)
        self._request = request
        self._channel._rebind(outbox, request.id, found)
        actor = self._node.actor(self.pid)
        if actor is not None:
            actor.annotate(request_id=str(request.id))
        if isinstance(request, Answerable):
            self._channel._conversation.attach(request)

    def _converse(self, request: Answerable) -> Dialogue:
        settings = self._settings
        dialogue = Dialogue(
            self._channel, request, self._server.conversations, settings.conversation_ttl, settings.conversations
        )
        dialogue.owner = self
        if self._round is not None:
            dialogue.replay(self._round)
        return dialogue

    async def run(self) -> None:
        """Run the request to its end: the body of the worker's actor."""
        actor = actors.current()
        self._channel._bind(actor)
        actor.annotate(method=self._request.method, request_id=str(self._request.id))
        if self._channel.tool_name is not None:
            actor.annotate(tool=self._channel.tool_name)
        reason: ExitReason = CLOSED
        try:
            reason = await self._serve()
        except BaseException as error:
            if actor.exit_asked is not None:
                await self._stopped(actor, actor.exit_asked)
            elif isinstance(error, Exception) and not isinstance(error, Exit):
                self._crashed(actor, error)
            raise
        finally:
            if self._channel.close_reason == "closed":
                await self._close(actor)
        raise Exit(CLOSED if self._channel.close_reason == "closed" and reason == REPLY else reason)

    def ended(self, reason: ExitReason) -> None:
        """Let go of what the request held. Called when the actor has ended, even if its body never ran."""
        del reason
        channel = self._channel
        channel._end_by_stop()  # only where nothing ended it before
        for callback in channel._leaving:
            callback()

    # -- the callbacks, one after another

    async def _serve(self) -> ExitReason:
        telemetry.emit("server.init", server=type(self._server).__name__, method=self._request.method, pid=self.pid)
        try:
            state = await self._server.init()
            if isinstance(state, Stop):
                return self._refused(state)
            outcome = await self._first(state)
            while isinstance(outcome, Stream):
                outcome = await self._next(outcome)
            return self._finish(outcome)
        except McpError as error:
            return self._finish(Error(error))

    async def _first(self, state: Any) -> Outcome:
        self._state = (state,)
        if self._round is not None and self._round.kind == "again":
            question = self._answered(self._round)
            if question is not None:
                return Result(question)
        self._channel._request = self._request
        outcome: Outcome = await self._server.handle_request(self._request, self._channel, state)
        self._check("handle_request", outcome, Result | Error | Stream, "Result, Error or Stream")
        if isinstance(self._request, mcp.DiscoverRequest):
            self._check_discovery(outcome)
        return outcome

    def _answered(self, state: RoundState) -> mcp.InputRequiredResult | None:
        """Put a stateless round's answers and state into the request, or return what must be asked again."""
        answers = self._channel._conversation.complete(state)
        if isinstance(answers, mcp.InputRequiredResult):
            return answers
        params: Any = msgspec.structs.replace(self._request.params, input_responses=answers, request_state=state.state)
        self._request = msgspec.structs.replace(self._request, params=params)
        return None

    async def _next(self, stream: Stream[Any]) -> Outcome:
        channel = self._channel
        if channel.status == "closed":
            return Error(InternalError())  # answered, or closed by itself: this return is the last
        self._state = (stream.state,)
        channel._outbox.start()
        message = await channel.receive()
        outcome: Outcome = await self._server.handle_message(message, channel, stream.state)
        self._check("handle_message", outcome, Result | Error | Stream | Stop, "Result, Error, Stream or Stop")
        return outcome

    def _check(self, callback: str, outcome: object, allowed: Any, expected: str) -> None:
        if not isinstance(outcome, allowed):
            raise CallbackReturnError(f"{type(self._server).__name__}.{callback}", outcome, expected)

    def _check_discovery(self, outcome: Outcome) -> None:
        server = self._server
        if not (isinstance(outcome, Result) and isinstance(outcome.result, mcp.DiscoverResult)):
            server._warn_once(
                f"{type(server).__name__}.handle_request does not answer server/discover with a DiscoverResult "
                "(build it with mcp.discover_result): clients take it for a server of 2025 and give up"
            )

    # -- the endings

    def _finish(self, outcome: Outcome) -> ExitReason:
        """Tell the client how it ended, and return the exit reason."""
        channel = self._channel
        match outcome:
            case Result(result=result, stop_reason=reason):
                channel._end(result)
                return reason
            case Error(reason=error):
                channel._end(as_mcp_error(error))
                return REPLY
            case Stop(reason=stop):
                reason = exit_reason(stop)
                quiet = reason.is_clean and not isinstance(stop, McpError)
                channel._end(None if quiet else stop if isinstance(stop, McpError) else InternalError())
                return reason
        raise AssertionError(f"not an ending: {outcome!r}")

    def _refused(self, stop: Stop) -> ExitReason:
        telemetry.emit(
            "server.start_error", server=type(self._server).__name__, method=self._request.method, reason=stop.reason
        )
        self._channel._end(refusal(stop.reason))
        return exit_reason(stop.reason)

    def _crashed(self, actor: Actor, error: Exception) -> None:
        """Mask the exception: the client gets an id by which the log record can be found."""
        reference = secrets.token_hex(6)
        actor.annotate(reference=reference)
        if any(text in str(error) for text in NO_EVENT_LOOP):
            error.add_note(ASYNCIO_HINT)
        self._channel._end(InternalError(data={"reference": reference}))
        telemetry.emit("transport.server_crashed", method=self._request.method, reference=reference)

    async def _stopped(self, actor: Actor, reason: ExitReason) -> None:
        """Tell the client that the request was stopped, and let `handle_close` run unless it was a kill."""
        channel = self._channel
        answered = channel._answered
        channel._lose(close_reason(reason))
        channel._end_by_stop()
        if not answered and isinstance(reason, Shutdown):
            await self._close(actor)

    async def _close(self, actor: Actor) -> None:
        if self._state is None:
            return
        with actor.clean_up(self._settings.grace):
            try:
                await self._server.handle_close(self._channel, self._state[0])
            except Exception:
                LOG.exception("handle_close of %s (%s) failed", self.pid, self.label)


def make_channel(
    server: Server[Any],
    request: mcp.ClientRequest,
    outbox: Outbox,
    context: RequestContext,
    settings: WorkerSettings,
) -> Channel:
    """Make the channel of a request from its `_meta` and what the transport knows."""
    found = read_meta(request.params.meta, {**server.assigns, **context.assigns}, context.principal)
    return Channel(
        outbox=outbox,
        meta=found.channel,
        request_id=request.id,
        tool_name=request.params.name if isinstance(request, mcp.CallToolRequest) else None,
        progress_token=found.progress_token,
        log_level=found.log_level,
        progress_interval=settings.progress_interval,
        subscription=isinstance(request, mcp.SubscriptionsListenRequest),
        threads=settings.threads,
        default_timeout=settings.tool_timeout,
        check_headers=context.check_headers,
    )
