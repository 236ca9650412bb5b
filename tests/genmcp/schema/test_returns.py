"""Return annotations: content only, or data with a schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from genmcp.mcp import v2607 as mcp
from genmcp.schema.returns import output_schema_of


class Row(msgspec.Struct):
    name: str


class Stream:
    """Stands for a class that ends a request in its own way."""


CONTENT = [
    None,
    type(None),
    str,
    bytes,
    str | None,
    Annotated[str, Meta(description="d")],
    mcp.TextContent,
    mcp.ImageContent,
    mcp.AudioContent,
    mcp.ResourceLink,
    mcp.EmbeddedResource,
    mcp.ContentBlock,
    list[str],
    list[mcp.ContentBlock],
    list[str | mcp.ImageContent],
    Sequence[mcp.TextContent],
    list[list[str]],
    mcp.CallToolResult,
    mcp.CallToolResult | str,
    Stream,
    Stream | mcp.CallToolResult | None,
]


@pytest.mark.parametrize("annotation", CONTENT, ids=str)
def test_content_has_no_output_schema(annotation: Any) -> None:
    assert output_schema_of(annotation, endings=(Stream,)) is None


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (int, {"type": "integer"}),
        (bool, {"type": "boolean"}),
        (Any, {}),
        (object, {}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, Any], {"type": "object"}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (int | mcp.CallToolResult, {"type": "integer"}),
        (int | None | Stream | mcp.CallToolResult, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (tuple[str, str], {"type": "array", "items": False, "prefixItems": [{"type": "string"}] * 2}),
    ],
    ids=str,
)
def test_data_has_the_schema_of_its_type(annotation: Any, schema: dict[str, Any]) -> None:
    derived = output_schema_of(annotation, endings=(Stream,))
    assert derived is not None
    assert schema.items() <= derived.items()


def test_struct_is_an_open_object_at_the_root() -> None:
    schema = output_schema_of(Row | mcp.CallToolResult)
    assert schema == {
        "title": "Row",
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    }
