"""What the tests of this folder serve: tools that wait, report, ask and fail, and resources that change."""

from __future__ import annotations

from typing import Any

import msgspec
import trio

from actors import Shutdown
from genmcp import Accepted, Channel, Error, Result, Server, Stop, Stream, Suite, Tool, resource, tool
from genmcp.mcp import MethodNotFound
from genmcp.mcp import v2607 as mcp


class Form(msgspec.Struct):
    name: str


class Held(Tool[dict[str, Any], str]):
    """Waits with a state, and notes why it was closed."""

    name = "held"
    description = "Wait until it is closed."
    input_schema = {"type": "object"}

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes

    async def call(self, request: mcp.CallToolRequest[dict[str, Any]], channel: Channel, /) -> Stream[str]:
        self.notes.append("held")
        return Stream("state")

    async def handle_close(self, channel: Channel, state: str, /) -> None:
        self.notes.append(f"closed: {channel.close_reason}")


class Shop:
    """A suite and what its tools have noted."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        notes = self.notes

        @tool
        async def add(a: float, b: float) -> float:
            """Add two numbers."""
            return a + b

        @tool
        async def sleep(seconds: float) -> str:
            """Take a while."""
            notes.append("asleep")
            try:
                await trio.sleep(seconds)
            except trio.Cancelled:
                notes.append("cancelled")
                raise
            return f"slept {seconds:g}"

        @tool
        async def count(to: int, channel: Channel) -> str:
            """Count aloud."""
            for number in range(1, to + 1):
                await channel.send_progress(number, to)
                await channel.send_log("info", f"at {number}")
            return "counted"

        @tool
        async def flood(channel: Channel) -> None:
            """Say more than anybody reads."""
            while True:
                await channel.send_log("info", "x" * 1000)
                notes.append("said")

        @tool
        async def greet(channel: Channel) -> str:
            """Ask for a name."""
            match await channel.elicit("What is your name?", Form):
                case Accepted(value=form):
                    return f"Hello, {form.name}"
            return "Hello"

        @tool
        async def crash() -> None:
            """Fail."""
            raise RuntimeError("secret")

        @resource("test://note", name="note")
        async def note() -> str:
            """A note."""
            return "noted"

        self.suite = Suite(
            server_name="shop",
            server_version="1",
            tools=[add, sleep, count, flood, greet, crash, Held(notes)],
            resources=[note],
        )


class Odd(Server[None]):
    """A low-level server whose requests end in odd ways, by what their workers are sent."""

    async def handle_request(
        self, request: mcp.Request, channel: Channel, state: None, /
    ) -> Result | Error | Stream[None]:
        match request:
            case mcp.CallToolRequest(params=mcp.CallToolRequestParams(name="stop")):
                self.registry.send(channel.pid, "stop")
                return Stream(None)
            case mcp.CallToolRequest(params=mcp.CallToolRequestParams(name="close")):
                await channel.close()
                return Stream(None)
            case mcp.DiscoverRequest():
                return Result(mcp.discover_result(name="odd", version="1", capabilities={"tools": True}))
        return Error(MethodNotFound(request.method))

    async def handle_message(
        self, message: object, channel: Channel, state: None, /
    ) -> Result | Error | Stream[None] | Stop:
        return Stop(Shutdown("enough"))
