"""Content blocks and resource contents."""

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, TypeAlias

from genmcp.mcp.v2607.base import Annotations, Icon
from genmcp.mcp.v2607.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from genmcp.mcp.v2607.contents import BlobResourceContents, TextResourceContents

ContentLike: TypeAlias = ContentBlock | str | tuple[str, Any]
"""A block, a text, or a pair such as `("image", ("image/png", data))`; see `content_block`."""


_MIME_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(?:\s*;.*)?", re.ASCII)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`\x00-\x1f\x7f]*")


def _base64(data: bytes | bytearray | memoryview | str) -> str:
    """Encode bytes; a text is Base64 already (P-07, R-18)."""
    if not isinstance(data, str):
        return b64encode(data).decode("ascii")
    try:
        b64decode(data, validate=True)
    except ValueError as error:
        raise ValueError(f"expected bytes, or a text in Base64 ({error})") from None
    return data


def _mime(given: str) -> str:
    if not _MIME_TYPE.fullmatch(given):
        raise ValueError(f"expected a MIME type such as 'image/png', got {given!r}")
    return given


def text(value: str, *, annotations: Annotations | None = None, meta: dict[str, Any] | None = None) -> TextContent:
    """Return a block of text."""
    return TextContent(value, annotations=annotations, meta=meta)


def image(
    data: bytes | str,
    mime_type: str,
    *,
    annotations: Annotations | None = None,
    meta: dict[str, Any] | None = None,
) -> ImageContent:
    """Return an image block.

    Args:
        data: the bytes of the file; a text is taken as Base64.
        mime_type: such as `image/png`.
        annotations: hints for the client.
        meta: the block's `_meta`.

    Raises:
        ValueError: the MIME type is none, or the text is not Base64.
    """
    return ImageContent(_base64(data), _mime(mime_type), annotations=annotations, meta=meta)


def audio(
    data: bytes | str,
    mime_type: str,
    *,
    annotations: Annotations | None = None,
    meta: dict[str, Any] | None = None,
) -> AudioContent:
    """Return a sound block.

    Args:
        data: the bytes of the file; a text is taken as Base64.
        mime_type: such as `audio/wav`.
        annotations: hints for the client.
        meta: the block's `_meta`.

    Raises:
        ValueError: the MIME type is none, or the text is not Base64.
    """
    return AudioContent(_base64(data), _mime(mime_type), annotations=annotations, meta=meta)


def resource_contents(
    uri: str,
    *,
    text: str | None = None,
    blob: bytes | str | None = None,
    mime_type: str | None = None,
    meta: dict[str, Any] | None = None,
) -> TextResourceContents | BlobResourceContents:
    """Return the contents of a resource: a text, or bytes.

    Args:
        uri: the resource, or the part of it.
        text: its content, if that is text.
        blob: its bytes; a string is taken as Base64.
        mime_type: what it is.
        meta: the `_meta` of the contents.

    Raises:
        ValueError: not exactly one of `text` and `blob` was given, the URI or MIME type is none, or the string is not
            Base64.
    """
    if not _URI.fullmatch(uri):
        raise ValueError(f"contents of {uri}: expected a URI with a scheme, without spaces")
    if mime_type is not None:
        _mime(mime_type)
    if text is not None and blob is None:
        return TextResourceContents(uri, text, mime_type=mime_type, meta=meta)
    if blob is not None and text is None:
        return BlobResourceContents(uri, _base64(blob), mime_type=mime_type, meta=meta)
    raise ValueError(f"contents of {uri}: give either text or blob")


def resource(
    uri: str,
    *,
    text: str | None = None,
    blob: bytes | str | None = None,
    mime_type: str | None = None,
    annotations: Annotations | None = None,
    meta: dict[str, Any] | None = None,
) -> EmbeddedResource:
    """Return a block with the contents of a resource; see `resource_contents` for the arguments.

    Without a MIME type it is `text/plain` or `application/octet-stream`, because prompts must say one.
    """
    kind = mime_type or ("application/octet-stream" if text is None else "text/plain")
    contents = resource_contents(uri, text=text, blob=blob, mime_type=kind)
    return EmbeddedResource(contents, annotations=annotations, meta=meta)


def link(
    uri: str,
    name: str,
    *,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    size: int | None = None,
    icons: Sequence[Icon] | None = None,
    annotations: Annotations | None = None,
    meta: dict[str, Any] | None = None,
) -> ResourceLink:
    """Return a block that links to a resource."""
    return ResourceLink(
        uri,
        name,
        title=title,
        description=description,
        mime_type=mime_type,
        size=size,
        icons=icons,
        annotations=annotations,
        meta=meta,
    )


def content_block(part: ContentLike) -> ContentBlock:
    """Return the block that a part stands for.

    Args:
        part: a block, which is returned as it is; a text; or one of the pairs `("text", value)`,
            `("image", (mime_type, data))`, `("audio", (mime_type, data))`, `("resource", arguments)` and
            `("link", arguments)`, the last two with the keyword arguments of `resource` and `link`.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(part, str):
        return TextContent(part)
    if isinstance(part, TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource):
        return part
    match part:
        case ("text", str(value)):
            return TextContent(value)
        case ("image", (str(mime_type), data)):
            return image(data, mime_type)
        case ("audio", (str(mime_type), data)):
            return audio(data, mime_type)
        case ("resource", dict(arguments)):
            return resource(**arguments)
        case ("link", dict(arguments)):
            return link(**arguments)
    raise TypeError(f"not content: {part!r}; expected a content block, a str, or a pair such as ('text', value)")
