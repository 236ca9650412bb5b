"""The endpoint as clients see it: every status, every body, and what browsers need."""

from __future__ import annotations

import gc
import logging
import random
import re
import weakref
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from genmcp import telemetry
from genmcp.mcp import McpError
from tests.transport.calls import META, Answer, Call, Probe, Site, mirrored, open_site, request
from transport.endpoint import endpoint

JSON = msgspec.json.encode


# -- answers


@pytest.mark.parametrize("name", ["add", "error", "progress"])
async def test_a_request_that_has_ended_is_freed_without_the_collector(site: Site, name: str) -> None:
    arguments = {"code": 1, "steps": 0, "a": 1}
    await site.tool(name, arguments)
    site.server.channels.clear()
    gc.collect()
    gc.disable()
    try:
        await site.tool(name, arguments)
        left = weakref.ref(site.server.channels.pop())
        assert left() is None
    finally:
        gc.enable()


async def test_a_result_is_one_object_with_its_length(site: Site) -> None:
    answer = await site.tool("add", {"a": 1})
    assert answer.status == 200
    assert answer.headers == {"content-type": "application/json", "content-length": str(len(answer.body))}
    assert answer.json["result"]["resultType"] == "complete"
    assert len(answer.pieces) == 1


@pytest.mark.parametrize("message_id", ["seven", "", 0, -1, 2**63, "7"])
async def test_ids_keep_their_type_and_value(site: Site, message_id: Any) -> None:
    answer = await site.post(request("tools/list", message_id))
    assert (answer.json["id"], type(answer.json["id"])) == (message_id, type(message_id))


async def test_progress_becomes_events_before_the_result(site: Site, autojump_clock: MockClock) -> None:
    answer = await site.post(
        request("tools/call", meta={"progressToken": "t"}, name="progress", arguments={"steps": 3})
    )
    assert answer.headers["content-type"] == "text/event-stream"
    assert [event["params"]["progress"] for event in answer.events[:-1]] == [1, 2, 3]
    assert (answer.events[-1]["id"], answer.complete) == (7, True)
    assert [round(at, 1) for at, piece in answer.pieces if b'progress"' in piece] == [0.1, 0.2, 0.3]


async def test_a_slow_call_gets_comments_and_then_its_result(autojump_clock: MockClock) -> None:
    async with open_site(keep_alive=0.2) as site:
        answer = await site.tool("sleep", {"seconds": 0.7})
    assert answer.body.count(b":\n\n") == 3
    assert [event["id"] for event in answer.events] == [7]


async def test_a_client_that_takes_only_json_waits(site: Site, autojump_clock: MockClock) -> None:
    answer = await site.tool("sleep", {"seconds": 100}, accept="application/json")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")


async def test_an_error_after_the_stream_began_is_an_event(autojump_clock: MockClock) -> None:
    async with open_site(keep_alive=0.2) as site:
        answer = await site.tool("sleep", {"seconds": 0.5, "then": -32601})
    assert (answer.status, [event["error"]["code"] for event in answer.events]) == (200, [-32601])


# -- every error that this server can produce (2.3 of the checklist)

LEGACY = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
MODERN = request("tools/list")
OF_TODAY = {"mcp-protocol-version": "2026-07-28"}
BAD_VERSION = request("tools/list", meta={META + "protocolVersion": "2099-01-01"})
ABSENT = object()

