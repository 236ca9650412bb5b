"""Testing handlers: a client in this process, without a socket, and a channel for unit tests.

    async def test_add(autojump_clock):
        async with connect(suite) as client:
            assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == 3

The client speaks to real workers on a real node; only HTTP is left out. Every event is encoded, so that a value that
is not JSON shows up here as it would in production. Errors are raised as `McpError`. Nothing here looks at the wall
clock, so a mock clock makes hours pass at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast

import trio

from actors import Delivery, Node, Pid
from genmcp.backstage import Backstage
from genmcp.channel import Channel
from genmcp.mcp import McpError, protocol_version
from genmcp.mcp import v2607 as mcp
from genmcp.memory_outbox import MemoryOutbox
from genmcp.meta import ChannelMeta, FoundMeta
from genmcp.server import Server
from genmcp.worker import RequestContext, Worker, WorkerSettings, start_notification, start_request

__all__ = ["Call", "Client", "MemoryOutbox", "TestChannel", "channel", "connect"]

ResultT = TypeVar("ResultT")

META = "io.modelcontextprotocol/"


class Call:
    """One request that is under way.

    Attributes:
        pid: The worker's address, to push messages to.
        message: The request, as on the wire.
        request_id: The request's id.
        outbox: What it sent so far.
    """

    def __init__(self, worker: Worker, message: Mapping[str, Any], outbox: MemoryOutbox, node: Node) -> None:
        self.pid = worker.pid
        self.message = message
        self.request_id: mcp.RequestId = message["id"]
        self.outbox = outbox
        self._worker = worker
        self._node = node

    @property
    def notifications(self) -> list[mcp.ServerNotification]:
        """Every notification sent so far."""
        return self.outbox.notifications

    async def next_notification(self) -> mcp.ServerNotification:
        """Wait for the next notification; `trio.EndOfChannel` when the request ended without another."""
        return await self.outbox.read()

    async def result(self) -> Any:
        """Wait for the result; None if the stream ended without a response.

        Raises:
            McpError: The request was answered with an error.
        """
        await self.outbox.ended.wait()
        if isinstance(self.outbox.final, McpError):
            raise self.outbox.final
        return self.outbox.final

    def push(self, message: object) -> Delivery:
        """Send a message to the worker's mailbox."""
        return self._node.registry.send(self.pid, message)

    def leave(self, reason: Literal["client_gone", "stalled"] = "client_gone") -> None:
        """Leave as a client does that closes its connection (or stops reading), unless it was answered already."""
        if not self.outbox.closed:
            self.outbox.leave()
            self._worker.client_gone(reason)


