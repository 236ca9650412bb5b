"""Contents of resources, and completions."""

from collections.abc import Sequence
from typing import Any

from genmcp.mcp.v2607.base import CacheScope
from genmcp.mcp.v2607.builders.blocks import resource_contents
from genmcp.mcp.v2607.completion import CompleteResult, Completion
from genmcp.mcp.v2607.contents import BlobResourceContents, TextResourceContents
from genmcp.mcp.v2607.resources import ReadResourceResult

MOST_VALUES = 100
"""How many completions one result may hold (completion, data types)."""


def read_resource_result(
    uri: str | None = None,
    *,
    text: str | None = None,
    blob: bytes | str | None = None,
    mime_type: str | None = None,
    contents: Sequence[TextResourceContents | BlobResourceContents] = (),
    content_meta: dict[str, Any] | None = None,
    cache_scope: CacheScope = "private",
    ttl_ms: int = 0,
    meta: dict[str, Any] | None = None,
) -> ReadResourceResult:
    """Return the contents of a resource: one part from `uri` with `text` or `blob`, then those in `contents`.

    Args:
        uri: of the part that `text` or `blob` is.
        text: its text.
        blob: its bytes; a string is taken as Base64.
        mime_type: what it is.
        contents: parts made with `resource_contents`.
        content_meta: the `_meta` of the part.
        cache_scope: who may keep the result.
        ttl_ms: for how many milliseconds.
        meta: the result's `_meta`.

    Raises:
        ValueError: `text` or `blob` without `uri`, a `uri` with both or neither, or no contents at all.
    """
    parts = list(contents)
    if uri is not None:
        parts.insert(0, resource_contents(uri, text=text, blob=blob, mime_type=mime_type, meta=content_meta))
    elif text is not None or blob is not None:
        raise ValueError("text and blob need the uri that they are the contents of")
    elif not parts:
        raise ValueError("a resource has contents: give uri with text or blob, or contents")
    return ReadResourceResult(parts, cache_scope=cache_scope, ttl_ms=ttl_ms, meta=meta)


def complete_result(
    values: Sequence[str],
    *,
    total: int | None = None,
    has_more: bool | None = None,
    meta: dict[str, Any] | None = None,
) -> CompleteResult:
    """Return suggestions; what exceeds the 100 that one result may hold is cut off and `has_more` set.

    Args:
        values: the suggestions, the best first.
        total: how many there are in all; by default their number, if any were cut off.
        has_more: whether there are more than these.
        meta: the result's `_meta`.
    """
    if len(values) > MOST_VALUES:
        total, has_more = len(values) if total is None else total, True
    return CompleteResult(Completion(list(values[:MOST_VALUES]), total, has_more), meta=meta)
