"""The server under load: one tool that returns its argument."""

from __future__ import annotations

from genmcp import Suite, tool


@tool(annotations={"readOnlyHint": True})
async def echo(text: str) -> str:
    """Return the text."""
    return text


suite = Suite(server_name="benchmark", server_version="1", tools=[echo])
