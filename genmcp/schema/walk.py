"""Where a JSON Schema holds other schemas: one table of keywords, and the ways to go through a schema by it.

A key named like a keyword is not always one: below `properties` it is somebody's name, below `default`, `const`, `enum`
and `examples` it is data. Whoever looks for a keyword goes through `subschemas`, which knows the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

__all__ = ["Place", "Schema", "look_up", "resolve", "subschemas"]

Schema = Mapping[str, Any]
Place = tuple[str | int, ...]

# The value is one schema, an array of schemas, or a map from names to schemas (all dialects together).
_ONE = frozenset(("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items")) | {
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
}
_MANY = frozenset(("allOf", "anyOf", "items", "oneOf", "prefixItems"))
_NAMED = frozenset(("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"))


def subschemas(schema: Schema) -> Iterator[tuple[Place, Schema]]:
    """Yield every schema object inside a schema, itself first, each with its place.

    References are not followed, boolean schemas are left out, keywords of no dialect are taken for annotations.

    Args:
        schema: A schema whose nesting is bounded (`compile_schema` checks that first).
    """
    pending: list[tuple[Place, Schema]] = [((), schema)]
    while pending:
        place, found = pending.pop()
        yield place, found
        pending.extend(reversed([(place + step, child) for step, child in _children(found)]))


def _children(schema: Schema) -> Iterator[tuple[Place, Schema]]:
    for keyword, value in schema.items():
        if isinstance(value, Mapping):
            if keyword in _ONE:
                yield (keyword,), value
            elif keyword in _NAMED:
                yield from (((keyword, name), child) for name, child in value.items() if isinstance(child, Mapping))
        elif isinstance(value, list | tuple) and keyword in _MANY:
            yield from (((keyword, index), child) for index, child in enumerate(value) if isinstance(child, Mapping))


def look_up(document: Any, place: Place) -> object:
    """Return what lies at a place of a document, or None where there is nothing."""
    for step in place:
        try:
            document = document[step]
        except (IndexError, KeyError, TypeError):
            return None
    return document


def resolve(schema: object, root: Schema, *, hops: int = 8) -> object:
    """Follow a `$ref` that points inside the same document; anything else is returned as it is.

    Args:
        schema: The schema that may consist of a reference.
        root: The document that the reference points into.
        hops: How many references in a row are followed.
    """
    for _ in range(hops):
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        target = _pointed_at(reference, root)
        if target is None:
            break
        schema = target
    return schema


def _pointed_at(reference: str, root: Schema) -> object:
    steps = [unquote(step).replace("~1", "/").replace("~0", "~") for step in reference[1:].split("/")[1:]]
    place = tuple(int(step) if step.isdigit() else step for step in steps)
    return look_up(root, place)
