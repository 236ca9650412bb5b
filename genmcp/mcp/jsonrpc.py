"""JSON-RPC bytes: strict parsing of what came in, envelopes for what goes out. Independent of the revision.

Only what cannot be told from valid JSON by any later step is refused here: everything that is not JSON, numbers
that no double holds, texts that are not Unicode, and nesting that only an attacker sends.
"""

import math
import re
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from genmcp.mcp.errors import InvalidRequest, McpError, ParseError
from genmcp.mcp.model import Model, encode

RequestId = str | int

MAX_DEPTH = 64
"""How deep objects and arrays may be nested in a message."""


def _read_float(text: str) -> float:
    """Read a number with a fraction or exponent. The decoder's own way takes 10 µs for `1e300`: 7 s for 4 MiB of it."""
    number = float(text)
    if math.isinf(number):
        raise ValueError("Number out of range")
    return number


_decoder = msgspec.json.Decoder(float_hook=_read_float)

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SQUARE = bytes.maketrans(b"{}", b"[]")


class _ResultEnvelope(Model, frozen=True):
    jsonrpc: str
    id: RequestId
    result: Any


class _ErrorEnvelope(Model, frozen=True):
    jsonrpc: str
    error: dict[str, Any]
    id: RequestId | UnsetType | None


def parse(body: bytes | bytearray | memoryview) -> Any:
    """Parse one JSON text.

    Raises:
        ParseError: it is not JSON (empty, a byte order mark, NaN, a lone surrogate, invalid UTF-8, trailing bytes,
            a number out of range), or nested deeper than `MAX_DEPTH`.
    """
    try:
        value = _decoder.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ParseError(f"The body is not valid JSON: {_reason(error)}.") from None
    if _is_deep(bytes(body)):
        raise ParseError(f"The body is nested deeper than {MAX_DEPTH} levels.")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error).removeprefix("JSON is malformed: ")[:200]


def _is_deep(text: bytes) -> bool:
    """Say whether a JSON text is nested deeper than allowed.

    It peels off the innermost brackets, level by level, in the bytes: going through the decoded values takes seconds
    for a body that is nothing but a million empty lists.
    """
    if text.count(b"{") + text.count(b"[") <= MAX_DEPTH:
        return False
    brackets = _STRINGS.sub(b"", text).translate(_SQUARE, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def dump(value: Any) -> bytes:
    """Return a value as JSON bytes without line breaks, and refuse what JSON cannot say.

    Raises:
        TypeError: something inside is not JSON and cannot be made JSON.
        ValueError: a number is NaN or infinite (`encode` would send null), or a text has a lone surrogate.
    """
    data = encode(value)
    if b"null" in data and _has_odd_number(msgspec.to_builtins(value)):
        raise ValueError("NaN and infinity are not JSON numbers")
    return data


def _has_odd_number(value: Any) -> bool:
    pending = [value]
    for item in pending:
        if isinstance(item, float) and not math.isfinite(item):
            return True
        if isinstance(item, dict | list | tuple):
            pending.extend(item.values() if isinstance(item, dict) else item)
    return False


def request_id_of(message: Any) -> RequestId | UnsetType:
    """Return the id of a parsed message when it could be read: a string or an integer; UNSET otherwise.

    An error about a message whose id could not be read has no id (base protocol, Error Responses).
    """
    found = message.get("id") if isinstance(message, dict) else None
    return found if type(found) is str or type(found) is int else UNSET


def check_message(message: Any) -> str:
    """Check the envelope of a parsed message, a request or a notification, and return its method.

    Raises:
        InvalidRequest: not an object (a batch, too), not JSON-RPC 2.0, a response, or an id that is null, fractional
            or otherwise neither a string nor an integer.
    """
    if type(message) is not dict:
        batch = " Batches do not exist in this revision." if isinstance(message, list) else ""
        raise InvalidRequest(f"The message must be one JSON object.{batch}")
    if message.get("jsonrpc") != "2.0":
        raise InvalidRequest('jsonrpc must be "2.0".')
    method = message.get("method")
    if type(method) is not str:
        if "method" not in message and ("result" in message or "error" in message):
            raise InvalidRequest("A response cannot be sent to a server: it sends no requests.")
        raise InvalidRequest("method must be a string.")
    if "id" in message and request_id_of(message) is UNSET:
        raise InvalidRequest("id must be a string or an integer.")
    return method


def response_bytes(request_id: RequestId, result: Model | dict[str, Any]) -> bytes:
    """Return the response that carries a result."""
    return encode(_ResultEnvelope("2.0", request_id, result))


def error_bytes(request_id: RequestId | UnsetType | None, error: McpError) -> bytes:
    """Return the response that carries an error.

    Args:
        request_id: UNSET leaves `id` out, None sends null (for the 2025-06-18 revision and older).
        error: what went wrong.
    """
    return encode(_ErrorEnvelope("2.0", error.to_dict(), request_id))


def notification_bytes(notification: Model) -> bytes:
    """Return a notification; its struct is the whole envelope."""
    return encode(notification)
