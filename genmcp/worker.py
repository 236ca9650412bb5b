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
from typing import Any, Literal, TypeAlias

import msgspec
import trio

import actors
from actors import Actor, Exit, ExitReason, Node, Pid, Shutdown
from actors.exits import ends_all, lone_leaf
from genmcp import telemetry
from genmcp.backstage import Backstage
from genmcp.channel import Channel
from genmcp.conversation import Dialogue
from genmcp.conversation.claims import claim, opened
from genmcp.conversation.state import Answerable, RoundState
from genmcp.crashes import mask
from genmcp.endings import CLOSED, REPLY, close_reason
from genmcp.errors import CallbackReturnError, InternalError, McpError
from genmcp.limits import RequestContext, WorkerSettings
from genmcp.mcp import as_error
from genmcp.mcp import v2607 as mcp
from genmcp.meta import FoundMeta, read_meta
from genmcp.notification import start_notification
from genmcp.outbox import Outbox
from genmcp.server import Error, Result, Server, Stop, Stream, exit_reason, refusal

__all__ = ["RequestContext", "Worker", "WorkerSettings", "start_notification", "start_request"]

LOG = logging.getLogger("genmcp")

Outcome: TypeAlias = "Result | Error | Stop | Stream[Any]"

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
    # before a round is used: what is wrong with a retry must not cost the client its conversation
    found = read_meta(request.params.meta, {**server.assigns, **context.assigns}, context.principal)
    state: RoundState | None = None
    if isinstance(request, Answerable) and request.params.request_state is not None:
        state = opened(request, context.principal, required=server.opens_request_state)
    if state is not None:
        waiting = claim(server.conversations, state, node.incarnation, settings.conversation_ttl)
        if waiting is not None:
            worker: Worker = waiting.owner
            worker.resume(request, outbox, found)
            return worker
    stage = Backstage(
        outbox,
        found,
        settings,
        request_id=request.id,
        subscription=isinstance(request, mcp.SubscriptionsListenRequest),
        check_headers=context.check_headers,
    )
    worker = Worker(node, server, request, stage, state)
    worker.pid = node.spawn(worker.run, label=worker.label, capacity=settings.mailbox_capacity, grace=settings.grace)
    node.on_exit(worker.pid, worker.ended)
    return worker


