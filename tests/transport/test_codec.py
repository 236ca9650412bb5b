from __future__ import annotations

import json

import pytest

from genmcp.mcp import McpError, MethodNotFound
from genmcp.mcp import v2607 as mcp
from transport.codec import ModernCodec, no_answer


def test_a_result_echoes_its_id_and_is_200() -> None:
    status, payload = ModernCodec("a").final(mcp.call_tool_result(text="x"))
    assert (status, json.loads(payload)["id"], "result" in json.loads(payload)) == (200, "a", True)


@pytest.mark.parametrize(
    ("error", "status"), [(MethodNotFound("x"), 404), (McpError(17, "x"), 200), (McpError(17, "x", status=409), 409)]
)
def test_an_error_has_the_status_of_a_whole_answer(error: McpError, status: int) -> None:
    found, payload = ModernCodec(7).final(error)
    assert (found, json.loads(payload)) == (status, {"jsonrpc": "2.0", "id": 7, "error": error.to_dict()})


def test_a_notification_has_no_id() -> None:
    payload = json.loads(ModernCodec(7).notification(mcp.ToolListChangedNotification()))
    assert (payload["jsonrpc"], payload["method"], "id" in payload) == (
        "2.0",
        "notifications/tools/list_changed",
        False,
    )


def test_payloads_are_one_line() -> None:
    assert b"\n" not in ModernCodec(7).final(mcp.call_tool_result(text="one\ntwo\r\n"))[1]


def test_a_request_without_an_answer_is_an_internal_error() -> None:
    assert no_answer().code == -32603
