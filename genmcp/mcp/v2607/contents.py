"""What is in a resource, as text or as bytes: for results of `resources/read` and inside other messages."""

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import field

from genmcp.mcp.model import Model, either
from genmcp.mcp.v2607.base import MetaObject


class ResourceContents(Model, frozen=True):
    """What text and binary contents share."""

    uri: str
    mime_type: str | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class TextResourceContents(Model, frozen=True):
    """The content of a resource, or of a part of it, as text."""

    uri: str
    text: str
    mime_type: str | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class BlobResourceContents(Model, frozen=True):
    """The content of a resource, or of a part of it, as bytes in Base64."""

    uri: str
    blob: str
    mime_type: str | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


def _choose(raw: dict[str, Any]) -> type[Model]:
    return BlobResourceContents if "blob" in raw else TextResourceContents


if TYPE_CHECKING:
    AnyResourceContents: TypeAlias = TextResourceContents | BlobResourceContents
else:
    AnyResourceContents = either(_choose, TextResourceContents, BlobResourceContents)
