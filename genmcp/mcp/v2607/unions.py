"""Who may send what: the requests and notifications of a client, the results and notifications of a server."""

from types import MappingProxyType
from typing import TypeAlias

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import Result
from genmcp.mcp.v2607.completion import CompleteRequest, CompleteResult
from genmcp.mcp.v2607.discovery import DiscoverRequest, DiscoverResult
from genmcp.mcp.v2607.envelopes import JSONRPCNotification
from genmcp.mcp.v2607.notices import CancelledNotification, LoggingMessageNotification, ProgressNotification
from genmcp.mcp.v2607.prompts import (
    GetPromptRequest,
    GetPromptResult,
    ListPromptsRequest,
    ListPromptsResult,
    PromptListChangedNotification,
)
from genmcp.mcp.v2607.resources import (
    ListResourcesRequest,
    ListResourcesResult,
    ListResourceTemplatesRequest,
    ListResourceTemplatesResult,
    ReadResourceRequest,
    ReadResourceResult,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
)
from genmcp.mcp.v2607.rounds import InputRequiredResult
from genmcp.mcp.v2607.subscriptions import (
    SubscriptionsAcknowledgedNotification,
    SubscriptionsListenRequest,
    SubscriptionsListenResult,
)
from genmcp.mcp.v2607.tools import (
    CallToolRequest,
    CallToolResult,
    ListToolsRequest,
    ListToolsResult,
    ToolListChangedNotification,
)

ClientRequest: TypeAlias = (
    DiscoverRequest
    | ListToolsRequest
    | CallToolRequest
    | ListResourcesRequest
    | ListResourceTemplatesRequest
    | ReadResourceRequest
    | ListPromptsRequest
    | GetPromptRequest
    | CompleteRequest
    | SubscriptionsListenRequest
)
Request: TypeAlias = ClientRequest
"""What `Server.handle_request` gets; the schema's own `Request` is the envelope `JSONRPCRequest`."""

ClientNotification: TypeAlias = CancelledNotification
ClientResult: TypeAlias = Result

ServerResult: TypeAlias = (
    Result
    | InputRequiredResult
    | DiscoverResult
    | ListToolsResult
    | CallToolResult
    | ListResourcesResult
    | ListResourceTemplatesResult
    | ReadResourceResult
    | ListPromptsResult
    | GetPromptResult
    | CompleteResult
    | SubscriptionsListenResult
)

ServerNotification: TypeAlias = (
    SubscriptionsAcknowledgedNotification
    | ToolListChangedNotification
    | PromptListChangedNotification
    | ResourceListChangedNotification
    | ResourceUpdatedNotification
    | ProgressNotification
    | LoggingMessageNotification
    | CancelledNotification
    | JSONRPCNotification
)
"""What a server may send; `JSONRPCNotification` is for those of extensions."""

REQUESTS: MappingProxyType[str, type[Model]] = MappingProxyType(
    {
        kind.method: kind
        for kind in (
            DiscoverRequest,
            ListToolsRequest,
            CallToolRequest,
            ListResourcesRequest,
            ListResourceTemplatesRequest,
            ReadResourceRequest,
            ListPromptsRequest,
            GetPromptRequest,
            CompleteRequest,
            SubscriptionsListenRequest,
        )
    }
)
"""The struct of each request that a client may send, by its method."""

CLIENT_NOTIFICATIONS: MappingProxyType[str, type[Model]] = MappingProxyType(
    {CancelledNotification.method: CancelledNotification}
)
"""The struct of each notification that a client may send, by its method."""

NAMED_BY: MappingProxyType[str, str] = MappingProxyType(
    {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
)
"""The member of `params` that the `Mcp-Name` header repeats, by method."""
