"""`x-mcp-header`: every constraint is checked at start-up, and headers are compared as the specification says."""

from __future__ import annotations

from typing import Any

import pytest

from genmcp.schema import HeaderParam, HeaderType, SchemaError, header_parameters, matches


def annotated(suffix: object = "Region", kind: object = "string", **more: object) -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": suffix, **more}


def root(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def refusal(schema: dict[str, Any]) -> str:
    with pytest.raises(SchemaError) as caught:
        header_parameters(schema, where="tool 'x'")
    return str(caught.value)


@pytest.mark.parametrize("kind", ["string", "integer", "boolean"])
def test_annotated_argument_is_found(kind: str) -> None:
    found = header_parameters(root(region=annotated(kind=kind), other={"type": "string"}))
    assert found == {"Region": HeaderParam(("region",), kind)}  # type: ignore[arg-type]  # one of the three, by parameter


def test_nested_argument_is_found_by_its_path() -> None:
    found = header_parameters(root(where=root(inner=root(region=annotated()))))
    assert found["Region"].path == ("where", "inner", "region")


def test_schema_without_annotations_has_none() -> None:
    assert header_parameters({"type": "object"}) == {}


@pytest.mark.parametrize("suffix", ["", "a b", "a:b", "Région", "a\r\nX: y", "a\n", "a/b", 3, None, ["a"]])
def test_suffix_must_be_a_token(suffix: object) -> None:
    assert "is no header name" in refusal(root(region=annotated(suffix)))


def test_every_token_character_is_taken() -> None:
    assert header_parameters(root(a=annotated("!#$%&'*+-.^_`|~09azAZ")))


def test_suffixes_are_unique_without_regard_to_case() -> None:
    text = refusal(root(a=annotated("Region"), b=root(c=annotated("REGION"))))
    assert text.startswith("tool 'x': properties.b.properties.c: x-mcp-header: ")
    assert text.endswith('"REGION" is taken by properties.a; case makes no difference')


@pytest.mark.parametrize("kind", ["number", "object", "array", "null", ["string", "null"], ["string"], None])
def test_only_plain_types_may_be_repeated(kind: object) -> None:
    assert "integer, string or boolean" in refusal(root(a=annotated(kind=kind)))


def test_missing_type_is_refused() -> None:
    assert "integer, string or boolean" in refusal(root(a={"x-mcp-header": "A"}))
    assert "integer, string or boolean" in refusal(root(a={"x-mcp-header": "A", "anyOf": [{"type": "string"}]}))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "x-mcp-header": "Region"},
        root(a={"type": "array", "items": annotated()}),
        root(a={"type": "array", "prefixItems": [annotated()]}),
        root(a={"anyOf": [annotated(), {"type": "null"}]}),
        root(a={"oneOf": [annotated()]}),
        root(a={"allOf": [annotated()]}),
        root(a={"not": annotated()}),
        {**root(), "if": root(a=annotated())},
        {**root(), "then": root(a=annotated())},
        {**root(), "else": root(a=annotated())},
        {**root(a={"$ref": "#/$defs/R"}), "$defs": {"R": annotated()}},
        {**root(), "additionalProperties": annotated()},
        {**root(), "patternProperties": {"^a": annotated()}},
        {**root(), "dependentSchemas": {"a": root(b=annotated())}},
        root(a={"allOf": [root(b=annotated())]}),
    ],
)
def test_annotation_elsewhere_is_refused(schema: dict[str, Any]) -> None:
    assert "`properties` alone lead to" in refusal(schema)


def test_argument_or_data_of_that_name_is_no_annotation() -> None:
    schema = root(
        **{"x-mcp-header": {"type": "string"}, "a": {"default": {"x-mcp-header": "A"}, "enum": [{"x-mcp-header": 1}]}}
    )
    assert header_parameters(schema) == {}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"a": {"b": 3}}, 3),
        ({"a": {"b": None}}, None),
        ({"a": {}}, None),
        ({}, None),
        ({"a": [1]}, None),
        ({"a": None}, None),
    ],
)
def test_value_is_taken_at_the_exact_path(arguments: dict[str, Any], value: object) -> None:
    assert HeaderParam(("a", "b"), "integer").value_in(arguments) == value


@pytest.mark.parametrize(
    ("header", "value", "kind"),
    [
        ("us-west1", "us-west1", "string"),
        ("", "", "string"),
        ("Hello, 世界", "Hello, 世界", "string"),
        ("42", 42, "integer"),
        ("42.0", 42, "integer"),
        ("42", 42.0, "integer"),
        ("4.2e1", 42, "integer"),
        ("-0", 0, "integer"),
        ("9007199254740991", 2**53 - 1, "integer"),
        ("-9007199254740991", -(2**53) + 1, "integer"),
        ("true", True, "boolean"),
        ("false", False, "boolean"),
        # Not the declared type: the check of the arguments says so to the model.
        ("42", "42", "integer"),
        ("1.5", 1.5, "string"),
        ("true", True, "string"),
    ],
)
def test_header_repeats_the_value(header: str, value: object, kind: HeaderType) -> None:
    assert matches(header, value, kind)


@pytest.mark.parametrize(
    ("header", "value", "kind"),
    [
        ("US-WEST1", "us-west1", "string"),
        ("us-west1 ", "us-west1", "string"),
        ("43", 42, "integer"),
        ("042", 42, "integer"),
        ("+42", 42, "integer"),
        ("0x2a", 42, "integer"),
        ("4_2", 42, "integer"),
        ("٤٢", 42, "integer"),
        ("", 0, "integer"),
        ("NaN", float("nan"), "integer"),
        ("1e999999999", 42, "integer"),
        ("9" * 5_000, 42, "integer"),
        ("42.5", 42.5, "integer"),
        ("9007199254740992", 2**53, "integer"),
        ("-9007199254740992", -(2**53), "integer"),
        ("9007199254740993", 9007199254740992.0, "integer"),
        ("True", True, "boolean"),
        ("1", True, "boolean"),
        ("1", True, "integer"),
        ("0", False, "boolean"),
        ("[1]", [1], "string"),
        ("{}", {}, "string"),
    ],
)
def test_header_that_differs_does_not_match(header: str, value: object, kind: HeaderType) -> None:
    assert not matches(header, value, kind)
