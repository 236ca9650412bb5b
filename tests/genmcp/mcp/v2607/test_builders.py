"""Builders do what is easy to get wrong, and refuse what cannot be right."""

import base64
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from genmcp.mcp import supported_protocol_versions
from genmcp.mcp import v2607 as mcp

PNG = b"\x89PNG\x00"
PNG64 = base64.b64encode(PNG).decode()


class Point(msgspec.Struct):
    x: int
    note: str | None = None


@dataclasses.dataclass
class Size:
    width: float


@pytest.mark.parametrize("data", [None, 0, False, "", [], {}, 1.5, "x", {"a": [None]}])
def test_any_json_value_is_structured_content_with_a_mirror(data: Any) -> None:
    result = mcp.call_tool_result(data=data)
    assert result.structured_content == data
    assert [json.loads(block.text) for block in result.content if isinstance(block, mcp.TextContent)] == [data]


def test_structs_and_dataclasses_become_plain_structured_content() -> None:
    result = mcp.call_tool_result(data={"at": Point(1), "sizes": (Size(2.0),)}, mirror=False)
    assert result.structured_content == {"at": {"x": 1, "note": None}, "sizes": [{"width": 2.0}]}
    assert result.content == []


def test_parts_keep_the_order_of_the_arguments() -> None:
    result = mcp.call_tool_result("a", mcp.image(PNG, "image/png"), text="b", data=1, error="c")
    texts = [
        block.text if isinstance(block, mcp.TextContent) else block.mime_type
        for block in result.content
        if isinstance(block, mcp.TextContent | mcp.ImageContent)
    ]
    assert texts == ["a", "image/png", "b", "1", "c"]
    assert result.is_error is True


def test_result_without_data_has_no_structured_content() -> None:
    result = mcp.call_tool_result(text="a")
    assert result.structured_content is UNSET
    assert result.is_error is None


@pytest.mark.parametrize("parts", [(("data", 1), ("data", 2)), (("data", 1), ("_data", None))])
def test_two_structured_values_are_refused(parts: tuple[mcp.ResultPart, ...]) -> None:
    with pytest.raises(ValueError, match="one structured value"):
        mcp.call_tool_result(*parts)


def test_structured_pair_and_argument_together_are_refused() -> None:
    with pytest.raises(ValueError, match="one structured value"):
        mcp.call_tool_result(("data", None), data=None)


def test_pairs_build_the_same_as_keywords() -> None:
    paired = mcp.call_tool_result(("text", "a"), ("data", {"b": 1}), ("error", "c"))
    assert paired == mcp.call_tool_result(text="a", data={"b": 1}, error="c")


def test_error_is_sticky_once_it_was_said() -> None:
    assert mcp.call_tool_result(("error", "no"), error=False).is_error is True
    assert mcp.call_tool_result(error=True).is_error is True
    assert mcp.call_tool_result(error=False).is_error is False


def test_data_that_is_not_json_is_refused_at_the_caller() -> None:
    with pytest.raises(TypeError):
        mcp.call_tool_result(data=object(), mirror=False)


@pytest.mark.parametrize("data", [float("nan"), [None, {"a": float("inf")}], "\ud800", Size(float("-inf"))])
def test_numbers_and_texts_beyond_json_are_refused(data: Any) -> None:
    with pytest.raises(ValueError, match=r"not JSON numbers|surrogates"):
        mcp.call_tool_result(data=data)


def test_structured_content_is_what_the_client_will_read() -> None:
    author: dict[Any, list[Any]] = {1: [(2,)], "list": [3]}
    result = mcp.call_tool_result(data=author, mirror=False)
    author["list"].append(4)
    assert result.structured_content == {"1": [[2]], "list": [3]}


def test_bytes_are_encoded_and_base64_is_kept() -> None:
    assert mcp.image(PNG, "image/png").data == mcp.image(PNG64, "image/png").data == PNG64
    assert mcp.audio(PNG, "audio/wav").data == PNG64


