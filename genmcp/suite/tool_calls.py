"""How a `tools/call` runs: look up, validate, call, and make an outcome of what the tool returned."""

from __future__ import annotations

from typing import Any

from actors.exits import lone_leaf
from genmcp.callbacks import named
from genmcp.channel import Channel
from genmcp.errors import CallbackReturnError, ToolError
from genmcp.mcp import v2607 as mcp
from genmcp.server import Error, InputRequired, Result, Stop, Stream
from genmcp.suite.tool import Tool

EXPECTED = "CallToolResult, Result, Error, InputRequired or Stream"


class ToolStream:
    """A tool that holds its request open, with the state it carries: the owner of the worker's messages."""

    __slots__ = ("_state", "_tool")

    def __init__(self, tool: Tool[Any, Any], state: Any) -> None:
        self._tool = tool
        self._state = state

    async def handle_message(self, message: object, channel: Channel) -> Result | Error | Stream[Any] | Stop:
        """Give the tool one message."""
        try:
            outcome = await self._tool.handle_message(message, channel, self._state)
        except Exception as error:
            return failed(error, self._tool, "handle_message")
        return outcome if isinstance(outcome, Stop) else outcome_of(self._tool, "handle_message", outcome, channel)

    async def handle_close(self, channel: Channel) -> None:
        """Let the tool clean up."""
        await self._tool.handle_close(channel, self._state)


async def call_tool(
    tool: Tool[Any, Any], request: mcp.CallToolRequest, channel: Channel
) -> Result | Error | Stream[ToolStream]:
    """Carry out one call of a tool, under its timeout."""
    stage = channel.backstage
    timeout = tool.timeout if tool.timeout is not None else stage.settings.tool_timeout
    if timeout is not None:
        stage.limit_time(timeout)
    try:
        checked: object = await tool.validate(request)
        if not isinstance(checked, mcp.CallToolRequest):
            name = f"{type(tool).__name__}.validate of tool {tool.name!r}"
            raise CallbackReturnError(name, checked, "the CallToolRequest, checked")
        outcome = await tool.call(checked, channel)
    except Exception as error:
        return failed(error, tool, "call")
    return outcome_of(tool, "call", outcome, channel)


def failed(error: Exception, tool: Tool[Any, Any], callback: str) -> Result:
    """Return the result that shows a `ToolError` to the model, also one from a tool's own nursery; raise all else."""
    leaf = lone_leaf(error)
    if isinstance(leaf, ToolError):
        return Result(mcp.call_tool_result(error=str(leaf) or type(leaf).__name__))
    with named(f"{type(tool).__name__}.{callback} of tool {tool.name!r}"):
        raise error


def outcome_of(
    tool: Tool[Any, Any], callback: str, outcome: object, channel: Channel
) -> Result | Error | Stream[ToolStream]:
    """Return what the worker makes of a tool's return value.

    Raises:
        CallbackReturnError: The callback may not return that.
        OutputSchemaError: The structured content does not match the tool's output schema.
    """
    match outcome:
        case mcp.CallToolResult():
            return Result(tool.contract.checked(outcome))
        case Result(result=mcp.CallToolResult() as result):
            tool.contract.checked(result)
            return outcome
        case InputRequired(requests=requests, state=state):
            return Result(channel.backstage.conversation.input_required(requests, state))
        case Result(result=mcp.InputRequiredResult() as asked, stop_reason=reason):
            sealed = channel.backstage.conversation.input_required(asked.input_requests or {}, asked.request_state)
            return Result(sealed, reason)
        case Error():
            return outcome
        case Stream(state=state):
            return Stream(ToolStream(tool, state))
    raise CallbackReturnError(f"{type(tool).__name__}.{callback} of tool {tool.name!r}", outcome, EXPECTED)
