"""What a model or a person is shown: text, images, audio, resources and links to them."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import UNSET, UnsetType, field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import Annotations, Icon, MetaObject
from genmcp.mcp.v2607.contents import AnyResourceContents


class TextContent(Model, frozen=True, tag_field="type", tag="text"):
    """Text."""

    text: str
    annotations: Annotations | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class ImageContent(Model, frozen=True, tag_field="type", tag="image"):
    """An image, its bytes in Base64."""

    data: str
    mime_type: str
    annotations: Annotations | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class AudioContent(Model, frozen=True, tag_field="type", tag="audio"):
    """A sound, its bytes in Base64."""

    data: str
    mime_type: str
    annotations: Annotations | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class EmbeddedResource(Model, frozen=True, tag_field="type", tag="resource"):
    """The contents of a resource, as part of a message."""

    resource: AnyResourceContents
    annotations: Annotations | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class ResourceLink(Model, frozen=True, tag_field="type", tag="resource_link"):
    """A link to a resource that the client may read; it need not be in any list."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: Sequence[Icon] | None = None
    annotations: Annotations | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


ContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


class ToolUseContent(Model, frozen=True, tag_field="type", tag="tool_use"):
    """In sampling: the model wants a tool to be called.

    Attributes:
        id: what the `tool_use_id` of the result repeats.
        name: the tool.
        input: its arguments.
    """

    id: str
    name: str
    input: dict[str, Any]
    meta: MetaObject | None = field(default=None, name="_meta")


class ToolResultContent(Model, frozen=True, tag_field="type", tag="tool_result"):
    """In sampling: what the tool gave back."""

    tool_use_id: str
    content: Sequence[ContentBlock]
    structured_content: Any | UnsetType = UNSET
    is_error: bool | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


SamplingMessageContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
