"""Schemas are compiled offline and bounded; values are checked under the declared dialect."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from genmcp.schema import DIALECTS, SchemaError, compile_schema

OBJECT: dict[str, Any] = {"type": "object"}


def with_property(schema: object, **more: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, **more}


def refusal(schema: Any, *, output: bool = False) -> str:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema, where="tool 'x': input_schema", output=output)
    text = str(caught.value)
    assert text.startswith("tool 'x': input_schema: ")
    return text.removeprefix("tool 'x': input_schema: ")


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return {**schema, "type": "object"}


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/x", "https://example.com/x", "file:///etc/passwd", "x.json"])
def test_external_reference_is_refused_at_start(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    text = refusal(with_property({"$ref": reference}))
    assert text.startswith("a $ref cannot be resolved: ")
    assert "never fetched" in text


def test_unused_external_reference_is_refused_too() -> None:
    assert "never fetched" in refusal({**OBJECT, "$defs": {"a": {"$ref": "http://127.0.0.1:9/x"}}})


def test_reference_into_nothing_is_refused() -> None:
    assert "/$defs/gone" in refusal(with_property({"$ref": "#/$defs/gone"}))


def test_local_references_and_anchors_are_followed() -> None:
    checked = compile_schema(
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#text"}},
            "$defs": {"n": {"type": "integer"}, "t": {"$anchor": "text", "type": "string"}},
        },
        where="x",
    )
    assert checked.is_valid({"a": 1, "b": "x"})
    assert [problem.path for problem in checked.problems({"a": "x", "b": 1})] == ["a", "b"]


def test_unknown_dialect_is_named_with_the_known_ones() -> None:
    text = refusal({**OBJECT, "$schema": "https://example.com/mine"})
    assert '"https://example.com/mine", which is not supported' in text
    assert all(dialect in text for dialect in DIALECTS)


def test_unknown_dialect_inside_is_found() -> None:
    text = refusal(with_property({"$schema": "http://json-schema.org/draft-03/schema#"}))
    assert text.startswith('properties.a["$schema"] is ')


@pytest.mark.parametrize("dialect", DIALECTS)
def test_declared_dialect_is_served(dialect: str) -> None:
    for mark in ("", "#"):
        checked = compile_schema(with_property({"type": "integer"}, **{"$schema": dialect + mark}), where="x")
        assert not checked.is_valid({"a": "x"})


def test_dialect_decides_what_keywords_mean() -> None:
    items = with_property({"items": [{"type": "integer"}]})
    draft7 = compile_schema({"$schema": "http://json-schema.org/draft-07/schema#", **items}, where="x")
    assert not draft7.is_valid({"a": ["x"]})
    assert "not a valid JSON Schema" in refusal(items)  # prefixItems in 2020-12, the default


def test_invalid_schema_is_refused_with_its_place() -> None:
    text = refusal(with_property({"minLength": "x"}))
    assert text == 'not a valid JSON Schema: properties.a.minLength: expected an integer, got "x"'


def test_invalid_type_names_the_valid_ones() -> None:
    assert 'expected one of "array", "boolean", "integer"' in refusal(with_property({"type": "objekt"}))


def test_invalid_pattern_is_refused() -> None:
    assert "properties.a.pattern: expected a regular expression" in refusal(with_property({"pattern": "("}))


@pytest.mark.parametrize("root", [{}, {"type": "array"}, {"type": ["object"]}, {"anyOf": [OBJECT]}])
def test_arguments_need_an_object_at_the_root(root: dict[str, Any]) -> None:
    assert '"type": "object"' in refusal(root)


@pytest.mark.parametrize("root", [{}, {"type": "array"}, {"type": "integer"}, {"anyOf": [OBJECT]}])
def test_results_may_be_anything(root: dict[str, Any]) -> None:
    assert compile_schema(root, where="x", output=True).schema == root


@pytest.mark.parametrize("schema", [True, False, None, [], "x"])
def test_boolean_schema_is_no_schema(schema: object) -> None:
    assert refusal(schema, output=True).startswith("expected a JSON Schema object, got ")


def test_depth_is_bounded() -> None:
    assert "64 levels" in refusal(nested(100_000))
    assert compile_schema(nested(60), where="x").is_valid({})


def test_number_of_parts_is_bounded() -> None:
    shared: dict[str, Any] = {"type": "object"}
    for _ in range(30):  # thirty objects that stand for a billion
        shared = {"anyOf": [shared, shared]}
    assert "10,000 parts" in refusal(with_property(shared))


def test_size_is_bounded() -> None:
    assert "1,048,576 bytes" in refusal({**OBJECT, "description": "x" * 1_100_000})


def test_schema_that_contains_itself_is_refused() -> None:
    schema = with_property({})
    schema["properties"]["a"] = schema
    assert "64 levels" in refusal(schema)


def test_what_json_lacks_is_refused_with_its_place() -> None:
    assert refusal(with_property({"enum": {1, 2}})) == "properties.a.enum is a set, which JSON does not have"
    assert "has the key 1; keys of JSON objects are strings" in refusal({**OBJECT, "properties": {1: {}}})


def test_format_is_asserted() -> None:
    checked = compile_schema(with_property({"format": "date"}), where="x")
    assert checked.is_valid({"a": "2026-07-28"})
    assert not checked.is_valid({"a": "2026-02-30"})


def test_unknown_format_is_an_annotation() -> None:
    assert compile_schema(with_property({"format": "colour"}), where="x").is_valid({"a": "red"})


def test_schema_is_kept_as_written() -> None:
    schema = with_property({"type": "string", "x-mine": 1}, **{"$comment": "kept", "x-other": [1]})
    assert compile_schema(schema, where="x").schema is schema


def test_valid_value_has_no_problems() -> None:
    assert compile_schema(with_property({"type": "integer"}), where="x").problems({"a": 3.0}) == []


def test_value_without_a_json_form_is_a_problem() -> None:
    checked = compile_schema(with_property({"type": "string"}), where="x")
    assert not checked.is_valid({"a": b"x"})
    assert checked.problems({"a": b"x"})[0].expected == "a value that JSON can hold"


def test_endless_pattern_gives_up() -> None:
    checked = compile_schema(with_property({"pattern": r"^(a|a?)+\1c$"}), where="x")
    begin = time.perf_counter()
    assert checked.problems({"a": "a" * 3_000 + "b"})[0].expected == "a simpler value"
    assert time.perf_counter() - begin < 1


def test_reference_to_itself_terminates() -> None:
    checked = compile_schema({**OBJECT, "properties": {"next": {"$ref": "#"}}}, where="x")
    assert checked.problems({"next": {"next": 1}})[0].path == "next.next"
