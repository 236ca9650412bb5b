"""Decorated functions: what becomes an argument, what is injected, what is refused and how that is said."""

from __future__ import annotations

import enum
import functools
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec
import pytest
from msgspec import Meta

from genmcp.schema import InvalidValueError, Signature, SignatureError, compile_schema, read_signature

if TYPE_CHECKING:
    from decimal import Decimal

T = TypeVar("T")


class Channel:
    """Stands for what a framework injects."""


class Feed(Generic[T]):
    """Likewise, with a parameter of its own."""


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


class Place(msgspec.Struct):
    name: str


def read(fn: Callable[..., Any]) -> Signature:
    return read_signature(fn, injected=(Channel, Feed))


def refusal(fn: Callable[..., Any]) -> str:
    with pytest.raises(SignatureError) as caught:
        read(fn)
    return str(caught.value)


async def weather(
    city: str,
    channel: Channel,
    days: Annotated[int, Meta(ge=1, le=7, description="How many days.")] = 3,
    *,
    unit: Unit = Unit.METRIC,
    near: Place | None = None,
) -> str:
    """Tells the weather.

    Slowly.

    Args:
        city: The city.
        days: Not told, because the annotation says it.
        channel: Not an argument.
        near: Where the station is.

    Returns:
        Some words.
    """
    return f"{city} {days} {unit} {near} {channel}"


def test_signature_becomes_a_schema() -> None:
    signature = read(weather)
    assert signature.name == "weather"
    assert signature.description == "Tells the weather.\n\nSlowly."
    assert signature.output_schema is None
    assert signature.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3, "description": "How many days."},
            "unit": {"$ref": "#/$defs/Unit", "default": "metric"},
            "near": {
                "anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}],
                "default": None,
                "description": "Where the station is.",
            },
        },
        "required": ["city"],
        "additionalProperties": False,
        "$defs": {
            "Place": {
                "title": "Place",
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": False,
            },
            "Unit": {"title": "Unit", "enum": ["imperial", "metric"]},
        },
    }


def test_injected_parameters_are_named_with_their_class() -> None:
    def fn(a: int, talk: Channel, feed: Feed[int] | None = None) -> None: ...

    signature = read(fn)
    assert signature.injected == {"talk": Channel, "feed": Feed}
    assert [parameter.name for parameter in signature.parameters] == ["a"]


def test_arguments_are_bound_with_their_types() -> None:
    bound = read(weather).bind({"city": "Rome", "unit": "imperial", "near": {"name": "x"}})
    assert bound == {"city": "Rome", "unit": Unit.IMPERIAL, "near": Place("x")}


def test_binding_leaves_defaults_to_the_function() -> None:
    marker = object()

    def fn(a: list[int] = [], b: Any = marker) -> object:  # noqa: B006 - the default itself is what is tested
        return a, b

    assert read(fn).bind({}) == {}
    assert read(fn).input_schema["properties"] == {
        "a": {"type": "array", "items": {"type": "integer"}, "default": []},
        "b": {},
    }


def test_explicit_null_is_bound() -> None:
    assert read(weather).bind({"city": "Rome", "near": None}) == {"city": "Rome", "near": None}


