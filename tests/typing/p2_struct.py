import msgspec

from genmcp import Channel, Suite, Tool, ToolError
from genmcp.mcp import v2607 as mcp


class ReportInput(msgspec.Struct):
    city: str
    days: int = 7


class Report(Tool[ReportInput]):
    name = "report"

    def __init__(self, limit: int) -> None:
        self.limit = limit

    async def call(self, request: mcp.CallToolRequest[ReportInput], channel: Channel) -> mcp.CallToolResult:
        args = request.params.arguments
        if args.days > self.limit:
            raise ToolError(f"days must be <= {self.limit}")
        return mcp.call_tool_result(text=args.city)


class Raw(Tool):
    name = "raw"

    async def call(self, request: mcp.CallToolRequest, channel: Channel) -> mcp.CallToolResult:
        return mcp.call_tool_result(text=str(request.params.arguments["x"]))


suite = Suite(server_name="R", server_version="1", tools=[Report(limit=3), Raw()])
