"""Read a return annotation: whether a function gives content, or data that has a schema of its own."""

from __future__ import annotations

import collections.abc
import functools
import operator
import types
from collections.abc import Collection
from typing import Annotated, Any, Union, get_args, get_origin

from genmcp.mcp.v2607.content import AudioContent, EmbeddedResource, ImageContent, ResourceLink, TextContent
from genmcp.mcp.v2607.tools import CallToolResult
from genmcp.schema.derive import schema_for

__all__ = ["output_schema_of", "union_members"]

_CONTENT: tuple[Any, ...] = (
    str,
    bytes,
    None,
    type(None),
    TextContent,
    ImageContent,
    AudioContent,
    ResourceLink,
    EmbeddedResource,
)
_SEQUENCES = (list, collections.abc.Sequence)


def output_schema_of(annotation: Any, *, endings: Collection[type] = ()) -> dict[str, Any] | None:
    """Derive the output schema of a return annotation.

    Args:
        annotation: The annotation, resolved.
        endings: Classes that end a request in their own way (`Result`, `Error`, `Stream`); like `CallToolResult` they
            are no data, and in a union with data only the data has a schema.

    Returns:
        None for what is content only: `str`, `bytes`, content blocks, lists of them, `CallToolResult`, `None`. For any
        other type its schema.

    Raises:
        SchemaError: The type has no JSON form.
    """
    members = union_members(annotation)
    data = [member for member in members if not _is_ending(member, endings)]
    if all(_is_content(member) for member in data):
        return None
    return schema_for(annotation if len(data) == len(members) else functools.reduce(operator.or_, data))


def union_members(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the one type that the annotation is; metadata around a union is left out."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _is_ending(kind: Any, endings: Collection[type]) -> bool:
    plain = get_origin(kind) or kind
    return plain is CallToolResult or plain in endings


def _is_content(kind: Any) -> bool:
    if get_origin(kind) in _SEQUENCES:
        return all(_is_content(member) for item in get_args(kind) for member in union_members(item))
    return any(plain in _CONTENT for plain in union_members(kind))
