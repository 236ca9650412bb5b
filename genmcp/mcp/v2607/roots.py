"""Roots: asking the client which folders it works in. Deprecated in this revision, still served.

`ListRootsRequest` exists inside `inputRequests` only, so it has neither `jsonrpc` nor `id`.
"""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import MetaObject


class ListRootsParams(Model, frozen=True, kw_only=True):
    """What a question for roots may carry. Inline in the schema of the protocol."""

    meta: MetaObject | None = field(default=None, name="_meta")


class ListRootsRequest(Model, frozen=True, tag_field="method", tag="roots/list"):
    """A question for the client's roots."""

    method: ClassVar[str] = "roots/list"
    params: ListRootsParams | None = None


class Root(Model, frozen=True):
    """A folder or file (a `file://` URI) that the client works in."""

    uri: str
    name: str | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class ListRootsResult(Model, frozen=True):
    """The client's roots."""

    roots: Sequence[Root]
