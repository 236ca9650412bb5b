"""The resources of a Suite: those it was given, and those that its extensions add for a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import trio

from genmcp.channel import Channel
from genmcp.errors import CallbackReturnError, InvalidParams, ResourceNotFound
from genmcp.mcp import v2607 as mcp
from genmcp.server import Result
from genmcp.suite.completion import completion_result
from genmcp.suite.extension import Extension, provided
from genmcp.suite.function_resource import FunctionResource
from genmcp.suite.page import Page
from genmcp.suite.pagination import Source, checked_page, paginate, sliced
from genmcp.suite.provider import Shelf, as_question, calling, instance_of
from genmcp.suite.resource import Contents, ResourceRepo
from genmcp.suite.uri_pattern import LONGEST_URI, tokenize

READ_EXPECTED = (
    "str, bytes, contents or a list of them, ReadResourceResult or InputRequired; "
    "raise ResourceNotFound(uri) where there is none"
)
HIGHEST_PARENT = 8
"""Levels above a URI at which the owner of an update is looked for."""

CONTENTS = (mcp.TextResourceContents, mcp.BlobResourceContents)


class ResourceCatalog:
    """Finds the owner of a URI, and lists resources and templates.

    Args:
        extensions: The Suite's; those without `resources` are left alone.
        page_size: How many of the decorated resources, or templates, make a page; None: all of them.
    """

    def __init__(self, extensions: Sequence[Extension], page_size: int | None) -> None:
        self._shelf: Shelf[ResourceRepo] = Shelf("resources")
        self._extensions = [item for item in extensions if type(item).resources is not Extension.resources]
        self._varies = any(extension.varies for extension in self._extensions)
        self._page_size = page_size

    @property
    def offered(self) -> bool:
        """True if the Suite offers resources at all: `resources/list` is served and advertised (D-06)."""
        return bool(self._shelf or self._extensions)

    @property
    def keys(self) -> tuple[str, ...]:
        """The URIs, templates and prefixes that were given, in order."""
        return self._shelf.keys

    def add(self, given: object) -> ResourceRepo:
        """Add a repository or a decorated resource; a class is made without arguments.

        Raises:
            ConfigurationError: It is none, wrong, or owns what another one owns.
        """
        provider: ResourceRepo = instance_of(given, ResourceRepo, "resources", "@resource")
        self._shelf.add(provider)
        return provider

    def remove(self, uri: str) -> bool:
        """Remove what has this URI, template or prefix. Returns False if nothing has."""
        return self._shelf.remove(uri)

    async def list(self, cursor: str | None, channel: Channel) -> mcp.ListResourcesResult:
        """Answer `resources/list`."""
        shelf = await self._visible(channel)
        listed = [item for item in shelf if isinstance(item, FunctionResource) and item.resource is not None]
        sources = [_decorated(listed, self._page_size)] if listed else []
        sources += [_repository(item, channel) for item in shelf if _lists(item)]
        found = await paginate("resources/list", sources, cursor, channel, varies=self._varies)
        scope, ttl = found.hint
        return mcp.list_resources_result(found.items, found.cursor, cache_scope=scope, ttl_ms=ttl)

    async def list_templates(self, cursor: str | None, channel: Channel) -> mcp.ListResourceTemplatesResult:
        """Answer `resources/templates/list`."""
        shelf = await self._visible(channel)
        templates = [described for item in shelf if (described := item.described) is not None]
        hints = [item.cache for item in shelf if item.described is not None]
        source = sliced("", "templates", templates, lambda item: item.uri_template, hints, self._page_size)
        method = "resources/templates/list"
        found = await paginate(method, [source] if templates else [], cursor, channel, varies=self._varies)
        scope, ttl = found.hint
        return mcp.list_resource_templates_result(found.items, found.cursor, cache_scope=scope, ttl_ms=ttl)

    async def read(self, request: mcp.ReadResourceRequest, channel: Channel) -> Result:
        """Answer `resources/read`.

        Raises:
            ResourceNotFound: Nobody owns the URI, or its owner has no such resource.
            InvalidParams: The URI is too long.
            CallbackReturnError: The owner returned what it may not.
        """
        uri = request.params.uri
        if len(uri) > LONGEST_URI:
            raise InvalidParams(f"The URI is longer than {LONGEST_URI} characters")
        if tokenize(uri) is None:
            raise ResourceNotFound(uri)  # no URI at all, so nobody's
        owner = (await self._visible(channel)).owner(uri)
        if owner is None:
            raise ResourceNotFound(uri)
        with calling(owner, "parse_uri") as name:
            variables: object = owner.parse_uri(uri)
        if not isinstance(variables, Mapping):
            raise CallbackReturnError(name, variables, "a mapping of variables; raise ResourceNotFound(uri) for none")
        with calling(owner, "read") as name:
            value: object = await owner.read(uri, variables, channel)
        question = as_question(value, channel)
        if question is not None:
            return question
        result = self._result(value, uri, owner, name)
        return Result(_uncached(result) if _is_retry(request, channel) else result)

    def _result(self, value: object, uri: str, owner: ResourceRepo, name: str) -> mcp.ReadResourceResult:
        if isinstance(value, mcp.ReadResourceResult):
            contents, result = value.contents, value
        else:
            contents = _contents(value, uri, owner.mime_type)
            scope, ttl = owner.cache
            own = self._varies and owner not in self._shelf
            result = mcp.ReadResourceResult(contents, cache_scope="private" if own else scope, ttl_ms=ttl)
        if not contents or not all(isinstance(part, CONTENTS) for part in contents):
            raise CallbackReturnError(name, value, READ_EXPECTED)
        return result

    async def may_subscribe(self, uri: str, channel: Channel) -> bool:
        """Tell whether the caller may be told of changes to a URI: an owner of it or of a parent of it says so."""
        shelf = await self._visible(channel)
        await trio.lowlevel.checkpoint()  # a filter may hold a thousand URIs
        owner = next((found for base in parents(uri) if (found := shelf.owner(base)) is not None), None)
        if owner is None:
            return False
        try:
            with calling(owner, "may_subscribe") as name:
                allowed: object = await owner.may_subscribe(uri, channel)
        except ResourceNotFound:
            return False
        if not isinstance(allowed, bool):
            raise CallbackReturnError(name, allowed, "True or False")
        return allowed

    async def completes(self, channel: Channel) -> bool:
        """Tell whether any template completes."""
        return self.offered and any(item.completes for item in await self._visible(channel))

    async def complete(
        self, uri: str, argument: mcp.CompletionArgument, context: Mapping[str, str], channel: Channel
    ) -> mcp.CompleteResult:
        """Suggest values for a variable of a template.

        Raises:
            ResourceNotFound: There is no such template.
        """
        for owner in await self._visible(channel):
            if owner.uri_template is not None and owner.uri_template.text == uri:
                with calling(owner, "complete") as name:
                    value = await owner.complete(argument.name, argument.value, context, channel)
                return completion_result(value, name)
        raise ResourceNotFound(uri)

    async def _visible(self, channel: Channel) -> Shelf[ResourceRepo]:
        if not self._extensions:
            return self._shelf
        shelf = self._shelf.copy()
        for extension in self._extensions:
            shelf.add_missing(await provided(extension, "resources", ResourceRepo, channel))
        return shelf


def parents(uri: str) -> Iterator[str]:
    """Yield a URI and what it continues after a `/`, a few levels up."""
    yield uri
    for _ in range(HIGHEST_PARENT):
        uri, slash, _ = uri.rstrip("/").rpartition("/")
        if not slash:
            return
        yield uri


def _lists(owner: ResourceRepo) -> bool:
    """Tell whether it has a list of its own; decorated resources share one."""
    return type(owner).list is not ResourceRepo.list and not isinstance(owner, FunctionResource)


def _decorated(listed: Sequence[FunctionResource[..., Any]], size: int | None) -> Source[mcp.Resource]:
    items = [item.resource for item in listed if item.resource is not None]
    return sliced("", "resources", items, lambda item: item.uri, [item.cache for item in listed], size)


def _repository(owner: ResourceRepo, channel: Channel) -> Source[mcp.Resource]:
    async def fetch(cursor: str | None) -> Page[mcp.Resource]:
        with calling(owner, "list") as name:
            page: object = await owner.list(cursor, channel)
        return checked_page(page, name, f"a Page of Resource whose URIs begin with {owner.prefix!r}", fits)

    def fits(item: object) -> bool:
        return isinstance(item, mcp.Resource) and item.uri.startswith(owner.prefix) and tokenize(item.uri) is not None

    return Source(owner.prefix, f"{owner.label}.list", owner.cache, fetch)


def _contents(value: object, uri: str, mime_type: str | None) -> list[Contents]:
    """Return the contents that a value stands for; empty if it stands for none."""
    if isinstance(value, str):
        return [mcp.TextResourceContents(uri, value, mime_type=mime_type or "text/plain")]
    if isinstance(value, bytes):
        made = mcp.resource_contents(uri, blob=value, mime_type=mime_type or "application/octet-stream")
        return [made]
    if isinstance(value, CONTENTS):
        return [value]
    return list(value) if isinstance(value, list | tuple) else []


def _is_retry(request: mcp.ReadResourceRequest, channel: Channel) -> bool:
    """Tell whether the answer goes to a retry, which nobody may keep (K-05)."""
    params = request.params
    return params.input_responses is not None or params.request_state is not None or channel.request_id != request.id


def _uncached(result: mcp.ReadResourceResult) -> mcp.ReadResourceResult:
    return msgspec.structs.replace(result, cache_scope="private", ttl_ms=0)
