"""What a client posts becomes a typed request, or an error with the right code."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genmcp.mcp import InvalidParams, InvalidRequest, McpError, MethodNotFound, ParseError
from genmcp.mcp import v2607 as mcp
from genmcp.mcp.model import to_dict


def message(method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"_meta": {"a": [1]}, **params}}


REQUESTS = [
    (message("server/discover"), mcp.DiscoverRequest),
    (message("tools/list", cursor=""), mcp.ListToolsRequest),
    (message("tools/call", name="a", arguments={"x": None}, requestState="s"), mcp.CallToolRequest),
    (message("resources/list"), mcp.ListResourcesRequest),
    (message("resources/templates/list"), mcp.ListResourceTemplatesRequest),
    (message("resources/read", uri="a:b", inputResponses={}), mcp.ReadResourceRequest),
    (message("prompts/list", cursor="x"), mcp.ListPromptsRequest),
    (message("prompts/get", name="p", arguments={"a": "b"}), mcp.GetPromptRequest),
    (
        message("completion/complete", ref={"type": "ref/prompt", "name": "p"}, argument={"name": "a", "value": "b"}),
        mcp.CompleteRequest,
    ),
    (message("subscriptions/listen", notifications={"toolsListChanged": True}), mcp.SubscriptionsListenRequest),
]


@pytest.mark.parametrize(("raw", "kind"), REQUESTS, ids=[kind.__name__ for _, kind in REQUESTS])
def test_every_request_decodes_and_encodes_unchanged(raw: dict[str, Any], kind: type) -> None:
    request = mcp.decode(raw)
    assert type(request) is kind
    assert request.method == raw["method"]
    assert to_dict(request) == raw
    assert mcp.decode(mcp.encode(request)) == request


@pytest.mark.parametrize(("raw", "kind"), REQUESTS, ids=[kind.__name__ for _, kind in REQUESTS])
def test_unknown_members_of_requests_are_kept(raw: dict[str, Any], kind: type) -> None:
    more = {**raw, "trace": 1, "params": {**raw["params"], "task": {"ttl": 1}}}
    request = mcp.decode(more)
    assert isinstance(request, kind)
    assert to_dict(request) == more


def test_every_request_of_the_protocol_is_in_the_table() -> None:
    assert {raw["method"] for raw, _ in REQUESTS} == set(mcp.REQUESTS)


@pytest.mark.parametrize("request_id", ["", "a", 0, -5, 2**80])
def test_ids_keep_their_value_and_type(request_id: Any) -> None:
    request = mcp.decode(message("server/discover", request_id))
    assert isinstance(request, mcp.DiscoverRequest)
    assert (request.id, type(request.id)) == (request_id, type(request_id))


def test_all_keys_of_meta_are_kept() -> None:
    meta = {"progressToken": 1, "com.example/x": {"y": None}, "": 2}
    request = mcp.decode({**message("server/discover"), "params": {"_meta": meta}})
    assert isinstance(request, mcp.DiscoverRequest)
    assert request.params.meta == meta


def test_absent_arguments_are_an_empty_dict() -> None:
    request = mcp.decode(message("tools/call", name="a"))
    assert isinstance(request, mcp.CallToolRequest)
    assert request.params.arguments == {}


def test_answers_of_a_retry_are_typed_by_their_shape() -> None:
    answers = {
        "form": {"action": "accept", "content": {"n": 1.5, "tags": ["a"], "ok": True}},
        "model": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "hi"}]},
        "roots": {"roots": [{"uri": "file:///a"}]},
    }
    request = mcp.decode(message("tools/call", name="a", inputResponses=answers))
    assert isinstance(request, mcp.CallToolRequest)
    assert request.params.input_responses == {
        "form": mcp.ElicitResult("accept", {"n": 1.5, "tags": ["a"], "ok": True}),
        "model": mcp.CreateMessageResult(role="assistant", model="m", content=[mcp.TextContent("hi")]),
        "roots": mcp.ListRootsResult([mcp.Root("file:///a")]),
    }


def test_null_for_an_optional_member_means_absent() -> None:
    request = mcp.decode(message("tools/list", cursor=None))
    assert isinstance(request, mcp.ListToolsRequest)
    assert request.params.cursor is None


def test_message_without_id_is_a_notification() -> None:
    raw = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "late"}}
    notification = mcp.decode(raw)
    assert isinstance(notification, mcp.CancelledNotification)
    assert (notification.params.request_id, notification.params.reason) == (3, "late")


GONE = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "roots/list", "", "toString"]


@pytest.mark.parametrize("method", [*GONE, "sampling/createMessage", "elicitation/create", "notifications/cancelled"])
def test_unknown_and_removed_methods_are_not_found(method: str) -> None:
    with pytest.raises(MethodNotFound) as caught:
        mcp.decode(message(method))
    assert caught.value.code == -32601


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/progress", "tools/call"])
def test_unknown_notifications_are_not_found(method: str) -> None:
    with pytest.raises(MethodNotFound):
        mcp.decode({"jsonrpc": "2.0", "method": method})


def test_each_kind_of_fault_has_its_own_class() -> None:
    for body, kind in ((b"{", ParseError), (b"[]", InvalidRequest), (mcp.encode(message("x")), MethodNotFound)):
        with pytest.raises(kind):
            mcp.decode(body)
    with pytest.raises(InvalidParams):
        mcp.decode(mcp.encode(message("tools/call")))


def test_requests_of_older_revisions_need_no_meta() -> None:
    raw = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    request = mcp.decode(raw, require_meta=False)
    assert isinstance(request, mcp.ListToolsRequest)
    assert request.params.meta == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
NAMES = ["name", "arguments", "inputResponses", "uri", "cursor", "ref", "argument", "notifications", "_meta", "zz"]


@given(st.sampled_from(sorted(mcp.REQUESTS)), st.dictionaries(st.sampled_from(NAMES), JSON) | JSON, JSON)
def test_any_params_decode_or_are_a_protocol_error(method: str, params: Any, request_id: Any) -> None:
    raw = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    outcome = decode_or_error(raw)
    if isinstance(outcome, McpError):
        assert outcome.code in (-32600, -32602)
        assert not re.search(r"msgspec|struct|`", outcome.message.partition("'")[0])
    else:
        assert mcp.decode(mcp.encode(outcome)) == outcome


def decode_or_error(raw: dict[str, Any]) -> mcp.Request | mcp.ClientNotification | McpError:
    try:
        return mcp.decode(raw)
    except McpError as error:
        return error
