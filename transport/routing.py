"""Whether the routing headers say what the body says (H-34 to H-42; -32020).

Gateways decide by the headers, the server by the body. A request in which they differ would be judged as one thing
and served as another, so it is refused.
"""

from __future__ import annotations

from typing import Any

from genmcp.mcp import HeaderMismatch
from genmcp.mcp import v2607 as mcp
from transport.headers import METHOD, NAME, VERSION, Headers, spelled

_SHOWN = 100


def check_method_header(headers: Headers, method: str) -> None:
    """Require `Mcp-Method` to equal the body's method.

    Raises:
        HeaderMismatch: It is missing, malformed, or differs (values are case-sensitive).
    """
    value = headers.routing(METHOD)
    if value != method:
        raise mismatch(METHOD, value, "method", method)


def check_name_header(headers: Headers, method: str, params: Any) -> None:
    """Require `Mcp-Name` to equal the parameter it mirrors, on the methods that have one.

    A body without that parameter is left to the check of its parameters, unless the header names something.

    Raises:
        HeaderMismatch: It is missing, malformed, or differs.
    """
    source = mcp.NAMED_BY.get(method)
    if source is None:
        return
    name = params.get(source) if isinstance(params, dict) else None
    value = headers.routing_decoded(NAME)
    if value != name and not (value is None and not isinstance(name, str)):
        raise mismatch(NAME, value, f"params.{source}", name)


def check_version_header(headers: Headers, version: str) -> None:
    """Require `MCP-Protocol-Version` to equal the version in `_meta` (H-27).

    Raises:
        HeaderMismatch: It is missing, malformed, or differs.
    """
    value = headers.routing(VERSION)
    if value != version:
        raise mismatch(VERSION, value, "params._meta protocol version", version)


def mismatch(name: bytes, value: str | None, source: str, expected: object) -> HeaderMismatch:
    """Describe a routing header that is missing or differs from the body."""
    if value is None:
        return HeaderMismatch(f"The header {spelled(name)} is required and must equal the body's {source}")
    return HeaderMismatch(
        f"The header {spelled(name)} is {value[:_SHOWN]!r} but the body's {source} is {_shown(expected)}"
    )


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    return repr(value[:_SHOWN]) if isinstance(value, str) else f"a {type(value).__name__}"
