"""Forms: flat, of fields that clients can show, and never asking for secrets."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest
from msgspec import Meta

from genmcp.schema import SchemaError, check_elicitation, elicitation_schema


class Status(enum.Enum):
    """For the reader of the code."""

    ACTIVE = "active"
    INACTIVE = "inactive"


class Inner(msgspec.Struct):
    x: int


@dataclasses.dataclass
class Confirm:
    ok: bool


class Trip(TypedDict, total=False):
    city: str


class Everything(msgspec.Struct):
    name: Annotated[str, Meta(title="Name", description="In full", min_length=1, max_length=9)]
    day: datetime.date
    at: datetime.datetime
    age: Annotated[int, Meta(ge=0, le=150)] = 30
    score: float = 95.5
    verified: bool = True
    note: str | None = None
    status: Status = Status.ACTIVE
    size: Literal["s", "m"] | None = None
    colours: list[Literal["red", "blue"]] = []
    statuses: Annotated[list[Status], Meta(min_length=1)] = msgspec.field(default_factory=lambda: [Status.ACTIVE])


def form(**fields: Any) -> type:
    return msgspec.defstruct("Form", list(fields.items()))


def refusal(schema: Any) -> str:
    with pytest.raises(SchemaError) as caught:
        check_elicitation(schema)
    return str(caught.value)


def test_every_kind_of_field_has_its_form() -> None:
    assert elicitation_schema(Everything) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "In full", "minLength": 1, "maxLength": 9},
            "day": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "age": {"type": "integer", "minimum": 0, "maximum": 150, "default": 30},
            "score": {"type": "number", "default": 95.5},
            "verified": {"type": "boolean", "default": True},
            "note": {"type": "string"},
            "status": {"type": "string", "enum": ["active", "inactive"], "default": "active"},
            "size": {"type": "string", "enum": ["m", "s"]},
            "colours": {"type": "array", "items": {"type": "string", "enum": ["blue", "red"]}, "default": []},
            "statuses": {"type": "array", "items": {"type": "string", "enum": ["active", "inactive"]}, "minItems": 1},
        },
        "required": ["name", "day", "at"],
    }


@pytest.mark.parametrize(("kind", "field"), [(Confirm, "ok"), (Trip, "city"), (form(email=str), "email")])
def test_dataclass_and_typed_dict_make_forms(kind: Any, field: str) -> None:
    assert list(elicitation_schema(kind)["properties"]) == [field]


def test_titled_options_are_the_authors_own() -> None:
    options = [{"const": "s", "title": "Small"}, {"const": "m", "title": "Medium"}]
    one = Annotated[str, Meta(extra_json_schema={"oneOf": options})]
    many = list[Annotated[str, Meta(extra_json_schema={"anyOf": options})]]
    properties = elicitation_schema(form(size=one, sizes=many))["properties"]
    assert properties["size"] == {"type": "string", "oneOf": options}
    assert properties["sizes"] == {"type": "array", "items": {"type": "string", "anyOf": options}}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Inner, 'a form field is a string, number, integer, boolean or a choice, got type "object"; no nesting'),
        (list[Inner], "an array in a form is a choice of several texts"),
        (list[str], "an array in a form is a choice of several texts"),
        (dict[str, int], 'got type "object"; no nesting'),
        (int | str, "a form field has one type, this one has 2"),
        (Any, "got type null"),
        (Literal[1, 2], "the options of a choice are texts, got [1,2]"),
        (Annotated[str, Meta(pattern="a")], "fields of type string do not have pattern"),
        (Annotated[int, Meta(gt=0)], "fields of type integer do not have exclusiveMinimum"),
        (uuid.UUID, 'the format is one of date, date-time, email, uri, got "uuid"'),
    ],
)
def test_field_that_no_form_shows_is_named(kind: Any, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        elicitation_schema(form(good=str, bad=kind))
    assert str(caught.value).startswith("form Form: bad: ")
    assert text in str(caught.value)


@pytest.mark.parametrize("kind", [int, list[str], str, Status])
def test_form_needs_fields(kind: Any) -> None:
    with pytest.raises(SchemaError, match="use a Struct, a dataclass or a TypedDict"):
        elicitation_schema(kind)


def test_open_object_is_no_form() -> None:
    with pytest.raises(SchemaError, match="has no fields"):
        elicitation_schema(dict[str, Any])


@pytest.mark.parametrize(
    "name",
    ["password", "Password2", "api_key", "apiKey", "APIKey", "accessToken", "token", "client_secret", "pin", "userPwd"],
)
def test_field_named_like_a_secret_is_refused(name: str) -> None:
    with pytest.raises(
        SchemaError, match=f"form Form: {name}: a form may not ask for a password, token or key; .*elicit_url"
    ):
        elicitation_schema(form(**{name: str}))


def test_title_that_asks_for_a_secret_is_refused() -> None:
    with pytest.raises(SchemaError, match="may not ask"):
        elicitation_schema(form(a=Annotated[str, Meta(title="Your password")]))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("keyboard", str),
        ("max_tokens", int),
        ("use_token", bool),
        ("key", Literal["c", "d"]),
        ("monkey", str),
        ("spin", str),
    ],
)
def test_field_that_holds_no_secret_is_taken(name: str, kind: Any) -> None:
    assert elicitation_schema(form(**{name: kind}))["properties"][name]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {}},
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"a": {"type": "string"}},
        },
        {
            "type": "object",
            "properties": {"a": {"type": "string", "enum": ["x"], "enumNames": ["X"]}},
            "required": ["a"],
        },
        {"type": "object", "properties": {"a": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}}},
    ],
)
def test_schema_of_the_author_is_taken(schema: dict[str, Any]) -> None:
    before = repr(schema)
    check_elicitation(schema)
    assert repr(schema) == before


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "array"}, "a form is"),
        ({"type": "object"}, "a form is"),
        ({"type": "object", "properties": {}, "additionalProperties": False}, "forms do not have additionalProperties"),
        ({"type": "object", "properties": {}, "required": ["a"]}, 'required must list names of properties, got ["a"]'),
        ({"type": "object", "properties": {}, "required": "a"}, "required must list names"),
        ({"type": "object", "properties": {"a": True}}, "a: a form field is"),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": {"enum": ["x"], "title": "X"}}}},
            "the items of a",
        ),
        ({"type": "object", "properties": {"a": {"type": "string", "oneOf": [{"const": "x"}]}}}, "a titled option is"),
    ],
)
def test_schema_of_the_author_is_checked(schema: Any, text: str) -> None:
    assert text in refusal(schema)
