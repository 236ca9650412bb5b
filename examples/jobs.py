"""A queue that runs a few jobs at once, and a tool that hands it a job and streams how it goes.

    python -m genmcp serve examples/jobs.py

The queue watches who waits for a job: when a client leaves, its job is taken out of the queue, or stopped. So the tool
has nothing to clean up.
"""

from collections import deque

import msgspec
import trio

import actors
from actors import Child, Crashed, Delivery, Down, Pid, Ref
from genmcp import Channel, Stream, Suite, Tool, ToolError
from genmcp.mcp import v2607 as mcp

AT_ONCE = 2


class Job(msgspec.Struct, frozen=True):
    words: list[str]
    caller: Pid


class Progress(msgspec.Struct, frozen=True):
    done: int
    total: int


class Finished(msgspec.Struct, frozen=True):
    output: str


class Failed(msgspec.Struct, frozen=True):
    why: str


async def work(job: Job) -> None:
    """The actor of one job."""
    registry = actors.current().registry
    output = []
    for done, word in enumerate(job.words, 1):
        await trio.sleep(0.2)
        output.append(word.encode("ascii").decode().upper())
        registry.send(job.caller, Progress(done, len(job.words)))
    registry.send(job.caller, Finished(" ".join(output)))


async def queue() -> None:
    """The actor that starts jobs in their order, and forgets those that nobody waits for."""
    me = actors.current()
    waiting: deque[Job] = deque()
    running: dict[Ref, tuple[Pid, Job]] = {}  # by the monitor of the job's actor
    callers: dict[Ref, Job] = {}  # by the monitor of whoever waits
    while True:
        match await me.receive():
            case Job() as job:
                waiting.append(job)
                callers[me.registry.monitor(job.caller)] = job
            case Down(ref=ref, reason=reason) if ref in running:
                _, job = running.pop(ref)
                if isinstance(reason, Crashed):
                    me.registry.send(job.caller, Failed(str(reason.error)))
            case Down(ref=ref) if ref in callers:
                left = callers.pop(ref)
                if left in waiting:
                    waiting.remove(left)
                for pid, job in running.values():
                    if job is left:
                        me.registry.stop(pid)
        while waiting and len(running) < AT_ONCE:
            job = waiting.popleft()
            pid = me.node.spawn(work, job)
            running[me.registry.monitor(pid)] = (pid, job)


class ShoutInput(msgspec.Struct):
    text: str


class Shout(Tool[ShoutInput, str]):
    """Shouts a text, word by word."""

    name = "shout"

    async def call(self, request: mcp.CallToolRequest[ShoutInput], channel: Channel) -> Stream[str]:
        text = request.params.arguments.text
        delivery = channel.registry.send("queue", Job(text.split(), channel.pid))
        if delivery is not Delivery.DELIVERED:
            raise ToolError("the queue takes no jobs now; try again later")
        return Stream(text)

    async def handle_message(self, message: object, channel: Channel, state: str) -> mcp.CallToolResult | Stream[str]:
        match message:
            case Progress(done=done, total=total):
                await channel.send_progress(done, total)
            case Finished(output=output):
                return mcp.call_tool_result(text=output)
            case Failed(why=why):
                raise ToolError(f"{state!r} cannot be shouted: {why}")
        return Stream(state)


suite = Suite(server_name="Jobs", server_version="1", tools=[Shout], children=[Child(queue, name="queue")])
