"""Whatever a derived schema lets through can be converted, and what a type gives back fits its schema again."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from genmcp.schema import Converter, compile_schema, read_signature, schema_for


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Point(msgspec.Struct):
    x: int
    y: float = 0.0
    tags: list[str] = []


class Circle(msgspec.Struct, tag="circle"):
    radius: Annotated[float, Meta(gt=0)]


class Square(msgspec.Struct, tag="square", rename="camel"):
    side_length: Annotated[int, Meta(ge=1, le=9)]
    top: Point | None = None


@dataclasses.dataclass
class Order:
    item: Literal["a", "b", 3]
    count: int = 1


class Filter(TypedDict, total=False):
    level: Level
    limit: int | None


class Pair(NamedTuple):
    first: int
    second: bool = False


KINDS: list[Any] = [
    int,
    float,
    bool,
    str,
    None,
    int | None,
    int | str,
    int | float | None,
    list[int],
    set[int],
    tuple[int, str],
    tuple[int, ...],
    dict[str, int],
    dict[str, list[int | None]],
    Any,
    object,
    Literal[1, "a", None],
    Level,
    Point,
    Circle | Square,
    Order,
    Filter,
    Pair,
    list[Point | None],
    Annotated[int, Meta(ge=-2, le=4)],
    Annotated[str, Meta(min_length=1, max_length=3)],
    Annotated[list[int], Meta(min_length=1, max_length=2)],
]
COMPILED = [(Converter[Any](kind), compile_schema(schema_for(kind), where=str(kind), output=True)) for kind in KINDS]

NAMES = ["x", "y", "tags", "type", "radius", "sideLength", "top", "item", "count", "level", "limit", "zork"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 10)
    | st.integers()
    | st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, 1.5, 1e15, 2.0**63, 1e300])
    | st.sampled_from(["", "a", "b", "circle", "square", "1", "abcd"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)


def an_object(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


NUMBERS = st.sampled_from([0, 1, 2.0, 3.5, -1, 4.0])
POINTS = an_object(x=NUMBERS, y=NUMBERS, tags=st.lists(st.just("a"), max_size=2))
NEAR = (
    POINTS
    | an_object(type=st.just("circle"), radius=NUMBERS)
    | an_object(type=st.just("square"), sideLength=NUMBERS, top=POINTS | st.none())
    | an_object(item=st.sampled_from(["a", 3, 3.0]), count=NUMBERS)
    | an_object(level=NUMBERS, limit=NUMBERS | st.none())
    | st.lists(NUMBERS, max_size=3)
    | st.lists(POINTS | st.none(), max_size=2)
)


@settings(max_examples=400, deadline=None)
@given(VALUES | NEAR)
def test_value_that_validates_converts_and_returns(value: object) -> None:
    for converter, checked in COMPILED:
        if checked.is_valid(value):
            result = msgspec.to_builtins(converter(value), str_keys=True)
            assert checked.problems(result) == []


@settings(max_examples=200, deadline=None)
@given(VALUES | NEAR)
def test_value_is_valid_or_has_problems(value: object) -> None:
    for _, checked in COMPILED:
        problems = checked.problems(value)
        assert checked.is_valid(value) == (not problems)
        assert all(str(problem) for problem in problems)


MOMENTS = st.datetimes(timezones=st.just(datetime.UTC)) | st.datetimes(
    timezones=st.integers(-1439, 1439).map(lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes)))
)


SPANS = st.timedeltas(min_value=datetime.timedelta(0))
OTHERS = MOMENTS | st.dates() | SPANS | st.uuids() | st.decimals(allow_nan=False, allow_infinity=False) | st.binary()


@settings(max_examples=400, deadline=None)
@given(OTHERS)
def test_values_of_other_types_fit_their_schemas(value: object) -> None:
    checked = compile_schema(schema_for(type(value)), where="x", output=True)
    plain = msgspec.to_builtins(value)
    assert checked.problems(plain) == []
    assert Converter[Any](type(value))(plain) == value


def shape(count: int, size: float, point: Point | None = None, kinds: tuple[Level, ...] = ()) -> None:
    """Take one of each."""


SIGNATURE = read_signature(shape)
ARGUMENTS = compile_schema(SIGNATURE.input_schema, where="x")


@settings(max_examples=300, deadline=None)
@given(
    an_object(count=NUMBERS, size=NUMBERS, point=POINTS | st.none(), kinds=st.lists(NUMBERS, max_size=2), zork=NUMBERS)
)
def test_arguments_that_validate_are_bound(arguments: dict[str, Any]) -> None:
    if ARGUMENTS.is_valid(arguments):
        bound = SIGNATURE.bind(arguments)
        assert bound.keys() == arguments.keys()
        assert type(bound["count"]) is int
        assert type(bound["size"]) is float
