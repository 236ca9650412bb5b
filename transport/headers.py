"""The headers of a request, read in one pass, and what their values mean.

Theory. Routing headers (`MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`, `Mcp-Param-…`) are read by gateways that
decide by them, so a value on which two readers could differ is refused, never repaired: a header that comes twice, one
with bytes outside printable ASCII, one whose Base64 sentinel does not decode (H-38, H-46, AMB-08; -32020). Other
headers that come twice are joined with a comma, as HTTP says.

Names come in lower case (ASGI promises it); values are compared as they are, without optional white space (H-40, H-41).
"""

from __future__ import annotations

import binascii
from collections.abc import Iterable

from genmcp.mcp import HeaderMismatch

VERSION = b"mcp-protocol-version"
METHOD = b"mcp-method"
NAME = b"mcp-name"
SESSION = b"mcp-session-id"
LAST_EVENT = b"last-event-id"
PARAM_PREFIX = b"mcp-param-"

SPELLED = {VERSION: "MCP-Protocol-Version", METHOD: "Mcp-Method", NAME: "Mcp-Name"}
"""Header names as the protocol writes them, for messages."""

_KEPT = frozenset(
    {
        VERSION,
        METHOD,
        NAME,
        b"accept",
        b"content-type",
        b"content-length",
        b"host",
        b"origin",
        SESSION,
        LAST_EVENT,
        b"access-control-request-method",
        b"access-control-request-headers",
    }
)
_LEGAL = bytes([9, *range(0x20, 0x7F)])
_OWS = b" \t"
_SENTINEL, _SENTINEL_END = b"=?base64?", b"?="
_FIELD_OVERHEAD = 4  # ": " and the line break


class Headers:
    """The headers of one request that this floor reads.

    Attributes:
        size: Bytes of all headers, as HTTP/1.1 writes them.
    """

    __slots__ = ("_fields", "_repeated", "size")

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        fields: dict[bytes, bytes] = {}
        repeated: set[bytes] | None = None
        size = 0
        for name, value in raw:
            size += len(name) + len(value) + _FIELD_OVERHEAD
            if name in _KEPT or name.startswith(PARAM_PREFIX):
                value = value.strip(_OWS)
                if name in fields:
                    value = b"%b, %b" % (fields[name], value)
                    repeated = {name} if repeated is None else repeated | {name}
                fields[name] = value
        self._fields = fields
        self._repeated = repeated
        self.size = size

    def get(self, name: bytes) -> bytes | None:
        """Return a header's value, joined with commas when it came more than once; None if it did not come."""
        return self._fields.get(name)

    def routing(self, name: bytes) -> str | None:
        """Return the value of a routing header as it stands; None if it did not come.

        Raises:
            HeaderMismatch: It came twice or holds bytes that no header may hold.
        """
        value = self._fields.get(name)
        return None if value is None else self._checked(name, value).decode("ascii")

    def routing_decoded(self, name: bytes) -> str | None:
        """Return the value of `Mcp-Name` or an `Mcp-Param-…`, its Base64 sentinel resolved (H-42); None if absent.

        Raises:
            HeaderMismatch: As `routing`, or the sentinel does not hold strict Base64 of UTF-8.
        """
        value = self._fields.get(name)
        if value is None:
            return None
        try:
            return decode_sentinel(self._checked(name, value))
        except ValueError as error:
            raise HeaderMismatch(f"The header {spelled(name)} {error}") from None

    def _checked(self, name: bytes, value: bytes) -> bytes:
        if self._repeated is not None and name in self._repeated:
            raise HeaderMismatch(f"The header {spelled(name)} was sent more than once")
        if value.translate(None, _LEGAL):
            raise HeaderMismatch(
                f"The header {spelled(name)} holds bytes outside printable ASCII; send such a value as =?base64?…?="
                if name not in (VERSION, METHOD)
                else f"The header {spelled(name)} holds bytes outside printable ASCII"
            )
        return value


def decode_sentinel(value: bytes) -> str:
    """Resolve ``=?base64?…?=``; any other value is returned as it is.

    Strict: the payload must be exactly what an encoder writes, padding included, so that no two spellings of one value
    exist for a gateway to disagree on.

    Raises:
        ValueError: The markers are there, but what they hold is not Base64 of UTF-8.
    """
    if not value.startswith(_SENTINEL) or not value.endswith(_SENTINEL_END):
        return value.decode("ascii")
    if len(value) < len(_SENTINEL) + len(_SENTINEL_END):
        return value.decode("ascii")  # the two markers share a question mark: a literal
    payload = value[len(_SENTINEL) : -len(_SENTINEL_END)]
    try:
        decoded = binascii.a2b_base64(payload, strict_mode=True)
        text = decoded.decode()
    except ValueError:
        raise ValueError("holds a Base64 sentinel that is not Base64 of UTF-8 text") from None
    if binascii.b2a_base64(decoded, newline=False) != payload:
        raise ValueError("holds a Base64 sentinel that is not written as an encoder writes it")
    return text


def spelled(name: bytes) -> str:
    """Write a header's name as the protocol's pages do, for messages."""
    return SPELLED.get(name) or "-".join(part.capitalize() for part in name.decode("latin-1").split("-"))
