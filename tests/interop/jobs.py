"""A low-level server: every request is answered by what lands in its worker's mailbox, here from a queue in a nursery.

`Jobs` is written as the documentation shows it; the queue stands for whatever produces results elsewhere.
"""

from typing import Any

import msgspec
import trio

import actors
from genmcp import Channel, Error, MethodNotFound, Result, Server, Stop, Stream
from genmcp.mcp import v2607 as mcp

RUN_TOOL = mcp.Tool("run", description="Run a job.", input_schema={"type": "object", "required": ["query"]})
STEPS = 3


class JobUpdate(msgspec.Struct, frozen=True):
    """A job came one step further."""

    done: int
    total: int


class JobFinished(msgspec.Struct, frozen=True):
    """A job has its result."""

    output: str


class Queue:
    """Runs each job as an actor of the node that asked for it, which reports to whoever enqueued it."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []

    async def enqueue(self, arguments: dict[str, Any], *, reply_to: str) -> str:
        """Start a job and return its id; a query of `cancelled` is answered with the ids cancelled so far."""
        node = actors.current().node
        return str(node.spawn(self._work, str(arguments["query"]), reply_to, label="job"))

    async def cancel(self, job: str) -> None:
        """Stop a job."""
        self.cancelled.append(job)
        actors.current().registry.stop(job)

    async def _work(self, query: str, reply_to: str) -> None:
        registry = actors.current().registry
        if query == "forever":
            registry.send(reply_to, JobUpdate(0, STEPS))
            await trio.sleep_forever()
        for done in range(1, STEPS + 1):
            registry.send(reply_to, JobUpdate(done, STEPS))
        output = f"{len(self.cancelled)} cancelled" if query == "cancelled" else f"result of {query}"
        registry.send(reply_to, JobFinished(output))


queue = Queue()


class Jobs(Server[str | None]):  # the state is the running job's id
    """Answers `tools/call` with what a job sends, and cancels the job when its client leaves."""

    async def init(self) -> str | Stop | None:
        """Start without a job."""
        return None

    async def handle_request(
        self, request: mcp.Request, channel: Channel, state: str | None
    ) -> Result | Error | Stream[str | None]:
        """Describe the server, list its tool, or enqueue a job and stream until it is done."""
        match request:
            case mcp.DiscoverRequest():
                return Result(mcp.discover_result(name="Jobs", version="1.0", capabilities={"tools": True}))
            case mcp.ListToolsRequest():
                return Result(mcp.list_tools_result([RUN_TOOL]))
            case mcp.CallToolRequest(params=mcp.CallToolRequestParams(name="run", arguments=arguments)):
                return Stream(await queue.enqueue(arguments, reply_to=str(channel.pid)))
        return Error(MethodNotFound(request.method))

    async def handle_message(
        self, message: object, channel: Channel, state: str | None
    ) -> Result | Error | Stream[str | None] | Stop:
        """Pass the job's progress on, and answer with its output."""
        match message:
            case JobUpdate(done=done, total=total):
                await channel.send_progress(done, total)
            case JobFinished(output=output):
                return Result(mcp.call_tool_result(text=output))
        return Stream(state)

    async def handle_close(self, channel: Channel, state: str | None) -> None:
        """Cancel the job of a client that left."""
        if state is not None:
            await queue.cancel(state)
