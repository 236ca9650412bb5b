"""genmcp: MCP servers in which every request is answered by its own worker actor.

What an author of handlers needs is here; whoever embeds the server imports `transport`, and what is not about MCP
(nodes, pids, mailboxes, children) lives in `actors`. This package may import `genmcp.mcp` and `actors`, and knows
nothing of HTTP. Start with `Suite` and `@tool`; `Server` is the behaviour below them.
"""

from genmcp._version import __version__
from genmcp.channel import Channel, Sent
from genmcp.conversation import Accepted, Answer, Declined, Dismissed
from genmcp.errors import (
    AnswerRefused,
    CallbackReturnError,
    ChannelClosedError,
    ConfigurationError,
    ExpiredCursor,
    ExpiredRequestState,
    InvalidCursor,
    InvalidParams,
    InvalidRequestState,
    McpError,
    MethodNotFound,
    MissingCapability,
    PromptNotFound,
    ResourceNotFound,
    ToolError,
    UnknownTool,
)
from genmcp.mcp import protocol_version, supported_protocol_versions
from genmcp.meta import ChannelMeta
from genmcp.server import Error, InputRequired, Result, Server, Stop, Stream
from genmcp.suite import (
    Changes,
    DirectoryResources,
    Extension,
    FunctionPrompt,
    FunctionResource,
    FunctionTool,
    Page,
    PromptRepo,
    ResourceRepo,
    SubscriptionCapabilities,
    SubscriptionHandler,
    Suite,
    Tool,
    check_arguments,
    prompt,
    resource,
    tool,
)
from genmcp.sync_channel import SyncChannel
from genmcp.telemetry import attach_default_logger

__all__ = [
    "Accepted",
    "Answer",
    "AnswerRefused",
    "CallbackReturnError",
    "Changes",
    "Channel",
    "ChannelClosedError",
    "ChannelMeta",
    "ConfigurationError",
    "Declined",
    "DirectoryResources",
    "Dismissed",
    "Error",
    "ExpiredCursor",
    "ExpiredRequestState",
    "Extension",
    "FunctionPrompt",
    "FunctionResource",
    "FunctionTool",
    "InputRequired",
    "InvalidCursor",
    "InvalidParams",
    "InvalidRequestState",
    "McpError",
    "MethodNotFound",
    "MissingCapability",
    "Page",
    "PromptNotFound",
    "PromptRepo",
    "ResourceNotFound",
    "ResourceRepo",
    "Result",
    "Sent",
    "Server",
    "Stop",
    "Stream",
    "SubscriptionCapabilities",
    "SubscriptionHandler",
    "Suite",
    "SyncChannel",
    "Tool",
    "ToolError",
    "UnknownTool",
    "__version__",
    "attach_default_logger",
    "check_arguments",
    "prompt",
    "protocol_version",
    "resource",
    "supported_protocol_versions",
    "tool",
]
