"""Any JSON value in any place of a message is answered as the contract says, and is never a fault of ours."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors import Node
from genmcp import Channel, Page, ResourceRepo, Suite, prompt, tool
from genmcp.mcp import v2607 as mcp
from tests.transport.calls import META, VERSION, Call, Probe, Site, mirrored, request
from transport.endpoint import endpoint

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**62, max_value=2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["", "add", "greet", "file:///a", "2026-07-28", "\x00", "=?base64?!?=", "../..", "ref/prompt"])
)
KEYS = st.text(max_size=8) | st.sampled_from(
    ["name", "uri", "arguments", "cursor", "ref", "argument", "type", "notifications", "toolsListChanged", "_meta",
     "resourceSubscriptions", "requestState", "inputResponses", "progressToken", f"{META}logLevel", "a", "b"]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=15
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)
METHODS = st.sampled_from(sorted(mcp.REQUESTS))

ANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@tool
async def add(a: float, b: Annotated[int, msgspec.Meta(ge=0)] = 0, more: dict[str, list[int]] | None = None) -> float:
    """Adds."""
    return a + b


@prompt
async def greet(who: str = "you") -> str:
    """Greets."""
    return f"Hello, {who}"


class Files(ResourceRepo):
    """All files."""

    prefix = "file:///"
    template = "file:///{+path}"

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        return Page([mcp.Resource(uri="file:///a", name="a")])

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> str:
        return uri


async def answer_to(message: Any, **headers: Any) -> tuple[int, list[Any]]:
    """Post any JSON value to a Suite with something of everything; the status and the messages of the answer."""
    suite = Suite(server_name="any", server_version="1", tools=[add], prompts=[greet], resources=[Files()])
    async with Node() as node, suite.attach(node):
        site = Site(endpoint(suite, node=node, keep_alive=0.01), Probe(), node)
        call = Call(message=message, headers={**mirrored(message), **headers}, leave_after=5)
        answer = await site.call(call)
    texts = answer.events if answer.body.startswith(b":") else [json.loads(answer.body)] if answer.body else []
    return answer.status, texts


def no_fault(caplog: pytest.LogCaptureFixture) -> None:
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


@ANY
@given(message=VALUES | st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "method": VALUES, "id": VALUES}))
async def test_any_json_as_a_body_is_refused_with_its_id(
    message: Any, autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    status, texts = await answer_to(message)
    found = message.get("id") if isinstance(message, dict) else None
    readable = type(found) in (str, int)
    assert status in (202, 400, 404)
    if status != 202:
        assert texts[0]["error"]["code"] in (-32600, -32601, -32602, -32020, -32022)
        assert (texts[0]["id"] == found) if readable else ("id" not in texts[0])
    no_fault(caplog)


@ANY
@given(method=METHODS, params=OBJECTS)
async def test_any_params_of_any_method_are_answered(
    method: str, params: dict[str, Any], autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    message = request(method)
    message["params"] = {**params, "_meta": message["params"]["_meta"]}
    status, texts = await answer_to(message)
    assert status in (200, 400, 404)
    if "error" in texts[-1]:
        assert texts[-1]["error"]["code"] in (-32602, -32601, -32020, -32021)
        assert texts[-1]["id"] == 7
    no_fault(caplog)


@ANY
@given(meta=OBJECTS)
async def test_any_meta_is_answered(
    meta: dict[str, Any], autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    message = request("tools/call", meta=meta, name="add", arguments={"a": 1})
    status, texts = await answer_to(message)
    assert status in (200, 400)
    assert ("result" in texts[-1]) == (status == 200 and "error" not in texts[-1])
    no_fault(caplog)


@ANY
@given(arguments=VALUES)
async def test_any_arguments_are_a_result_or_a_refusal(
    arguments: Any, autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    status, texts = await answer_to(request("tools/call", name="add", arguments=arguments))
    if isinstance(arguments, dict):
        assert (status, "isError" in texts[0]["result"] or "structuredContent" in texts[0]["result"]) == (200, True)
    else:
        assert (status, texts[0]["error"]["code"]) == (400, -32602) or arguments is None
    no_fault(caplog)


@ANY
@given(capabilities=VALUES, version=VALUES)
async def test_any_capabilities_and_version_are_answered(
    capabilities: Any, version: Any, autojump_clock: trio.abc.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    meta = {f"{META}clientCapabilities": capabilities, f"{META}protocolVersion": version}
    status, texts = await answer_to(request("tools/list", meta=meta))
    assert status == (200 if version == VERSION and isinstance(capabilities, dict) and "result" in texts[0] else 400)
    no_fault(caplog)
