"""The prompts of a Suite: those it was given, and those that its extensions add for a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from genmcp.channel import Channel
from genmcp.errors import CallbackReturnError, PromptNotFound
from genmcp.mcp import v2607 as mcp
from genmcp.server import Result
from genmcp.suite.completion import completion_result
from genmcp.suite.extension import Extension, provided
from genmcp.suite.function_prompt import FunctionPrompt
from genmcp.suite.page import Page
from genmcp.suite.pagination import Source, checked_page, paginate, sliced
from genmcp.suite.prompt import PromptRepo
from genmcp.suite.provider import Shelf, as_question, calling, instance_of

GET_EXPECTED = "GetPromptResult, str, content, a message, a list of those, or InputRequired"


class PromptCatalog:
    """Finds the owner of a prompt's name, and lists prompts.

    Args:
        extensions: The Suite's; those without `prompts` are left alone.
        page_size: How many of the decorated prompts make a page; None: all of them.
    """

    def __init__(self, extensions: Sequence[Extension], page_size: int | None) -> None:
        self._shelf: Shelf[PromptRepo] = Shelf("prompts")
        self._extensions = [item for item in extensions if type(item).prompts is not Extension.prompts]
        self._varies = any(extension.varies for extension in self._extensions)
        self._page_size = page_size

    @property
    def offered(self) -> bool:
        """True if the Suite offers prompts at all: `prompts/list` is served and advertised (D-06)."""
        return bool(self._shelf or self._extensions)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names and prefixes that were given, in order."""
        return self._shelf.keys

    def add(self, given: object) -> PromptRepo:
        """Add a repository or a decorated prompt; a class is made without arguments.

        Raises:
            ConfigurationError: It is none, wrong, or owns what another one owns.
        """
        provider: PromptRepo = instance_of(given, PromptRepo, "prompts", "@prompt")
        self._shelf.add(provider)
        return provider

    def remove(self, name: str) -> bool:
        """Remove what has this name or prefix. Returns False if nothing has."""
        return self._shelf.remove(name)

    async def list(self, cursor: str | None, channel: Channel) -> mcp.ListPromptsResult:
        """Answer `prompts/list`."""
        shelf = await self._visible(channel)
        listed = [item for item in shelf if isinstance(item, FunctionPrompt)]
        sources = [_decorated(listed, self._page_size)] if listed else []
        sources += [_repository(item, channel) for item in shelf if not isinstance(item, FunctionPrompt)]
        found = await paginate("prompts/list", sources, cursor, channel, varies=self._varies)
        scope, ttl = found.hint
        return mcp.list_prompts_result(found.items, found.cursor, cache_scope=scope, ttl_ms=ttl)

    async def get(self, request: mcp.GetPromptRequest, channel: Channel) -> Result:
        """Answer `prompts/get`.

        Raises:
            PromptNotFound: Nobody owns the name, or its owner has no such prompt.
            CallbackReturnError: The owner returned what it may not.
        """
        owner = await self._owner(request.params.name, channel)
        with calling(owner, "get") as name:
            value: object = await owner.get(request.params.name, request.params.arguments, channel)
        question = as_question(value, channel)
        if question is not None:
            return question
        if isinstance(value, mcp.GetPromptResult):
            return Result(_typed(value))
        parts: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
        try:
            result = mcp.get_prompt_result(*parts, description=_description(owner))
        except TypeError:
            raise CallbackReturnError(name, value, GET_EXPECTED) from None
        return Result(_typed(result))

    async def completes(self, channel: Channel) -> bool:
        """Tell whether any prompt completes."""
        return self.offered and any(item.completes for item in await self._visible(channel))

    async def complete(
        self, prompt: str, argument: mcp.CompletionArgument, context: Mapping[str, str], channel: Channel
    ) -> mcp.CompleteResult:
        """Suggest values for an argument of a prompt.

        Raises:
            PromptNotFound: Nobody owns the name.
        """
        owner = await self._owner(prompt, channel)
        with calling(owner, "complete") as name:
            value = await owner.complete(prompt, argument.name, argument.value, context, channel)
        return completion_result(value, name)

    async def _owner(self, name: str, channel: Channel) -> PromptRepo:
        owner = (await self._visible(channel)).owner(name)
        if owner is None:
            raise PromptNotFound(name)
        return owner

    async def _visible(self, channel: Channel) -> Shelf[PromptRepo]:
        if not self._extensions:
            return self._shelf
        shelf = self._shelf.copy()
        for extension in self._extensions:
            shelf.add_missing(await provided(extension, "prompts", PromptRepo, channel))
        return shelf


def _typed(result: mcp.GetPromptResult) -> mcp.GetPromptResult:
    """Return a result whose embedded resources all say what they are (P-09)."""
    if all(_is_typed(message.content) for message in result.messages):
        return result
    messages = [message if _is_typed(message.content) else _with_type(message) for message in result.messages]
    return msgspec.structs.replace(result, messages=messages)


def _is_typed(content: mcp.ContentBlock) -> bool:
    return not isinstance(content, mcp.EmbeddedResource) or content.resource.mime_type is not None


def _with_type(message: mcp.PromptMessage) -> mcp.PromptMessage:
    assert isinstance(message.content, mcp.EmbeddedResource)  # nothing else needs a type
    inside = message.content.resource
    kind = "text/plain" if isinstance(inside, mcp.TextResourceContents) else "application/octet-stream"
    content = msgspec.structs.replace(message.content, resource=msgspec.structs.replace(inside, mime_type=kind))
    return msgspec.structs.replace(message, content=content)


def _description(owner: PromptRepo) -> str | None:
    return owner.prompt.description if isinstance(owner, FunctionPrompt) else None


def _decorated(listed: Sequence[FunctionPrompt[..., Any]], size: int | None) -> Source[mcp.Prompt]:
    items, hints = [item.prompt for item in listed], [item.cache for item in listed]
    return sliced("", "prompts", items, lambda item: item.name, hints, size)


def _repository(owner: PromptRepo, channel: Channel) -> Source[mcp.Prompt]:
    async def fetch(cursor: str | None) -> Page[mcp.Prompt]:
        with calling(owner, "list") as name:
            page: object = await owner.list(cursor, channel)
        return checked_page(page, name, f"a Page of Prompt whose names begin with {owner.prefix!r}", fits)

    def fits(item: object) -> bool:
        return isinstance(item, mcp.Prompt) and item.name.startswith(owner.prefix)

    return Source(f"/{owner.prefix}", f"{owner.label}.list", owner.cache, fetch)
