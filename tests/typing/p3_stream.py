import msgspec

from actors import message
from genmcp import Channel, Stream, Tool, tool
from genmcp.mcp import v2607 as mcp


@message("job.update")
class JobUpdate(msgspec.Struct, frozen=True):
    job: str
    done: int
    total: int


@message("job.finished")
class JobFinished(msgspec.Struct, frozen=True):
    job: str
    output: str


class Q:
    async def enqueue(self, q: str, reply_to: str) -> str:
        return "1"

    async def cancel(self, j: str) -> None: ...


queue = Q()


class RunInput(msgspec.Struct):
    query: str


class Run(Tool[RunInput, str]):
    name = "run"

    async def call(self, request: mcp.CallToolRequest[RunInput], channel: Channel) -> Stream[str]:
        return Stream(await queue.enqueue(request.params.arguments.query, reply_to=str(channel.pid)))

    async def handle_message(self, message: object, channel: Channel, state: str) -> mcp.CallToolResult | Stream[str]:
        match message:
            case JobUpdate(done=done, total=total):
                await channel.send_progress(done, total)
            case JobFinished(job=job, output=output) if job == state:
                return mcp.call_tool_result(text=output)
        return Stream(state)

    async def handle_close(self, channel: Channel, state: str) -> None:
        await queue.cancel(state)


@tool
async def run(query: str, channel: Channel) -> str:
    job = await queue.enqueue(query, reply_to=str(channel.pid))
    try:
        while True:
            match await channel.receive(timeout=600):
                case JobUpdate(done=done, total=total):
                    await channel.send_progress(done, total)
                case JobFinished(output=output):
                    return output
    except BaseException:
        await queue.cancel(job)
        raise
