"""What a browser must be told before a page may call and read answers (user demand I3).

Only origins that pass the `Origin` check get these headers, on every answer, refusals included: a page that cannot
read the error cannot say what is wrong. No credentials are allowed: tokens travel in `Authorization`, never in cookies.
"""

from __future__ import annotations

from transport.asgi import Pairs
from transport.headers import Headers

EXPOSED = b"mcp-session-id, mcp-protocol-version, www-authenticate, retry-after"
METHODS = b"POST, GET, DELETE, OPTIONS"
MAX_AGE = b"600"

_REQUEST_HEADERS = frozenset(
    {"authorization", "accept", "content-type", "last-event-id", "traceparent", "tracestate", "baggage"}
)


def is_preflight(http_method: str, headers: Headers) -> bool:
    """Say whether a request is a browser's question, to be answered before any other check."""
    return (
        http_method == "OPTIONS"
        and headers.get(b"origin") is not None
        and headers.get(b"access-control-request-method") is not None
    )


def response_headers(origin: bytes) -> Pairs:
    """Return the headers that let a page of an allowed origin read an answer."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", EXPOSED),
        (b"vary", b"origin"),
    ]


def preflight_headers(origin: bytes, requested: bytes | None) -> Pairs:
    """Return the headers of the answer to a preflight from an allowed origin.

    Args:
        origin: The page's origin.
        requested: `Access-Control-Request-Headers`. Those that MCP uses are allowed by name, because ``*`` would not
            cover `Authorization` and there is no pattern for `Mcp-Param-…`.
    """
    names = [name.strip().lower() for name in (requested or b"").decode("latin-1").split(",")]
    allowed = [name for name in names if name in _REQUEST_HEADERS or _is_mcp_header(name)]
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", ", ".join(allowed).encode("latin-1")),
        (b"access-control-max-age", MAX_AGE),
        (b"vary", b"origin, access-control-request-headers"),
    ]


def _is_mcp_header(name: str) -> bool:
    return name.startswith("mcp-") and name.isascii() and name.isprintable() and " " not in name
