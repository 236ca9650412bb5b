"""What a real server refuses, by row of the ladder of checks: the HTTP status, the code, the id."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.interop.conformance import EVERYTHING
from tests.interop.process import serving
from tests.interop.wire import (
    CAPABILITIES,
    CLIENT,
    LOG_LEVEL,
    META,
    REVISION,
    VERSION,
    Json,
    call,
    headers_for,
    post,
    post_bytes,
    request,
    result_of,
)

if TYPE_CHECKING:
    from tests.interop.process import ServerProcess

pytestmark = pytest.mark.slow

LIST = request("tools/list")


def refusal(response: httpx.Response) -> tuple[int, int]:
    """The status and the code of a refusal, which always has a JSON-RPC body."""
    body = response.json()
    assert body["jsonrpc"] == "2.0"
    assert isinstance(body["error"]["message"], str)
    return response.status_code, body["error"]["code"]


def without(meta: str) -> dict[str, Any]:
    return {key: value for key, value in META.items() if key != meta}


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example"])
def test_a_foreign_origin_is_forbidden(everything: ServerProcess, origin: str) -> None:
    assert refusal(post(everything.url, LIST, set={"Origin": origin})) == (403, -32600)


def test_an_absent_origin_is_accepted(everything: ServerProcess) -> None:
    assert "tools" in result_of(post(everything.url, LIST))


def test_a_foreign_host_is_misdirected(everything: ServerProcess) -> None:
    assert refusal(post(everything.url, LIST, set={"Host": "evil.example"})) == (421, -32600)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_other_http_methods_are_not_allowed(everything: ServerProcess, method: str) -> None:
    headers = {"Accept": "text/event-stream", "MCP-Protocol-Version": REVISION}
    response = httpx.request(method, everything.url, headers=headers)
    assert response.status_code == 405
    assert "POST" in response.headers["Allow"]


def test_a_body_that_is_not_called_json_is_refused(everything: ServerProcess) -> None:
    assert refusal(post(everything.url, LIST, set={"Content-Type": "text/plain"})) == (415, -32600)


def test_a_client_that_takes_neither_answer_is_refused(everything: ServerProcess) -> None:
    assert refusal(post(everything.url, LIST, set={"Accept": "text/html"})) == (406, -32600)


@pytest.mark.parametrize(
    "content", [b"{", b"", b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', b"\xef\xbb\xbf{}", b'{"id": NaN}']
)
def test_bytes_that_are_not_utf8_json_are_a_parse_error(everything: ServerProcess, content: bytes) -> None:
    response = post(everything.url, LIST, content=content)
    assert refusal(response) == (400, -32700)
    assert "id" not in response.json()


@pytest.mark.parametrize(
    "message",
    [
        [LIST],
        [],
        "tools/list",
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {**LIST, "id": None},
        {**LIST, "id": 1.5},
        {**LIST, "id": True},
        {**LIST, "id": {}},
        {**LIST, "jsonrpc": "1.0"},
        {key: value for key, value in LIST.items() if key != "jsonrpc"},
        {**LIST, "method": 7},
    ],
)
def test_what_is_not_one_request_is_invalid(everything: ServerProcess, message: object) -> None:
    assert refusal(post(everything.url, LIST, content=json.dumps(message).encode())) == (400, -32600)


@pytest.mark.parametrize("missing", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_a_missing_header_is_a_mismatch(everything: ServerProcess, missing: str) -> None:
    assert refusal(post(everything.url, call("test_simple_text"), drop=missing)) == (400, -32020)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("MCP-Protocol-Version", "2027-01-01"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", "TOOLS/CALL"),
        ("Mcp-Method", "=?base64?dG9vbHMvY2FsbA==?="),
        ("Mcp-Name", "another_tool"),
        ("Mcp-Name", "Test_simple_text"),
        ("Mcp-Name", "=?base64?bm90IGl0?="),
        ("Mcp-Name", "=?base64?!!!!?="),
        ("Mcp-Name", ""),
    ],
)
def test_a_header_that_differs_from_the_body_is_a_mismatch(everything: ServerProcess, header: str, value: str) -> None:
    response = post(everything.url, call("test_simple_text", id="seven"), set={header: value})
    assert refusal(response) == (400, -32020)
    assert response.json()["id"] == "seven"


@pytest.mark.parametrize(
    "line", [b"Mcp-Name: test_simple_text\x01", b"Mcp-Name: test_simple_text\xff", b"Mcp-Name: \xc3\xa9"]
)
def test_a_header_with_invalid_characters_is_refused(everything: ServerProcess, line: bytes) -> None:
    status, body = post_bytes(everything.url, call("test_simple_text"), line)
    assert status == 400
    assert body.strip() != b""


@pytest.mark.parametrize(
    "line",
    [
        b"Mcp-Name: test_simple_text\r\nMcp-Name: test_image_content",
        b"Mcp-Method: tools/call\r\nMcp-Method: tools/list",
    ],
)
def test_a_repeated_header_is_refused(everything: ServerProcess, line: bytes) -> None:
    status, body = post_bytes(everything.url, call("test_simple_text"), line)
    assert status == 400
    assert json.loads(body)["error"]["code"] == -32020


@pytest.mark.parametrize("name", ["mcp-method", "MCP-METHOD", "mCp-MeThOd"])
def test_header_names_may_have_any_case(everything: ServerProcess, name: str) -> None:
    assert "tools" in result_of(post(everything.url, LIST, drop="Mcp-Method", set={name: "tools/list"}))


@pytest.mark.parametrize("value", [b"  test_simple_text \t ", b"=?base64?dGVzdF9zaW1wbGVfdGV4dA==?="])
def test_a_name_may_be_padded_or_encoded(everything: ServerProcess, value: bytes) -> None:
    status, body = post_bytes(everything.url, call("test_simple_text"), b"Mcp-Name:" + value)
    assert status == 200, body


@pytest.mark.parametrize("meta", [{}, without(VERSION), without(CAPABILITIES)])
def test_missing_meta_is_invalid_and_keeps_the_id(everything: ServerProcess, meta: dict[str, Any]) -> None:
    response = post(everything.url, request("tools/list", meta=meta, id=77))
    assert refusal(response) == (400, -32602)
    assert response.json()["id"] == 77


@pytest.mark.parametrize("spoilt", [{"params": None}, {"params": []}, {"params": {"_meta": 3}}, {"params": {}}])
def test_params_without_meta_are_invalid(everything: ServerProcess, spoilt: Json) -> None:
    body = {**LIST, **spoilt}
    assert refusal(post(everything.url, LIST, content=json.dumps(body).encode())) == (400, -32602)


def test_a_client_may_stay_anonymous(everything: ServerProcess) -> None:
    assert "tools" in result_of(post(everything.url, request("tools/list", meta=without(CLIENT))))


@pytest.mark.parametrize("version", ["2027-01-01", "v999.0.0", "2026-07-29"])
@pytest.mark.parametrize("method", ["tools/list", "server/discover"])
def test_an_unserved_version_is_told_which_are_served(everything: ServerProcess, method: str, version: str) -> None:
    body = request(method, meta={**META, VERSION: version})
    response = post(everything.url, body, set={"MCP-Protocol-Version": version})
    assert refusal(response) == (400, -32022)
    assert response.json()["error"]["data"] == {"supported": [REVISION], "requested": version}


@pytest.mark.parametrize(
    "method",
    ["unknown/method", "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"],
)
def test_a_method_of_no_or_another_revision_is_not_found(everything: ServerProcess, method: str) -> None:
    response = post(everything.url, request(method, id=5))
    assert refusal(response) == (404, -32601)
    assert response.json()["id"] == 5


@pytest.mark.parametrize("method", ["prompts/list", "resources/list", "resources/templates/list"])
def test_a_method_without_its_capability_is_not_found(workshop: ServerProcess, method: str) -> None:
    assert refusal(post(workshop.url, request(method))) == (404, -32601)


def test_a_missing_capability_names_what_is_needed(everything: ServerProcess) -> None:
    response = post(everything.url, call("test_missing_capability"))
    assert refusal(response) == (400, -32021)
    assert response.json()["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}


def test_a_capability_counts_only_for_its_own_request(everything: ServerProcess) -> None:
    able = call("test_missing_capability", meta={**META, CAPABILITIES: {"sampling": {}}})
    with httpx.Client() as connection:
        statuses = [
            connection.post(everything.url, json=body, headers=headers_for(body)).status_code
            for body in (able, call("test_missing_capability"), able)
        ]
    assert statuses == [200, 400, 200]


def test_an_unknown_tool_is_invalid_params_and_stays_readable(everything: ServerProcess) -> None:
    response = post(everything.url, call("nowhere"))
    assert refusal(response) == (200, -32602)


def test_arguments_that_are_no_object_are_malformed(everything: ServerProcess) -> None:
    body = request("tools/call", {"name": "test_simple_text", "arguments": [1]})
    assert refusal(post(everything.url, body)) == (400, -32602)


def test_an_unknown_log_level_is_refused(everything: ServerProcess) -> None:
    body = call("test_simple_text", meta={**META, LOG_LEVEL: "loud"})
    assert refusal(post(everything.url, body))[1] == -32602


def test_a_legacy_handshake_is_told_which_versions_are_served() -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    with serving(EVERYTHING, "--no-legacy") as modern_only:
        response = httpx.post(modern_only.url, json=body, headers=headers)
        assert response.status_code == 400
        assert REVISION in response.text
        assert httpx.get(modern_only.url).status_code == 405