@pytest.mark.parametrize(
    ("part", "block"),
    [
        ("a", mcp.TextContent("a")),
        (mcp.TextContent("a"), mcp.TextContent("a")),
        (("text", "a"), mcp.TextContent("a")),
        (("image", ("image/png", PNG)), mcp.ImageContent(PNG64, "image/png")),
        (("audio", ("audio/wav", PNG64)), mcp.AudioContent(PNG64, "audio/wav")),
        (("resource", {"uri": "a:b", "text": "t"}), mcp.resource("a:b", text="t")),
        (("link", {"uri": "a:b", "name": "n"}), mcp.ResourceLink("a:b", "n")),
    ],
)
def test_content_block_takes_blocks_texts_and_pairs(part: mcp.ContentLike, block: mcp.ContentBlock) -> None:
    assert mcp.content_block(part) == block


@pytest.mark.parametrize("part", [1, None, b"x", ("text",), ("text", 1), ("video", "x"), {"type": "text"}])
def test_what_is_no_content_is_refused_by_its_value(part: Any) -> None:
    with pytest.raises(TypeError, match="not content"):
        mcp.content_block(part)


def test_embedded_resource_always_states_a_mime_type() -> None:
    assert mcp.resource("a:b", text="t").resource.mime_type == "text/plain"
    assert mcp.resource("a:b", blob=b"").resource.mime_type == "application/octet-stream"
    assert mcp.resource("a:b", blob=b"", mime_type="image/png").resource.mime_type == "image/png"


@pytest.mark.parametrize("given", [{}, {"text": "a", "blob": b"b"}])
def test_contents_are_either_text_or_blob(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="either text or blob"):
        mcp.resource_contents("a:b", **given)


def test_empty_text_and_empty_bytes_are_contents() -> None:
    assert mcp.read_resource_result("a:b", text="").contents == [mcp.TextResourceContents("a:b", "")]
    assert mcp.read_resource_result("a:b", blob=b"").contents == [mcp.BlobResourceContents("a:b", "")]


@pytest.mark.parametrize("given", [{}, {"text": "a"}, {"uri": "a:b"}])
def test_reading_without_contents_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"uri|text or blob"):
        mcp.read_resource_result(**given)


def test_prompt_messages_say_who_speaks() -> None:
    result = mcp.get_prompt_result("a", mcp.user(("image", ("image/png", PNG))), ("assistant", "b"), mcp.assistant("c"))
    assert [message.role for message in result.messages] == ["user", "user", "assistant", "assistant"]
    assert result.messages[2].content == mcp.TextContent("b")


def test_discovery_states_the_servers_name_in_meta() -> None:
    result = mcp.discover_result(name="s", version="1", title="S", meta={"x": 1})
    assert result.meta == {
        "io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1", "title": "S"},
        "x": 1,
    }
    assert result.supported_versions == supported_protocol_versions() == ["2026-07-28"]


def test_capabilities_turn_true_into_an_empty_object() -> None:
    offered = mcp.capabilities({"tools": True, "prompts": False, "logging": None}, completions=True)
    assert mcp.to_dict(offered) == {"tools": {}, "completions": {}}


def test_capabilities_take_settings_in_either_spelling() -> None:
    offered = mcp.capabilities(
        tools={"list_changed": True},
        resources={"listChanged": False, "subscribe": True},
        extensions={"com.example/snake_case": {"keep_me": 1}, "a/b": True},
        novel={"x": 1},
    )
    assert mcp.to_dict(offered) == {
        "tools": {"listChanged": True},
        "resources": {"listChanged": False, "subscribe": True},
        "extensions": {"com.example/snake_case": {"keep_me": 1}, "a/b": {}},
        "novel": {"x": 1},
    }


def test_capabilities_take_structs_and_add_to_them() -> None:
    base = mcp.ServerCapabilities(tools=mcp.ToolsCapability(list_changed=True))
    assert mcp.capabilities(base) == base
    assert mcp.to_dict(mcp.capabilities(base, logging=True)) == {"tools": {"listChanged": True}, "logging": {}}
    assert mcp.capabilities(tools=mcp.ToolsCapability(list_changed=True)) == base


def test_wrong_capability_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match=r"^capabilities\.tools\.listChanged: expected true or false"):
        mcp.capabilities(tools={"list_changed": "yes"})


