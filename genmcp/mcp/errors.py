"""Every refusal that reaches a client: the codes, the exceptions that carry them, their HTTP statuses.

An `McpError` may be raised in a handler or given to `Error(...)`. What each status means is data
(`STATUS_BEFORE_DISPATCH`, `STATUS_AFTER_DISPATCH`): a client must see 400 or 404 for a request that the front
refuses, but 200 for most errors of a handler, because clients drop the body of a failed HTTP response.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import msgspec


class Code(IntEnum):
    """The error codes that the protocol defines, by name."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    HEADER_MISMATCH = -32020
    MISSING_REQUIRED_CLIENT_CAPABILITY = -32021
    UNSUPPORTED_PROTOCOL_VERSION = -32022


PARSE_ERROR = Code.PARSE_ERROR
INVALID_REQUEST = Code.INVALID_REQUEST
METHOD_NOT_FOUND = Code.METHOD_NOT_FOUND
INVALID_PARAMS = Code.INVALID_PARAMS
INTERNAL_ERROR = Code.INTERNAL_ERROR
HEADER_MISMATCH = Code.HEADER_MISMATCH
MISSING_REQUIRED_CLIENT_CAPABILITY = Code.MISSING_REQUIRED_CLIENT_CAPABILITY
UNSUPPORTED_PROTOCOL_VERSION = Code.UNSUPPORTED_PROTOCOL_VERSION

RESERVED_CODES = range(-32768, -31999)
"""JSON-RPC's own range and the ones below it: an author's codes lie outside (base protocol, Error Codes)."""

STATUS_BEFORE_DISPATCH: Mapping[int, int] = MappingProxyType(
    {
        PARSE_ERROR: 400,
        INVALID_REQUEST: 400,
        METHOD_NOT_FOUND: 404,
        INVALID_PARAMS: 400,
        INTERNAL_ERROR: 500,
        HEADER_MISMATCH: 400,
        MISSING_REQUIRED_CLIENT_CAPABILITY: 400,
        UNSUPPORTED_PROTOCOL_VERSION: 400,
    }
)
"""HTTP status of an error that the front answers itself, before a worker exists."""

STATUS_AFTER_DISPATCH: Mapping[int, int] = MappingProxyType(
    {
        METHOD_NOT_FOUND: 404,
        HEADER_MISMATCH: 400,
        MISSING_REQUIRED_CLIENT_CAPABILITY: 400,
        UNSUPPORTED_PROTOCOL_VERSION: 400,
    }
)
"""HTTP status of a worker's error that is its first and only event; 200 for every code that is not listed."""


_LONGEST_ECHO = 200


def _echo(text: str) -> str:
    """Shorten what a client sent before it is sent back in a message."""
    return text if len(text) <= _LONGEST_ECHO else text[:_LONGEST_ECHO] + "…"


