"""The behaviour of an extension: providers computed for each request, from who is asking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from genmcp.callbacks import named
from genmcp.channel import Channel
from genmcp.errors import CallbackReturnError
from genmcp.suite.prompt import PromptRepo
from genmcp.suite.resource import ResourceRepo
from genmcp.suite.tool import Tool

T = TypeVar("T")


class Extension:
    """Base class of extensions: providers that depend on the request.

    Purpose: other tools for other callers, or providers that come and go. What is the same for everybody belongs
    into the Suite's own options. Each callback is asked for each request that needs it, with the request's channel;
    keep it cheap. Direct providers come first; among extensions the first one with a name wins.

        class AdminTools(Extension):
            async def tools(self, channel, /):
                return [restart] if channel.meta.principal == "admin" else []

    Attributes:
        varies: The providers depend on the caller, so that lists must not be cached for everybody.

    (`GenMCP.Suite.Extension`.)
    """

    varies: bool = True

    async def tools(self, channel: Channel, /) -> Sequence[Tool[Any, Any]]:
        """Return the tools that this request may see. The default has none."""
        del channel
        return ()

    async def resources(self, channel: Channel, /) -> Sequence[ResourceRepo]:
        """Return the repositories and decorated resources that this request may see. The default has none."""
        del channel
        return ()

    async def prompts(self, channel: Channel, /) -> Sequence[PromptRepo]:
        """Return the repositories and decorated prompts that this request may see. The default has none."""
        del channel
        return ()


async def provided(extension: Extension, callback: str, kind: type[T], channel: Channel) -> list[T]:
    """Ask an extension for its providers of one kind.

    Args:
        extension: The extension.
        callback: `tools`, `resources` or `prompts`.
        kind: What it has to return.
        channel: The request's.

    Raises:
        CallbackReturnError: It returned something else.
    """
    with named(f"{type(extension).__name__}.{callback}") as name:
        given: object = await getattr(extension, callback)(channel)
    found = list(given) if isinstance(given, Iterable) else None
    if found is None or not all(isinstance(item, kind) for item in found):
        raise CallbackReturnError(name, given, f"a sequence of {callback}")
    return found
