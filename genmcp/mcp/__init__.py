"""The protocol: message structs per revision (`v2607`), JSON-RPC bytes, errors and their statuses.

Nothing here knows of actors, workers or HTTP connections, and nothing here does I/O:
bytes become structs, structs become bytes. `from genmcp.mcp import v2607 as mcp` is the usual import.
"""

from genmcp.mcp.errors import (
    RESERVED_CODES,
    STATUS_AFTER_DISPATCH,
    STATUS_BEFORE_DISPATCH,
    Code,
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
    as_error,
    check_own_code,
)
from genmcp.mcp.versions import PROTOCOL_VERSION, protocol_version, supported_protocol_versions

__all__ = [
    "PROTOCOL_VERSION",
    "RESERVED_CODES",
    "STATUS_AFTER_DISPATCH",
    "STATUS_BEFORE_DISPATCH",
    "Code",
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
    "UnknownTool",
    "UnsupportedProtocolVersion",
    "as_error",
    "check_own_code",
    "protocol_version",
    "supported_protocol_versions",
]