class Client:
    """A client in this process; see `connect`."""

    def __init__(
        self,
        server: Server[Any],
        *,
        node: Node | None,
        principal: str | None,
        capabilities: mcp.ClientCapabilities,
        assigns: Mapping[str, Any],
        settings: WorkerSettings,
    ) -> None:
        self._server = server
        self._given = node
        self.node = node or Node("test")
        self._context = RequestContext(assigns=assigns, principal=principal)
        self._capabilities = mcp.to_dict(capabilities)
        self._settings = settings
        self._ids = itertools.count(1)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        if self._given is None:
            await self._stack.enter_async_context(self.node)
            await self._stack.enter_async_context(self._server.attach(self.node))
            self._stack.push_async_callback(self.node.stop)  # workers end before what they live on
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    def as_principal(self, principal: str | None) -> Client:
        """Return a client of the same server that is somebody else."""
        other = Client(
            self._server,
            node=self.node,
            principal=principal,
            capabilities=mcp.ClientCapabilities(),
            assigns=self._context.assigns,
            settings=self._settings,
        )
        other._capabilities = self._capabilities
        return other

    def push(self, to: Pid | str, message: object) -> Delivery:
        """Send a message to a pid or name, as anything in the process could."""
        return self.node.registry.send(to, message)

    def meta(
        self,
        *,
        progress_token: mcp.ProgressToken | None = None,
        log_level: mcp.LoggingLevel | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the `_meta` of a request; `extra` are further keys."""
        found: dict[str, Any] = {
            f"{META}protocolVersion": protocol_version(),
            f"{META}clientCapabilities": self._capabilities,
            f"{META}clientInfo": {"name": "genmcp.testing", "version": "1"},
        }
        if progress_token is not None:
            found["progressToken"] = progress_token
        if log_level is not None:
            found[f"{META}logLevel"] = log_level
        return found | dict(extra or {})

    def start(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        request_id: mcp.RequestId | None = None,
        **meta: Any,
    ) -> Call:
        """Start any request and return at once.

        Args:
            method: The request's method.
            params: Its params on the wire, without `_meta`.
            request_id: Its id; default the next number.
            meta: As for `meta`.
        """
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids) if request_id is None else request_id,
            "method": method,
            "params": {**(params or {}), "_meta": self.meta(**meta)},
        }
        outbox = MemoryOutbox()
        request = cast("mcp.ClientRequest", mcp.decode(message))
        worker = start_request(self.node, self._server, request, outbox, self._context, self._settings)
        return Call(worker, message, outbox, self.node)

    def retry(self, call: Call, answers: Mapping[str, Any], **meta: Any) -> Call:
        """Make a request again, with the answers to the questions that it was answered with.

        Args:
            call: The request that was answered with an `InputRequiredResult`.
            answers: By key: a person's answer such as `{"action": "accept", "content": {…}}`, a model's, or roots.
            meta: As for `meta`.
        """
        asked = call.outbox.final
        if not isinstance(asked, mcp.InputRequiredResult):
            raise TypeError(f"the request was not answered with a question, but with {asked!r}")
        params = {key: value for key, value in call.message["params"].items() if key != "_meta"}
        params |= {"inputResponses": dict(answers), "requestState": asked.request_state}
        return self.start(call.message["method"], params, **meta)

    async def request(self, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> Any:
        """Make any request and return its result. See `start`."""
        call = self.start(method, params, **meta)
        try:
            return await call.result()
        except trio.Cancelled:
            call.leave()
            raise

    async def discover(self) -> mcp.DiscoverResult:
        """Ask who the server is and what it can do."""
        found: mcp.DiscoverResult = await self.request("server/discover")
        return found

    async def list_tools(self) -> list[mcp.Tool]:
        """List the tools."""
        found: mcp.ListToolsResult = await self.request("tools/list")
        return list(found.tools)

    def start_tool(self, name: str, arguments: Mapping[str, Any] | None = None, **meta: Any) -> Call:
        """Start a call of a tool and return at once: push to it, read its notifications, then await `result()`."""
        return self.start("tools/call", {"name": name, "arguments": dict(arguments or {})}, **meta)

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, **meta: Any) -> mcp.CallToolResult:
        """Call a tool. Being cancelled is what a client that leaves does.

        Raises:
            McpError: The server answered with an error.
        """
        found: mcp.CallToolResult = await self.request(
            "tools/call", {"name": name, "arguments": dict(arguments or {})}, **meta
        )
        return found

    def listen(
        self,
        *,
        tools_list_changed: bool = False,
        prompts_list_changed: bool = False,
        resources_list_changed: bool = False,
        resource_subscriptions: Sequence[str] = (),
        **meta: Any,
    ) -> Call:
        """Open a subscription and return at once: its first notification is the acknowledgement.

        Args:
            tools_list_changed: Hear of changes of the tools.
            prompts_list_changed: Hear of changes of the prompts.
            resources_list_changed: Hear of changes of the resources.
            resource_subscriptions: Hear of changes of these, and of what continues them.
            meta: As for `start`.
        """
        wanted = mcp.SubscriptionFilter(
            tools_list_changed=tools_list_changed or None,
            prompts_list_changed=prompts_list_changed or None,
            resources_list_changed=resources_list_changed or None,
            resource_subscriptions=list(resource_subscriptions) or None,
        )
        return self.start("subscriptions/listen", {"notifications": mcp.to_dict(wanted)}, **meta)

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification, and return once the server has handled it.

        Raises:
            McpError: The server refused it.
        """
        outcome: list[BaseException | None] = []
        handled = trio.Event()

        def done(error: BaseException | None) -> None:
            outcome.append(error)
            handled.set()

        message = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
        notification = cast("mcp.ClientNotification", mcp.decode(message))
        start_notification(self.node, self._server, notification, self._context, done, self._settings)
        await handled.wait()
        if outcome[0] is not None:
            raise outcome[0]


def connect(
    server: Server[Any],
    *,
    node: Node | None = None,
    as_principal: str | None = None,
    capabilities: mcp.ClientCapabilities | None = None,
    assigns: Mapping[str, Any] | None = None,
    settings: WorkerSettings | None = None,
) -> Client:
    """Open a server in this process and a client to it.

    Use it as `async with connect(suite) as client`.

    Args:
        server: A Suite or any other `Server`.
        node: A node that the server is attached to already; None makes one, and attaches the server for the block.
        as_principal: Who is calling.
        capabilities: What the client declares that it can do; the default is nothing.
        assigns: What a mount would put under `channel.meta.assigns`.
        settings: Limits of the workers.
    """
    return Client(
        server,
        node=node,
        principal=as_principal,
        capabilities=capabilities or mcp.ClientCapabilities(),
        assigns=assigns or {},
        settings=settings or WorkerSettings(),
    )


class TestChannel(Channel):
    """A channel for unit tests: it belongs to no worker and keeps what is sent in `outbox`."""

    __test__ = False  # not a test class
    outbox: MemoryOutbox


def channel(
    *,
    capabilities: mcp.ClientCapabilities | None = None,
    principal: str | None = None,
    assigns: Mapping[str, Any] | None = None,
    progress_token: mcp.ProgressToken | None = "test",
    log_level: mcp.LoggingLevel | None = "debug",
    tool_name: str | None = None,
) -> TestChannel:
    """Make a channel to call a handler with directly; look at `.outbox` afterwards."""
    outbox = MemoryOutbox()
    meta = ChannelMeta(
        protocol_version=protocol_version(),
        client_info=None,
        client_capabilities=capabilities or mcp.ClientCapabilities(),
        assigns=assigns or {},
        principal=principal,
    )
    found = FoundMeta(meta, progress_token, log_level)
    made = TestChannel(Backstage(outbox, found, WorkerSettings(), request_id=1), tool_name=tool_name)
    made.outbox = outbox
    return made
