"""All providers of a Suite: which requests they answer, what they have that may change, and what is advertised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from genmcp.channel import Channel
from genmcp.mcp import v2607 as mcp
from genmcp.server import Result
from genmcp.suite.catalog import ToolCatalog
from genmcp.suite.extension import Extension
from genmcp.suite.prompt_catalog import PromptCatalog
from genmcp.suite.resource_catalog import ResourceCatalog
from genmcp.suite.subscription import SubscriptionCapabilities


class Offers(msgspec.Struct, frozen=True):
    """What a Suite was given to offer, in order. What extensions add for a request is not among it.

    Attributes:
        tools: Names.
        resources: URIs, URI templates, and prefixes of repositories.
        prompts: Names, and prefixes of repositories.
    """

    tools: tuple[str, ...]
    resources: tuple[str, ...]
    prompts: tuple[str, ...]


class Providers:
    """The catalogs of tools, resources and prompts.

    A method is answered if and only if its capability is advertised (D-06).
    """

    def __init__(self, extensions: Sequence[Extension], page_size: int | None) -> None:
        self.tools = ToolCatalog(extensions, page_size)
        self.resources = ResourceCatalog(extensions, page_size)
        self.prompts = PromptCatalog(extensions, page_size)

    @property
    def offers(self) -> Offers:
        """What was given."""
        return Offers(self.tools.names, self.resources.keys, self.prompts.keys)

    async def answer(self, request: mcp.Request, channel: Channel) -> Result | None:
        """Answer a request that a provider answers at once; None if it is none, or nothing of its kind is there."""
        match request:
            case mcp.ListToolsRequest() if self.tools.offered:
                return Result(await self.tools.list(request.params.cursor, channel))
            case mcp.ReadResourceRequest() if self.resources.offered:
                return await self.resources.read(request, channel)
            case mcp.ListResourcesRequest() if self.resources.offered:
                return Result(await self.resources.list(request.params.cursor, channel))
            case mcp.ListResourceTemplatesRequest() if self.resources.offered:
                return Result(await self.resources.list_templates(request.params.cursor, channel))
            case mcp.GetPromptRequest() if self.prompts.offered:
                return await self.prompts.get(request, channel)
            case mcp.ListPromptsRequest() if self.prompts.offered:
                return Result(await self.prompts.list(request.params.cursor, channel))
            case mcp.CompleteRequest() if await self._completes(channel):
                return Result(await self._complete(request.params, channel))
        return None

    async def _completes(self, channel: Channel) -> bool:
        return await self.prompts.completes(channel) or await self.resources.completes(channel)

    async def _complete(self, params: mcp.CompleteRequestParams, channel: Channel) -> mcp.CompleteResult:
        context = params.context.arguments if params.context is not None else {}
        if isinstance(params.ref, mcp.PromptReference):
            return await self.prompts.complete(params.ref.name, params.argument, context, channel)
        return await self.resources.complete(params.ref.uri, params.argument, context, channel)

    def changing(self) -> SubscriptionCapabilities:
        """Return what may change, for the built-in subscription handler."""
        return {
            "tools_list_changed": self.tools.offered,
            "prompts_list_changed": self.prompts.offered,
            "resources_list_changed": self.resources.offered,
            "resources_updated": self.resources.offered,
        }

    async def capabilities(self, told: SubscriptionCapabilities, channel: Channel) -> dict[str, Any]:
        """Return the capabilities to advertise to this caller.

        Args:
            told: The changes that the subscription handler tells of.
            channel: The request's channel.
        """
        found: dict[str, Any] = {}
        if self.tools.offered:
            found["tools"] = {"listChanged": True} if told.get("tools_list_changed") else {}
        if self.resources.offered:
            resources = {"listChanged": told.get("resources_list_changed"), "subscribe": told.get("resources_updated")}
            found["resources"] = {name: True for name, value in resources.items() if value}
        if self.prompts.offered:
            found["prompts"] = {"listChanged": True} if told.get("prompts_list_changed") else {}
        if await self._completes(channel):
            found["completions"] = {}
        return found
