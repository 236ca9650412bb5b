"""What a real server answers: the shape of results, streams and notifications on the wire."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.interop.wire import (
    LOG_LEVEL,
    META,
    REVISION,
    SERVER,
    Json,
    call,
    events_of,
    headers_for,
    post,
    request,
    result_of,
)

if TYPE_CHECKING:
    from tests.interop.process import ServerProcess

pytestmark = pytest.mark.slow

WATCHED = {**META, "progressToken": "watch-1", LOG_LEVEL: "info"}


def notify(url: str, method: str, version: str | None = None) -> httpx.Response:
    body = {"jsonrpc": "2.0", "method": method, "params": {"requestId": 1}}
    return httpx.post(url, json=body, headers={} if version is None else {"MCP-Protocol-Version": version})


def test_a_server_listens_on_loopback_by_default(everything: ServerProcess) -> None:
    port = urlsplit(everything.url).port
    with socket.create_connection(("127.0.0.1", port), timeout=5), pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)  # would answer if it were bound to every address


@pytest.mark.parametrize("id", [0, 7, -1, "", "7", "ä"])
def test_the_id_comes_back_with_its_type(everything: ServerProcess, id: int | str) -> None:
    answer = post(everything.url, request("tools/list", id=id)).json()
    assert answer["id"] == id
    assert type(answer["id"]) is type(id)


@pytest.mark.parametrize(
    "body",
    [request("server/discover"), request("tools/list"), call("test_simple_text")],
    ids=lambda body: body["method"],
)
def test_every_result_says_its_type_and_server(everything: ServerProcess, body: Json) -> None:
    response = post(everything.url, body)
    assert response.headers["Content-Type"].startswith("application/json")
    assert response.json()["jsonrpc"] == "2.0"
    result = result_of(response)
    assert result["resultType"] == "complete"
    assert result["_meta"][SERVER] == {"name": "everything", "version": "1.0.0"}


def test_discover_describes_the_server(everything: ServerProcess, workshop: ServerProcess) -> None:
    result = result_of(post(everything.url, request("server/discover")))
    assert REVISION in result["supportedVersions"]
    assert result["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
        "prompts": {"listChanged": True},
        "completions": {},
        "logging": {},
    }
    assert (result["cacheScope"], result["ttlMs"]) == ("private", 0)
    assert "serverInfo" not in result
    fewer = result_of(post(workshop.url, request("server/discover")))
    assert set(fewer["capabilities"]) == {"tools", "logging"}


def test_tools_come_in_the_order_they_were_given(everything: ServerProcess) -> None:
    names = [
        [tool["name"] for tool in result_of(post(everything.url, request("tools/list")))["tools"]] for _ in range(3)
    ]
    assert names[0][:2] == ["test_simple_text", "test_image_content"]
    assert names[0] == names[1] == names[2]


def test_a_list_that_fits_one_page_has_no_cursor(everything: ServerProcess) -> None:
    result = result_of(post(everything.url, request("tools/list")))
    assert "nextCursor" not in result
    assert (result["cacheScope"], result["ttlMs"]) == ("private", 0)


def test_absent_arguments_are_an_empty_object(everything: ServerProcess) -> None:
    body = request("tools/call", {"name": "test_simple_text"})
    assert result_of(post(everything.url, body))["content"][0]["type"] == "text"


@pytest.mark.parametrize("extra", [{"task": {"ttl": 1}}, {"com.example": [1]}, {"inputResponses": {}}])
def test_unknown_members_are_tolerated(everything: ServerProcess, extra: Json) -> None:
    body = request("tools/call", {"name": "test_simple_text", **extra})
    assert "content" in result_of(post(everything.url, body))


def test_arguments_that_break_the_schema_are_a_tool_error(everything: ServerProcess) -> None:
    contact = {"name": 7, "contactMethod": "phone"}
    result = result_of(post(everything.url, call("json_schema_2020_12_tool", contact)))
    assert result["isError"] is True
    assert "name" in result["content"][0]["text"]
    assert "phone" in result["content"][0]["text"]


def test_structured_content_comes_with_its_text(everything: ServerProcess) -> None:
    contact = {"name": "Ada", "contactMethod": "email", "email": "ada@example.com"}
    result = result_of(post(everything.url, call("json_schema_2020_12_tool", contact)))
    assert result["structuredContent"] == contact
    assert json.loads(result["content"][0]["text"]) == contact


def test_a_stream_ends_with_the_response(workshop: ServerProcess) -> None:
    response = post(workshop.url, call("count", {"to": 2}, meta=WATCHED, id="c"))
    assert response.headers["X-Accel-Buffering"] == "no"
    events = events_of(response)
    assert [event.get("method") for event in events] == [
        "notifications/progress",
        "notifications/message",
        "notifications/progress",
        "notifications/message",
        None,
    ]
    assert events[-1]["id"] == "c"
    assert events[-1]["result"]["content"] == [{"type": "text", "text": "counted to 2"}]


def test_a_stream_cannot_be_resumed(workshop: ServerProcess) -> None:
    response = post(workshop.url, call("count", {"to": 2}, meta=WATCHED), set={"Last-Event-ID": "1"})
    assert not [line for line in response.text.splitlines() if line.startswith("id:")]
    assert len(events_of(response)) == 5


@pytest.mark.parametrize("token", ["7", 7, 0])
def test_progress_carries_the_token_and_increases(workshop: ServerProcess, token: str | int) -> None:
    body = call("count", {"to": 3}, meta={**META, "progressToken": token})
    events = [event["params"] for event in events_of(post(workshop.url, body)) if "method" in event]
    assert [event["progress"] for event in events] == [1, 2, 3]
    assert all(event["progressToken"] == token and type(event["progressToken"]) is type(token) for event in events)


def test_without_a_token_or_level_nothing_is_streamed(workshop: ServerProcess) -> None:
    response = post(workshop.url, call("count", {"to": 3}))
    assert result_of(response)["content"] == [{"type": "text", "text": "counted to 3"}]


def test_an_error_after_the_stream_began_is_its_last_event(workshop: ServerProcess) -> None:
    response = post(workshop.url, call("fail", {"way": "late_crash"}, id=9))
    assert response.status_code == 200
    (event,) = events_of(response)
    assert (event["id"], event["error"]["code"]) == (9, -32603)
    assert "a fault that no client may read" not in response.text


def test_an_error_of_a_handler_leaves_the_body_readable(workshop: ServerProcess) -> None:
    response = post(workshop.url, call("fail", {"way": "crash"}))
    assert (response.status_code, response.json()["error"]["code"]) == (200, -32603)
    assert "reference" in response.json()["error"]["data"]


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "notifications/unheard_of"])
def test_a_notification_is_accepted_without_a_body(everything: ServerProcess, method: str) -> None:
    response = notify(everything.url, method)
    assert (response.status_code, response.content) == (202, b"")


def test_a_notification_of_an_unserved_version_is_refused(everything: ServerProcess) -> None:
    response = notify(everything.url, "notifications/initialized", "2027-01-01")
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32022)
    assert "id" not in response.json()


def test_a_session_id_is_neither_used_nor_made(everything: ServerProcess) -> None:
    response = post(everything.url, request("tools/list"), set={"Mcp-Session-Id": "made-up", "Last-Event-ID": "3"})
    assert "tools" in result_of(response)
    assert "Mcp-Session-Id" not in response.headers


def test_two_clients_may_use_one_id_at_once(workshop: ServerProcess) -> None:
    bodies = [call("count", {"to": to}, meta=WATCHED, id=1) for to in (2, 3)]
    with (
        httpx.Client() as one,
        httpx.Client() as other,
        one.stream("POST", workshop.url, json=bodies[0], headers=headers_for(bodies[0])) as first,
    ):
        second = other.post(workshop.url, json=bodies[1], headers=headers_for(bodies[1]))
        first.read()
    texts = [events_of(response)[-1]["result"]["content"][0]["text"] for response in (first, second)]
    assert texts == ["counted to 2", "counted to 3"]


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "north"}, {"Mcp-Param-Region": "north"}),
        ({"region": "north"}, {"mcp-param-region": "north"}),
        ({"region": "Süd"}, {"Mcp-Param-Region": "=?base64?U8O8ZA==?="}),
        ({"region": "SGVsbG8="}, {"Mcp-Param-Region": "SGVsbG8="}),
        ({"region": "n", "shard": 42}, {"Mcp-Param-Region": "n", "Mcp-Param-Shard": "42.0"}),
        ({"region": "n"}, {"Mcp-Param-Region": "n", "Mcp-Param-Unheard": "ignored"}),
    ],
)
def test_header_parameters_equal_to_the_arguments_pass(workshop: ServerProcess, arguments: Json, headers: Any) -> None:
    result = result_of(post(workshop.url, call("place", arguments), set=headers))
    assert result["structuredContent"] == {"shard": 0, **arguments}


def test_no_header_is_expected_for_an_absent_or_null_argument(workshop: ServerProcess) -> None:
    for arguments in ({}, {"region": None}):
        assert result_of(post(workshop.url, call("place", arguments)))["isError"] is True


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "north"}, {}),
        ({"region": "north"}, {"Mcp-Param-Region": "south"}),
        ({"region": "north"}, {"Mcp-Param-Region": "North"}),
        ({"region": "Hello"}, {"Mcp-Param-Region": "=?base64?SGVsbG8?="}),
        ({"region": "Hello"}, {"Mcp-Param-Region": "=?base64?SGVs!!!bG8=?="}),
        ({"region": "n", "shard": 42}, {"Mcp-Param-Region": "n", "Mcp-Param-Shard": "41"}),
        ({"region": "n", "shard": 42}, {"Mcp-Param-Region": "n"}),
        ({}, {"Mcp-Param-Region": "n"}),
    ],
)
def test_header_parameters_that_differ_are_refused(workshop: ServerProcess, arguments: Json, headers: Any) -> None:
    response = post(workshop.url, call("place", arguments, id="p"), set=headers)
    assert response.status_code == 400
    assert (response.json()["error"]["code"], response.json()["id"]) == (-32020, "p")