def test_cache_control_is_private_and_short_by_default() -> None:
    page = mcp.list_tools_result([])
    assert mcp.default_cache_control() == ("private", 0) == (page.cache_scope, page.ttl_ms)


def test_last_page_has_no_cursor_and_empty_cursors_are_sent() -> None:
    assert "nextCursor" not in mcp.to_dict(mcp.list_prompts_result([]))
    assert mcp.to_dict(mcp.list_prompts_result([], ""))["nextCursor"] == ""


def test_asking_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="needs questions or a request state"):
        mcp.input_required_result({})


def test_questions_have_neither_id_nor_version() -> None:
    result = mcp.input_required_result({"a": mcp.elicit_form("m", {"type": "object", "properties": {}})})
    assert mcp.to_dict(result) == {
        "resultType": "input_required",
        "inputRequests": {
            "a": {
                "method": "elicitation/create",
                "params": {"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {}}},
            }
        },
    }


def test_completions_beyond_a_hundred_are_cut_and_counted() -> None:
    completion = mcp.complete_result([str(number) for number in range(150)]).completion
    assert (len(completion.values), completion.total, completion.has_more) == (100, 150, True)


def test_subscription_id_is_stamped_with_its_type_and_kept_if_there() -> None:
    once = mcp.with_subscription_id(mcp.ToolListChangedNotification(), 7)
    twice = mcp.with_subscription_id(once, "other")
    assert once.params is not None
    assert once.params.meta == {"io.modelcontextprotocol/subscriptionId": 7}
    assert twice == once


def test_only_listen_stream_notifications_get_a_subscription_id() -> None:
    progress = mcp.ProgressNotification(params=mcp.ProgressNotificationParams(progress_token=1, progress=1))
    assert mcp.with_subscription_id(progress, 7) is progress
    assert len(mcp.SUBSCRIPTION_NOTIFICATIONS) == 5


@pytest.mark.parametrize("data", ["not Base64!", "AAA", "AA=A", "AA\n==", "é"])
def test_text_that_is_no_base64_is_refused(data: str) -> None:
    makers: list[Callable[[], object]] = [
        lambda: mcp.image(data, "image/png"),
        lambda: mcp.audio(data, "audio/wav"),
        lambda: mcp.resource_contents("a:b", blob=data),
    ]
    for make in makers:
        with pytest.raises(ValueError, match="expected bytes, or a text in Base64"):
            make()


@pytest.mark.parametrize("kind", ["", "png", "image/", "/png", "image png", "image/png/x", "image/png\n", "imagé/png"])
def test_what_is_no_mime_type_is_refused(kind: str) -> None:
    makers: list[Callable[[], object]] = [
        lambda: mcp.image(b"", kind),
        lambda: mcp.audio(b"", kind),
        lambda: mcp.resource_contents("a:b", text="t", mime_type=kind),
    ]
    for make in makers:
        with pytest.raises(ValueError, match="expected a MIME type"):
            make()
    assert mcp.image(b"", "image/svg+xml; charset=utf-8").mime_type == "image/svg+xml; charset=utf-8"


@pytest.mark.parametrize("uri", ["", "b", "/a", "1a:b", "a b:c", "a:b c", "a:b\n", "a:<b>", "a:{b}", "a:\0"])
def test_what_is_no_uri_is_refused_in_contents(uri: str) -> None:
    with pytest.raises(ValueError, match="expected a URI with a scheme"):
        mcp.resource(uri, text="t")


@pytest.mark.parametrize(
    "hints", [{"audience": ["system"]}, {"priority": 1.5}, {"priority": -1}, {"last_modified": "yesterday"}]
)
def test_annotations_that_mean_nothing_are_refused(hints: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected|isoformat"):
        mcp.Annotations(**hints)
    mcp.Annotations(audience=["user", "assistant"], priority=0, last_modified="2025-01-12T15:00:58Z")


@pytest.mark.parametrize("hint", [{"ttl_ms": -1}, {"ttl_ms": 1.5}, {"ttl_ms": True}, {"cache_scope": "shared"}])
def test_cache_hints_that_mean_nothing_are_refused(hint: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        mcp.list_tools_result([], **hint)
    with pytest.raises(ValueError, match="expected"):
        mcp.read_resource_result("a:b", text="t", **hint)
