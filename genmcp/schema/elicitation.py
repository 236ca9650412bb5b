"""The restricted schemas of forms: a flat object of texts, numbers, booleans and choices (I-22, I-24).

A client shows such a form to a person, and its answers pass through the client and perhaps a model. So a form may not
be nested, and may not ask for a password, token or key: URL mode is for those. Both are refused where the author
writes them, with the field's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from genmcp.schema.derive import schema_for, type_name
from genmcp.schema.errors import SchemaError
from genmcp.schema.problem import quote
from genmcp.schema.walk import Schema, resolve

__all__ = ["check_elicitation", "elicitation_schema"]

_FORMATS = ("date", "date-time", "email", "uri")
_COMMON = {"type", "title", "description", "default"}
_KEYWORDS = {
    "string": _COMMON | {"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"},
    "number": _COMMON | {"minimum", "maximum"},
    "integer": _COMMON | {"minimum", "maximum"},
    "boolean": _COMMON,
    "array": _COMMON | {"items", "minItems", "maxItems"},
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SECRET_WORDS = frozenset(
    ("apikey", "credential", "credentials", "cvc", "cvv", "key", "passcode", "passphrase", "passwd", "password")
) | {"passwords", "pin", "pwd", "secret", "secrets", "token"}


def elicitation_schema(kind: Any) -> dict[str, Any]:
    """Derive the `requestedSchema` of a form from a Struct, dataclass or TypedDict.

    Texts, numbers, booleans, dates, `Literal` and Enum of texts (choose one) and lists of those (choose several) are
    fields; `Meta(title=…, description=…)`, bounds and defaults are kept. A field with a default need not be filled in.
    Options with titles are `Annotated[str, Meta(extra_json_schema={"oneOf": [{"const": …, "title": …}, …]})]`.

    Args:
        kind: The type of the answer.

    Raises:
        SchemaError: The type is not flat, has a field that a form cannot show, or asks for a secret.
    """
    derived = schema_for(kind, arguments=True)
    where = f"form {type_name(kind)}"
    if "properties" not in derived:
        raise SchemaError(f"{where}: has no fields; use a Struct, a dataclass or a TypedDict")
    fields = {name: _field(part, derived, f"{where}: {name}") for name, part in derived["properties"].items()}
    schema = {"type": "object", "properties": fields, "required": derived.get("required", [])}
    check_elicitation(schema, where=where)
    return schema


def _field(part: Schema, root: Schema, at: str) -> dict[str, Any]:
    """Bring what msgspec writes for a field into the form that clients accept."""
    field = _without_null(part, at)
    target = resolve(field, root)
    if isinstance(target, Mapping) and target is not field:
        outer = {key: value for key, value in field.items() if key != "$ref"}
        # An enum's class name and docstring are the author's, not for the person who fills in the form.
        inner = {key: value for key, value in target.items() if "enum" not in target or key == "enum"}
        field = {**inner, **outer}
    if "enum" in field:
        return {"type": "string", **field}
    if isinstance(field.get("items"), Mapping):
        return {**field, "items": _choices(field["items"], root)}
    return field


def _without_null(part: Schema, at: str) -> dict[str, Any]:
    """Take `T | None` as a field that may be left empty."""
    if "enum" in part and None in part["enum"]:
        part = {**part, "enum": [option for option in part["enum"] if option is not None]}
    branches = [branch for branch in part.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) > 1:
        raise SchemaError(f"{at}: a form field has one type, this one has {len(branches)}")
    outer = {key: value for key, value in part.items() if key != "anyOf"}
    merged = {**branches[0], **outer} if branches else outer
    if "default" in merged and merged["default"] is None:
        del merged["default"]
    return merged


def _choices(items: Schema, root: Schema) -> dict[str, Any]:
    target = resolve(items, root)
    if isinstance(target, Mapping) and "enum" in target:
        return {"type": "string", "enum": target["enum"]}
    return dict(items)


def check_elicitation(schema: Schema, *, where: str = "requestedSchema") -> None:
    """Check a form's schema, derived or the author's own, against what the specification lets a form ask for.

    Args:
        schema: The `requestedSchema`.
        where: What it belongs to; every error begins with it.

    Raises:
        SchemaError: It is not a flat object, a field has a type or keyword that forms do not have, `required` names no
            field, or a field asks for a secret.
    """
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, Mapping):
        raise SchemaError(f'{where}: a form is {{"type": "object", "properties": …}}')
    if unknown := schema.keys() - {"$schema", "type", "properties", "required"}:
        raise SchemaError(f"{where}: forms do not have {', '.join(sorted(unknown))}")
    required = schema.get("required", [])
    if not isinstance(required, list) or any(name not in properties for name in required):
        raise SchemaError(f"{where}: required must list names of properties, got {quote(required)}")
    for name, field in properties.items():
        for problem in _problems(name, field):
            raise SchemaError(f"{where}: {name}: {problem}")


def _problems(name: str, field: object) -> Iterator[str]:
    kind = field.get("type") if isinstance(field, Mapping) else None
    if not isinstance(field, Mapping) or kind not in _KEYWORDS:
        yield f"a form field is a string, number, integer, boolean or a choice, got type {quote(kind)}; no nesting"
        return
    if unknown := field.keys() - _KEYWORDS[str(kind)]:
        yield f"fields of type {kind} do not have {', '.join(sorted(unknown))}"
    if field.get("format", "date") not in _FORMATS:
        yield f"the format is one of {', '.join(_FORMATS)}, got {quote(field['format'])}"
    yield from _choice_problems(field)
    if _asks_for_secret(name, field):
        yield "a form may not ask for a password, token or key; send the person to a page of yours with elicit_url"


def _choice_problems(field: Schema) -> Iterator[str]:
    options = field.get("enum", [])
    titled = field.get("oneOf", [])
    if field["type"] == "array":
        items = field.get("items")
        if not isinstance(items, Mapping) or not ("enum" in items or "anyOf" in items):
            yield "an array in a form is a choice of several texts: items with enum or anyOf"
            return
        if unknown := items.keys() - {"type", "enum", "anyOf"}:
            yield f"the items of a choice do not have {', '.join(sorted(unknown))}"
        options, titled = items.get("enum", []), items.get("anyOf", [])
    if not all(isinstance(option, str) for option in options):
        yield f"the options of a choice are texts, got {quote(options)}"
    if not all(isinstance(option, Mapping) and option.keys() == {"const", "title"} for option in titled):
        yield f"a titled option is an object of const and title, got {quote(titled)}"


def _asks_for_secret(name: str, field: Schema) -> bool:
    """Whether a text or number is named like a secret. A yes or no, or a choice, holds none; nor does `max_tokens`."""
    if field["type"] in ("boolean", "array") or "enum" in field or "oneOf" in field:
        return False
    texts = (name, str(field.get("title", "")))
    words = [word.lower() for text in texts for word in _WORD.findall(text)]
    return any(word in _SECRET_WORDS or word.startswith("password") for word in words)
