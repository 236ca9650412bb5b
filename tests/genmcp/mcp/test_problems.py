"""One sentence says what is wrong with a message."""

import time
from typing import Any

import pytest

from genmcp.mcp import InvalidParams
from genmcp.mcp import v2607 as mcp

META: dict[str, Any] = {"_meta": {}}
TABLE: list[tuple[str, Any, str]] = [
    ("tools/call", {}, "params.name is required."),
    ("tools/call", {"name": 3}, "params.name: expected a string, got an integer."),
    ("tools/call", {"name": "x", "arguments": []}, "params.arguments: expected an object, got an array."),
    ("tools/call", {"name": "x", "arguments": None}, "params.arguments: expected an object, got null."),
    ("tools/call", {"name": "x", "requestState": 1}, "params.requestState: expected a string or null, got an integer."),
    ("tools/call", {"name": "x", "inputResponses": {"a": {}}}, "params.inputResponses.a.action is required."),
    (
        "tools/call",
        {"name": "x", "inputResponses": {"a": {"action": "decline"}, "b": 7}},
        "params.inputResponses.b: expected an object, got an integer.",
    ),
    (
        "tools/call",
        {"name": "x", "inputResponses": {"a": {"action": "perhaps"}}},
        "params.inputResponses.a.action: 'perhaps' is not an allowed value.",
    ),
    (
        "prompts/get",
        {"name": "x", "arguments": {"a": "b", "n": 1}},
        "params.arguments.n: expected a string, got an integer.",
    ),
    ("resources/read", {"uri": True}, "params.uri: expected a string, got true or false."),
    ("tools/list", {"cursor": 1}, "params.cursor: expected a string or null, got an integer."),
    ("completion/complete", {"ref": {}, "argument": {"name": "a", "value": ""}}, "params.ref.type is required."),
    (
        "completion/complete",
        {"ref": {"type": "ref/tool"}, "argument": {"name": "a", "value": ""}},
        "params.ref.type: 'ref/tool' is not an allowed value.",
    ),
    ("subscriptions/listen", {}, "params.notifications is required."),
    (
        "subscriptions/listen",
        {"notifications": {"resourceSubscriptions": ["a:b", 4]}},
        "params.notifications.resourceSubscriptions[1]: expected a string, got an integer.",
    ),
]


@pytest.mark.parametrize(("method", "params", "said"), TABLE, ids=[row[2] for row in TABLE])
def test_problem_names_path_and_expectation(method: str, params: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        mcp.decode({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**META, **params}})
    assert caught.value.message == said


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "params is required."),
        ({"params": None}, "params: expected an object, got null."),
        ({"params": [1]}, "params: expected an object, got an array."),
        ({"params": "x"}, "params: expected an object, got a string."),
        ({"params": {"name": "x"}}, "params._meta is required."),
        ({"params": {"name": "x", "_meta": 1}}, "params._meta: expected an object, got an integer."),
    ],
)
def test_malformed_params_are_invalid_params(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        mcp.decode({"jsonrpc": "2.0", "id": 1, "method": "tools/call", **params})
    assert caught.value.message == said


def test_hostile_values_are_neither_repeated_nor_slow() -> None:
    value = " - at `$.a`" * 400_000 + "!"
    params = {**META, "ref": {"type": value}, "argument": {"name": "a", "value": ""}}
    started = time.perf_counter()
    with pytest.raises(InvalidParams) as caught:
        mcp.decode({"jsonrpc": "2.0", "id": 1, "method": "completion/complete", "params": params})
    assert len(caught.value.message) < 300
    assert time.perf_counter() - started < 1.0
