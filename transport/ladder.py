"""The order of checks, from the first byte of the head to a typed request. Each rung refuses by raising.

The order is part of the contract: when several things are wrong with a request, every server of this framework names
the same one. What needs less of the request comes first, so that a refusal costs little.

    head      host 421 · origin 403 · path 404 · method 405 · header size 431 · content type 415 · accept 406 ·
              declared length 413
    body      size 413, time 408 · JSON -32700 · one object, `jsonrpc`, `method`, `id` -32600
    request   `Mcp-Method`, `Mcp-Name` -32020 · required `_meta` -32602 · version header -32020 · version -32022 ·
              method known -32601, params -32602 · accept of a subscription 406

A CORS preflight is answered before the first rung; authorization and `Mcp-Param-…` come after the last, because they
need the server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from genmcp.mcp import InvalidParams, UnsupportedProtocolVersion, jsonrpc, supported_protocol_versions
from genmcp.mcp import v2607 as mcp
from transport import refusal
from transport.body import check_declared_length
from transport.era import CAPABILITIES_KEY, VERSION_KEY
from transport.exchange import Exchange
from transport.host import local_path
from transport.media import EVENT_STREAM, JSON, is_json
from transport.policy import HostPolicy, OriginPolicy
from transport.routing import check_method_header, check_name_header, check_version_header

LISTEN = "subscriptions/listen"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What the rungs compare with.

    Attributes:
        path: Where the endpoint is, when nothing around it has matched the path already.
        hosts: Which `Host` headers pass.
        origins: Which `Origin` headers pass.
        header_limit: Bytes of all headers.
        body_limit: Bytes of the body.
        body_deadline: Seconds in which the body must arrive.
        allow: What `Allow` says: the HTTP methods that are served.
    """

    path: str = "/mcp"
    hosts: HostPolicy
    origins: OriginPolicy
    header_limit: int = 64 * 2**10
    body_limit: int = 4 * 2**20
    body_deadline: float = 30.0
    allow: bytes = b"POST"


# -- of the head


def host(exchange: Exchange, rules: Rules) -> None:
    """421: the `Host` is not ours."""
    name = exchange.headers.get(b"host")
    if not rules.hosts.allows(name):
        raise refusal.foreign_host(name)


def origin(exchange: Exchange, rules: Rules) -> None:
    """403: the page's origin is not allowed; an absent one is (H-02, H-03)."""
    headers = exchange.headers
    page = headers.get(b"origin")
    if page is not None and not rules.origins.allows(page, headers.get(b"host")):
        raise refusal.foreign_origin(page)


def path(exchange: Exchange, rules: Rules) -> None:
    """404: this endpoint is elsewhere. Mounted at a path of its own, nothing of the path is left to compare."""
    local = local_path(exchange.scope)
    if local != rules.path and local.removesuffix("/") not in ("", rules.path.removesuffix("/")):
        raise refusal.no_such_path(local, rules.path)


def http_method(exchange: Exchange, rules: Rules) -> None:
    """405: only POST carries messages (H-51)."""
    if exchange.http_method != "POST":
        raise refusal.wrong_method(exchange.http_method, rules.allow)


def header_size(exchange: Exchange, rules: Rules) -> None:
    """431: the headers are too large."""
    if exchange.headers.size > rules.header_limit:
        raise refusal.headers_too_large(rules.header_limit)


def content_type(exchange: Exchange, rules: Rules) -> None:
    """415: the body is not declared as JSON."""
    declared = exchange.headers.get(b"content-type")
    if not is_json(declared):
        raise refusal.not_json(declared)


def accept(exchange: Exchange, rules: Rules) -> None:
    """406: the client takes neither form of an answer (AMB-05)."""
    if not any(exchange.accepted):
        raise refusal.not_acceptable(exchange.headers.get(b"accept"), f"{JSON} or {EVENT_STREAM}")


def declared_length(exchange: Exchange, rules: Rules) -> None:
    """413: the body says that it is too large."""
    check_declared_length(exchange.headers.get(b"content-length"), rules.body_limit)


DOOR: tuple[Callable[[Exchange, Rules], None], ...] = (host, origin, path)
"""The first rungs, for requests of every method."""

HEAD: tuple[Callable[[Exchange, Rules], None], ...] = (
    http_method,
    header_size,
    content_type,
    accept,
    declared_length,
)


# -- of the body


def envelope(exchange: Exchange, message: Any) -> bool:
    """-32600: the body is not one request or notification. Returns True for a request.

    The id is read first, so that whatever else is wrong can be answered to it. That of a posted response is the
    server's, not the client's, and is not echoed (AMB-06).
    """
    if isinstance(message, dict) and not ("method" not in message and ("result" in message or "error" in message)):
        exchange.message_id = jsonrpc.request_id_of(message)
    exchange.method = jsonrpc.check_message(message)
    exchange.params = message.get("params")
    return "id" in message


# -- of a request


def method_header(exchange: Exchange) -> None:
    """-32020: `Mcp-Method` differs from the body."""
    check_method_header(exchange.headers, exchange.method)


def name_header(exchange: Exchange) -> None:
    """-32020: `Mcp-Name` differs from the body."""
    check_name_header(exchange.headers, exchange.method, exchange.params)


def required_meta(exchange: Exchange) -> None:
    """-32602: `_meta` lacks what every request must say of its client (M-06)."""
    require_meta(exchange.params)


def version_header(exchange: Exchange) -> None:
    """-32020: `MCP-Protocol-Version` differs from `_meta` (H-27)."""
    check_version_header(exchange.headers, exchange.params["_meta"][VERSION_KEY])


def version_served(exchange: Exchange) -> None:
    """-32022: the version is not served this way (H-30)."""
    require_served(exchange.params["_meta"][VERSION_KEY])


REQUEST: tuple[Callable[[Exchange], None], ...] = (
    method_header,
    name_header,
    required_meta,
    version_header,
    version_served,
)


def typed_request(exchange: Exchange, message: dict[str, Any]) -> mcp.Request:
    """Decode what passed all rungs.

    Raises:
        MethodNotFound: No such method.
        InvalidParams: The params are malformed; the text names the path.
        Refusal: 406, a subscription whose client takes no stream.
    """
    request = cast("mcp.Request", mcp.decode(message))  # it has an id
    exchange.params = None  # nobody reads them from here on, and a stream may stay open for days
    if exchange.method == LISTEN and not exchange.accepted.stream:
        raise refusal.not_acceptable(exchange.headers.get(b"accept"), EVENT_STREAM)
    return request


def require_meta(params: Any) -> str:
    """Return the version that a request's `_meta` names; raise -32602 if something required is missing (M-06)."""
    if not isinstance(params, dict):
        raise InvalidParams("params must be an object that holds _meta")
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise InvalidParams("params._meta must be an object")
    version = meta.get(VERSION_KEY)
    if not isinstance(version, str):
        raise InvalidParams(f"params._meta must hold {VERSION_KEY}, a string")
    if not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise InvalidParams(f"params._meta must hold {CAPABILITIES_KEY}, an object")
    return version


def require_served(version: str) -> None:
    """Raise -32022 for a version that is not served, naming those that are."""
    supported = supported_protocol_versions()
    if version not in supported:
        raise UnsupportedProtocolVersion(version, supported)
