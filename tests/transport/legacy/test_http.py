"""Sessions over HTTP, by status: what is served, what is refused, and that nothing is left."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from genmcp import tokens
from tests.transport.calls import Call, request
from tests.transport.legacy.talk import (
    ALL,
    JUNE,
    MARCH,
    NOVEMBER,
    Client,
    Place,
    open_place,
    rpc,
    text_of,
)

PING = rpc("ping", 3)
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
RESPONSE = {"jsonrpc": "2.0", "id": "never asked", "result": {}}


@pytest.mark.parametrize("version", ALL)
async def test_a_ping_is_answered_with_no_keys(place: Place, version: str) -> None:
    client = await place.client(version)
    assert await client.request("ping", "p") == {"jsonrpc": "2.0", "id": "p", "result": {}}


@pytest.mark.parametrize("version", ALL)
async def test_tools_are_called(place: Place, version: str) -> None:
    client = await place.client(version)
    assert text_of(await client.tool("echo", text="hello")) == "hello"


async def test_ids_keep_their_json_type(place: Place) -> None:
    client = await place.client()
    assert [(await client.request("ping", each))["id"] for each in (7, "7", "")] == [7, "7", ""]


@pytest.mark.parametrize("method", ["tasks/list", "server/discover", "subscriptions/listen", "no/such", "tasks/get"])
async def test_other_methods_are_unknown_with_status_200(place: Place, method: str) -> None:
    client = await place.client()
    reply = await client.post(rpc(method, 9))
    assert (reply.status, reply.code, reply.json["id"]) == (200, -32601, 9)


@pytest.mark.parametrize("message", [PING, INITIALIZED, RESPONSE, [PING]])
async def test_a_legacy_post_without_a_session_is_400(place: Place, message: Any) -> None:
    reply = await Client(place.app).call(Call(message=message, headers={"mcp-protocol-version": NOVEMBER}))
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_other_methods_without_a_session_are_400(place: Place, method: str) -> None:
    reply = await Client(place.app).call(Call(method=method))
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize("session", ["unknown", "", "é", "A" * 300])
async def test_an_unknown_session_is_404(place: Place, method: str, session: str) -> None:
    client = Client(place.app)
    client.session = session
    reply = await client.call(Call(message=PING, method=method, headers=client.headers()))
    assert (reply.status, reply.code) == (404, -32600)


async def test_a_forged_session_is_404(place: Place) -> None:
    client = await place.client()
    client.session = client.session[:-1] + ("A" if client.session[-1] != "A" else "B")
    assert (await client.post(PING)).status == 404


async def test_a_token_of_another_purpose_is_404(place: Place) -> None:
    client = Client(place.app)
    client.session = tokens.seal("cursor tools/list", {"version": NOVEMBER, "info": {}, "capabilities": {}})
    assert (await client.post(PING)).status == 404


async def test_an_expired_session_is_404_and_a_new_one_works(place: Place) -> None:
    client = await place.client()
    now = [0.0]
    ring = tokens.KeyRing([b"k" * 16 + bytes(range(16))], clock=lambda: now[0])
    before = tokens.use(ring)
    try:
        await client.open()
        assert (await client.post(PING)).status == 200
        now[0] += 86_401
        assert (await client.post(PING)).status == 404
        await client.open()
        assert (await client.post(PING)).status == 200
    finally:
        tokens.use(before)


async def test_another_principals_session_is_404(place: Place) -> None:
    mine = await place.client()
    thief = Client(place.app, state={"principal": "mallory"})
    thief.session = mine.session
    assert (await thief.post(PING)).status == 404
    assert (await mine.post(PING)).status == 200


async def test_an_ended_session_is_404_for_everything(place: Place) -> None:
    client = await place.client()
    reply = await client.delete()
    assert (reply.status, reply.body) == (200, b"")
    assert (await client.post(PING)).status == 404
    assert (await client.post(INITIALIZED)).status == 404
    assert (await client.delete()).status == 404
    assert (await client.call(Call(method="GET", headers=client.headers()))).status == 404


async def test_ending_a_session_stops_what_it_runs(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.calling("hold") as call, client.listening() as changes:
        await changes.until(lambda reply: reply.status)
        await call.until(lambda reply: reply.status)
        await client.delete()
        await call.until(lambda reply: reply.complete)
        await changes.until(lambda reply: reply.complete)
    await place.quiet()
    assert place.shop.notes == ["held client_gone"]
    assert place.kept == (0, 0)


@pytest.mark.parametrize("version", ["2024-11-05", "2099-01-01", "nonsense", ""])
async def test_a_version_header_that_is_not_served_is_400(place: Place, version: str) -> None:
    client = await place.client()
    reply = await client.post(PING, mcp_protocol_version=version)
    assert reply.status == 400


@pytest.mark.parametrize("header", [None, *ALL])
async def test_the_session_decides_over_a_served_header(place: Place, header: str | None) -> None:
    client = await place.client(JUNE)
    reply = await client.post(rpc("tools/call", name="version"), mcp_protocol_version=header)
    assert text_of(reply.json).startswith(JUNE)


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_a_foreign_page_is_403_whatever_it_asks(place: Place, method: str) -> None:
    client = await place.client()
    headers = client.headers(origin="https://evil.example")
    reply = await client.call(Call(message=PING, method=method, headers=headers))
    assert (reply.status, reply.code) == (403, -32600)
    assert (await client.post(PING)).status == 200


async def test_a_modern_request_ignores_the_session(place: Place) -> None:
    client = await place.client()
    headers = {"mcp-session-id": client.session, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
    reply = await client.call(Call(message=request("tools/list"), headers=headers))
    assert (reply.status, reply.json["result"]["resultType"]) == (200, "complete")


async def test_meta_of_today_under_a_legacy_header_is_refused(place: Place) -> None:
    client = await place.client()
    reply = await client.post(request("tools/list"), mcp_method="tools/list")
    assert (reply.status, reply.code) == (400, -32020)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_modern_requests_have_no_other_method(place: Place, method: str) -> None:
    client = await place.client()
    reply = await client.call(Call(method=method, headers={**client.headers(), "mcp-protocol-version": "2026-07-28"}))
    assert (reply.status, reply.headers["allow"]) == (405, "POST, GET, DELETE")


async def test_a_get_needs_a_client_that_takes_streams(place: Place) -> None:
    client = await place.client()
    reply = await client.call(Call(method="GET", headers=client.headers(accept="application/json")))
    assert (reply.status, reply.code) == (406, -32600)


async def test_a_response_to_no_question_is_taken(place: Place) -> None:
    client = await place.client()
    others: list[Any] = [{"jsonrpc": "2.0", "id": 5, "result": {}}, {"jsonrpc": "2.0", "id": None, "error": {}}]
    for message in (RESPONSE, *others):
        reply = await client.post(message)
        assert (reply.status, reply.body) == (202, b"")


@pytest.mark.parametrize(
    "notification",
    [
        {"method": "notifications/roots/list_changed"},
        {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        {"method": "notifications/cancelled", "params": {"requestId": "none such"}},
        {"method": "notifications/cancelled", "params": {"requestId": {}}},
        {"method": "notifications/cancelled", "params": 5},
        {"method": "notifications/cancelled"},
        {"method": "notifications/of/my/own"},
    ],
)
async def test_every_notification_is_taken(place: Place, notification: dict[str, Any]) -> None:
    client = await place.client()
    reply = await client.post({"jsonrpc": "2.0", **notification})
    assert (reply.status, reply.body) == (202, b"")
    assert place.node.snapshot() == ()


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 400, -32600),
        (rpc("tools/call", 1, arguments={}), 200, -32602),
        ({**rpc("tools/call", 1), "params": [1]}, 200, -32602),
        (rpc("tools/call", 1, name="nowhere"), 200, -32602),
        (rpc("tools/call", 1, name="crash"), 200, -32603),
        (rpc("resources/read", 1, uri="nothing://here"), 200, -32002),
        (rpc("prompts/get", 1, name="nothing"), 200, -32602),
        (rpc("tools/list", 1, cursor="nonsense"), 200, -32602),
        (rpc("logging/setLevel", 1, level="loud"), 200, -32602),
        (rpc("logging/setLevel", 1), 200, -32602),
        (rpc("resources/subscribe", 1, uri=5), 200, -32602),
        (rpc("resources/subscribe", 1, uri="a:" + "b" * 3000), 200, -32602),
    ],
)
async def test_every_failure_has_its_status_and_code(place: Place, message: Any, status: int, code: int) -> None:
    client = await place.client()
    reply = await client.post(message)
    assert (reply.status, reply.code) == (status, code)
    assert b"secret" not in reply.body


@pytest.mark.parametrize(("version", "null"), [(NOVEMBER, False), (JUNE, True)])
async def test_an_unreadable_id_is_null_for_older_clients(place: Place, version: str, null: bool) -> None:
    client = await place.client(version)
    reply = await client.call(Call(raw=b"{", headers=client.headers()))
    assert (reply.status, reply.code, "id" in reply.json) == (400, -32700, null)


async def test_malformed_meta_is_ignored(place: Place) -> None:
    client = await place.client()
    malformed: list[Any] = [5, [], {"progressToken": {}}, {"io.modelcontextprotocol/logLevel": "loud"}]
    for meta in malformed:
        assert text_of(await client.request("tools/call", name="echo", arguments={"text": "a"}, _meta=meta)) == "a"


async def test_what_only_a_retry_of_today_brings_is_ignored(place: Place) -> None:
    client = await place.client()
    params = {"name": "echo", "arguments": {"text": "a"}, "requestState": "x", "inputResponses": 5, "task": {"ttl": 1}}
    assert text_of(await client.request("tools/call", **params)) == "a"


async def test_the_level_is_kept_per_session(place: Place) -> None:
    first, second = await place.client(), await place.client()
    assert await first.request("logging/setLevel", level="error") == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert text_of(await first.tool("version")).endswith("error")
    assert text_of(await second.tool("version")).endswith("info")
    assert place.kept[0] == 1


async def test_a_full_server_answers_503(autojump_clock: MockClock) -> None:
    async with open_place(max_workers=1) as place:
        client = await place.client()
        async with client.calling("hold") as call:
            await call.until(lambda reply: reply.status)
            reply = await client.post(rpc("tools/call", 2, name="echo", arguments={"text": "a"}))
            assert (reply.status, reply.code, "retry-after" in reply.headers) == (503, -32603, True)
            assert (await client.cancel(1)).status == 202


async def test_progress_and_logs_come_on_the_posts_stream(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    params = {"name": "work", "arguments": {"steps": 2}, "_meta": {"progressToken": "t"}}
    reply = await client.post(rpc("tools/call", 1, **params))
    assert [each.get("method", "response") for each in reply.messages] == [
        "notifications/progress",
        "notifications/message",
        "notifications/progress",
        "notifications/message",
        "response",
    ]
    assert [each["params"]["progressToken"] for each in reply.messages if "progress" in each.get("method", "")] == [
        "t",
        "t",
    ]


async def test_a_client_without_streams_gets_one_json_object(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    message = rpc("tools/call", 1, name="work", arguments={}, _meta={"progressToken": 1})
    reply = await client.post(message, accept="application/json")
    assert (reply.is_stream, text_of(reply.json)) == (False, "done")


async def test_a_client_of_streams_only_gets_a_stream(place: Place) -> None:
    client = await place.client()
    reply = await client.post(PING, accept="text/event-stream")
    assert (reply.is_stream, reply.messages) == (True, [{"jsonrpc": "2.0", "id": 3, "result": {}}])


async def test_slow_work_becomes_a_stream_with_comments(autojump_clock: MockClock) -> None:
    async with open_place(keep_alive=1) as place:
        client = await place.client()
        reply = await client.post(rpc("tools/call", 1, name="work", arguments={"steps": 1, "pause": 3.5}))
    assert reply.is_stream
    assert reply.body.count(b":\n\n") == 3
    assert text_of(reply.messages[-1]) == "done"


@pytest.mark.parametrize(("version", "primed"), [(NOVEMBER, True), (JUNE, False), (MARCH, False)])
async def test_only_streams_of_november_are_primed(
    place: Place, version: str, primed: bool, autojump_clock: MockClock
) -> None:
    client = await place.client(version)
    reply = await client.post(rpc("tools/call", 1, name="work", arguments={}))
    first = reply.events[0]
    assert first.id is not None
    assert (first.data == "") == primed
    assert [event.retry for event in reply.events] == [None] * len(reply.events)


async def test_ids_of_events_are_unique_in_a_session(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    replies = [await client.post(rpc("tools/call", each, name="work", arguments={})) for each in range(3)]
    ids = [event.id for reply in replies for event in reply.events]
    assert len(ids) == len(set(ids))
    assert None not in ids
