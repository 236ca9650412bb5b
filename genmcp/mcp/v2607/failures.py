"""Error responses as structs. What handlers raise are the exceptions in `genmcp.mcp.errors`."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType, field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import RequestId
from genmcp.mcp.v2607.discovery import ClientCapabilities
from genmcp.mcp.v2607.envelopes import JSONRPCNotification, JSONRPCRequest, JSONRPCResultResponse


def _version() -> Literal["2.0"]:
    return "2.0"


class Error(Model, frozen=True, kw_only=True):
    """The `error` member: a code, one sentence, and details that may be any JSON value."""

    code: int
    message: str
    data: Any | UnsetType = UNSET


class ParseError(Error, frozen=True, kw_only=True):
    """The message was not JSON."""

    code: Literal[-32700]


class InvalidRequestError(Error, frozen=True, kw_only=True):
    """The message was not a request."""

    code: Literal[-32600]


class MethodNotFoundError(Error, frozen=True, kw_only=True):
    """There is no such method here."""

    code: Literal[-32601]


class InvalidParamsError(Error, frozen=True, kw_only=True):
    """The parameters were wrong."""

    code: Literal[-32602]


class InternalError(Error, frozen=True, kw_only=True):
    """Something failed at the server."""

    code: Literal[-32603]


class HeaderMismatchDetail(Error, frozen=True, kw_only=True):
    """The `error` member of `HeaderMismatchError`. Inline in the schema of the protocol."""

    code: Literal[-32020]


class RequiredCapabilities(Model, frozen=True, kw_only=True):
    """What the client would have to declare. Inline in the schema of the protocol."""

    required_capabilities: ClientCapabilities


class MissingCapabilityDetail(Model, frozen=True, kw_only=True):
    """The `error` member of `MissingRequiredClientCapabilityError`. Inline in the schema of the protocol."""

    code: Literal[-32021]
    message: str
    data: RequiredCapabilities


class VersionMismatch(Model, frozen=True, kw_only=True):
    """Which version was asked for, and which there are. Inline in the schema of the protocol."""

    requested: str
    supported: Sequence[str]


class UnsupportedVersionDetail(Model, frozen=True, kw_only=True):
    """The `error` member of `UnsupportedProtocolVersionError`. Inline in the schema of the protocol."""

    code: Literal[-32022]
    message: str
    data: VersionMismatch


class _ErrorEnvelope(Model, frozen=True, kw_only=True):
    id: RequestId | UnsetType = UNSET
    jsonrpc: Literal["2.0"] = field(default_factory=_version)


class JSONRPCErrorResponse(_ErrorEnvelope, frozen=True, kw_only=True):
    """A response with an error; it has no id when the id of the request could not be read."""

    error: Error


class HeaderMismatchError(_ErrorEnvelope, frozen=True, kw_only=True):
    """A header is missing, malformed, or contradicts the body."""

    error: HeaderMismatchDetail


class MissingRequiredClientCapabilityError(_ErrorEnvelope, frozen=True, kw_only=True):
    """The request needs a capability that the client did not declare."""

    error: MissingCapabilityDetail


class UnsupportedProtocolVersionError(_ErrorEnvelope, frozen=True, kw_only=True):
    """The version that the request names is not served."""

    error: UnsupportedVersionDetail


JSONRPCResponse: TypeAlias = JSONRPCResultResponse | JSONRPCErrorResponse
JSONRPCMessage: TypeAlias = JSONRPCRequest | JSONRPCNotification | JSONRPCResultResponse | JSONRPCErrorResponse
