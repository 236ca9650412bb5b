"""Resources: what a server has to read, how it is listed, and its contents."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import (
    Annotations,
    CacheableResult,
    Icon,
    ListResult,
    MetaObject,
    NotificationMessage,
    NotificationParams,
    PaginatedRequestParams,
    RequestMessage,
    RequestParams,
)
from genmcp.mcp.v2607.contents import AnyResourceContents
from genmcp.mcp.v2607.rounds import InputResponses


class Resource(Model, frozen=True):
    """A resource that can be read under its URI.

    Attributes:
        uri: where it is.
        name: its name for programs; shown when there is no title.
        size: of the raw content, in bytes.
    """

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: Sequence[Icon] | None = None
    annotations: Annotations | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class ResourceTemplate(Model, frozen=True):
    """A family of resources, described by a URI template (RFC 6570)."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    icons: Sequence[Icon] | None = None
    annotations: Annotations | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class ListResourcesRequest(RequestMessage, frozen=True, kw_only=True, tag="resources/list"):
    """Asks for a page of resources."""

    method: ClassVar[str] = "resources/list"
    params: PaginatedRequestParams


class ListResourcesResult(ListResult, frozen=True):
    """A page of resources."""

    resources: Sequence[Resource]


class ListResourceTemplatesRequest(RequestMessage, frozen=True, kw_only=True, tag="resources/templates/list"):
    """Asks for a page of resource templates."""

    method: ClassVar[str] = "resources/templates/list"
    params: PaginatedRequestParams


class ListResourceTemplatesResult(ListResult, frozen=True):
    """A page of resource templates."""

    resource_templates: Sequence[ResourceTemplate]


class ResourceRequestParams(RequestParams, frozen=True):
    """The URI of the resource that a request is about."""

    uri: str


class ReadResourceRequestParams(ResourceRequestParams, frozen=True, kw_only=True):
    """What to read; on a retry, the answers to what the server asked and the state it gave out."""

    input_responses: InputResponses | None = None
    request_state: str | None = None


class ReadResourceRequest(RequestMessage, frozen=True, kw_only=True, tag="resources/read"):
    """Asks for the contents of a resource."""

    method: ClassVar[str] = "resources/read"
    params: ReadResourceRequestParams


class ReadResourceResult(CacheableResult, frozen=True):
    """The contents of a resource, in one or several parts."""

    contents: Sequence[AnyResourceContents]


class ResourceListChangedNotification(
    NotificationMessage, frozen=True, kw_only=True, tag="notifications/resources/list_changed"
):
    """The list of resources is another one now."""

    method: ClassVar[str] = "notifications/resources/list_changed"
    params: NotificationParams | None = None


class ResourceUpdatedNotificationParams(NotificationParams, frozen=True):
    """The URI of the resource that changed, or of one below the one that was subscribed to."""

    uri: str


class ResourceUpdatedNotification(
    NotificationMessage, frozen=True, kw_only=True, tag="notifications/resources/updated"
):
    """A resource that the client watches has changed."""

    method: ClassVar[str] = "notifications/resources/updated"
    params: ResourceUpdatedNotificationParams
