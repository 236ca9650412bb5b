"""A schema in words: `an integer from 1 to 7`, `one of "a", "b"`, `an array of strings or null`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from genmcp.schema.problem import quote
from genmcp.schema.walk import Schema, resolve

__all__ = ["alternatives", "bound", "expectation", "format_text", "one_of", "types_text"]

MOST_OPTIONS = 20

_TYPES = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
_PLURALS = {
    "array": "arrays",
    "boolean": "booleans",
    "integer": "integers",
    "number": "numbers",
    "object": "objects",
    "string": "strings",
}
_FORMATS = {
    "date": "a date as 2026-07-28",
    "date-time": "a date and time with its offset as 2026-07-28T09:30:00Z",
    "duration": "an ISO 8601 duration as P1DT2H",
    "email": "an e-mail address",
    "hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "json-pointer": "a JSON pointer as /a/0",
    "regex": "a regular expression",
    "time": "a time with its offset as 09:30:00Z",
    "uri": "an absolute URI",
    "uri-reference": "a URI",
    "uri-template": "a URI template",
    "uuid": "a UUID",
}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} members",
    "maxProperties": "at most {} members",
}


def bound(keyword: str, limit: object) -> str:
    """Say what a keyword that bounds a value demands, as `at least 3 characters`."""
    text = _BOUNDS[keyword].format(quote(limit))
    # "1 characters", "1 items": the last letter goes; "properties" are members here for the same reason.
    return text[:-1] if limit == 1 and text.endswith("s") else text


def format_text(name: str) -> str:
    """Say what a `format` demands."""
    return _FORMATS.get(name, f"a string in the format {quote(name)}")


def types_text(types: Iterable[str]) -> str:
    """Say what a `type` demands, `null` last."""
    ordered = sorted(types, key=lambda name: name == "null")
    return alternatives([_TYPES.get(name, name) for name in ordered])


def one_of(options: Sequence[Any]) -> str:
    """Say what an `enum` demands, the first twenty options by name."""
    if len(options) == 1:
        return quote(options[0])
    shown = ", ".join(quote(option) for option in options[:MOST_OPTIONS])
    rest = f" and {len(options) - MOST_OPTIONS} others" if len(options) > MOST_OPTIONS else ""
    return f"one of {shown}{rest}"


def alternatives(texts: Iterable[str]) -> str:
    """Join alternatives with commas and a final "or"; each is said once."""
    unique = list(dict.fromkeys(texts))
    if len(unique) < 2:
        return "".join(unique)
    return f"{', '.join(unique[:-1])} or {unique[-1]}"


def expectation(schema: object, root: Schema, *, depth: int = 3) -> str:
    """Say in a few words what a schema expects.

    Args:
        schema: The schema, a boolean one included.
        root: The document it belongs to, for `$ref`.
        depth: How many alternatives inside alternatives are told; a schema may contain itself.

    Returns:
        A noun phrase; `a value` where the schema says nothing that fits in one.
    """
    schema = resolve(schema, root)
    if not isinstance(schema, dict):
        return "nothing" if schema is False else "a value"
    if "const" in schema:
        return quote(schema["const"])
    if isinstance(options := schema.get("enum"), list):
        return one_of(options)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(keyword), list) and "type" not in schema and depth:
            return alternatives(expectation(branch, root, depth=depth - 1) for branch in branches[:MOST_OPTIONS])
    return _typed(schema, root)


def _typed(schema: Schema, root: Schema) -> str:
    types = schema.get("type")
    if isinstance(types, list):
        return types_text(types)
    match types:
        case "string" if isinstance(schema.get("format"), str):
            return format_text(schema["format"])
        case "array":
            item = resolve(schema.get("items"), root)
            plural = (
                _PLURALS.get(item["type"]) if isinstance(item, dict) and isinstance(item.get("type"), str) else None
            )
            return f"an array of {plural}" if plural else "an array"
        case "integer" | "number":
            return _TYPES[types] + _range(schema)
        case str():
            return _TYPES.get(types, "a value")
    return "a value"


def _range(schema: Schema) -> str:
    # The exclusive bounds of draft 4 are booleans beside the others; those are told without them.
    limits = {key: schema[key] for key in _BOUNDS if "imum" in key and not isinstance(schema.get(key, True), bool)}
    if limits.keys() == {"minimum", "maximum"}:
        return f" from {quote(limits['minimum'])} to {quote(limits['maximum'])}"
    return f", {' and '.join(bound(*limit) for limit in limits.items())}" if limits else ""
