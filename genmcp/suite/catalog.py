"""The tools of a Suite: those it was given, in order, and those that its extensions add for a request."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from genmcp.channel import Channel
from genmcp.errors import ConfigurationError
from genmcp.mcp import v2607 as mcp
from genmcp.suite.extension import Extension, provided
from genmcp.suite.pagination import paginate, sliced
from genmcp.suite.tool import Tool

LOG = logging.getLogger("genmcp")


class ToolCatalog:
    """Looks tools up by name and lists them; direct tools first, then each extension's, first name wins."""

    def __init__(self, extensions: Sequence[Extension], page_size: int | None = None) -> None:
        self._page_size = page_size
        self._tools: dict[str, Tool[Any, Any]] = {}
        self._extensions = [extension for extension in extensions if type(extension).tools is not Extension.tools]

    @property
    def offered(self) -> bool:
        """True if the Suite offers tools at all: `tools/list` is served and advertised (D-06)."""
        return bool(self._tools or self._extensions)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the Suite's own tools, in order."""
        return tuple(self._tools)

    def add(self, given: object) -> Tool[Any, Any]:
        """Add a tool, or the instance that a bare class makes without arguments.

        Raises:
            ConfigurationError: It is no tool, its name is taken, or its contract is wrong.
        """
        tool = as_tool(given)
        contract = tool.contract
        if tool.name in self._tools:
            raise ConfigurationError(f"tools: two tools are named {tool.name!r}; names are unique in a Suite")
        for warning in contract.warnings:
            LOG.warning("%s", warning)
        self._tools[tool.name] = tool
        return tool

    def remove(self, name: str) -> bool:
        """Remove a tool of the Suite's own. Returns False if there is none of that name."""
        return self._tools.pop(name, None) is not None

    def direct(self, name: str) -> Tool[Any, Any] | None:
        """Return the Suite's own tool of that name."""
        return self._tools.get(name)

    async def find(self, name: str, channel: Channel) -> Tool[Any, Any] | None:
        """Return the tool that this request may call by that name."""
        own = self._tools.get(name)
        if own is not None or not self._extensions:
            return own
        return next((tool for tool in await self._added(channel) if tool.name == name), None)

    async def visible(self, channel: Channel) -> list[Tool[Any, Any]]:
        """Return every tool that this request may see, in a stable order (T-06)."""
        found = dict(self._tools)
        for tool in await self._added(channel):
            found.setdefault(tool.name, tool)
        return list(found.values())

    async def _added(self, channel: Channel) -> list[Tool[Any, Any]]:
        added: list[Tool[Any, Any]] = []
        for extension in self._extensions:
            added.extend(await provided(extension, "tools", Tool, channel))
        return added

    async def list(self, cursor: str | None, channel: Channel) -> mcp.ListToolsResult:
        """Answer `tools/list`."""
        tools = await self.visible(channel)
        hints = [tool.cache for tool in tools]
        source = sliced("", "tools", tools, lambda tool: tool.name, hints, self._page_size)
        varies = any(extension.varies for extension in self._extensions)
        found = await paginate("tools/list", [source], cursor, channel, varies=varies)
        scope, ttl = found.hint
        wire = [tool.contract.wire for tool in found.items]
        return mcp.list_tools_result(wire, found.cursor, cache_scope=scope, ttl_ms=ttl)


def as_tool(given: object) -> Tool[Any, Any]:
    """Return the tool that an element of `tools=` stands for.

    Raises:
        ConfigurationError: It is none, with what to do about the usual mistakes.
    """
    if isinstance(given, type) and issubclass(given, Tool):
        kind = given
        try:
            given = kind()
        except TypeError as error:
            raise ConfigurationError(
                f"tools: {kind.__name__} cannot be made without arguments ({error}); give an instance"
            ) from None
    if isinstance(given, Tool):
        return given
    hint = "; decorate the function with @tool" if callable(given) else ""
    raise ConfigurationError(
        f"tools: expected a Tool, a class of one or a function decorated with @tool, got {given!r}{hint}"
    )
