"""What a revision does not have is not sent to its clients; what is sent fits its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from trio.testing import MockClock

from genmcp.mcp import McpError, ResourceNotFound, UnknownTool
from genmcp.mcp import v2607 as mcp
from tests.transport.legacy.talk import ALL, JUNE, MARCH, NOVEMBER, Place, text_of
from transport.legacy.down import error_down, notification_down, result_down
from transport.legacy.revision import REVISIONS, Revision

SCHEMAS = Path(__file__).parents[3] / ".." / "shared" / "spec"
RESULTS = {
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "initialize": "InitializeResult",
}


def revision(version: str) -> Revision:
    return REVISIONS[version]


def check_fits(version: str, definition: str, value: Any) -> None:
    """Check a value against a revision's own schema, where that lies beside the project."""
    file = SCHEMAS / version / "schema.json"
    if not file.exists():
        pytest.skip("the schemas do not lie beside the project")
    schema = json.loads(file.read_text())
    home = "$defs" if "$defs" in schema else "definitions"
    jsonschema_rs.validate({**schema, "$ref": f"#/{home}/{definition}"}, value)


@pytest.mark.parametrize("version", [NOVEMBER, JUNE])
async def test_every_result_fits_the_schema_of_its_revision(place: Place, version: str) -> None:
    client = await place.client(version)
    check_fits(version, "InitializeResult", client.opened)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("tools/list", {}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "file:///a"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "greet", "arguments": {"who": "Ada"}}),
        *(("tools/call", {"name": name}) for name in ("ratio", "numbers", "links", "echo")),
    ]
    for method, params in calls:
        response = await client.request(method, **params)
        check_fits(version, RESULTS[method], response["result"])


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize("method", ["tools/list", "resources/list", "prompts/list", "resources/templates/list"])
async def test_nothing_of_today_is_on_a_list(place: Place, version: str, method: str) -> None:
    client = await place.client(version)
    result = (await client.request(method))["result"]
    assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & set(result)
    text = json.dumps(result)
    assert ('"icons"' in text) == (version == NOVEMBER and method != "resources/templates/list")
    if version == MARCH:
        assert '"title"' not in text.replace('"title": "Text"', "")


async def tools(place: Place, version: str) -> dict[str, Any]:
    client = await place.client(version)
    return {tool["name"]: tool for tool in (await client.request("tools/list"))["result"]["tools"]}


@pytest.mark.parametrize(("version", "objects"), [(NOVEMBER, True), (JUNE, True), (MARCH, False)])
async def test_output_schemas_are_those_of_objects(place: Place, version: str, objects: bool) -> None:
    found = await tools(place, version)
    assert ("outputSchema" in found["ratio"]) == objects
    assert "outputSchema" not in found["numbers"]


@pytest.mark.parametrize(("version", "objects"), [(NOVEMBER, True), (JUNE, True), (MARCH, False)])
async def test_structured_content_is_an_object(place: Place, version: str, objects: bool) -> None:
    client = await place.client(version)
    ratio, numbers = await client.tool("ratio"), await client.tool("numbers")
    assert ("structuredContent" in ratio["result"]) == objects
    assert "structuredContent" not in numbers["result"]
    assert (text_of(ratio), json.loads(text_of(numbers))) == ('{"ratio":0.5}', [1, 2])


@pytest.mark.parametrize(("version", "kind"), [(NOVEMBER, "resource_link"), (JUNE, "resource_link"), (MARCH, "text")])
async def test_march_reads_links_as_text(place: Place, version: str, kind: str) -> None:
    client = await place.client(version)
    (block,) = (await client.tool("links"))["result"]["content"]
    assert block["type"] == kind
    if version == MARCH:
        assert block["text"] == "[Hours](shop://hours): When it is open"


@pytest.mark.parametrize("version", ALL)
async def test_messages_of_prompts_are_converted_too(place: Place, version: str) -> None:
    client = await place.client(version)
    messages = (await client.request("prompts/get", name="greet"))["result"]["messages"]
    assert messages[1]["content"]["type"] == ("text" if version == MARCH else "resource_link")


@pytest.mark.parametrize("version", ALL)
def test_own_meta_is_kept_and_reserved_meta_is_not(version: str) -> None:
    result = mcp.CallToolResult(content=[], meta={"mine": 1, "io.modelcontextprotocol/serverInfo": {}})
    assert result_down(result, revision(version)) == {"content": [], "_meta": {"mine": 1}}


def test_a_call_always_has_content() -> None:
    assert result_down(mcp.CallToolResult(content=[]), revision(JUNE)) == {"content": []}


def test_an_acknowledgement_is_nothing_to_them() -> None:
    params = mcp.SubscriptionsAcknowledgedNotificationParams(notifications=mcp.SubscriptionFilter())
    assert notification_down(mcp.SubscriptionsAcknowledgedNotification(params=params)) is None


def test_a_subscription_id_is_taken_off() -> None:
    params = mcp.ResourceUpdatedNotificationParams(uri="a:b", meta={"io.modelcontextprotocol/subscriptionId": 1})
    plain = notification_down(mcp.ResourceUpdatedNotification(params=params))
    assert plain == {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b"}}


def test_only_a_missing_resource_has_another_code() -> None:
    missing = error_down(ResourceNotFound("a:b"))
    assert (missing.code, missing.data) == (-32002, {"uri": "a:b"})
    for error in (UnknownTool("a"), McpError(17, "own")):
        assert error_down(error) is error


async def test_progress_and_logs_fit_the_schema(place: Place, autojump_clock: MockClock) -> None:
    for version in (NOVEMBER, JUNE):
        client = await place.client(version)
        async with client.calling("work") as call:
            await call.until(lambda reply: reply.complete)
        for message in call.messages[:-1]:
            check_fits(version, "ServerNotification", message)
