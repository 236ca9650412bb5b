"""An application whose tools tell what became of them, and what the process around them holds.

A test gives each call a key. `journal` returns what was noted under it, with the clock that processes share.
"""

import os
import time
from pathlib import Path
from typing import Any

import msgspec
import trio

import actors
from genmcp import (
    Changes,
    Channel,
    Error,
    MethodNotFound,
    Page,
    ResourceRepo,
    Result,
    Server,
    Stream,
    Suite,
    Tool,
    prompt,
    tool,
)
from genmcp.mcp import v2607 as mcp

NOTES: dict[str, list[tuple[str, float]]] = {}


def note(key: str, what: str) -> None:
    NOTES.setdefault(key, []).append((what, time.monotonic()))


@tool
async def wait(key: str, channel: Channel, stream: bool = False) -> str:
    """Answer with the next message, and note how that went."""
    note(key, "began")
    try:
        if stream:
            await channel.start_stream()
        got = await channel.receive()
        note(key, "finished")
        return f"{channel.pid} got {got}"
    except trio.Cancelled:
        note(key, "cancelled")
        raise
    finally:
        note(key, "cleaned")


@tool(on_close="finish")
async def work_on(key: str, seconds: float) -> str:
    """Work on although the client leaves."""
    note(key, "began")
    await trio.sleep(seconds)
    note(key, "finished")
    return "finished"


class Parked(msgspec.Struct):
    """Arguments of `park`."""

    key: str


class Park(Tool[Parked, str]):
    """Stream until a message says "end", and note how it was closed."""

    name = "park"

    async def call(self, request: mcp.CallToolRequest[Parked], channel: Channel, /) -> Stream[str]:
        note(request.params.arguments.key, "began")
        return Stream(request.params.arguments.key)

    async def handle_message(
        self, message: object, channel: Channel, state: str, /
    ) -> mcp.CallToolResult | Stream[str]:
        if message == "end":
            return mcp.call_tool_result(text="ended")
        await channel.send_log("info", message)
        return Stream(state)

    async def handle_close(self, channel: Channel, state: str, /) -> None:
        await trio.lowlevel.checkpoint()
        note(state, f"closed {channel.close_reason}")


@tool
async def crash(text: str, channel: Channel, stream: bool = False) -> str:
    """Fail."""
    if stream:
        await channel.start_stream()
    raise RuntimeError(text)


@tool
async def kill(pid: str, channel: Channel) -> bool:
    """Kill another worker."""
    return channel.registry.kill(pid)


@tool
async def flood(key: str, channel: Channel) -> str:
    """Send until nobody takes it."""
    note(key, "began")
    try:
        await channel.start_stream()
        while True:
            await channel.send_log("info", "x" * 60_000)
    finally:
        note(key, f"ended {channel.close_reason}")


@tool
async def steps(values: list[float], channel: Channel, pause: float = 0.0) -> str:
    """Report these values as progress, then answer."""
    for value in values:
        await channel.send_progress(value)
        await trio.sleep(pause)
    return "done"


@tool
async def rush(updates: int, tasks: int, channel: Channel) -> str:
    """Report progress from several tasks at once, as fast as it goes."""

    async def report(offset: int) -> None:
        for number in range(updates):
            await channel.send_progress(number * tasks + offset)

    async with trio.open_nursery() as nursery:
        for offset in range(tasks):
            nursery.start_soon(report, offset)
    return "done"


@tool
async def nap(seconds: float) -> str:
    """Say nothing for a while, then answer."""
    await trio.sleep(seconds)
    return "rested"


@tool
def block_thread(seconds: float) -> str:
    """Sit in a worker thread."""
    time.sleep(seconds)
    return "woke up"


@tool
async def block_loop(seconds: float) -> str:
    """Hold the whole loop, as no handler should."""
    time.sleep(seconds)  # noqa: ASYNC251  (this fault is what is tested)
    return "woke up"


@tool
async def echo(value: Any = None) -> str:
    """Answer with what was given."""
    return repr(value)[:100]


@tool
async def publish(times: int, kind: str, channel: Channel, uri: str = "") -> int:
    """Publish a change, many times; returns how many streams heard the last one."""
    heard = 0
    for _ in range(times):
        match kind:
            case "tools":
                heard = suite.tools_changed()
            case "prompts":
                heard = suite.prompts_changed()
            case "resources":
                heard = suite.resources_changed()
            case "updated":
                heard = suite.resource_updated(uri)
        await trio.lowlevel.checkpoint()
    return heard


@tool
async def publish_each(first: int, times: int, padding: int) -> int:
    """Publish changes that differ from each other, no faster than a reader takes them; returns who heard the last."""
    heard = 0
    for number in range(first, first + times):
        heard = suite.resource_updated(f"file:///a/{number}/{'x' * padding}")
        if number % 20 == 0:
            await trio.sleep(0.002)
    return heard


@tool
async def journal(key: str) -> list[Any]:
    """Tell what was noted under a key."""
    return [list(entry) for entry in NOTES.get(key, [])]


def memory() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@tool
async def census() -> dict[str, Any]:
    """Count what this process holds; the same before and after if nothing leaked."""
    node = actors.current().node
    return {
        "tasks": trio.lowlevel.current_statistics().tasks_living,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "memory": memory(),
        "workers": sorted(info.label for info in node.snapshot()),
        **msgspec.to_builtins(node.counts()),
    }


@prompt
async def greet() -> str:
    """Greet."""
    return "hello"


class Files(ResourceRepo):
    """A repository whose resources change."""

    prefix = "file:///"

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        return Page([mcp.Resource(uri="file:///a", name="a")])

    async def read(self, uri: str, variables: Any, channel: Channel, /) -> str:
        return "content"


suite = Suite(
    server_name="probes",
    server_version="1",
    tools=[
        wait,
        work_on,
        Park,
        crash,
        kill,
        flood,
        steps,
        rush,
        nap,
        block_thread,
        block_loop,
        echo,
        publish,
        publish_each,
        journal,
        census,
    ],
    prompts=[greet],
    resources=[Files()],
)

few_streams = Suite(server_name="few", server_version="1", tools=[echo], subscription_handler=Changes(max_streams=3))


class Low(Server[str]):
    """A low-level server: one tool that never answers, and `journal`."""

    async def init(self) -> str:
        return "made by init"

    async def handle_request(self, request: mcp.Request, channel: Channel, state: str, /) -> Result | Error:
        if not isinstance(request, mcp.CallToolRequest):
            return Error(MethodNotFound(request.method))
        key = request.params.arguments["key"]
        if request.params.name == "journal":
            return Result(mcp.call_tool_result(data=[list(entry) for entry in NOTES.get(key, [])]))
        note(key, "began")
        note(state, key)
        await trio.sleep(3600)
        return Error("nobody left")

    async def handle_close(self, channel: Channel, state: str, /) -> None:
        await trio.lowlevel.checkpoint()
        note(NOTES[state][-1][0], f"closed {channel.close_reason} with what was {state}")


low = Low()
