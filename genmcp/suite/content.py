"""What a decorated function returned, as the content of a result."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from genmcp.mcp import v2607 as mcp

BLOCKS = (mcp.TextContent, mcp.ImageContent, mcp.AudioContent, mcp.ResourceLink, mcp.EmbeddedResource)


def content_of(value: Any, *, structured: bool, mirror: bool) -> mcp.CallToolResult:
    """Make a tool's result of a function's return value.

    Args:
        value: What the function returned.
        structured: The tool has an output schema, so the value is structured content.
        mirror: Copy structured content into a text block (T-13).
    """
    if isinstance(value, mcp.CallToolResult):
        return value
    if structured:
        return mcp.call_tool_result(data=msgspec.to_builtins(value), mirror=mirror)
    return mcp.CallToolResult(content=_blocks(value))


def _blocks(value: Any) -> list[mcp.ContentBlock]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [block for item in value for block in _blocks(item)]
    if isinstance(value, BLOCKS):
        return [value]
    if isinstance(value, str):
        return [mcp.TextContent(text=value)]
    if isinstance(value, bytes):
        blob = mcp.BlobResourceContents(
            uri="data:application/octet-stream",
            mime_type="application/octet-stream",
            blob=base64.b64encode(value).decode(),
        )
        return [mcp.EmbeddedResource(resource=blob)]
    return [mcp.TextContent(text=msgspec.json.encode(msgspec.to_builtins(value)).decode())]