def test_default_of_none_allows_null() -> None:
    def fn(a: str = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013 - what many write all the same

    entry = read(fn).input_schema["properties"]["a"]
    assert entry == {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}


def test_whole_numbers_are_bound_as_integers() -> None:
    bound = read(weather).bind({"city": "Rome", "days": 3.0})
    assert repr(bound["days"]) == "3"


def test_refused_value_is_told_with_its_path() -> None:
    def fn(raw: bytes) -> None: ...

    with pytest.raises(InvalidValueError) as caught:
        read(fn).bind({"raw": "*"})
    assert str(caught.value.problems[0]) == 'raw: expected Base64 text, got "*"'


def test_unknown_and_missing_arguments_fail_the_schema() -> None:
    checked = compile_schema(read(weather).input_schema, where="x")
    assert {str(problem) for problem in checked.problems({"citi": "Rome"})} == {
        "city: missing; expected a string",
        'citi: unknown; did you mean "city"?',
    }


def test_names_local_to_the_definition_are_found() -> None:
    class Local(msgspec.Struct):
        a: int

    def fn(local: Local, other: Annotated[Local | None, Meta(description="d")] = None) -> None: ...

    signature = read(fn)
    assert signature.bind({"local": {"a": 1}}) == {"local": Local(1)}
    assert signature.input_schema["properties"]["other"]["description"] == "d"


def test_description_inside_an_optional_is_found() -> None:
    def fn(a: Annotated[int, Meta(description="Inside.")] | None = None) -> None:
        """Does.

        Args:
            a: Outside.
        """

    assert read(fn).parameters[0].description == "Inside."


def test_methods_partials_wrappers_and_callables_are_read() -> None:
    class Desk:
        def book(self, nights: int) -> None:
            """Books."""

        def __call__(self, nights: int) -> None:
            """Books too."""

    @functools.wraps(Desk.book)
    def wrapped(*args: Any, **kwargs: Any) -> None: ...

    expected = {"nights": {"type": "integer"}}
    assert read(Desk().book).input_schema["properties"] == expected
    assert read(Desk()).input_schema["properties"] == expected
    assert read(functools.partial(Desk.book, Desk())).input_schema["properties"] == expected
    assert read(functools.partial(wrapped, Desk())).input_schema["properties"] == expected


def test_function_without_parameters_takes_an_empty_object() -> None:
    def fn() -> None: ...

    assert read(fn).input_schema == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    assert read(fn).bind({}) == {}


def test_data_has_an_output_schema() -> None:
    def fn() -> Place: ...  # type: ignore[empty-body]  # only its annotation is read

    schema = read(fn).output_schema
    assert schema is not None
    assert schema["properties"] == {"name": {"type": "string"}}


def test_missing_docstring_is_none() -> None:
    def fn(a: int) -> None: ...

    assert read(fn).description is None


def test_header_annotation_survives_in_the_schema() -> None:
    def fn(region: Annotated[str, Meta(extra_json_schema={"x-mcp-header": "Region"})]) -> None: ...

    assert read(fn).input_schema["properties"]["region"]["x-mcp-header"] == "Region"


@pytest.mark.parametrize("name", ["asdict", "kind", "copy", "type", "class_", "_a", "import_", "name"])
def test_any_parameter_name_can_be_bound(name: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def fn({name}: int) -> None: ...", space)
    assert read(space["fn"]).bind({name: 1}) == {name: 1}


def test_refusals_name_function_parameter_and_remedy() -> None:
    def variadic(*cities: str) -> None: ...
    def keywords(**cities: str) -> None: ...
    def positional(city: str, /) -> None: ...
    def bare(city) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001 - what is refused
    def unbound(self, city: str) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001 - what is refused
    def unfit(city: complex) -> None: ...
    def ambiguous(city: str | bytes) -> None: ...
    def unseen(city: Decimal) -> None: ...
    def wrong() -> complex: ...  # type: ignore[empty-body]  # only its annotation is read

    beginnings: dict[Callable[..., Any], str] = {
        variadic: "variadic(): parameter 'cities': arguments come by name, so `*cities` gets none; take a list",
        keywords: "keywords(): parameter 'cities': a schema names every argument, so `**cities` gets none; take a dict",
        positional: "positional(): parameter 'city': arguments come by name, but it is positional-only",
        bare: "bare(): parameter 'city': has no annotation; say which type it takes, or Any for any JSON value",
        unbound: "unbound(): parameter 'self': is not bound; decorate a plain function",
        unfit: "unfit(): parameter 'city': complex has no JSON form; use a builtin type",
        ambiguous: "ambiguous(): parameter 'city': str | bytes has no JSON form: Type unions may not contain more than",
        unseen: "unseen(): parameter 'city': the annotation 'Decimal' cannot be resolved: name 'Decimal' is not",
        wrong: "wrong(): return annotation: complex has no JSON form",
    }
    for fn, beginning in beginnings.items():
        assert refusal(fn).startswith(beginning)


def test_generators_are_refused() -> None:
    async def stream() -> AsyncIterator[int]:
        yield 1

    def pull() -> Any:
        yield 1

    for fn in (stream, pull):
        assert "is a generator; return the result" in refusal(fn)


def test_annotation_that_is_no_type_is_refused() -> None:
    def fn(a: int) -> None: ...

    fn.__annotations__["a"] = "3 +"
    assert refusal(fn).startswith("fn(): parameter 'a': the annotation '3 +' is no type: ")


def test_callable_without_a_signature_is_refused() -> None:
    assert refusal(dict).startswith("dict(): its parameters cannot be read: ")
