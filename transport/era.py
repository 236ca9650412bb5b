"""Which era of the protocol a POST belongs to: 2026-07-28, where each message stands alone, or the 2025 revisions.

Modern if `MCP-Protocol-Version` is there and names none of the legacy revisions, or if `params._meta` holds the
protocol version; otherwise legacy. The mere presence of `_meta`, `Mcp-Method` or `Mcp-Session-Id` decides nothing:
2025 clients send `_meta` with progress tokens (V-09, AMB-29, AMB-30).

| header | `_meta` version | then |
|---|---|---|
| modern | equal | served |
| modern | absent | -32602: the required `_meta` is missing |
| absent or legacy | modern | -32020: the header must say the same |
| legacy | the same legacy date | -32022: served by `initialize` only |
| legacy or absent | absent | the legacy side |
"""

from __future__ import annotations

from typing import Any

from transport.headers import SESSION, VERSION, Headers

LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions with a handshake, newest first."""

ASSUMED_VERSION = "2025-03-26"
"""What a client without a version header speaks, as far as anyone can know (H-28, O-20)."""

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"

_LEGACY = frozenset(version.encode() for version in LEGACY_VERSIONS)


def is_modern(headers: Headers, params: Any) -> bool:
    """Decide the era of one request."""
    header = headers.get(VERSION)
    if header is not None and header not in _LEGACY:
        return True
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and VERSION_KEY in meta


def is_legacy(headers: Headers, message: Any) -> bool:
    """Decide whether a POST is for the 2025 side, where that is served.

    A request is if it is not modern. What is no request belongs there if it comes with a session or names a legacy
    revision; without either it is judged as one of today.
    """
    params = message.get("params") if isinstance(message, dict) else None
    if is_modern(headers, params):
        return False
    if isinstance(message, dict) and "id" in message and "method" in message:
        return True
    return headers.get(SESSION) is not None or headers.get(VERSION) is not None


def legacy_version(headers: Headers, message: dict[str, Any]) -> str:
    """Return the revision that a legacy message asks for: `initialize` says it in its body, others in the header."""
    params = message.get("params")
    if message.get("method") == "initialize" and isinstance(params, dict):
        asked = params.get("protocolVersion")
        if isinstance(asked, str):
            return asked
    header = headers.get(VERSION)
    return ASSUMED_VERSION if header is None else header.decode("latin-1")
