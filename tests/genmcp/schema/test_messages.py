"""What a model reads about wrong arguments: path, what was expected, what was given (golden texts)."""

from __future__ import annotations

from typing import Any

import pytest

from genmcp.schema import Problem, compile_schema, describe

POINT = {
    "type": "object",
    "properties": {"kind": {"const": "point"}, "x": {"type": "number"}},
    "required": ["kind", "x"],
    "additionalProperties": False,
}
NAMED = {
    "type": "object",
    "properties": {"kind": {"enum": ["named"]}, "name": {"type": "string"}},
    "required": ["kind", "name"],
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "pattern": "^[A-Z]"},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "place": {"anyOf": [{"$ref": "#/$defs/Point"}, {"$ref": "#/$defs/Named"}, {"type": "null"}]},
        "owner": {"anyOf": [{"$ref": "#/$defs/Owner"}, {"type": "null"}]},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Owner"}, "maxItems": 200},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
    "$defs": {
        "Point": POINT,
        "Named": NAMED,
        "Owner": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
            "required": ["name"],
            "additionalProperties": False,
        },
    },
}
CHECKED = compile_schema(SCHEMA, where="x")


def told(**arguments: object) -> str:
    return describe(CHECKED.problems({"city": "Rome", "days": 1, **arguments}))


def problem(schema: dict[str, Any], value: object) -> str:
    return describe(compile_schema(schema, where="x", output=True).problems(value), subject="results")


def test_missing_argument_says_what_it_would_be() -> None:
    assert describe(CHECKED.problems({"days": 1})) == "city: missing; expected a string"


def test_wrong_type_says_expected_and_given() -> None:
    assert told(days="three") == 'days: expected an integer, got "three"'


def test_all_errors_come_at_once() -> None:
    assert describe(CHECKED.problems({"days": 9, "unit": "kelvin"})) == (
        "3 problems\n"
        "- city: missing; expected a string\n"
        "- days: expected at most 7, got 9\n"
        '- unit: expected one of "celsius", "fahrenheit", got "kelvin"'
    )


@pytest.mark.parametrize("typo", ["Unit", "unitt", "un_it", "UNIT"])
def test_close_name_is_suggested(typo: str) -> None:
    assert told(**{typo: "celsius"}) == f'{typo}: unknown; did you mean "unit"?'


def test_far_name_lists_the_names() -> None:
    assert told(zork=1) == "zork: unknown; the names are city, days, unit, when, place, owner, items, headers"


def test_name_already_given_is_not_suggested() -> None:
    assert told(citys=1).startswith("citys: unknown; the names are ")


def test_nested_path_has_names_and_indices() -> None:
    assert told(items=[{"name": "a"}, {"name": "b", "tags": ["x", 3]}]) == "items[1].tags[1]: expected a string, got 3"


def test_odd_name_stands_in_brackets() -> None:
    assert told(headers={"x y": 1}) == 'headers["x y"]: expected a string, got 1'


def test_optional_value_names_both_alternatives() -> None:
    assert told(when="tomorrow") == 'when: expected a date as 2026-07-28 or null, got "tomorrow"'


def test_optional_object_tells_what_is_wrong_inside() -> None:
    assert told(owner={"nmae": "x"}) == (
        '2 problems\n- owner.nmae: unknown; did you mean "name"?\n- owner.name: missing; expected a string'
    )


def test_tag_of_a_union_chooses_the_branch() -> None:
    assert told(place={"kind": "named", "name": 3}) == "place.name: expected a string, got 3"
    assert told(place={"kind": "point", "x": "3"}) == 'place.x: expected a number, got "3"'


def test_wrong_tag_of_a_union_lists_the_tags() -> None:
    assert told(place={"kind": "zone", "name": "x"}) == 'place.kind: expected one of "point", "named", got "zone"'


def test_wrong_kind_for_a_union_lists_the_kinds() -> None:
    assert told(place=[1]) == "place: expected an object or null, got an array of 1 item"


