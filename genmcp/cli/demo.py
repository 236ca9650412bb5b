"""The server that ``python -m genmcp serve`` serves without an application: a look at each way a tool can answer.

It is also an example to start from: everything here is what an author of servers writes.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import trio

import actors
from genmcp import Accepted, Channel, Suite, tool
from genmcp._version import __version__

TICKS = "demo.ticks"


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
    instructions="A demonstration: ordinary, slow, waiting, streaming and asking tools.",
    tools=[add, countdown, wait_for_message, ticks, greet],
    children=[ticking],
)
