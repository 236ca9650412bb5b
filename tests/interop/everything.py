"""The server that the official conformance suite is run against, and an example of what a server can offer.

Each tool is called as the suite calls it; the texts are those that the suite documents. `python -m genmcp serve
tests/interop/everything.py` serves it.
"""

import base64
import io
import json
import wave
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import trio

from genmcp import (
    Accepted,
    Channel,
    InvalidParams,
    Page,
    ResourceNotFound,
    ResourceRepo,
    Suite,
    Tool,
    ToolError,
    prompt,
    resource,
    tool,
)
from genmcp.mcp import v2607 as mcp
from genmcp.schema import elicitation_schema

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


class Name(msgspec.Struct):
    """What the form for a name asks."""

    name: str


class Color(msgspec.Struct):
    """What the form for a colour asks."""

    color: str


class Confirmation(msgspec.Struct):
    """What the form for a confirmation asks."""

    ok: bool


@tool
async def test_streaming_elicitation(channel: Channel) -> str:
    """Ask on an open stream: the question is the result that ends it, never a request to the client."""
    await channel.start_stream()
    await channel.send_progress(1)
    return f"The answer was {await channel.elicit('What is your name?', Name)}."


@tool
async def test_input_required_result_elicitation(channel: Channel) -> str:
    """Ask the person for a name. The next line runs with the answer."""
    match await channel.elicit("What is your name?", Name, key="user_name"):
        case Accepted(Name(name=name)):
            return f"Hello, {name}!"
    return "Hello, whoever you are!"


@tool
async def test_input_required_result_sampling(channel: Channel) -> str:
    """Ask the client's model."""
    answer = await channel.sample("What is the capital of France?", max_tokens=100, key="capital_question")
    return f"The model says: {answer.content.text if isinstance(answer.content, mcp.TextContent) else answer.content}"


@tool
async def test_input_required_result_list_roots(channel: Channel) -> str:
    """Ask for the client's roots."""
    roots = await channel.list_roots(key="client_roots")
    return f"The client has {len(roots)} roots."


@tool
async def test_input_required_result_request_state(channel: Channel) -> str:
    """Ask for a confirmation; what the client sends back unread leads to this very worker."""
    answer = await channel.elicit("Go on?", Confirmation, key="confirm")
    return f"state-ok: {answer!r}"


@tool
async def test_input_required_result_multiple_inputs(channel: Channel) -> str:
    """Ask three things in one round."""
    answers = await channel.ask(
        {
            "user_name": mcp.elicit_form("What is your name?", elicitation_schema(Name)),
            "greeting": mcp.create_message(
                [mcp.SamplingMessage("user", mcp.text("Generate a greeting"))], max_tokens=50
            ),
            "client_roots": mcp.list_roots(),
        }
    )
    return f"The client answered {len(answers)} questions."


@tool
async def test_input_required_result_multi_round(channel: Channel) -> str:
    """Ask two things, one after the other."""
    name = await channel.elicit("Step 1: what is your name?", Name, key="step1")
    color = await channel.elicit("Step 2: what is your favourite colour?", Color, key="step2")
    return f"{name!r} likes {color!r}."


@tool
async def test_input_required_result_tampered_state(channel: Channel) -> str:
    """Ask for a confirmation; a changed state is refused before anything of this runs."""
    await channel.elicit("Are you sure?", Confirmation, key="confirm")
    return "The state came back as it was."


@tool
async def test_input_required_result_capabilities(channel: Channel) -> str:
    """Ask only what the client has declared that it can answer."""
    able = channel.meta.client_capabilities
    questions: dict[str, mcp.InputRequest] = {}
    if able.sampling is not None:
        hello = mcp.SamplingMessage("user", mcp.text("Say hello"))
        questions["sampled"] = mcp.create_message([hello], max_tokens=10)
    if able.elicitation is not None:
        questions["elicited"] = mcp.elicit_form("What is your name?", elicitation_schema(Name))
    answers = await channel.ask(questions)
    return f"The client answered {len(answers)} questions."


@tool
async def test_trigger_prompt_change() -> str:
    """Tell every open subscription that the prompts have changed."""
    suite.prompts_changed()
    return "The subscriptions were told."


@tool
async def test_tool_with_logging(channel: Channel) -> str:
    """Log while working; a 2025 client gets what its session's level lets through."""
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await channel.send_log("info", step)
        await trio.sleep(0.05)
    return "The work is done."


@tool
async def test_sampling(prompt: str, channel: Channel) -> str:
    """Ask the client's model, in whatever way its revision has for that.

    Args:
        prompt: What the model is asked.
    """
    answer = await channel.sample(prompt, max_tokens=100)
    return f"LLM response: {answer.content.text if isinstance(answer.content, mcp.TextContent) else answer.content}"


class Contact(msgspec.Struct):
    """What the form for a contact asks."""

    username: Annotated[str, msgspec.Meta(description="User's response")]
    email: Annotated[str, msgspec.Meta(description="User's email address")]


@tool
async def test_elicitation(message: str, channel: Channel) -> str:
    """Ask the person at the client.

    Args:
        message: What the person is asked.
    """
    return f"User response: {await channel.elicit(message, Contact)!r}"


DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
}

CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [{"const": f"value{n}", "title": f"The option {n}"} for n in (1, 2, 3)],
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option one", "Option two", "Option three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": [{"const": f"value{n}", "title": f"The option {n}"} for n in (1, 2, 3)]},
        },
    },
}


@tool
async def test_elicitation_sep1034_defaults(channel: Channel) -> str:
    """Ask with a default of every kind."""
    return f"Elicitation completed: {await channel.elicit('Please review your details', DEFAULTS)!r}"


@tool
async def test_elicitation_sep1330_enums(channel: Channel) -> str:
    """Ask with a choice of every kind."""
    return f"Elicitation completed: {await channel.elicit('Please choose', CHOICES)!r}"


@tool
async def test_reconnection(channel: Channel) -> str:
    """Close the stream, and go on: a client of 2025-11-25 comes back for the result."""
    await channel.close_stream(retry=0.1)
    await trio.sleep(0.2)
    return "The client came back."


@tool
async def test_trigger_resource_update(uri: str) -> str:
    """Tell whoever watches a resource that it has changed, by a stream of either era.

    Args:
        uri: The resource.
    """
    return f"{suite.resource_updated(uri)} streams were told."


cancelled: list[str] = []


@tool
async def test_hold() -> None:
    """Wait until the client does not want the answer any more."""
    try:
        await trio.sleep_forever()
    finally:
        cancelled.append("test_hold")


@tool
async def test_held() -> str:
    """Count the calls of `test_hold` that were cancelled."""
    return f"{len(cancelled)} cancelled"


@resource("test://static-text", name="Static text", mime_type="text/plain")
async def static_text() -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


@resource("test://static-binary", name="Static image", mime_type="image/png", size=len(RED_DOT))
async def static_binary() -> bytes:
    """An image that never changes."""
    return RED_DOT


@resource("test://watched-resource", name="Watched", mime_type="text/plain")
async def watched() -> str:
    """A text that clients watch."""
    return "This is the content of the watched resource."


@resource("test://template/{id}/data", name="Data by id", mime_type="application/json")
async def template_data(id: str) -> str:
    """The data that belongs to an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


class Library(ResourceRepo):
    """Books that are listed two a page; a client follows the cursors."""

    template = mcp.ResourceTemplate("test://library/{book}", "Book", description="A book by its number")
    books = ("Emma", "Persuasion", "Middlemarch", "Villette", "Shirley")

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        """Return the two books at a place, which is what the cursor says."""
        begin = int(cursor or 0)
        books = [
            mcp.Resource(f"test://library/{number}", title)
            for number, title in enumerate(self.books[begin : begin + 2], begin)
        ]
        return Page(books, str(begin + 2) if begin + 2 < len(self.books) else None)

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> str:
        """Return the title of a book."""
        number = variables["book"]
        if not number.isdecimal() or int(number) >= len(self.books):
            raise ResourceNotFound(uri)
        return self.books[int(number)]

    async def complete(
        self, argument: str, value: str, context: Mapping[str, str], channel: Channel, /
    ) -> Sequence[str]:
        """Suggest the numbers that begin with what is typed."""
        return [number for number in map(str, range(len(self.books))) if number.startswith(value)]


@prompt
async def test_simple_prompt() -> str:
    """A prompt without arguments; a text is what the user says."""
    return "This is a simple prompt for testing."


@prompt
async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments.

    Args:
        arg1: The first one; it completes.
        arg2: The second one.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@test_prompt_with_arguments.completion("arg1")
async def suggestions(value: str) -> list[str]:
    """Values that begin with what is typed."""
    return [word for word in ("test", "testing", "tested", "text") if word.startswith(value)]


@prompt
async def test_prompt_with_embedded_resource(resourceUri: str) -> mcp.GetPromptResult:
    """A prompt that brings a resource along.

    Args:
        resourceUri: The resource to embed.
    """
    try:
        embedded = mcp.resource(resourceUri, text="Embedded resource content for testing.", mime_type="text/plain")
    except ValueError as error:  # what the client gave is no URI
        raise InvalidParams(str(error)) from None
    return mcp.get_prompt_result(mcp.user(embedded), mcp.user("Please process the embedded resource above."))


@prompt
async def test_prompt_with_image() -> mcp.GetPromptResult:
    """A prompt that brings an image along."""
    image = mcp.image(RED_DOT, "image/png")
    return mcp.get_prompt_result(mcp.user(image), mcp.user("Please analyze the image above."))


class Context(msgspec.Struct):
    """What the form for a context asks."""

    context: str


@prompt
async def test_input_required_result_prompt(channel: Channel) -> str:
    """A prompt that asks the person first."""
    match await channel.elicit("What is the context?", Context, key="user_context"):
        case Accepted(Context(context=context)):
            return f"Work in this context: {context}"
    return "Work without a context."


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
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
        test_trigger_prompt_change,
        JsonSchema202012,
        test_tool_with_logging,
        test_sampling,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_reconnection,
        test_trigger_resource_update,
        test_hold,
        test_held,
    ],
    resources=[static_text, static_binary, watched, template_data, Library],
    prompts=[
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
        test_input_required_result_prompt,
    ],
)
