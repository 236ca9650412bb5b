"""The Suite: a ready-made server composed of providers.

Purpose: describe *what* to expose; the Suite does the protocol. It routes each request to its provider, computes
`server/discover` from what is configured, and answers what is not configured as the protocol asks (-32601).

    suite = Suite(server_name="My App", server_version="1.0.0", tools=[add, Report(limit=3)])

(`GenMCP.Suite`.)
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Final, Protocol, TypeVar

from actors import Child, Node
from genmcp.channel import Channel
from genmcp.errors import ConfigurationError, MethodNotFound, UnknownTool
from genmcp.mcp import v2607 as mcp
from genmcp.schema import HeaderParam
from genmcp.server import Error, Result, Server, Stop, Stream
from genmcp.suite.catalog import ToolCatalog
from genmcp.suite.changes import TOOLS_CHANGED, Changes, publish
from genmcp.suite.extension import Extension
from genmcp.suite.identity import Identity
from genmcp.suite.listen import listen
from genmcp.suite.subscription import SubscriptionCapabilities, SubscriptionHandler
from genmcp.suite.tool import Tool
from genmcp.suite.tool_calls import call_tool

ToolT = TypeVar("ToolT", bound="Tool[Any, Any]")
Lifespan = Callable[["Suite"], AbstractAsyncContextManager["Mapping[str, Any] | None"]]

BUILT_IN: Final = Changes
"""The default of `subscription_handler=`: the built-in handler, which serves what the Suite itself knows."""


class Owner(Protocol):
    """Whoever holds a request open and gets its messages: a tool or a subscription."""

    async def handle_message(self, message: object, channel: Channel) -> Result | Error | Stream[Any] | Stop:
        """Handle one message."""
        ...

    async def handle_close(self, channel: Channel) -> None:
        """Clean up when something else ended the request."""
        ...


class Suite(Server["Owner | None"]):
    """A server made of tools and extensions; see the module.

    Args:
        server_name: Who this is, for programs. Required, not empty.
        server_version: Its version. Required, not empty.
        server_title: Who this is, for people.
        server_description: What it is for.
        server_url: Its website.
        server_icons: Icons for people.
        instructions: How a model should use the server; not a repeat of the tools' descriptions.
        send_server_info: Put the identity into every result's `_meta` (M-11).
        tools: `Tool` instances or classes, or functions decorated with `@tool`. Names are unique.
        extensions: Providers computed for each request.
        subscription_handler: Who serves `subscriptions/listen`; None serves and advertises none.
        children: Background actors (`async def` functions or `Child`), started before the first request, in order,
            and stopped after the last, in reverse.
        lifespan: `lifespan(suite)` gives an async context manager that is open while the Suite runs; the mapping it
            yields is merged under `channel.meta.assigns`.
        protocol_extensions: Protocol extensions to advertise, by identifier (`vendor/name`), with their settings.
        experimental: Experimental capabilities to advertise.

    Raises:
        ConfigurationError: An option is wrong; it names the option, provider and field, and what was expected.
    """

    opens_request_state = True

    def __init__(
        self,
        *,
        server_name: str,
        server_version: str,
        server_title: str | None = None,
        server_description: str | None = None,
        server_url: str | None = None,
        server_icons: Sequence[mcp.Icon] = (),
        instructions: str | None = None,
        send_server_info: bool = True,
        tools: Sequence[Tool[Any, Any] | type[Tool[Any, Any]]] = (),
        extensions: Sequence[Extension | type[Extension]] = (),
        subscription_handler: SubscriptionHandler[Any] | type[SubscriptionHandler[Any]] | None = BUILT_IN,
        children: Sequence[Child | Callable[..., Any]] = (),
        lifespan: Lifespan | None = None,
        protocol_extensions: Mapping[str, Mapping[str, Any]] | None = None,
        experimental: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.identity = Identity(
            name=server_name,
            version=server_version,
            title=server_title,
            description=server_description,
            url=server_url,
            icons=server_icons,
            instructions=instructions,
            send_server_info=send_server_info,
            protocol_extensions=protocol_extensions,
            experimental=experimental,
        )
        self._tools = ToolCatalog(as_extensions(extensions))
        for given in tools:
            self._tools.add(given)
        self._subscriptions = as_handler(subscription_handler)
        if isinstance(self._subscriptions, Changes):
            self._subscriptions.offer(self._changing)
        self._children = as_children(children)
        self._lifespan = lifespan

    # -- changing a running Suite

    def tool(self, tool: ToolT, /) -> ToolT:
        """Add a tool, as a decorator above `@tool`; the same as `add`."""
        self.add(tool)
        return tool

    def add(self, provider: Tool[Any, Any] | type[Tool[Any, Any]], /) -> None:
        """Add a provider and say that the list has changed.

        Raises:
            ConfigurationError: It is wrong, or its name is taken.
        """
        self._tools.add(provider)
        self.tools_changed()

    def remove(self, name: str, /) -> bool:
        """Remove the tool of that name and say that the list has changed. Returns False if there is none."""
        removed = self._tools.remove(name)
        if removed:
            self.tools_changed()
        return removed

    def tools_changed(self, *, principal: str | None = None) -> int:
        """Tell every open stream that asked for it that the tools have changed, from any thread.

        Args:
            principal: Tell only this caller's streams.

        Returns:
            The subscribers that were told; 0 before the Suite runs on a node.
        """
        if self._node is None:
            return 0
        return publish(self._node.registry, TOOLS_CHANGED, mcp.ToolListChangedNotification(), principal)

    # -- the behaviour

    async def init(self) -> Owner | Stop | None:
        """Begin without an owner: no provider holds the request open yet."""
        return None

    async def handle_request(
        self, request: mcp.Request, channel: Channel, state: Owner | None, /
    ) -> Result | Error | Stream[Owner | None]:
        """Route the request to its provider."""
        del state
        channel._finalize = self.identity.stamp
        match request:
            case mcp.CallToolRequest() if self._tools.offered:
                return await self._call_tool(request, channel)
            case mcp.ListToolsRequest() if self._tools.offered:
                return Result(await self._tools.list(channel))
            case mcp.SubscriptionsListenRequest() if self._subscriptions is not None:
                stream = await listen(self._subscriptions, request, channel, self._may_subscribe)
                return Stream(stream)
            case mcp.DiscoverRequest():
                return Result(self.identity.discover(self._capabilities(channel)))
        return Error(MethodNotFound(request.method))

    async def handle_message(
        self, message: object, channel: Channel, state: Owner | None, /
    ) -> Result | Error | Stream[Owner | None] | Stop:
        """Give the message to the provider that holds the request open."""
        if state is None:
            return Stop("unexpected_message")
        return await state.handle_message(message, channel)

    async def handle_close(self, channel: Channel, state: Owner | None, /) -> None:
        """Let the provider that holds the request open clean up."""
        if state is not None:
            await state.handle_close(channel)

    async def _call_tool(self, request: mcp.CallToolRequest, channel: Channel) -> Result | Error | Stream[Any]:
        tool = await self._tools.find(request.params.name, channel)
        if tool is None:
            return Error(UnknownTool(request.params.name))
        return await call_tool(tool, request, channel, channel._default_timeout)

    async def _may_subscribe(self, uri: str, channel: Channel) -> bool:
        del uri, channel
        return False

    def _changing(self) -> SubscriptionCapabilities:
        """What may change in this Suite, for the built-in handler."""
        return {"tools_list_changed": self._tools.offered}

    def _capabilities(self, channel: Channel) -> dict[str, Any]:
        told = {} if self._subscriptions is None else self._subscriptions.subscription_capabilities(channel)
        found: dict[str, Any] = {}
        if self._tools.offered:
            found["tools"] = {"listChanged": True} if told.get("tools_list_changed") else {}
        return found

    def header_parameters(self, tool_name: str, /) -> Mapping[str, HeaderParam]:
        """Return the parameters that the tool's schema mirrors into `Mcp-Param-…` headers."""
        tool = self._tools.direct(tool_name)
        return {} if tool is None else tool.contract.headers

    # -- its life on a node

    @asynccontextmanager
    async def attach(self, node: Node, /) -> AsyncIterator[None]:
        """Run on a node: open the lifespan, start the children, and undo both in reverse."""
        async with super().attach(node), AsyncExitStack() as stack:
            if self._lifespan is not None:
                assigns: Mapping[str, Any] | None = await stack.enter_async_context(self._lifespan(self))
                self._assigns = dict(assigns or {})
            if self._children:
                supervisor = await node.supervise(self._children)
                stack.push_async_callback(supervisor.stop)
            yield


