"""Results, notifications and errors of 2026-07-28 as a legacy client knows them (O-35, O-40). Pure.

What the client's revision does not have is left out, never renamed. Where that would lose what a model needs, the
nearest thing takes its place: a resource link becomes a text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from genmcp.mcp import McpError
from genmcp.mcp import v2607 as mcp
from genmcp.mcp.errors import ResourceNotFound
from transport.legacy.revision import Revision

RESOURCE_NOT_FOUND = -32002
"""The code of the 2025 revisions for a resource that is not there; released ones must not send it."""

_RESULT_MEMBERS = ("resultType", "ttlMs", "cacheScope")
_RESERVED = "io.modelcontextprotocol/"

Plain = dict[str, Any]
Convert = Callable[[Plain, Revision], Plain]


def result_down(result: mcp.ServerResult, revision: Revision) -> Plain:
    """Return a result as the plain JSON of a revision."""
    plain = mcp.to_dict(result)
    for member in _RESULT_MEMBERS:
        plain.pop(member, None)
    without_reserved(plain)
    match result:
        case mcp.CallToolResult():
            return call_down(plain, revision)
        case mcp.GetPromptResult():
            for message in plain["messages"]:
                message["content"] = content_down(message["content"], revision)
        case mcp.ListToolsResult():
            plain["tools"] = [tool_down(item, revision) for item in plain["tools"]]
        case mcp.ListPromptsResult():
            plain["prompts"] = [prompt_down(item, revision) for item in plain["prompts"]]
        case mcp.ListResourcesResult():
            plain["resources"] = [named_down(item, revision) for item in plain["resources"]]
        case mcp.ListResourceTemplatesResult():
            plain["resourceTemplates"] = [named_down(item, revision) for item in plain["resourceTemplates"]]
    return plain


def without_reserved(plain: Plain) -> None:
    """Drop what only 2026-07-28 says under `_meta`, and a `_meta` that holds nothing else."""
    meta = plain.get("_meta")
    if meta is None:
        return
    kept = {key: value for key, value in meta.items() if not key.startswith(_RESERVED)}
    if kept:
        plain["_meta"] = kept
    else:
        del plain["_meta"]


def call_down(plain: Plain, revision: Revision) -> Plain:
    """Convert the result of a tool: structured content is an object, or there is none."""
    plain["content"] = [content_down(block, revision) for block in plain.get("content") or ()]
    if not revision.structured or not isinstance(plain.get("structuredContent"), dict):
        plain.pop("structuredContent", None)
    return plain


def content_down(block: Plain, revision: Revision) -> Plain:
    """Convert one block of content."""
    if block.get("type") == "resource_link":
        if not revision.structured:
            return _link_as_text(block)
        return named_down(block, revision)
    if not revision.structured:
        block.pop("_meta", None)
        _without_date(block)
    return block


def _link_as_text(link: Plain) -> Plain:
    text = f"[{link.get('title') or link['name']}]({link['uri']})"
    if link.get("description"):
        text += f": {link['description']}"
    return {"type": "text", "text": text}


def _without_date(block: Plain) -> None:
    annotations = block.get("annotations")
    if isinstance(annotations, dict):
        annotations.pop("lastModified", None)


def named_down(item: Plain, revision: Revision) -> Plain:
    """Convert what has a name, and perhaps a title and icons."""
    if not revision.icons:
        item.pop("icons", None)
    if not revision.structured:
        item.pop("title", None)
        item.pop("_meta", None)
        _without_date(item)
    return item


def tool_down(tool: Plain, revision: Revision) -> Plain:
    """Convert a tool: its output is an object, or it has no schema."""
    schema = tool.get("outputSchema")
    if not revision.structured or not isinstance(schema, dict) or schema.get("type") != "object":
        tool.pop("outputSchema", None)
    return named_down(tool, revision)


def prompt_down(prompt: Plain, revision: Revision) -> Plain:
    """Convert a prompt and its arguments."""
    for argument in prompt.get("arguments") or ():
        named_down(argument, revision)
    return named_down(prompt, revision)


def implementation_down(info: Plain, revision: Revision) -> Plain:
    """Convert who somebody is."""
    if not revision.icons:
        info = {key: value for key, value in info.items() if key not in ("description", "websiteUrl")}
    return named_down(dict(info), revision)


def capabilities_down(capabilities: Plain) -> Plain:
    """Convert what a server can do: there are no extensions in these revisions (O-41, O-42)."""
    return {key: value for key, value in capabilities.items() if key != "extensions"}


def notification_down(notification: mcp.ServerNotification) -> Plain | None:
    """Return a notification as plain JSON; None for one that these revisions do not have."""
    if isinstance(notification, mcp.SubscriptionsAcknowledgedNotification):
        return None
    plain = mcp.to_dict(notification)
    params = plain.get("params")
    if isinstance(params, dict):
        without_reserved(params)
        if not params:
            del plain["params"]
    return plain


def error_down(error: McpError) -> McpError:
    """Return the error that these revisions have for the same fault."""
    if isinstance(error, ResourceNotFound):
        return McpError(RESOURCE_NOT_FOUND, error.message, error.data, error.status)
    return error