ERRORS: list[tuple[str, Call, int, int, Any]] = [
    ("parse error", Call(raw=b"{"), 400, -32700, ABSENT),
    ("empty body", Call(raw=b""), 400, -32700, ABSENT),
    ("byte order mark", Call(raw=b"\xef\xbb\xbf{}"), 400, -32700, ABSENT),
    ("bad utf-8", Call(raw=b'{"jsonrpc":"2.0","id":"\xff"}'), 400, -32700, ABSENT),
    ("batch", Call(raw=JSON([MODERN])), 400, -32600, ABSENT),
    ("posted result", Call(raw=b'{"jsonrpc":"2.0","id":7,"result":{}}'), 400, -32600, ABSENT),
    ("posted error", Call(raw=b'{"jsonrpc":"2.0","id":7,"error":{}}'), 400, -32600, ABSENT),
    ("null id", Call(raw=JSON({**MODERN, "id": None})), 400, -32600, ABSENT),
    ("fractional id", Call(raw=JSON({**MODERN, "id": 1.5})), 400, -32600, ABSENT),
    ("boolean id", Call(raw=JSON({**MODERN, "id": True})), 400, -32600, ABSENT),
    ("object id", Call(raw=JSON({**MODERN, "id": {}})), 400, -32600, ABSENT),
    ("jsonrpc", Call(raw=JSON({**MODERN, "jsonrpc": 2})), 400, -32600, 7),
    ("no method", Call(raw=b'{"jsonrpc":"2.0","id":7}'), 400, -32600, 7),
    ("method of a wrong type", Call(raw=JSON({**MODERN, "method": 5})), 400, -32600, 7),
    ("a number", Call(raw=b"5"), 400, -32600, ABSENT),
    ("method header", Call(message=MODERN, headers={"mcp-method": "x"}), 400, -32020, 7),
    ("method header twice", Call(message=MODERN, headers={"mcp-method": ["tools/list"] * 2}), 400, -32020, 7),
    ("method header of bytes", Call(message=MODERN, headers={"mcp-method": b"tools/list\xff"}), 400, -32020, 7),
    ("no method header", Call(message=MODERN, headers={"mcp-method": None}), 400, -32020, 7),
    ("no version header", Call(message=MODERN, headers={"mcp-protocol-version": None}), 400, -32020, 7),
    ("no name header", Call(message=request("tools/call", name="add"), headers={"mcp-name": None}), 400, -32020, 7),
    (
        "bad sentinel",
        Call(message=request("tools/call", name="add"), headers={"mcp-name": "=?base64?a?="}),
        400,
        -32020,
        7,
    ),
    ("param header", Call(message=request("tools/call", name="routed", arguments={"region": "eu"})), 400, -32020, 7),
    ("no _meta", Call(message={**MODERN, "params": {}}), 400, -32602, 7),
    ("version", Call(message=BAD_VERSION, headers={"mcp-protocol-version": "2099-01-01"}), 400, -32022, 7),
    ("legacy", Call(raw=JSON(LEGACY), headers={"mcp-protocol-version": "2025-06-18"}), 400, -32600, 7),
    ("unknown method", Call(message=request("no/such")), 404, -32601, 7),
    ("unadvertised method", Call(message=request("prompts/list")), 404, -32601, 7),
    ("malformed params", Call(message=request("tools/call", name="add", arguments=5)), 400, -32602, 7),
    ("params without a name", Call(message=request("tools/call")), 400, -32602, 7),
    ("wrong type under _meta", Call(message=request("tools/list", meta={"progressToken": []})), 400, -32602, 7),
    ("unknown log level", Call(message=request("tools/list", meta={META + "logLevel": "loud"})), 400, -32602, 7),
    ("missing capability", Call(message=request("tools/call", name="need")), 400, -32021, 7),
    (
        "an error of the author",
        Call(message=request("tools/call", name="error", arguments={"code": -32602})),
        200,
        -32602,
        7,
    ),
    ("an own code", Call(message=request("tools/call", name="error", arguments={"code": 17})), 200, 17, 7),
    (
        "an own status",
        Call(message=request("tools/call", name="error", arguments={"code": 17, "status": 409})),
        409,
        17,
        7,
    ),
    ("crash", Call(message=request("tools/call", name="crash")), 200, -32603, 7),
    ("a result that is not JSON", Call(message=request("tools/call", name="unserializable")), 200, -32603, 7),
    ("GET", Call(method="GET", headers=OF_TODAY), 405, -32600, ABSENT),
    ("DELETE", Call(method="DELETE", headers=OF_TODAY), 405, -32600, ABSENT),
    ("GET without a session", Call(method="GET"), 400, -32600, ABSENT),
    ("DELETE without a session", Call(method="DELETE"), 400, -32600, ABSENT),
    ("plain OPTIONS", Call(method="OPTIONS"), 405, -32600, ABSENT),
]


@pytest.mark.parametrize(("name", "call", "status", "code", "message_id"), ERRORS, ids=[name for name, *_ in ERRORS])
async def test_every_error_has_its_status_code_and_id(
    site: Site, name: str, call: Call, status: int, code: int, message_id: Any
) -> None:
    answer = await site.call(call)
    assert (answer.status, answer.code) == (status, code)
    assert answer.json.get("id", ABSENT) == message_id
    assert answer.json["jsonrpc"] == "2.0"
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert "secret" not in answer.body.decode()


