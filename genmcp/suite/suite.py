"""The Suite: a ready-made server composed of providers.

Purpose: describe *what* to expose; the Suite does the protocol. It routes each request to its provider, computes
`server/discover` from what is configured, and answers what is not configured as the protocol asks (-32601).

    suite = Suite(server_name="My App", server_version="1.0.0", tools=[add, Report(limit=3)])

(`GenMCP.Suite`.)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Final, ParamSpec, Protocol, TypeAlias, TypeVar, overload

from actors import Child, Node
from genmcp.channel import Channel
from genmcp.errors import MethodNotFound, UnknownTool
from genmcp.mcp import v2607 as mcp
from genmcp.server import Error, Result, Server, Stop, Stream
from genmcp.suite.changes import (
    PROMPTS_CHANGED,
    RESOURCES_CHANGED,
    TOOLS_CHANGED,
    Changes,
    publish,
    publish_updated,
)
from genmcp.suite.extension import Extension
from genmcp.suite.function_prompt import FunctionPrompt
from genmcp.suite.function_resource import FunctionResource
from genmcp.suite.function_tool import FunctionTool
from genmcp.suite.identity import Identity
from genmcp.suite.listen import capabilities_of, listen
from genmcp.suite.options import as_children, as_extensions, as_handler, as_lifespan, as_page_size
from genmcp.suite.prompt import PromptRepo
from genmcp.suite.providers import Offers, Providers
from genmcp.suite.resource import ResourceRepo
from genmcp.suite.subscription import SubscriptionCapabilities, SubscriptionHandler
from genmcp.suite.tool import Tool
from genmcp.suite.tool_calls import call_tool

P = ParamSpec("P")
R = TypeVar("R")
ToolT = TypeVar("ToolT", bound="Tool[Any, Any]")
ResourceT = TypeVar("ResourceT", bound=ResourceRepo)
PromptT = TypeVar("PromptT", bound=PromptRepo)
Lifespan = Callable[["Suite"], AbstractAsyncContextManager["Mapping[str, Any] | None"]]

Addable: TypeAlias = (
    Tool[Any, Any] | type[Tool[Any, Any]] | ResourceRepo | type[ResourceRepo] | PromptRepo | type[PromptRepo]
)
"""What can be added to a running Suite."""

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
    """A server made of tools, resources, prompts and extensions; see the module.

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
        resources: `ResourceRepo` instances or classes, or functions decorated with `@resource`. No two own the same.
        prompts: `PromptRepo` instances or classes, or functions decorated with `@prompt`. No two own the same.
        page_size: How many tools, decorated resources, templates and decorated prompts make a page of their list;
            None: all of them. Repositories make pages of their own.
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
        resources: Sequence[ResourceRepo | type[ResourceRepo]] = (),
        prompts: Sequence[PromptRepo | type[PromptRepo]] = (),
        page_size: int | None = None,
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
        self._providers = Providers(as_extensions(extensions), as_page_size(page_size))
        self._tools = self._providers.tools
        self._resources = self._providers.resources
        self._prompts = self._providers.prompts
        for tool in tools:
            self._tools.add(tool)
        for resource in resources:
            self._resources.add(resource)
        for prompt in prompts:
            self._prompts.add(prompt)
        self._subscriptions = as_handler(subscription_handler)
        if isinstance(self._subscriptions, Changes):
            self._subscriptions.offer(self._providers.changing, self._resources.may_subscribe)
        self._children = as_children(children)
        self._lifespan = lifespan

    @property
    def offers(self) -> Offers:
        """The names of its tools, the URIs, templates and prefixes of its resources, the names of its prompts."""
        return self._providers.offers

    # -- changing a running Suite

    @overload
    def tool(self, tool: ToolT, /) -> ToolT: ...
    @overload
    def tool(self, fn: Callable[P, R], /) -> FunctionTool[P, R]: ...
    @overload
    def tool(self, /, **options: Any) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
    def tool(self, given: Any = None, /, **options: Any) -> Any:
        """Add a tool, as the decorator of a function: `@suite.tool`, or with the options of `genmcp.tool`.

        Above `@tool`, or called with a `Tool`, it is the same as `add`.
        """
        if given is None:
            return lambda fn: self.tool(FunctionTool(fn, **options))
        tool = given if isinstance(given, Tool | type) else FunctionTool(given)
        self.add(tool)
        return tool

    @overload
    def resource(self, resource: ResourceT, /) -> ResourceT: ...
    @overload
    def resource(self, uri: str, /, **options: Any) -> Callable[[Callable[P, R]], FunctionResource[P, R]]: ...
    def resource(self, given: Any, /, **options: Any) -> Any:
        """Add a resource, as the decorator of a function: `@suite.resource(uri)`; options as for `genmcp.resource`.

        Above `@resource(uri)`, or called with a `ResourceRepo`, it is the same as `add`.
        """
        if isinstance(given, str):
            return lambda fn: self.resource(FunctionResource(fn, given, **options))
        self.add(given)
        return given

    @overload
    def prompt(self, prompt: PromptT, /) -> PromptT: ...
    @overload
    def prompt(self, fn: Callable[P, R], /) -> FunctionPrompt[P, R]: ...
    @overload
    def prompt(self, /, **options: Any) -> Callable[[Callable[P, R]], FunctionPrompt[P, R]]: ...
    def prompt(self, given: Any = None, /, **options: Any) -> Any:
        """Add a prompt, as the decorator of a function: `@suite.prompt`, or with the options of `genmcp.prompt`.

        Above `@prompt`, or called with a `PromptRepo`, it is the same as `add`.
        """
        if given is None:
            return lambda fn: self.prompt(FunctionPrompt(fn, **options))
        prompt = given if isinstance(given, PromptRepo | type) else FunctionPrompt(given)
        self.add(prompt)
        return prompt

    def add(self, provider: Addable, /) -> None:
        """Add a provider and say that its list has changed.

        Raises:
            ConfigurationError: It is wrong, or its name, URI or prefix is taken.
        """
        kind = provider if isinstance(provider, type) else type(provider)
        if issubclass(kind, ResourceRepo):
            self._resources.add(provider)
            self.resources_changed()
        elif issubclass(kind, PromptRepo):
            self._prompts.add(provider)
            self.prompts_changed()
        else:
            self._tools.add(provider)
            self.tools_changed()

    def remove(self, name: str, /) -> bool:
        """Remove what has that name, URI, template or prefix, and say that its list has changed.

        Returns:
            False if nothing has.
        """
        tool, resource, prompt = self._tools.remove(name), self._resources.remove(name), self._prompts.remove(name)
        if tool:
            self.tools_changed()
        if resource:
            self.resources_changed()
        if prompt:
            self.prompts_changed()
        return tool or resource or prompt

    def tools_changed(self, *, principal: str | None = None) -> int:
        """Tell every open stream that asked for it that the tools have changed, from any thread.

        Args:
            principal: Tell only this caller's streams.

        Returns:
            The subscribers that were told; 0 before the Suite runs on a node.
        """
        return self._publish(TOOLS_CHANGED, mcp.ToolListChangedNotification(), principal)

    def prompts_changed(self, *, principal: str | None = None) -> int:
        """Tell every open stream that asked for it that the prompts have changed; see `tools_changed`."""
        return self._publish(PROMPTS_CHANGED, mcp.PromptListChangedNotification(), principal)

    def resources_changed(self, *, principal: str | None = None) -> int:
        """Tell every open stream that asked for it that the resources have changed; see `tools_changed`."""
        return self._publish(RESOURCES_CHANGED, mcp.ResourceListChangedNotification(), principal)

    def resource_updated(self, uri: str, /, *, principal: str | None = None) -> int:
        """Tell every open stream that asked for this resource, or a parent of it, that it has changed.

        Args:
            uri: The resource.
            principal: Tell only this caller's streams.

        Returns:
            As `tools_changed`.
        """
        return 0 if self._node is None else publish_updated(self._node.registry, uri, principal)

    def _publish(self, topic: str, notification: mcp.ServerNotification, principal: str | None) -> int:
        return 0 if self._node is None else publish(self._node.registry, topic, notification, principal)

    # -- the behaviour

    async def init(self) -> Owner | Stop | None:
        """Begin without an owner: no provider holds the request open yet."""
        return None

    async def handle_request(
        self, request: mcp.Request, channel: Channel, state: Owner | None, /
    ) -> Result | Error | Stream[Owner | None]:
        """Route the request to its provider."""
        del state
        channel.backstage.finalize = self.identity.stamp
        match request:
            case mcp.CallToolRequest() if self._tools.offered:
                return await self._call_tool(request, channel)
            case mcp.SubscriptionsListenRequest() if self._subscriptions is not None:
                stream = await listen(self._subscriptions, request, channel, self._resources.may_subscribe)
                return Stream(stream)
            case mcp.DiscoverRequest():
                told = SubscriptionCapabilities()
                if self._subscriptions is not None:
                    told = capabilities_of(self._subscriptions, channel)
                return Result(self.identity.discover(await self._providers.capabilities(told, channel)))
        answer = await self._providers.answer(request, channel)
        return answer if answer is not None else Error(MethodNotFound(request.method))

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
        channel.check_headers(tool.contract.headers, request.params.arguments)
        return await call_tool(tool, request, channel)

    # -- its life on a node

    @asynccontextmanager
    async def attach(self, node: Node, /) -> AsyncIterator[None]:
        """Run on a node: open the lifespan, start the children, and undo both in reverse."""
        async with super().attach(node), AsyncExitStack() as stack:
            if self._lifespan is not None:
                self._assigns = await stack.enter_async_context(as_lifespan(self._lifespan(self)))
            if self._children:
                supervisor = await node.supervise(self._children)
                stack.push_async_callback(supervisor.stop)
            yield
