"""What authors write must satisfy the type checkers: this file is checked by both, and it runs."""

from typing import Any, assert_type

import msgspec
import pytest

from genmcp.mcp import MethodNotFound
from genmcp.mcp import v2607 as mcp


class ReportInput(msgspec.Struct):
    city: str
    days: int = 7


def typed_call(request: mcp.CallToolRequest[ReportInput]) -> mcp.CallToolResult:
    arguments = request.params.arguments
    assert_type(arguments, ReportInput)
    return mcp.call_tool_result(text=arguments.city)


def raw_call(request: mcp.CallToolRequest) -> mcp.CallToolResult:
    assert_type(request.params.arguments, dict[str, Any])
    return mcp.call_tool_result(text=str(request.params.arguments["x"]))


def route(request: mcp.Request) -> mcp.ServerResult:
    match request:
        case mcp.DiscoverRequest():
            return mcp.discover_result(name="jobs", version="1", capabilities={"tools": True})
        case mcp.ListToolsRequest():
            return mcp.list_tools_result([mcp.Tool("run")])
        case mcp.CallToolRequest(params=mcp.CallToolRequestParams(name="run", arguments=arguments)):
            return mcp.call_tool_result(text=arguments["q"])
        case mcp.CallToolRequest() as call:
            return raw_call(call)
    raise MethodNotFound(request.method)


def call(name: str, **arguments: Any) -> mcp.CallToolRequest:
    return mcp.CallToolRequest(id=1, params=mcp.CallToolRequestParams(name=name, arguments=arguments))


def test_request_is_matched_by_its_params() -> None:
    assert route(call("run", q="a")) == mcp.call_tool_result(text="a")
    assert route(call("other", x="b")) == mcp.call_tool_result(text="b")


def test_unmatched_request_knows_its_method() -> None:
    request = mcp.ListPromptsRequest(id=1, params=mcp.PaginatedRequestParams())
    with pytest.raises(MethodNotFound, match="prompts/list"):
        route(request)


def test_arguments_can_be_replaced_by_a_struct() -> None:
    raw = call("report", city="Rome")
    params: mcp.CallToolRequestParams[ReportInput] = mcp.CallToolRequestParams(
        name=raw.params.name, arguments=msgspec.convert(raw.params.arguments, ReportInput), meta=raw.params.meta
    )
    assert typed_call(mcp.CallToolRequest(id=raw.id, params=params)) == mcp.call_tool_result(text="Rome")


def test_decoding_as_a_class_gives_that_class() -> None:
    tool = mcp.decode_as(mcp.Tool, {"name": "a"})
    assert_type(tool, mcp.Tool)
    assert tool.name == "a"


def test_subscription_filter_reads_as_flags() -> None:
    requested = mcp.SubscriptionFilter(tools_list_changed=True)
    assert requested.tools_list_changed
    assert not requested.prompts_list_changed
