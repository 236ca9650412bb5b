"""The server that ``python -m genmcp serve`` serves without an application: a look at each thing a server can offer.

It is also an example to start from: everything here is what an author of servers writes.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import trio

import actors
from genmcp import Accepted, Channel, ResourceNotFound, Suite, ToolError, prompt, resource, tool
from genmcp._version import __version__
from genmcp.mcp import v2607 as mcp

TICKS = "demo.ticks"
MOST_NOTES = 100


@actors.message("demo.tick")
class Tick(msgspec.Struct, frozen=True):
    """What the background child publishes every second."""

    number: int


@tool(annotations={"readOnlyHint": True})
async def add(a: float, b: float) -> float:
    """Add two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


@tool
async def countdown(
    channel: Channel,
    seconds: Annotated[int, msgspec.Meta(ge=1, le=60, description="How long to count, in seconds.")] = 5,
) -> str:
    """Count down, a second at a time, and report progress on the way."""
    for passed in range(seconds):
        await channel.send_progress(passed, seconds, f"{seconds - passed} to go")
        await trio.sleep(1)
    return "Lift-off"


@tool
async def wait_for_message(
    channel: Channel,
    timeout: Annotated[float, msgspec.Meta(gt=0, le=3600, description="How long to wait, in seconds.")] = 300,
) -> str:
    """Wait until somebody sends this call a message from outside, and return it.

    The call's address is sent as progress and as a log message; `python -m genmcp send ADDRESS '"hello"'` ends it.
    """
    where = f"python -m genmcp send {channel.pid} '\"hello\"'"
    await channel.send_progress(0, 1, where)
    await channel.send_log("info", where)
    try:
        message = await channel.receive(timeout=timeout)
    except TimeoutError:
        return "Nobody sent anything"
    return f"Somebody sent: {message!r}"


@tool
async def ticks(
    channel: Channel,
    count: Annotated[int, msgspec.Meta(ge=1, le=60, description="How many ticks to wait for.")] = 3,
) -> str:
    """Stream ticks that a background actor publishes for everybody, and end after a few."""
    channel.registry.subscribe(TICKS)
    for seen in range(count):
        tick = await channel.receive(match=lambda message: isinstance(message, Tick))
        await channel.send_progress(seen + 1, count, f"tick {tick.number}")
    return f"Saw {count} ticks"


class Name(msgspec.Struct):
    """The form of `greet`."""

    name: str


@tool
async def greet(channel: Channel) -> str:
    """Ask the person at the client for a name, and greet them with it."""
    match await channel.elicit("What is your name?", Name):
        case Accepted(value=form):
            return f"Hello, {form.name}"
    return "Hello, whoever you are"


# -- a notebook that all clients share: a template to read, a tool to write, a prompt to work with

notes = {"welcome": "Write a note with write_note; whoever has subscribed to it is told."}


class Written(msgspec.Struct):
    """What `write_note` returns: the schema of this struct is the tool's output schema."""

    uri: str
    characters: int
    streams_told: int


@tool(annotations={"destructiveHint": True, "idempotentHint": True})
async def write_note(
    name: Annotated[str, msgspec.Meta(pattern="^[a-z0-9-]{1,40}$", description="Small letters, digits and dashes.")],
    text: Annotated[str, msgspec.Meta(max_length=1000)],
) -> Written:
    """Write a note, and tell every client that has subscribed to its resource."""
    if name not in notes and len(notes) >= MOST_NOTES:
        raise ToolError(f"The notebook is full; write over one of its {MOST_NOTES} notes")
    notes[name] = text
    uri = f"demo://notes/{name}"
    return Written(uri, len(text), suite.resource_updated(uri))


@resource("demo://about", name="About", mime_type="text/markdown", cache=("public", 3_600_000))
async def about() -> str:
    """What this server is; clients may keep it for an hour."""
    return "# The genmcp demo\n\nIts source is `genmcp/cli/demo.py`."


@resource("demo://notes/{name}", name="Note", mime_type="text/plain")
async def note(name: str) -> str:
    """A note by its name."""
    if name not in notes:
        raise ResourceNotFound(f"demo://notes/{name}")
    return notes[name]


@prompt
async def rewrite(name: str, style: Literal["shorter", "longer", "as a poem"] = "shorter") -> mcp.GetPromptResult:
    """Rewrite a note.

    Args:
        name: The note.
        style: What to make of it; a few fixed values complete by themselves.
    """
    embedded = mcp.resource(f"demo://notes/{name}", text=await note(name), mime_type="text/plain")
    return mcp.get_prompt_result(mcp.user(embedded), mcp.user(f"Rewrite this note: {style}."))


@note.completion("name")
@rewrite.completion("name")
async def note_names(value: str) -> list[str]:
    """Suggest the notes whose names begin with what is typed."""
    return sorted(name for name in notes if name.startswith(value))


async def ticking() -> None:
    """Publish a tick a second, as long as the server runs."""
    registry = actors.current().registry
    number = 0
    while True:
        number += 1
        registry.publish(TICKS, Tick(number))
        await trio.sleep(1)


suite = Suite(
    server_name="genmcp-demo",
    server_version=__version__,
    server_title="genmcp demo",
    instructions="A demonstration: tools that are slow, wait, stream and ask, and a notebook to read and write.",
    tools=[add, countdown, wait_for_message, ticks, greet, write_note],
    resources=[about, note],
    prompts=[rewrite],
    children=[ticking],
)
