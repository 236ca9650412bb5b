"""Every exception an author of handlers meets, in one place.

    McpError                     an error for the client: raise it, or give it to `Error(…)`
    ├── MethodNotFound           -32601
    ├── InvalidParams            -32602
    │   ├── UnknownTool, PromptNotFound, ResourceNotFound
    │   └── InvalidCursor, ExpiredCursor, InvalidRequestState, ExpiredRequestState
    ├── MissingCapability        -32021
    ├── InvalidRequest, ParseError, HeaderMismatch, UnsupportedProtocolVersion    the transport's
    └── InternalError            -32603, without details
        └── AnswerRefused        a 2025 client answered a question with an error
    ToolError                    a tool's failure that the model shall read: `isError: true`, not a JSON-RPC error
    ConfigurationError           the author's mistake, at start-up: option, provider, field, what was expected
    CallbackReturnError          the author's mistake, at run time: a callback returned what it may not
    ChannelClosedError           a handler asked or waited on the channel of a request that is over

Any other exception in a handler is masked: the client gets -32603 with a reference id, the log has the traceback.
"""

from __future__ import annotations

from genmcp.mcp.errors import (
    AnswerRefused,
    ExpiredCursor,
    ExpiredRequestState,
    HeaderMismatch,
    InternalError,
    InvalidCursor,
    InvalidParams,
    InvalidRequest,
    InvalidRequestState,
    McpError,
    MethodNotFound,
    MissingCapability,
    ParseError,
    PromptNotFound,
    ResourceNotFound,
    UnknownTool,
    UnsupportedProtocolVersion,
)

__all__ = [
    "AnswerRefused",
    "CallbackReturnError",
    "ChannelClosedError",
    "ConfigurationError",
    "ExpiredCursor",
    "ExpiredRequestState",
    "HeaderMismatch",
    "InternalError",
    "InvalidCursor",
    "InvalidParams",
    "InvalidRequest",
    "InvalidRequestState",
    "McpError",
    "MethodNotFound",
    "MissingCapability",
    "ParseError",
    "PromptNotFound",
    "ResourceNotFound",
    "ToolError",
    "UnknownTool",
    "UnsupportedProtocolVersion",
]


class ToolError(Exception):
    """A tool's failure for the model to read: the client gets a result with `isError: true` and this text (T-21)."""


class ConfigurationError(ValueError):
    """A server, provider or option is wrong; raised at start-up, naming what, where, and what was expected."""


class ChannelClosedError(Exception):
    """A handler asked its client, or a synchronous one waited for a message, when the request was over already."""


class CallbackReturnError(TypeError):
    """A callback returned something it may not. The client gets -32603; the log names all three.

    Attributes:
        callback: The callback, as `Class.method`.
        value: What it returned.
    """

    def __init__(self, callback: str, value: object, expected: str) -> None:
        self.callback = callback
        self.value = value
        super().__init__(f"{callback} returned {_short(value)}; expected {expected}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