def as_extensions(given: Sequence[Extension | type[Extension]]) -> list[Extension]:
    """Return the extensions that the option `extensions=` stands for."""
    made: list[Extension] = []
    for item in given:
        extension: object = item() if isinstance(item, type) and issubclass(item, Extension) else item
        if not isinstance(extension, Extension):
            raise ConfigurationError(f"extensions: expected an Extension or a class of one, got {item!r}")
        made.append(extension)
    return made


def as_handler(
    given: SubscriptionHandler[Any] | type[SubscriptionHandler[Any]] | None,
) -> SubscriptionHandler[Any] | None:
    """Return the handler that the option `subscription_handler=` stands for."""
    made = given() if isinstance(given, type) and issubclass(given, SubscriptionHandler) else given
    if made is not None and not isinstance(made, SubscriptionHandler):
        raise ConfigurationError(
            f"subscription_handler: expected a SubscriptionHandler, a class of one or None, got {made!r}"
        )
    return made


def as_children(given: Sequence[Child | Callable[..., Any]]) -> list[Child]:
    """Return the children that the option `children=` stands for."""
    made = []
    for item in given:
        child = item if isinstance(item, Child) else Child(item) if inspect.iscoroutinefunction(item) else None
        if child is None:
            raise ConfigurationError(f"children: expected an async def function or Child(fn, …), got {item!r}")
        made.append(child)
    return made
