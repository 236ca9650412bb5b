"""The behaviour of an MCP server: `Server`, and the four things its callbacks return.

Purpose: tight control over request handling: routing raw requests yourself, driving a stream by hand. For most
servers `genmcp.Suite` is the better start: it is a ready-made `Server` made of tools, resources and prompts.

Lifecycle: every request gets its own worker actor, and every callback of that request runs in it, one after
another: `init`, `handle_request`, any number of `handle_message`, and `handle_close` when something other than a
return ended the request. One `Server` instance is shared by all requests; what belongs to one request lives in
`state`, which travels only in `Stream`.

    class Echo(Server[None]):
        async def init(self) -> None: ...

        async def handle_request(self, request, channel, state, /):
            match request:
                case mcp.DiscoverRequest():
                    return Result(mcp.discover_result(name="echo", version="1", capabilities={}))
            return Error(MethodNotFound(request.method))

| return | from | what it does |
|---|---|---|
| `Result(result, stop_reason)` | handle_request, handle_message | answers and ends |
| `Error(reason)` | handle_request, handle_message | answers with a JSON-RPC error and ends |
| `Stream(state)` | handle_request, handle_message | holds the response open as a stream for messages |
| `Stop(reason)` | init | refuses the request |
| `Stop(reason)` | handle_message | ends the stream without a response when the reason is clean, with -32603 otherwise |

(The behaviour `GenMCP` of the Elixir library; the protocol's page on base messages.)
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Generic

import msgspec
from typing_extensions import TypeVar

from actors import ExitReason, Node, Normal, Registry, Shutdown
from genmcp.callbacks import check_callbacks
from genmcp.channel import Channel
from genmcp.conversation import Conversations
from genmcp.endings import REPLY
from genmcp.mcp import InvalidParams, McpError, MethodNotFound
from genmcp.mcp import v2607 as mcp

LOG = logging.getLogger("genmcp")

StateT = TypeVar("StateT", default=None)


class Stream(msgspec.Struct, Generic[StateT], frozen=True):
    """Hold the response open; every later message of the mailbox goes to `handle_message` with this state.

    Attributes:
        state: What the next callback gets.
        honored: From `SubscriptionHandler.subscribe` only: the narrowed filter to acknowledge; None acknowledges
            all that was requested (of what the handler's capabilities declare).
    """

    state: StateT
    honored: mcp.SubscriptionFilter | None = None


class Result(msgspec.Struct, frozen=True):
    """Answer with `result` and end; `stop_reason` is the worker's exit reason, logged as a crash only if not clean."""

    result: mcp.ServerResult
    stop_reason: ExitReason = REPLY


class Error(msgspec.Struct, frozen=True):
    """Answer with an error and end. A text is -32603 with that text, meant for the client to read."""

    reason: McpError | str


class InputRequired(msgspec.Struct, frozen=True):
    """Ask the client, without keeping the worker: the handler is run again with the answers.

    From a tool, prompt or resource of a Suite. On the next run `request.params.input_responses` holds the answers,
    which fit what was asked, and `request.params.request_state` holds `state`.

    Attributes:
        requests: What to ask, by key: `mcp.elicit_form(…)`, `mcp.create_message(…)`, `mcp.list_roots()`.
        state: Any JSON value; sealed, so that the client can neither read nor change it.
    """

    requests: Mapping[str, mcp.InputRequest]
    state: Any = None


class Stop(msgspec.Struct, frozen=True):
    """End without a result. A text becomes `Shutdown(text)`; see the table of `genmcp.server` for who is told what."""

    reason: ExitReason | McpError | str = Normal()


def exit_reason(stop: ExitReason | McpError | str) -> ExitReason:
    """Return the exit reason that a `Stop` stands for: a text, or an error's message, becomes `Shutdown(text)`."""
    if isinstance(stop, ExitReason):
        return stop
    return Shutdown(stop if isinstance(stop, str) else stop.message)


def refusal(stop: ExitReason | McpError | str) -> McpError:
    """Return what the client reads when `init` or `subscribe` stops."""
    if isinstance(stop, McpError):
        return stop
    if isinstance(stop, str):
        return InvalidParams(stop)
    LOG.info("A request was refused: %s", stop)
    return InvalidParams("refused")


class Server(Generic[StateT]):
    """Base class of all servers; see the module for purpose, lifecycle and the table of returns."""

    _node: Node | None = None
    _assigns: Mapping[str, Any] = {}
    _warned: frozenset[str] = frozenset()
    _conversations: Conversations | None = None

    opens_request_state: bool = False
    """True for a server whose every `requestState` was sealed by genmcp, so that any other one is refused."""

    async def init(self) -> StateT | Stop:
        """Make the state of one request or notification, on its fresh worker, before any handler.

        Keep it cheap: it runs for every message. Return the state, or `Stop(reason)` to refuse: an `McpError`
        goes to the client as it is, a text as -32602 with that text, an exit reason as -32602 "refused".
        The default is None, for servers without state.
        """
        return None  # type: ignore[return-value]  # StateT's default; a server with another state overrides init

    async def handle_request(
        self, request: mcp.Request, channel: Channel, state: StateT, /
    ) -> Result | Error | Stream[StateT]:
        """Answer one request or hold it open. Gets every request, `server/discover` included.

        A client that leaves cancels it: `trio.Cancelled` is raised where it awaits. An `McpError` that it raises is
        the answer; any other exception is -32603 with a reference id, and is logged once.
        """
        del channel, state
        return Error(MethodNotFound(request.method))

    async def handle_message(
        self, message: object, channel: Channel, state: StateT, /
    ) -> Result | Error | Stream[StateT] | Stop:
        """Handle one message of the mailbox while the request streams. The default ends the request.

        Runs only after a `Stream`; gets every message that `channel.receive` did not take, in order.
        """
        del message, channel, state
        return Stop(Shutdown("unexpected_message"))

    async def handle_notification(
        self, notification: mcp.ClientNotification, channel: Channel, state: StateT, /
    ) -> None:
        """Observe a client's notification; HTTP's 202 goes out after it returned. The default ignores it.

        A posted `notifications/cancelled` comes here and cancels nothing: ids are the clients' own, so it could
        name somebody else's request. Closing the connection is what cancels.
        """

    async def handle_close(self, channel: Channel, state: StateT, /) -> None:
        """Clean up when something other than a handler's own return ended the request. The default does nothing.

        Runs once, shielded, within the grace period; `channel.close_reason` says what ended it; nothing can be sent
        any more. The state is the last one carried: that of `init` until the first `Stream`. An exception in it is
        logged and changes nothing. It does not run when the worker is killed.
        """

    @property
    def node(self) -> Node:
        """The node this server runs on; a RuntimeError that says what to do before it runs on one."""
        if self._node is None:
            raise RuntimeError(
                f"{type(self).__name__} does not run on a node yet: serve it (python -m genmcp serve, "
                "transport.serve) or open it with `async with Node() as node, server.attach(node):`"
            )
        return self._node

    @property
    def registry(self) -> Registry:
        """The registry of the node this server runs on, from any thread. See `node`."""
        return self.node.registry

    @property
    def assigns(self) -> Mapping[str, Any]:
        """What the server puts under every request's `channel.meta.assigns`; a Suite: its lifespan's mapping."""
        return self._assigns

    @property
    def conversations(self) -> Conversations:
        """The workers of this server that wait for a client's answer."""
        if self._conversations is None:
            self._conversations = Conversations()
        return self._conversations

    def run(self, *, host: str | None = None, port: int | None = None, **options: Any) -> None:
        """Serve over HTTP until a signal says stop: the blocking form of `transport.serve`, for the main thread.

        Args:
            host: Where to listen; default `GENMCP_HOST`, or 127.0.0.1.
            port: The port; default `GENMCP_PORT`, or 8000; 0 lets the system choose.
            options: As for `transport.run`.
        """
        # by name, not by import: the front is a floor above, and importing genmcp must not load it
        importlib.import_module("transport").run(self, host=host, port=port, **options)

    def _warn_once(self, text: str) -> None:
        """Log a warning the first time this server has to give it."""
        if text not in self._warned:
            self._warned = self._warned | {text}
            LOG.warning("%s", text)

    @asynccontextmanager
    async def attach(self, node: Node, /) -> AsyncIterator[None]:
        """Run this server on a node for the length of the block. Used by whoever serves it.

        Raises:
            ConfigurationError: A callback is the wrong kind of function.
            RuntimeError: It runs on a node already.
        """
        check_callbacks(self, type(self).__name__)
        if self._node is not None:
            raise RuntimeError(f"{type(self).__name__} runs on {self._node} already; one server runs on one node")
        self._node = node
        try:
            yield
        finally:
            self._node = None