async def test_405_names_the_methods_served(site: Site) -> None:
    answer = await site.call(Call(method="GET", headers=OF_TODAY))
    assert answer.headers["allow"] == "POST, GET, DELETE"


async def test_405_names_post_only_without_legacy() -> None:
    async with open_site(legacy=False) as site:
        answer = await site.call(Call(method="GET"))
        assert (answer.status, answer.headers["allow"]) == (405, "POST")


async def test_head_is_refused_without_a_body(site: Site) -> None:
    answer = await site.call(Call(method="HEAD"))
    assert (answer.status, answer.body) == (405, b"")


async def test_a_version_that_is_not_served_is_echoed(site: Site) -> None:
    answer = await site.call(Call(message=BAD_VERSION, headers={"mcp-protocol-version": "2099-01-01"}))
    assert answer.json["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


async def test_a_missing_capability_is_named(site: Site) -> None:
    answer = await site.tool("need")
    assert answer.json["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}


async def test_a_declared_body_over_the_limit_is_refused_unread() -> None:
    async with open_site(body_limit=1000) as site:
        call = Call(headers={"content-length": "100000000"}, pieces=[])
        assert (await site.call(call)).status == 413


async def test_a_body_of_exactly_the_limit_is_served() -> None:
    body = JSON(request("tools/list"))
    async with open_site(body_limit=len(body)) as site:
        headers = {**mirrored(request("tools/list")), "content-length": None}
        assert (await site.call(Call(raw=body, headers=headers))).status == 200
        assert (await site.call(Call(raw=body + b" ", headers=headers))).status == 413


async def test_a_body_that_stops_coming_is_refused_in_time(autojump_clock: MockClock) -> None:
    async with open_site(body_deadline=5) as site:
        before = trio.current_time()
        answer = await site.call(Call(pieces=[]))
        assert (answer.status, answer.code) == (408, -32600)
        assert 5 <= trio.current_time() - before <= 6.1


async def test_a_client_that_leaves_while_sending_gets_nothing(site: Site) -> None:
    answer = await site.call(Call(pieces=[], leave_after=0.01))
    assert (answer.status, site.server.channels) == (0, [])


# -- malformed input

NASTY = [
    b"",
    b"\x00",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"1e400",
    b"NaN",
    b'"\\ud800"',
    b"{}",
    b"[]",
    b"null",
    b"true",
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"a":{"b":[]}}}}',
    b'{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1e400,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","method":5}',
    b'{"jsonrpc":"2.0","method":"x","params":5}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
]


@pytest.mark.parametrize("raw", NASTY, ids=range(len(NASTY)))
async def test_malformed_bodies_are_never_a_fault_of_ours(site: Site, raw: bytes) -> None:
    for headers in ({}, mirrored(request("tools/list"))):
        answer = await site.call(Call(raw=raw, headers=headers))
        assert answer.status in (202, 400)


async def test_mutated_requests_are_never_a_fault_of_ours(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(20260728)
    good = request("tools/call", name="routed", arguments={"region": "eu"})
    for _ in range(400):
        body = bytearray(JSON(good))
        for _ in range(chance.randint(1, 4)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        answer = await site.call(Call(raw=bytes(body), headers={**mirrored(good), "mcp-param-region": "eu"}))
        assert answer.status in (200, 202, 400, 404), bytes(body)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize(
    "name",
    ["host", "origin", "accept", "content-type", "content-length", "mcp-method", "mcp-name", "mcp-protocol-version",
     "mcp-param-region", "access-control-request-method", "access-control-request-headers"],
)  # fmt: skip
async def test_nasty_headers_are_never_a_fault_of_ours(site: Site, name: str) -> None:
    message = request("tools/call", name="routed", arguments={"region": "eu"})
    for value in (b"", b"\xff\xfe", b"\x00", b",;=,", b"a" * 10_000, b"=?base64?\xff?=", b"[::1", b"://", b"9" * 5000):
        answer = await site.call(Call(message=message, headers={"mcp-param-region": "eu", name: value}))
        assert answer.status in (200, 400, 403, 406, 413, 415, 421), value


# -- browsers


PAGE = "https://app.example.com"


async def preflight(site: Site, **headers: Any) -> Answer:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,mcp-method"}
    return await site.call(Call(method="OPTIONS", headers={"content-type": None, **asked, **headers}))


async def test_a_preflight_is_answered_before_all_checks() -> None:
    async with open_site(allowed_origins=[PAGE]) as site:
        answer = await preflight(site, origin=PAGE, host="not.ours.example", accept="text/html")
        assert (answer.status, answer.body, "content-length" in answer.headers) == (204, b"", False)
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert answer.headers["access-control-allow-headers"] == "authorization, mcp-method"


async def test_a_preflight_of_a_foreign_page_is_refused(site: Site) -> None:
    answer = await preflight(site, origin=PAGE)
    assert (answer.status, answer.code, "access-control-allow-origin" in answer.headers) == (403, -32600, False)


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (Call(message=request("tools/list")), 200),
        (Call(message=request("no/such")), 404),
        (Call(message=request("tools/list"), headers={"host": "not.ours.example"}), 421),
        (Call(message=request("tools/list"), headers={"accept": "text/html"}), 406),
        (Call(method="GET"), 400),
        (Call(method="GET", headers=OF_TODAY), 405),
        (Call(raw=b"{"), 400),
        (Call(raw=b'{"jsonrpc":"2.0","method":"notifications/initialized"}'), 202),
        (Call(message=request("tools/call", meta={"progressToken": 1}, name="progress", arguments={"steps": 1})), 200),
    ],
)
async def test_an_allowed_page_may_read_every_answer(call: Call, status: int, autojump_clock: MockClock) -> None:
    async with open_site(allowed_origins=[PAGE]) as site:
        call = msgspec.structs.replace(call, headers={**call.headers, "origin": PAGE})
        answer = await site.call(call)
        assert (answer.status, answer.headers.get("access-control-allow-origin")) == (status, PAGE)
        assert "www-authenticate" in answer.headers["access-control-expose-headers"]


