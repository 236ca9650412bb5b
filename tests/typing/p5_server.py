from genmcp import Channel, Error, MethodNotFound, Result, Server, Stop, Stream
from genmcp.mcp import v2607 as mcp
from tests.typing.p3_stream import JobFinished, queue


class Jobs(Server[str | None]):
    async def init(self) -> str | None | Stop:
        return None

    async def handle_request(
        self, request: mcp.Request, channel: Channel, state: str | None
    ) -> Result | Error | Stream[str | None]:
        match request:
            case mcp.DiscoverRequest():
                return Result(mcp.discover_result(name="jobs", version="1", capabilities={"tools": True}))
            case mcp.ListToolsRequest():
                return Result(mcp.list_tools_result([mcp.Tool("run")]))
            case mcp.CallToolRequest(params=mcp.CallToolRequestParams(name="run", arguments=arguments)):
                return Stream(await queue.enqueue(arguments["q"], reply_to=str(channel.pid)))
        return Error(MethodNotFound(request.method))

    async def handle_message(
        self, message: object, channel: Channel, state: str | None
    ) -> Result | Error | Stream[str | None] | Stop:
        match message:
            case JobFinished(output=output):
                return Result(mcp.call_tool_result(text=output))
        return Stream(state)

    async def handle_close(self, channel: Channel, state: str | None) -> None:
        if state is not None:
            await queue.cancel(state)