class Worker:
    """The life of one request. The transport keeps it, to say when the client left."""

    __slots__ = ("_channel", "_node", "_request", "_round", "_server", "_stage", "_state", "label", "pid")

    pid: Pid

    def __init__(
        self, node: Node, server: Server[Any], request: mcp.ClientRequest, stage: Backstage, state: RoundState | None
    ) -> None:
        tool = request.params.name if isinstance(request, mcp.CallToolRequest) else None
        self._node = node
        self._server = server
        self._request = request
        self._stage = stage
        self._channel = Channel(stage, tool_name=tool)
        self._state: tuple[Any] | None = None  # what `init` or the last `Stream` carried; None before
        self._round = state
        if isinstance(request, Answerable):
            stage.converse(self._converse(request, stage))
        self.label = request.method if tool is None else f"{request.method} {tool}"

    def _converse(self, request: Answerable, stage: Backstage) -> Dialogue:
        limits = stage.settings
        conversations = self._server.conversations
        dialogue = Dialogue(self._channel, stage, request, conversations, limits.conversation_ttl, limits.conversations)
        dialogue.owner = self
        if self._round is not None:
            dialogue.replay(self._round)
        return dialogue

    def client_gone(self, reason: Literal["client_gone", "stalled"] = "client_gone") -> None:
        """Say that the client left (H-23): the worker is stopped, unless it answered or its handler shall finish."""
        if self._stage.answered:
            return
        self._stage.lose(reason)
        if not self._stage.finishing:
            self._node.registry.stop(self.pid, Shutdown("client_disconnected"))

    def resume(self, request: mcp.ClientRequest, outbox: Outbox, found: FoundMeta) -> None:
        """Go on with a retry, which owns this worker from now on. One step: nothing happens in between."""
        self._request = request
        self._stage.rebind(outbox, request.id, found)
        actor = self._node.actor(self.pid)
        if actor is not None:
            actor.annotate(request_id=str(request.id))
        if isinstance(request, Answerable):
            self._stage.conversation.attach(request)

    def refuse(self, error: McpError) -> bool:
        """Raise an error where the handler waits for its client's answer. Returns False if it does not wait."""
        if not self._stage.suspended:
            return False
        self._stage.conversation.refuse(error)
        return True

    async def run(self) -> None:
        """Run the request to its end: the body of the worker's actor."""
        actor = actors.current()
        stage = self._stage
        stage.actor = actor
        actor.annotate(method=self._request.method, request_id=str(self._request.id))
        if self._channel.tool_name is not None:
            actor.annotate(tool=self._channel.tool_name)
        reason: ExitReason = CLOSED
        try:
            reason = await self._serve()
        except BaseException as error:
            if actor.exit_asked is not None:
                await self._stopped(actor, actor.exit_asked)
            elif is_cancellation(error):
                await self._stopped(actor, Shutdown("shutdown"))  # of the scope around the node
            elif not ends_all(error) and not isinstance(lone_leaf(error), Exit):
                stage.end(mask(error, actor, self._request.method))
            raise
        finally:
            if stage.close_reason == "closed" and actor.exit_asked != actors.Killed():
                await self._close(actor)
        raise Exit(CLOSED if stage.close_reason == "closed" and reason == REPLY else reason)

    def ended(self, reason: ExitReason) -> None:
        """Let go of what the request held. Called when the actor has ended, even if its body never ran."""
        if not self._stage.answered:
            self._stage.lose(close_reason(reason, node_stops=self._node.stopping))
            self._stage.end_by_stop()
        self._stage.converse(None)  # which points back here: without a cycle the request is freed at once
        for callback in self._stage.take_exit_callbacks():
            try:
                callback()
            except Exception:
                LOG.exception("What should follow the end of %s (%s) failed", self.pid, self.label)

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
        except Exception as error:
            leaf = lone_leaf(error)  # a handler's own nursery wraps even one error
            if isinstance(leaf, McpError):
                return self._finish(Error(leaf))
            raise
        except BaseException as error:
            leaf = lone_leaf(error)
            if isinstance(leaf, SystemExit):  # a library that thinks it is a program: only its request ends
                raise RuntimeError(f"the handler called sys.exit({leaf.code!r})") from error
            raise

    async def _first(self, state: Any) -> Outcome:
        self._state = (state,)
        if self._round is not None and self._round.kind == "again":
            question = self._answered(self._round)
            if question is not None:
                return Result(question)
        self._stage.request = self._request
        outcome: Outcome = await self._server.handle_request(self._request, self._channel, state)
        self._check("handle_request", outcome, Result | Error | Stream, "Result, Error or Stream")
        if isinstance(self._request, mcp.DiscoverRequest):
            self._check_discovery(outcome)
        return outcome

    def _answered(self, state: RoundState) -> mcp.InputRequiredResult | None:
        """Put a stateless round's answers and state into the request, or return what must be asked again."""
        answers = self._stage.conversation.complete(state)
        if isinstance(answers, mcp.InputRequiredResult):
            return answers
        params: Any = msgspec.structs.replace(self._request.params, input_responses=answers, request_state=state.state)
        self._request = msgspec.structs.replace(self._request, params=params)
        return None

    async def _next(self, stream: Stream[Any]) -> Outcome:
        self._state = (stream.state,)
        if self._stage.answered:
            return Error(InternalError())  # the answer stands: this return is the last
        await self._stage.open()
        message = await self._stage.next_message()
        outcome: Outcome = await self._server.handle_message(message, self._channel, stream.state)
        self._check("handle_message", outcome, Result | Error | Stream | Stop, "Result, Error, Stream or Stop")
        return outcome

    def _check(self, callback: str, outcome: object, allowed: Any, expected: str) -> None:
        """Refuse what a callback may not return, and a wrong content of what it may."""
        if isinstance(outcome, Result):
            expected = self._wrong_result(outcome.result)
        elif isinstance(outcome, Error):
            expected = _wrong_reason(outcome.reason)
        elif isinstance(outcome, allowed):
            return
        if not expected:
            return
        raise CallbackReturnError(f"{type(self._server).__name__}.{callback}", outcome, expected)

    def _wrong_result(self, result: object) -> str:
        if not isinstance(result, mcp.Result):
            return "a Result that holds a result struct of genmcp.mcp.v2607"
        if isinstance(result, mcp.InputRequiredResult) and not isinstance(self._request, Answerable):  # I-03
            return "a result: only a tools/call, prompts/get or resources/read may be answered with a question"
        return ""

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
        stage = self._stage
        match outcome:
            case Result(result=result, stop_reason=reason):
                stage.end(result)
                return reason
            case Error(reason=error):
                stage.end(as_error(error))
                return REPLY
            case Stop(reason=stop):
                reason = exit_reason(stop)
                quiet = reason.is_clean and not isinstance(stop, McpError)
                stage.end(None if quiet else stop if isinstance(stop, McpError) else InternalError())
                return reason
        raise AssertionError(f"not an ending: {outcome!r}")

    def _refused(self, stop: Stop) -> ExitReason:
        name = type(self._server).__name__
        telemetry.emit("server.start_error", server=name, method=self._request.method, reason=stop.reason)
        self._stage.end(refusal(stop.reason))
        return exit_reason(stop.reason)

    async def _stopped(self, actor: Actor, reason: ExitReason) -> None:
        """Tell the client that the request was stopped, and let `handle_close` run unless it was a kill."""
        stage = self._stage
        if stage.answered:
            return
        stage.lose(close_reason(reason, node_stops=self._node.stopping))
        stage.end_by_stop()
        if isinstance(reason, Shutdown):
            await self._close(actor)

    async def _close(self, actor: Actor) -> None:
        if self._state is None:
            return
        with actor.clean_up(self._stage.settings.grace):
            try:
                await self._server.handle_close(self._channel, self._state[0])
            except Exception:
                LOG.exception("handle_close of %s (%s) failed", self.pid, self.label)


def is_cancellation(error: BaseException) -> bool:
    """Tell whether an exception is a cancellation, or holds one among others."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(trio.Cancelled)[0] is not None
    return isinstance(error, trio.Cancelled)


def _wrong_reason(reason: object) -> str:
    return "" if isinstance(reason, McpError | str) else "an Error that holds an McpError or a text"
