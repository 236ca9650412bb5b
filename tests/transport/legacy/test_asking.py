"""Questions as requests of each revision, and what a client's answers mean."""

from __future__ import annotations

from typing import Any

import pytest

from genmcp.mcp import AnswerRefused, InternalError, McpError
from genmcp.mcp import v2607 as mcp
from transport.legacy.asking import answer_up, question_down
from transport.legacy.revision import JUNE, MARCH, NOVEMBER

RICH: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "Ada", "maxLength": 9},
        "age": {"type": "integer", "default": 3},
        "sure": {"type": "boolean", "default": True},
        "color": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
        "size": {"type": "string", "enum": ["s", "m"], "default": "s"},
    },
    "required": ["name"],
}


def test_november_shows_a_form_as_it_is() -> None:
    asked = question_down(mcp.elicit_form("Who?", RICH), NOVEMBER)
    assert asked["method"] == "elicitation/create"
    assert asked["params"]["requestedSchema"] == RICH


def test_june_shows_what_it_can() -> None:
    asked = question_down(mcp.elicit_form("Who?", RICH), JUNE)
    assert "mode" not in asked["params"]
    assert asked["params"]["requestedSchema"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 9},
            "age": {"type": "integer"},
            "sure": {"type": "boolean", "default": True},
            "color": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            "size": {"type": "string", "enum": ["s", "m"]},
        },
        "required": ["name"],
    }


def test_a_choice_of_several_is_not_for_june() -> None:
    items = {"type": "array", "items": {"type": "string", "enum": ["a"]}}
    with pytest.raises(McpError, match="'which' is a choice of several values"):
        question_down(mcp.elicit_form("Which?", {"type": "object", "properties": {"which": items}}), JUNE)


@pytest.mark.parametrize("revision", [JUNE, MARCH])
def test_older_models_get_one_block_a_message(revision: Any) -> None:
    content: list[mcp.SamplingMessageContentBlock] = [mcp.text("look"), mcp.image(b"x", "image/png")]
    asked = question_down(mcp.create_message([mcp.SamplingMessage("user", content)], max_tokens=5), revision)
    assert [message["content"]["type"] for message in asked["params"]["messages"]] == ["text", "image"]
    assert {message["role"] for message in asked["params"]["messages"]} == {"user"}


def test_older_models_get_no_tool_results() -> None:
    use = mcp.SamplingMessage("assistant", mcp.ToolUseContent("1", "run", {}))
    result = mcp.SamplingMessage("user", mcp.ToolResultContent("1", [mcp.text("done")]))
    request = mcp.CreateMessageRequest(params=mcp.CreateMessageRequestParams(messages=[use, result], max_tokens=5))
    with pytest.raises(InternalError):
        question_down(request, JUNE)


def test_a_question_for_roots_has_no_params() -> None:
    assert question_down(mcp.list_roots(), NOVEMBER) == {"method": "roots/list"}


def test_pages_have_ids_that_differ() -> None:
    asked = [question_down(mcp.elicit_url("Go", "https://a.example"), NOVEMBER) for _ in range(2)]
    assert asked[0]["params"]["elicitationId"] != asked[1]["params"]["elicitationId"]


@pytest.mark.parametrize(
    ("method", "result", "kind"),
    [
        ("elicitation/create", {"action": "accept", "content": {"a": 1.5}}, mcp.ElicitResult),
        ("roots/list", {"roots": [], "_meta": {}}, mcp.ListRootsResult),
        (
            "sampling/createMessage",
            {"role": "assistant", "content": {"type": "text", "text": "a"}, "model": "m", "stopReason": "endTurn"},
            mcp.CreateMessageResult,
        ),
    ],
)
def test_an_answer_is_typed_by_what_was_asked(method: str, result: Any, kind: type) -> None:
    assert isinstance(answer_up(method, {"result": result}), kind)


@pytest.mark.parametrize(
    "message",
    [{}, {"result": 5}, {"result": {}}, {"result": {"roots": 5}}, {"result": {"action": "accept", "content": 5}}],
)
def test_an_answer_that_is_none_is_an_error(message: Any) -> None:
    with pytest.raises(InternalError):
        answer_up("elicitation/create", message)


@pytest.mark.parametrize("error", [{"code": -1, "message": "no"}, {}, 5, None, {"code": "x", "message": 5}])
def test_a_refusal_says_what_was_asked(error: Any) -> None:
    with pytest.raises(AnswerRefused, match="refused roots/list") as refused:
        answer_up("roots/list", {"error": error})
    assert refused.value.client_code == (-1 if error == {"code": -1, "message": "no"} else None)
