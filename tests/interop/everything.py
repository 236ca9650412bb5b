"""The server that the official conformance suite is run against, and an example of what a tool can return.

Each tool is called as the suite calls it; the texts are those that the suite documents. `python -m genmcp serve
tests/interop/everything.py` serves it.
"""

import base64
import io
import wave
from typing import Annotated

import msgspec
import trio

from genmcp import Channel, Suite, Tool, ToolError, tool
from genmcp.mcp import v2607 as mcp

RED_DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
)


def silence() -> bytes:
    """A tenth of a second of nothing, as a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes(bytes(2 * 800))
    return file.getvalue()


@tool(annotations={"readOnlyHint": True})
async def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@tool
async def test_image_content() -> mcp.ImageContent:
    """Return an image; the builder encodes the bytes."""
    return mcp.image(RED_DOT, "image/png")


@tool
async def test_audio_content() -> mcp.AudioContent:
    """Return a sound."""
    return mcp.audio(silence(), "audio/wav")


@tool
async def test_embedded_resource() -> mcp.EmbeddedResource:
    """Return a resource with its contents."""
    return mcp.resource(
        "test://embedded-resource", text="This is an embedded resource content.", mime_type="text/plain"
    )


@tool
async def test_multiple_content_types() -> list[mcp.ContentBlock]:
    """Return a text, an image and a resource at once."""
    return [
        mcp.text("Multiple content types test:"),
        mcp.image(RED_DOT, "image/png"),
        mcp.resource("test://mixed-content-resource", text='{"test":"data","value":123}', mime_type="application/json"),
    ]


@tool
async def test_tool_with_progress(channel: Channel) -> str:
    """Report progress while working; a client that gave no progress token is told nothing."""
    for done in (0, 50, 100):
        await channel.send_progress(done, 100)
        await trio.sleep(0.05)
    return "The work is done."


@tool
async def test_error_handling() -> None:
    """Refuse in words that the model may read."""
    raise ToolError("This tool intentionally returns an error for testing")


@tool
async def test_missing_capability(channel: Channel) -> str:
    """Need a client that can sample, and refuse any other with the protocol's own error."""
    channel.require_capability("sampling")
    return "The client can sample."


@tool
async def test_logging_tool(channel: Channel) -> str:
    """Log while working; only a client that named a level on this request gets to see it."""
    await channel.send_log("info", "The tool has started", "everything")
    await channel.send_log("debug", {"step": 1}, "everything")
    return "The messages were logged."


@tool
async def test_streaming_elicitation(channel: Channel) -> str:
    """Open the stream before answering: what comes on it is never a request to the client."""
    await channel.start_stream()
    await channel.send_progress(1, 1)
    return "The stream carried no request."


@tool
async def test_x_mcp_header(
    region: Annotated[str, msgspec.Meta(description="Where to look", extra_json_schema={"x-mcp-header": "Region"})],
) -> str:
    """Take an argument that clients repeat in the header `Mcp-Param-Region`, for routers on the way."""
    return f"region: {region}"


@tool
async def test_trigger_tool_change() -> str:
    """Tell every open subscription that the tools have changed."""
    suite.tools_changed()
    return "The subscriptions were told."


CONTACT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class JsonSchema202012(Tool):
    """Take arguments by a schema written by hand, which reaches the client as it stands."""

    name = "json_schema_2020_12_tool"
    input_schema = CONTACT

    async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> mcp.CallToolResult:
        """Return the arguments as they came, after they passed the schema."""
        return mcp.call_tool_result(data=request.params.arguments)


suite = Suite(
    server_name="everything",
    server_version="1.0.0",
    tools=[
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_tool_with_progress,
        test_error_handling,
        test_missing_capability,
        test_logging_tool,
        test_streaming_elicitation,
        test_x_mcp_header,
        test_trigger_tool_change,
        JsonSchema202012,
    ],
)
