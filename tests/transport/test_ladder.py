"""The order of checks: of two faults, every server names the earlier one."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from trio.testing import MockClock

from tests.transport.calls import META, Call, open_site, request

Fault = Callable[[Call], Any]


def header(**values: Any) -> Fault:
    return lambda call: call.headers.update({name.replace("_", "-"): value for name, value in values.items()})


def message(**values: Any) -> Fault:
    return lambda call: call.message.update(values)


def attribute(**values: Any) -> Fault:
    def apply(call: Call) -> None:
        for name, value in values.items():
            setattr(call, name, value)

    return apply


def meta(**values: Any) -> Fault:
    def apply(call: Call) -> None:
        for name, value in values.items():
            call.message["params"]["_meta"][META + name] = value

    return apply


def no_meta(call: Call) -> None:
    call.message["params"].pop("_meta", None)


def unserved(call: Call) -> None:
    meta(protocolVersion="2099-01-01")(call)
    call.headers["mcp-protocol-version"] = "2099-01-01"


def unknown(call: Call) -> None:
    call.message["method"] = call.headers["mcp-method"] = "no/such"


def malformed(call: Call) -> None:
    call.message["params"]["arguments"] = [1]


LADDER: list[tuple[str, int, int, Fault]] = [
    ("host", 421, -32600, header(host="evil.example")),
    ("origin", 403, -32600, header(origin="https://page.example")),  # no page of the host above: it would be its own
    ("path", 404, -32600, attribute(path="/other")),
    ("http method", 405, -32600, attribute(method="PUT")),
    ("header size", 431, -32600, header(cookie="x" * 70_000)),
    ("content type", 415, -32600, header(content_type="text/plain")),
    ("accept", 406, -32600, header(accept="text/html")),
    ("declared length", 413, -32600, header(content_length="100000000")),
    ("body size", 413, -32600, attribute(pieces=[b"x" * 2**21] * 3)),
    ("json", 400, -32700, attribute(raw=b"{")),
    ("envelope", 400, -32600, message(jsonrpc="1.0")),
    ("mcp-method", 400, -32020, header(mcp_method="tools/list")),
    ("mcp-name", 400, -32020, header(mcp_name="other")),
    ("no _meta", 400, -32602, no_meta),
    ("mcp-protocol-version", 400, -32020, header(mcp_protocol_version="2026-01-01")),
    ("version", 400, -32022, unserved),
    ("unknown method", 404, -32601, unknown),
    ("params", 400, -32602, malformed),
    ("mcp-param", 400, -32020, header(mcp_param_region="us")),
]
NAMES = [name for name, *_ in LADDER]

IMPOSSIBLE = {
    # Two faults that need the same part of the request, or of which one hides the part that the other spoils.
    ("body size", "json"),
    ("mcp-method", "unknown method"),
    ("mcp-name", "unknown method"),
    ("no _meta", "mcp-protocol-version"),
    ("no _meta", "version"),
    ("mcp-protocol-version", "version"),
}


def good() -> Call:
    call = Call(message=copy.deepcopy(request("tools/call", name="routed", arguments={"region": "eu"})))
    call.headers = {"mcp-param-region": "eu"}
    return call


async def refused(call: Call) -> tuple[int, int | None]:
    async with open_site() as site:
        answer = await site.call(call)
        return answer.status, answer.code


async def test_a_call_without_a_fault_is_answered() -> None:
    assert await refused(good()) == (200, None)


@pytest.mark.parametrize(("name", "status", "code", "fault"), LADDER, ids=NAMES)
async def test_each_fault_has_its_status_and_code(
    name: str, status: int, code: int, fault: Fault, autojump_clock: MockClock
) -> None:
    call = good()
    fault(call)
    assert await refused(call) == (status, code)


@pytest.mark.parametrize(
    ("earlier", "later"), [pair for pair in itertools.combinations(NAMES, 2) if pair not in IMPOSSIBLE]
)
async def test_of_two_faults_the_earlier_is_named(earlier: str, later: str, autojump_clock: MockClock) -> None:
    _, status, code, first = LADDER[NAMES.index(earlier)]
    _, _, _, second = LADDER[NAMES.index(later)]
    call = good()
    second(call)
    first(call)
    assert await refused(call) == (status, code)


# -- where the rungs differ from what one might think


@pytest.mark.parametrize(
    ("version_header", "version_in_meta", "code"),
    [
        ("2026-07-28", None, -32602),
        (None, "2026-07-28", -32020),
        ("2025-11-25", "2026-07-28", -32020),
        ("2026-07-28", "2025-11-25", -32020),
        ("2025-11-25", "2025-11-25", -32022),
        ("2025-11-25", None, -32600),
        (None, None, -32600),
        ("2099-01-01", "2099-01-01", -32022),
        ("2099-01-01", None, -32602),
        ("", "2026-07-28", -32020),
    ],
)
async def test_header_and_meta_agree_on_a_served_version(
    version_header: str | None, version_in_meta: str | None, code: int
) -> None:
    call = good()
    call.headers["mcp-protocol-version"] = version_header
    if version_in_meta is None:
        no_meta(call)
    else:
        meta(protocolVersion=version_in_meta)(call)
    assert await refused(call) == (400, code)


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        {"_meta": None},
        {"_meta": []},
        {"_meta": {META + "protocolVersion": "2026-07-28"}},
        {"_meta": {META + "clientCapabilities": {}}},
        {"_meta": {META + "protocolVersion": 5, META + "clientCapabilities": {}}},
        {"_meta": {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": []}},
    ],
)
async def test_meta_must_hold_both_required_keys(params: Any) -> None:
    async with open_site() as site:
        answer = await site.post({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": params})
        assert (answer.status, answer.code, answer.json["id"]) == (400, -32602, 7)


async def test_client_info_is_not_required() -> None:
    async with open_site() as site:
        assert (await site.post(request("tools/list"))).status == 200


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/get", ""])
async def test_removed_methods_in_modern_dress_are_unknown(method: str) -> None:
    async with open_site() as site:
        answer = await site.post(request(method))
        assert (answer.status, answer.code) == (404, -32601)


@pytest.mark.parametrize(
    ("body", "requested"),
    [
        ({"method": "initialize", "params": {"protocolVersion": "2025-11-25"}}, "2025-11-25"),
        ({"method": "tools/list"}, "2025-03-26"),
        ({"method": "tools/list", "params": {"_meta": {"progressToken": 1}}}, "2025-03-26"),
    ],
)
async def test_a_legacy_request_is_told_what_is_served(body: dict[str, Any], requested: str) -> None:
    async with open_site(legacy=False) as site:
        call = Call(raw=msgspec.json.encode({"jsonrpc": "2.0", "id": "a", **body}))
        answer = await site.call(call)
        assert (answer.status, answer.code, answer.json["id"]) == (400, -32022, "a")
        assert answer.json["error"]["data"] == {"supported": ["2026-07-28"], "requested": requested}


@pytest.mark.parametrize(
    ("accept", "status"), [("application/json", 406), ("text/event-stream;q=0, */*", 406), ("text/html", 406)]
)
async def test_a_subscription_needs_a_client_that_takes_streams(accept: str, status: int) -> None:
    async with open_site() as site:
        answer = await site.post(request("subscriptions/listen", notifications={}), accept=accept)
        assert (answer.status, answer.code) == (status, -32600)


async def test_session_and_resumption_headers_are_ignored() -> None:
    async with open_site() as site:
        answer = await site.post(request("tools/list"), mcp_session_id="x", last_event_id="y")
        assert (answer.status, "mcp-session-id" in answer.headers) == (200, False)


@pytest.mark.parametrize(
    ("path", "root_path"), [("/mcp", ""), ("/mcp/", ""), ("/a/mcp", "/a"), ("/b", "/b"), ("/b/", "/b")]
)
async def test_the_path_is_what_the_host_has_left_of_it(path: str, root_path: str) -> None:
    async with open_site() as site:
        call = good()
        call.path, call.scope = path, {"root_path": root_path}
        assert (await site.call(call)).status == 200
