"""Nothing that a message holds is lost, and nothing is sent that was not set."""

import dataclasses
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from genmcp.mcp import InvalidParams
from genmcp.mcp import v2607 as mcp
from genmcp.mcp.model import EXTRA, Model, decode_as, either, encode, to_dict, to_plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
UNKNOWN = st.dictionaries(st.text().map(lambda name: "x-" + name), JSON, max_size=3)


def round_trip(kind: Any, raw: Any) -> Any:
    return json.loads(encode(decode_as(kind, raw)))


@given(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
def test_unknown_members_survive_at_every_level(
    top: dict[str, Any], icon: dict[str, Any], block: dict[str, Any], contents: dict[str, Any]
) -> None:
    raw = {
        "resultType": "complete",
        "content": [
            {"type": "text", "text": "a", **block},
            {"type": "resource", "resource": {"uri": "a:b", "blob": "", **contents}},
            {"type": "resource_link", "uri": "a:b", "name": "n", "icons": [{"src": "a:b", **icon}]},
        ],
        **top,
    }
    struct = decode_as(mcp.CallToolResult, raw)
    assert json.loads(encode(struct)) == raw
    assert to_dict(struct) == raw


def test_unknown_members_of_a_map_of_structs_survive() -> None:
    raw = {"name": {"action": "accept", "content": {"a": 1.5}, "more": [1]}, "who": {"roots": [{"uri": "a:b", "z": 1}]}}
    assert round_trip(mcp.InputResponses, raw) == raw


def test_unknown_members_can_be_read_and_given() -> None:
    assert decode_as(mcp.Icon, {"src": "a:b", "glow": True}).extra == {"glow": True}
    assert json.loads(encode(mcp.Icon("a:b", extra={"glow": True}))) == {"src": "a:b", "glow": True}


def test_struct_without_unknown_members_has_no_extra() -> None:
    assert decode_as(mcp.Icon, {"src": "a:b"}).extra is UNSET


@pytest.mark.parametrize("value", [{"src": "evil"}, {}])
def test_member_named_like_the_hiding_place_is_an_ordinary_one(value: Any) -> None:
    raw = {"src": "a:b", EXTRA: value}
    assert round_trip(mcp.Icon, raw) == raw


def test_hiding_place_inside_an_authors_data_is_left_alone() -> None:
    data = {EXTRA: {"isError": True}}
    assert json.loads(encode(mcp.call_tool_result(data=data, mirror=False)))["structuredContent"] == data


def test_repr_shows_only_what_is_set() -> None:
    assert repr(mcp.Icon("a:b")) == "Icon(src='a:b')"


def test_none_is_left_out_but_a_required_null_is_sent() -> None:
    params = mcp.LoggingMessageNotificationParams(level="info", data=None)
    assert json.loads(encode(params)) == to_dict(params) == {"level": "info", "data": None}


def test_null_structured_content_differs_from_none_at_all() -> None:
    assert json.loads(encode(mcp.CallToolResult(structured_content=None)))["structuredContent"] is None
    assert "structuredContent" not in json.loads(encode(mcp.CallToolResult()))


def test_constants_are_always_on_the_wire() -> None:
    page = mcp.ListToolsResult([])
    assert (
        json.loads(encode(page))
        == to_dict(page)
        == {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": []}
    )


def test_plain_form_takes_structs_of_others_as_well() -> None:
    @dataclasses.dataclass
    class Point:
        x: int | None

    class Size(msgspec.Struct, omit_defaults=True):
        width: int | None
        height: int | None = None

    assert to_plain({"a": (Point(None), Size(None)), "b": mcp.Icon("c")}) == {
        "a": [{"x": None}, {"width": None}],
        "b": {"src": "c"},
    }


def test_plain_form_names_members_as_the_encoder_does() -> None:
    value = {1: {"a": 1}, 2.5: None}
    assert to_plain(value) == json.loads(encode(value))


def test_what_is_not_json_is_a_type_error_at_the_encoder() -> None:
    with pytest.raises(TypeError):
        encode(mcp.CallToolResult(structured_content=object()))


class Cat(Model, frozen=True):
    meow: str


class Dog(Model, frozen=True):
    bark: int


class House(Model, frozen=True):
    pets: list[either(lambda raw: Cat if "meow" in raw else Dog, Cat, Dog)]  # type: ignore[valid-type] # made at run time


def test_untagged_unions_are_told_apart_by_the_chooser() -> None:
    house = decode_as(House, {"pets": [{"meow": "a"}, {"bark": 2, "loud": True}]})
    assert house.pets == [Cat("a"), Dog(2, extra={"loud": True})]


@pytest.mark.parametrize(
    ("pet", "said"),
    [
        ({"bark": "x"}, "pets[0].bark: expected an integer, got a string."),
        ({}, "pets[0].bark is required."),
        (3, "pets[0]: expected an object, got an integer."),
    ],
)
def test_errors_inside_untagged_unions_name_the_whole_path(pet: Any, said: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        decode_as(House, {"pets": [pet]})
    assert caught.value.message == said