class McpError(Exception):
    """An error with a JSON-RPC code, to be raised in a handler or given to `Error(...)`.

    Args:
        code: the integer code; your own codes lie outside -32768..-32000.
        message: one concise sentence for the client.
        data: any JSON value with details; None leaves the member out.
        status: the HTTP status, instead of the one in the tables above.
    """

    def __init__(self, code: int, message: str, data: Any = None, status: int | None = None) -> None:
        super().__init__(message)
        self.code = int(code)
        self.message = message
        self.data = data
        self.status = status

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-RPC `error` member: code, message and, when there is any, data."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error

    @property
    def status_before_dispatch(self) -> int:
        """The HTTP status when the front refuses the request itself."""
        return self.status or STATUS_BEFORE_DISPATCH.get(self.code, 400)

    @property
    def status_after_dispatch(self) -> int:
        """The HTTP status when a worker ends with this error before it has streamed anything."""
        return self.status or STATUS_AFTER_DISPATCH.get(self.code, 200)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.code}, {self.message!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses take other arguments than McpError: rebuild without calling their __init__.
        return _rebuild, (type(self), self.code, self.message, self.data, self.status)


def _rebuild(kind: type[McpError], code: int, message: str, data: Any, status: int | None) -> McpError:
    error = kind.__new__(kind, message)
    McpError.__init__(error, code, message, data, status)
    return error


class ParseError(McpError):
    """-32700: the body is not JSON."""

    def __init__(self, message: str = "The body is not valid JSON.", *, status: int | None = None) -> None:
        super().__init__(PARSE_ERROR, message, status=status)


class InvalidRequest(McpError):
    """-32600: JSON, but not one valid request or notification; also the code of plain HTTP refusals (403, 415, …)."""

    def __init__(self, message: str, data: Any = None, *, status: int | None = None) -> None:
        super().__init__(INVALID_REQUEST, message, data, status)


class MethodNotFound(McpError):
    """-32601: the method does not exist, or its capability is not advertised."""

    def __init__(self, method: str, *, status: int | None = None) -> None:
        super().__init__(METHOD_NOT_FOUND, f"Method not found: {_echo(method)}", status=status)
        self.method = method


class InvalidParams(McpError):
    """-32602: the method exists, its parameters are wrong."""

    def __init__(self, message: str, data: Any = None, *, status: int | None = None) -> None:
        super().__init__(INVALID_PARAMS, message, data, status)


class InternalError(McpError):
    """-32603: something failed on this side."""

    def __init__(self, message: str = "Internal error", data: Any = None, *, status: int | None = None) -> None:
        super().__init__(INTERNAL_ERROR, message, data, status)


class AnswerRefused(InternalError):
    """-32603: the client answered a question with an error, such as -1 when its user refused. 2025 revisions only.

    Args:
        method: what was asked.
        client_code: the code of the client's error, if it gave a proper one.
        reason: its text.
    """

    def __init__(self, method: str, client_code: Any, reason: str) -> None:
        data = {"code": client_code, "message": reason}
        super().__init__(f"The client refused {method}: {_echo(reason)}", data)
        self.method = method
        self.client_code = client_code if type(client_code) is int else None


class HeaderMismatch(McpError):
    """-32020: a required header is missing, malformed, or differs from the body."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(HEADER_MISMATCH, message, status=status)


class MissingCapability(McpError):
    """-32021: the request needs a client capability that it did not declare.

    Args:
        required: what was needed, as a `ClientCapabilities` struct or its JSON object, e.g. `{"sampling": {}}`.
        status: the HTTP status, instead of 400.
    """

    def __init__(self, required: Mapping[str, Any] | msgspec.Struct, *, status: int | None = None) -> None:
        self.required: dict[str, Any] = msgspec.to_builtins(required)
        names = ", ".join(_capability_names(self.required)) or "unknown"
        message = f"The client did not declare a capability that this request needs: {names}"
        super().__init__(
            MISSING_REQUIRED_CLIENT_CAPABILITY, message, {"requiredCapabilities": self.required}, status=status
        )


def _capability_names(required: Mapping[str, Any]) -> list[str]:
    """Name the leaves with dots: `{"sampling": {"tools": {}}}` is `sampling.tools`."""
    names: list[str] = []
    for name, inner in required.items():
        below = _capability_names(inner) if isinstance(inner, Mapping) else []
        names += [f"{name}.{leaf}" for leaf in below] or [name]
    return names


class UnsupportedProtocolVersion(McpError):
    """-32022: the request names a protocol version that is not served.

    Args:
        requested: the version that the client asked for.
        supported: the versions that are served.
        status: the HTTP status, instead of 400.
    """

    def __init__(self, requested: str, supported: Sequence[str], *, status: int | None = None) -> None:
        super().__init__(
            UNSUPPORTED_PROTOCOL_VERSION,
            "Unsupported protocol version",
            {"supported": list(supported), "requested": requested},
            status,
        )
        self.requested = requested
        self.supported = tuple(supported)


class UnknownTool(InvalidParams):
    """-32602: no tool has this name, or the caller may not see it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {_echo(name)}")
        self.name = name


class ResourceNotFound(InvalidParams):
    """-32602 with `data.uri`: no resource has this URI (SEP-2164)."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"Resource not found: {_echo(uri)}", {"uri": uri})
        self.uri = uri


class PromptNotFound(InvalidParams):
    """-32602: no prompt has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown prompt: {_echo(name)}")
        self.name = name


class InvalidCursor(InvalidParams):
    """-32602: the cursor is not one that this server gave out."""

    def __init__(self, message: str = "Invalid cursor") -> None:
        super().__init__(message)


class ExpiredCursor(InvalidParams):
    """-32602: the cursor was ours, too long ago; the list must be started again."""

    def __init__(self, message: str = "Expired cursor") -> None:
        super().__init__(message)


class InvalidRequestState(InvalidParams):
    """-32602: the request state does not verify, or belongs to another request. Says no more than that."""

    def __init__(self, message: str = "Invalid request state") -> None:
        super().__init__(message)


class ExpiredRequestState(InvalidParams):
    """-32602: the request state was ours, too long ago."""

    def __init__(self, message: str = "Expired request state") -> None:
        super().__init__(message)


def as_error(reason: McpError | str) -> McpError:
    """Return the error that a client is told for a reason: a text is -32603 with that text."""
    return reason if isinstance(reason, McpError) else InternalError(reason)


def check_own_code(code: int) -> int:
    """Return the code if an author may send it: one of the protocol's, or one outside the reserved range.

    Raises:
        ValueError: the code is reserved and the protocol does not define it; says which codes are free.
    """
    if code in RESERVED_CODES and code not in list(Code):
        raise ValueError(
            f"error code {code} is reserved by the protocol: use one outside {RESERVED_CODES[0]}..{RESERVED_CODES[-1]}"
        )
    return code