async def test_a_caller_that_is_no_browser_gets_no_cors(site: Site) -> None:
    answer = await site.post(request("tools/list"))
    assert [name for name in answer.headers if name.startswith("access-control")] == []


async def test_an_allowed_host_is_served_after_a_refusal_that_says_how() -> None:
    async with open_site() as site:
        answer = await site.post(request("tools/list"), host="mcp.example.com")
        assert answer.status == 421
        assert re.search(r"'mcp\.example\.com'.*allowed_hosts", answer.json["error"]["message"])
    async with open_site(allowed_hosts=["mcp.example.com"]) as site:
        assert (await site.post(request("tools/list"), host="mcp.example.com:443")).status == 200


# -- faults of this side, and what is told


async def test_a_fault_of_ours_is_masked_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def principal(scope: Any) -> str:
        raise OSError("secret")

    events: list[tuple[str, dict[str, Any]]] = []
    detach = telemetry.attach(lambda event, metadata: events.append((event, metadata)))
    try:
        async with open_site(principal=principal) as site:
            answer = await site.post(request("tools/list"))
    finally:
        detach()
    assert (answer.status, answer.code, answer.json["id"]) == (500, -32603, 7)
    reference = answer.json["error"]["data"]["reference"]
    assert reference in caplog.text
    assert "secret" in caplog.text
    assert "secret" not in answer.body.decode()
    assert ("transport.server_crashed", {"method": "tools/list", "reference": reference}) in events


async def test_refusals_are_told_to_telemetry(site: Site) -> None:
    events: list[tuple[str, dict[str, Any]]] = []
    detach = telemetry.attach(lambda event, metadata: events.append((event, metadata)))
    try:
        await site.call(Call(message=BAD_VERSION, headers={"mcp-protocol-version": "2099-01-01"}))
        await site.call(Call(raw=b"{"))
        await site.tool("error", {"code": -32602})
    finally:
        detach()
    names = [name for name, _ in events if name.startswith("transport.")]
    assert names == ["transport.version_rejected", "transport.request_rejected"]
    assert dict(events)["transport.version_rejected"] == {"requested": "2099-01-01"}
    assert dict(events)["transport.request_rejected"]["code"] == -32700


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "mcp"}, "must start with a slash"),
        ({"allowed_hosts": ["https://x"]}, "is not a host name"),
        ({"allowed_origins": "https://x"}, "list of strings"),
    ],
)
def test_wrong_options_are_refused_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        endpoint(Probe(), **options)


async def test_an_mcp_error_of_the_principal_refuses_the_request() -> None:
    def principal(scope: Any) -> str:
        raise McpError(-32602, "who are you?", status=401)

    async with open_site(principal=principal) as site:
        answer = await site.post(request("tools/list"))
        assert (answer.status, answer.code, answer.json["id"]) == (401, -32602, 7)
