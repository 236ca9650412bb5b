"""Derive a JSON Schema from a Python type: builtins, msgspec Structs, dataclasses, TypedDicts, enums, unions and so on.

msgspec writes the schema; this module adds what a tool needs beyond it. The root is never a `$ref` (clients look for
`"type": "object"` there), arguments are closed against unknown names, a `datetime` carries its format, and a type that
JSON cannot hold is refused with a sentence instead of failing on the first request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import msgspec.inspect as inspect

from genmcp.schema.errors import SchemaError
from genmcp.schema.walk import subschemas

__all__ = ["schema_for", "type_name"]

_REF = "#/$defs/"
_CUSTOM = "x-custom-type"
_LOCAL_TIME, _LOCAL_DATETIME, _DURATION = "09:30:00", "2026-07-28T09:30:00", "P1DT2H30M"


def schema_for(kind: Any, *, arguments: bool = False) -> dict[str, Any]:
    """Derive the JSON Schema (2020-12) of a type.

    Args:
        kind: Any type that msgspec can read from JSON, `Annotated[…, msgspec.Meta(…)]` included. A `datetime` demands
            an offset unless it is annotated with `msgspec.Meta(tz=False)`.
        arguments: Whether it describes a tool's arguments: the root must then be an object, and every Struct,
            dataclass and TypedDict refuses unknown names.

    Returns:
        A new dict; shared and recursive types are under `$defs`.

    Raises:
        SchemaError: The type, or one inside it, cannot be read from JSON; or arguments are not an object.
    """
    info, root, components = _generate(kind)
    _Refiner(components).refine(info, root)
    if arguments:
        for component in components.values():
            if "properties" in component:
                component.setdefault("additionalProperties", False)
    schema = _inline_root(root, components)
    return _object_at_root(schema, kind) if arguments else schema


def type_name(kind: Any) -> str:
    """Name a type as its author would."""
    return (
        kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind).replace("typing.", "")
    )


def _generate(kind: Any) -> tuple[inspect.Type, dict[str, Any], dict[str, dict[str, Any]]]:
    try:
        info = inspect.type_info(kind)
        (root,), components = msgspec.json.schema_components((kind,), schema_hook=_leave_to_refiner)
    except (TypeError, ValueError, NameError, AttributeError) as error:
        raise SchemaError(f"{type_name(kind)} has no JSON form: {error}") from error
    return info, root, components


def _leave_to_refiner(kind: type) -> dict[str, Any]:
    """Mark any class for the moment: the refiner refuses it with a better sentence, or knows that it is `object`."""
    return {_CUSTOM: True}  # msgspec takes an empty schema for a missing one


class _Refiner:
    """Goes through a type and its schema side by side and corrects the schema in place."""

    def __init__(self, components: dict[str, dict[str, Any]]) -> None:
        self._components = components
        self._seen: set[str] = set()

    def refine(self, info: inspect.Type, schema: dict[str, Any]) -> None:
        while isinstance(info, inspect.Metadata):
            info = info.type
        if isinstance(reference := schema.get("$ref"), str):
            if reference in self._seen:
                return
            self._seen.add(reference)
            schema = self._components[reference.removeprefix(_REF)]
        self._leaf(info, schema)
        for child, part in _children(info, schema):
            self.refine(child, part)

    def _leaf(self, info: inspect.Type, schema: dict[str, Any]) -> None:
        match info:
            case inspect.CustomType(cls=cls):
                if schema.pop(_CUSTOM, False) and cls is object:
                    return
                raise SchemaError(
                    f"{type_name(cls)} has no JSON form; use a builtin type, a msgspec Struct, a dataclass, "
                    "a TypedDict, an Enum or a Literal"
                )
            case inspect.DateTimeType(tz=None):
                schema.setdefault("format", "date-time")
            case inspect.DateTimeType(tz=False):
                schema.setdefault("examples", [_LOCAL_DATETIME])
            case inspect.TimeType(tz=None | False):
                schema.pop("format", None)
                schema.setdefault("examples", [_LOCAL_TIME])
            case inspect.TimeDeltaType():
                # The format knows no fractions of a second, and msgspec writes them.
                schema.pop("format", None)
                schema.setdefault("examples", [_DURATION])


def _children(info: inspect.Type, schema: dict[str, Any]) -> Iterator[tuple[inspect.Type, dict[str, Any]]]:
    """Pair the types inside a type with the schemas that msgspec wrote for them."""
    nothing: dict[str, Any] = {}  # stands for a schema that msgspec left out because it says nothing
    match info:
        case inspect.CollectionType(item_type=item):
            yield item, schema.get("items", nothing)
        case inspect.TupleType(item_types=items):
            yield from zip(items, schema.get("prefixItems", []), strict=True)
        case inspect.DictType(key_type=key, value_type=value):
            yield key, nothing
            yield value, schema.get("additionalProperties", nothing)
        case inspect.UnionType(types=members):
            yield from zip(sorted(members, key=_rank), _branches(schema), strict=True)
        case inspect.StructType() | inspect.DataclassType() | inspect.TypedDictType() | inspect.NamedTupleType():
            yield from _fields(info, schema)


def _fields(info: Any, schema: dict[str, Any]) -> Iterator[tuple[inspect.Type, dict[str, Any]]]:
    if "prefixItems" in schema:
        # An array-like struct with a tag has it before its fields.
        items = schema["prefixItems"][-len(info.fields) :] if info.fields else []
        yield from zip((field.type for field in info.fields), items, strict=True)
    else:
        yield from ((field.type, schema["properties"][field.encode_name]) for field in info.fields)


def _rank(info: inspect.Type) -> int:
    """The order in which msgspec writes the members of a union: structs after the others, null last."""
    while isinstance(info, inspect.Metadata):
        info = info.type
    if isinstance(info, inspect.NoneType):
        return 2
    return 1 if isinstance(info, inspect.StructType) and not info.array_like else 0


def _branches(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The members of a union; tagged structs stand in a union of their own inside it."""
    for branch in schema["anyOf"]:
        if "anyOf" in branch:
            yield from _branches(branch)
        else:
            yield branch


def _inline_root(root: dict[str, Any], components: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if isinstance(reference := root.pop("$ref", None), str):
        root = {**components[reference.removeprefix(_REF)], **root}
    used: dict[str, dict[str, Any]] = {}
    pending = [root]
    while pending:
        for _, part in subschemas(pending.pop()):
            name = str(part.get("$ref", "")).removeprefix(_REF)
            if name in components and name not in used:
                used[name] = components[name]
                pending.append(components[name])
    return {**root, "$defs": {name: used[name] for name in sorted(used)}} if used else root


def _object_at_root(schema: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Say that arguments are an object where the schema does not, as for a union of tagged structs."""
    branches = [branch.get("$ref", "").removeprefix(_REF) for branch in schema.get("anyOf", [])]
    if branches and all(schema["$defs"].get(name, {}).get("type") == "object" for name in branches):
        return {"type": "object", **schema}
    if schema.get("type") != "object":
        raise SchemaError(f"{type_name(kind)} is no object; arguments are: use a Struct, a dataclass or a TypedDict")
    return schema
