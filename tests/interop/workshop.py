"""The server that the official clients are tried on: tools that report, that wait, and that fail in every way."""

from typing import Annotated, Literal

import msgspec
import trio

from genmcp import Channel, InvalidParams, McpError, MissingCapability, ResourceNotFound, Suite, ToolError, tool

Way = Literal["refusal", "crash", "own_error", "invalid_params", "missing_capability", "not_found", "late_crash"]

OWN_CODE = 4242

left: list[str] = []


@tool
async def count(to: int, channel: Channel) -> str:
    """Count aloud: a report of progress and a log message at each number."""
    for number in range(1, to + 1):
        await channel.send_progress(number, to, f"at {number}")
        await channel.send_log("info", {"number": number}, "counter")
        await channel.send_log("debug", "only for those who ask for everything")
    return f"counted to {to}"


@tool
async def hold(name: str, channel: Channel) -> None:
    """Wait until the client leaves, and remember who left."""
    try:
        await channel.send_progress(1, message="holding")
        await trio.sleep_forever()
    finally:
        left.append(name)


@tool
async def who_left() -> list[str]:
    """Name those whose client left while they were held."""
    return left


@tool
async def fail(way: Way, channel: Channel) -> None:
    """Fail in the way that is asked for."""
    match way:
        case "refusal":
            raise ToolError("for the model to read")
        case "own_error":
            raise McpError(OWN_CODE, "our own kind of error", {"hint": "look here"})
        case "invalid_params":
            raise InvalidParams("the parameters do not fit together")
        case "missing_capability":
            raise MissingCapability({"sampling": {}})
        case "not_found":
            raise ResourceNotFound("file:///nowhere")
        case "crash" | "late_crash":
            if way == "late_crash":
                await channel.start_stream()
            raise RuntimeError("a fault that no client may read")


@tool
async def place(
    region: Annotated[str, msgspec.Meta(extra_json_schema={"x-mcp-header": "Region"})],
    shard: Annotated[int, msgspec.Meta(extra_json_schema={"x-mcp-header": "Shard"})] = 0,
) -> dict[str, str | int]:
    """Take arguments that clients repeat in headers."""
    return {"region": region, "shard": shard}


suite = Suite(server_name="workshop", server_version="1.0.0", tools=[count, hold, who_left, fail, place])
