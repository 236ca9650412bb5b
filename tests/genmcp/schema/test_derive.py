"""Schemas of types: an object at the root, closed against unknown names, and every format that msgspec leaves out."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import msgspec
import pytest
from msgspec import Meta

from genmcp.schema import SchemaError, compile_schema, schema_for

T = TypeVar("T")
DESCRIBED: Any = Annotated[datetime.datetime, Meta(description="d")]


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


class Point(msgspec.Struct):
    """A place."""

    x: float
    y: float = 0.0


class Node(msgspec.Struct):
    name: str
    children: list[Node] = []


@dataclasses.dataclass
class Order:
    item: str
    count: int = 1


class Filter(TypedDict, total=False):
    text: str
    limit: int


class Pair(NamedTuple):
    at: datetime.datetime
    number: int = 0


class Circle(msgspec.Struct, tag="circle"):
    radius: float


class Square(msgspec.Struct, tag="square"):
    side: float
    since: datetime.datetime


class Tagged(msgspec.Struct, tag=True, array_like=True):
    at: datetime.datetime


class Box(msgspec.Struct, Generic[T]):
    content: T


class Unfit(msgspec.Struct):
    number: complex


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (int, {"type": "integer"}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Any, {}),
        (object, {}),
        (dict[str, object], {"type": "object", "additionalProperties": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (Annotated[int, Meta(ge=1, description="d")], {"type": "integer", "minimum": 1, "description": "d"}),
        (datetime.date, {"type": "string", "format": "date"}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
    ],
)
def test_builtin_type_has_its_schema(kind: Any, schema: dict[str, Any]) -> None:
    assert schema_for(kind) == schema


@pytest.mark.parametrize("kind", [Point, Order, Filter, Node, Box[int], Circle])
def test_root_is_an_object_and_no_reference(kind: Any) -> None:
    schema = schema_for(kind, arguments=True)
    assert schema["type"] == "object"
    assert "$ref" not in schema
    assert schema["additionalProperties"] is False
    assert compile_schema(schema, where="x").schema is schema


def test_struct_keeps_fields_defaults_and_docs() -> None:
    assert schema_for(Point) == {
        "title": "Point",
        "description": "A place.",
        "type": "object",
        "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
        "required": ["x"],
    }


def test_recursive_type_refers_to_itself() -> None:
    schema = schema_for(Node)
    assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert list(schema["$defs"]) == ["Node"]


def test_types_that_are_not_shared_leave_no_definitions() -> None:
    assert "$defs" not in schema_for(Order)


def test_nested_types_of_arguments_are_closed_too() -> None:
    schema = schema_for(Box[list[Point]], arguments=True)
    assert schema["$defs"]["Point"]["additionalProperties"] is False
    assert "additionalProperties" not in schema_for(Box[list[Point]])["$defs"]["Point"]


def test_union_of_tagged_structs_is_an_object() -> None:
    schema = schema_for(Circle | Square, arguments=True)
    assert schema["type"] == "object"
    checked = compile_schema(schema, where="x")
    assert checked.is_valid({"type": "circle", "radius": 1})
    assert checked.problems({"type": "circle", "radius": "1"})[0].path == "radius"


@pytest.mark.parametrize("kind", [int, list[Point], Point | None, Any, Pair, Literal["a"]])
def test_arguments_must_be_an_object(kind: Any) -> None:
    with pytest.raises(SchemaError, match="is no object; arguments are: use a Struct"):
        schema_for(kind, arguments=True)


def test_free_arguments_are_an_open_object() -> None:
    assert schema_for(dict[str, Any], arguments=True) == {"type": "object"}


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (datetime.datetime, ()),
        (list[datetime.datetime], ("items",)),
        (tuple[int, datetime.datetime], ("prefixItems", 1)),
        (dict[str, datetime.datetime], ("additionalProperties",)),
        (int | datetime.datetime | None, ("anyOf", 1)),
        (DESCRIBED | None, ("anyOf", 0)),
        (Pair, ("prefixItems", 0)),
        (Tagged, ("prefixItems", 1)),
        (Square, ("properties", "since")),
        (Circle | Square | None, ("$defs", "Square", "properties", "since")),
        (int | Circle | Square, ("$defs", "Square", "properties", "since")),
        (Box[Square | None], ("$defs", "Square", "properties", "since")),
    ],
)
def test_datetime_carries_its_format_everywhere(kind: Any, place: tuple[str | int, ...]) -> None:
    found: Any = schema_for(kind)
    for step in place:
        found = found[step]
    assert found["format"] == "date-time"


def test_local_times_are_shown_by_example() -> None:
    local = Annotated[datetime.datetime, Meta(tz=False)]
    assert schema_for(local) == {"type": "string", "examples": ["2026-07-28T09:30:00"]}
    assert schema_for(datetime.time) == {"type": "string", "examples": ["09:30:00"]}
    assert schema_for(datetime.timedelta) == {"type": "string", "examples": ["P1DT2H30M"]}


def test_extra_keywords_of_the_author_are_kept() -> None:
    kind = Annotated[str, Meta(extra_json_schema={"x-mcp-header": "Region"})]
    assert schema_for(kind) == {"type": "string", "x-mcp-header": "Region"}


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (complex, "complex"),
        (list[complex], "complex"),
        (Unfit, "complex"),
        (Box[Unfit], "complex"),
    ],
)
def test_type_without_a_json_form_is_named(kind: Any, named: str) -> None:
    with pytest.raises(SchemaError, match=rf"^{named} has no JSON form; use a builtin type"):
        schema_for(kind)


def test_union_that_cannot_be_told_apart_says_why() -> None:
    with pytest.raises(SchemaError, match="not contain more than one str-like type"):
        schema_for(str | datetime.date)


def test_every_call_gives_a_new_dict() -> None:
    schema_for(Point)["properties"].clear()
    assert schema_for(Point)["properties"]


def test_enum_is_shared_by_name() -> None:
    schema = schema_for(Box[Unit])
    assert schema["properties"]["content"] == {"$ref": "#/$defs/Unit"}
    assert schema["$defs"]["Unit"]["enum"] == ["imperial", "metric"]
