"""Pages of tools, resources, resource templates and prompts."""

from collections.abc import Iterable
from typing import Any

from genmcp.mcp.v2607.base import CacheScope
from genmcp.mcp.v2607.prompts import ListPromptsResult, Prompt
from genmcp.mcp.v2607.resources import ListResourcesResult, ListResourceTemplatesResult, Resource, ResourceTemplate
from genmcp.mcp.v2607.tool import Tool
from genmcp.mcp.v2607.tools import ListToolsResult


def default_cache_control() -> tuple[CacheScope, int]:
    """Return scope and milliseconds for a result whose author said nothing: not to be kept, by nobody else."""
    return "private", 0


def list_tools_result(
    tools: Iterable[Tool],
    cursor: str | None = None,
    *,
    cache_scope: CacheScope = "private",
    ttl_ms: int = 0,
    meta: dict[str, Any] | None = None,
) -> ListToolsResult:
    """Return a page of tools.

    Args:
        tools: the page.
        cursor: where the next page starts; None on the last one.
        cache_scope: who may keep it.
        ttl_ms: for how many milliseconds.
        meta: the result's `_meta`.
    """
    return ListToolsResult(list(tools), next_cursor=cursor, cache_scope=cache_scope, ttl_ms=ttl_ms, meta=meta)


def list_resources_result(
    resources: Iterable[Resource],
    cursor: str | None = None,
    *,
    cache_scope: CacheScope = "private",
    ttl_ms: int = 0,
    meta: dict[str, Any] | None = None,
) -> ListResourcesResult:
    """Return a page of resources; the arguments are those of `list_tools_result`."""
    return ListResourcesResult(list(resources), next_cursor=cursor, cache_scope=cache_scope, ttl_ms=ttl_ms, meta=meta)


def list_resource_templates_result(
    templates: Iterable[ResourceTemplate],
    cursor: str | None = None,
    *,
    cache_scope: CacheScope = "private",
    ttl_ms: int = 0,
    meta: dict[str, Any] | None = None,
) -> ListResourceTemplatesResult:
    """Return a page of resource templates; the arguments are those of `list_tools_result`."""
    return ListResourceTemplatesResult(
        list(templates), next_cursor=cursor, cache_scope=cache_scope, ttl_ms=ttl_ms, meta=meta
    )


def list_prompts_result(
    prompts: Iterable[Prompt],
    cursor: str | None = None,
    *,
    cache_scope: CacheScope = "private",
    ttl_ms: int = 0,
    meta: dict[str, Any] | None = None,
) -> ListPromptsResult:
    """Return a page of prompts; the arguments are those of `list_tools_result`."""
    return ListPromptsResult(list(prompts), next_cursor=cursor, cache_scope=cache_scope, ttl_ms=ttl_ms, meta=meta)