def test_union_of_constraints_says_each() -> None:
    schema = {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string"}]}
    assert problem(schema, 3) == "the results: expected an integer, at least 5 or a string, got 3"


def test_union_of_unnamed_schemas_says_what_failed() -> None:
    assert problem({"oneOf": [{"minimum": 5}, {"multipleOf": 2}]}, 3) == (
        "the results: expected at least 5 or a multiple of 2, got 3"
    )


def test_value_that_fits_two_alternatives_says_so() -> None:
    assert problem({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 3) == (
        "the results: expected a value that fits only one of the alternatives, got 3"
    )


def test_hundred_errors_tell_ten_and_a_count() -> None:
    lines = told(items=[{"name": number} for number in range(100)]).splitlines()
    assert lines[0] == "100 problems"
    assert lines[1] == "- items[0].name: expected a string, got 0"
    assert lines[10] == "- items[9].name: expected a string, got 9"
    assert lines[11:] == ["and 90 more"]


def test_long_values_are_cut() -> None:
    text = problem({"maxLength": 5}, "x" * 3_000)
    assert text == f'the results: expected at most 5 characters, got "{"x" * 40}…" (3,000 characters)'


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        ({"type": ["null", "string"]}, 1, "a string or null, got 1"),
        ({"type": "boolean"}, 0, "true or false, got 0"),
        ({"type": "object"}, ["a", "b"], "an object, got an array of 2 items"),
        ({"type": "array"}, {"a": 1, "b": 2, "c": 3, "d": 4}, 'an array, got an object with "a", "b", "c" and 1 more'),
        ({"type": "string"}, None, "a string, got null"),
        ({"type": "string"}, {}, "a string, got an empty object"),
        ({"type": "string"}, [], "a string, got an empty array"),
        ({"type": "number"}, float("nan"), "a number, got null"),  # what NaN is in JSON
        ({"const": {"a": 1}}, 3, '{"a":1}, got 3'),
        ({"enum": ["a"]}, "b", '"a", got "b"'),
        ({"exclusiveMinimum": 0}, 0, "more than 0, got 0"),
        ({"exclusiveMaximum": 1.5}, 2, "less than 1.5, got 2"),
        ({"multipleOf": 5}, 7, "a multiple of 5, got 7"),
        ({"minLength": 1}, "", 'at least 1 character, got ""'),
        ({"pattern": "^a$"}, "b", 'a string that matches "^a$", got "b"'),
        ({"format": "email"}, "x", 'an e-mail address, got "x"'),
        ({"format": "idn-hostname"}, "-", 'a string in the format "idn-hostname", got "-"'),
        ({"minItems": 2}, [1], "at least 2 items, got an array of 1 item"),
        ({"maxItems": 1}, [1, 2], "at most 1 item, got an array of 2 items"),
        ({"uniqueItems": True}, [1, 1], "items that all differ, got an array of 2 items"),
        ({"minProperties": 1}, {}, "at least 1 member, got an empty object"),
        ({"contains": {"const": 1}}, [2], "an array with more of the items that the schema asks for, got an array"),
        ({"not": {"type": "string"}}, "x", 'anything but a string, got "x"'),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "names that are at most 1 character, got an object"),
        ({"unevaluatedItems": False}, [1], "no further items, got an array of 1 item"),
    ],
)
def test_keyword_is_said_in_words(schema: dict[str, Any], value: object, text: str) -> None:
    assert problem(schema, value).startswith(f"the results: expected {text}")


def test_unevaluated_member_is_unknown() -> None:
    schema = {"properties": {"name": {}}, "unevaluatedProperties": False}
    assert problem(schema, {"nam": 1}) == 'nam: unknown; did you mean "name"?'
    assert problem({"unevaluatedProperties": False}, {"a": 1}) == "a: unknown; no names are known here"


def test_forbidden_item_is_told_with_its_index() -> None:
    assert problem({"prefixItems": [{}], "items": False}, [1, 2]) == "[1]: expected nothing here, got 2"


def test_dependent_requirements_name_the_missing_member() -> None:
    schema = {"properties": {"b": {"type": "integer"}}, "dependentRequired": {"a": ["b"]}}
    assert problem(schema, {"a": 1}) == "b: missing; expected an integer"


def test_member_missing_in_a_branch_is_described_by_the_whole() -> None:
    schema = {
        "properties": {
            "phone": {"type": "string"},
            "inner": {"properties": {"a": {}}, "allOf": [{"required": ["phone"]}]},
        },
        "if": {"required": ["inner"]},
        "then": {"allOf": [{"required": ["phone"]}]},
    }
    assert problem(schema, {"inner": {"phone": 1}}) == "phone: missing; expected a string"
    assert problem(schema, {"inner": {}, "phone": "1"}) == "inner.phone: missing; expected a value"


def test_same_problem_is_told_once() -> None:
    schema = {"allOf": [{"type": "string"}, {"type": "string"}]}
    assert problem(schema, 1) == "the results: expected a string, got 1"


def test_long_enum_is_cut() -> None:
    assert problem({"enum": list(range(30))}, 50).endswith("17, 18, 19 and 10 others, got 50")


def test_draft_4_bounds_are_understood() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": True}
    assert problem(schema, 3) == "the results: expected less than 3, got 3"
    missing = {
        **schema,
        "properties": {"a": {"type": "integer", "maximum": 3, "exclusiveMaximum": True}},
        "required": ["a"],
    }
    assert problem(missing, {}) == "a: missing; expected an integer, at most 3"


def test_recursive_union_is_described_without_end() -> None:
    schema = {"$defs": {"n": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "integer"}]}}, "required": ["a"]}
    assert problem({**schema, "properties": {"a": {"$ref": "#/$defs/n"}}}, {}).startswith("a: missing; expected ")


def test_messages_name_no_library_and_no_address() -> None:
    wrong = {
        "days": 9.5,
        "when": 3,
        "place": {"kind": "x"},
        "owner": 1,
        "items": [{}, 1],
        "zork": 1,
        "headers": {"a": 1},
    }
    text = describe(CHECKED.problems(wrong)).lower()
    assert not any(word in text for word in ("http", "jsonschema", "msgspec", "schema[", "$ref", "failed validating"))


def test_author_refusal_is_told_as_written() -> None:
    assert describe([Problem("a", "must be even", kind="refused")]) == "a: must be even"
    assert describe([Problem("", "choose a or b", kind="refused")]) == "choose a or b"


def test_no_problems_say_nothing() -> None:
    assert describe([]) == ""
