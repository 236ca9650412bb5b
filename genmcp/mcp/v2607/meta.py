"""`_meta`: the grammar of its keys, and the protocol's own keys in requests, notifications and results."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from msgspec import field

from genmcp.mcp.errors import InvalidParams
from genmcp.mcp.model import Model, decode_as
from genmcp.mcp.v2607.base import Implementation, LoggingLevel, ProgressToken, RequestId
from genmcp.mcp.v2607.discovery import ClientCapabilities
from genmcp.mcp.v2607.notices import LOGGING_LEVELS

T = TypeVar("T")

PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
PROGRESS_TOKEN_KEY = "progressToken"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID_KEY = "io.modelcontextprotocol/subscriptionId"

_LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_KEY = re.compile(
    rf"(?:(?P<prefix>{_LABEL}(?:\.{_LABEL})*)/)?(?P<name>(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?)"
)


class RequestMetaObject(Model, frozen=True, kw_only=True):
    """The `_meta` of a request."""

    protocol_version: str = field(name=PROTOCOL_VERSION_KEY)
    client_capabilities: ClientCapabilities = field(name=CLIENT_CAPABILITIES_KEY)
    client_info: Implementation | None = field(default=None, name=CLIENT_INFO_KEY)
    log_level: LoggingLevel | None = field(default=None, name=LOG_LEVEL_KEY)
    progress_token: ProgressToken | None = field(default=None, name=PROGRESS_TOKEN_KEY)


class NotificationMetaObject(Model, frozen=True, kw_only=True):
    """The `_meta` of a notification; those on a listen stream name their subscription."""

    subscription_id: RequestId | None = field(default=None, name=SUBSCRIPTION_ID_KEY)


class ResultMetaObject(Model, frozen=True, kw_only=True):
    """The `_meta` of a result."""

    server_info: Implementation | None = field(default=None, name=SERVER_INFO_KEY)


class SubscriptionsListenResultMetaObject(Model, frozen=True, kw_only=True):
    """The `_meta` of the result that ends a listen stream."""

    subscription_id: RequestId = field(name=SUBSCRIPTION_ID_KEY)
    server_info: Implementation | None = field(default=None, name=SERVER_INFO_KEY)


def check_meta_key(key: str) -> str:
    """Return the key if it obeys the grammar of `_meta` keys (M-01, M-02).

    Raises:
        ValueError: it does not; the text says what the grammar is.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(
            f"_meta key {key!r}: expected a name, or prefix/name; the prefix is labels joined by dots, each starting "
            "with a letter and ending with a letter or digit; the name starts and ends with a letter or digit"
        )
    return key


def is_reserved(key: str) -> bool:
    """Say whether a `_meta` key is the protocol's: its second label is `mcp` or `modelcontextprotocol` (M-04)."""
    prefix, slash, _ = key.rpartition("/")
    labels = prefix.lower().split(".")
    return bool(slash) and len(labels) > 1 and labels[1] in ("mcp", "modelcontextprotocol")


def require_meta(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `_meta` of a parsed request, with the keys that every request must have (M-06).

    Raises:
        InvalidParams: `params`, `_meta` or a required key is missing or has the wrong type; says which.
    """
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if type(meta) is not dict:
        raise InvalidParams(_what_is_missing(message, params))
    for key, kind, wanted in ((PROTOCOL_VERSION_KEY, str, "a string"), (CLIENT_CAPABILITIES_KEY, dict, "an object")):
        if key not in meta:
            raise InvalidParams(f"params._meta.{key} is required.")
        if type(meta[key]) is not kind:
            raise InvalidParams(f"params._meta.{key}: expected {wanted}.")
    return meta


def _what_is_missing(message: Mapping[str, Any], params: Any) -> str:
    if "params" not in message:
        return f"params is required: it holds _meta with {PROTOCOL_VERSION_KEY} and {CLIENT_CAPABILITIES_KEY}."
    if not isinstance(params, dict):
        return "params: expected an object."
    if "_meta" not in params:
        return f"params._meta is required, with {PROTOCOL_VERSION_KEY} and {CLIENT_CAPABILITIES_KEY}."
    return "params._meta: expected an object."


def meta_protocol_version(meta: Mapping[str, Any]) -> str | None:
    """Return the version that a request says it speaks.

    Raises:
        InvalidParams: it is not a string.
    """
    return cast("str | None", _read(meta, PROTOCOL_VERSION_KEY, str))


def meta_client_capabilities(meta: Mapping[str, Any]) -> ClientCapabilities | None:
    """Return what the client says it can do, on this request.

    Raises:
        InvalidParams: it is not a capabilities object.
    """
    return cast("ClientCapabilities | None", _read(meta, CLIENT_CAPABILITIES_KEY, ClientCapabilities))


def meta_client_info(meta: Mapping[str, Any]) -> Implementation | None:
    """Return who the client says it is.

    Raises:
        InvalidParams: it is not an object with name and version.
    """
    return cast("Implementation | None", _read(meta, CLIENT_INFO_KEY, Implementation))


def meta_progress_token(meta: Mapping[str, Any]) -> ProgressToken | None:
    """Return the token under which the client wants progress; None if it wants none.

    Raises:
        InvalidParams: it is neither a string nor an integer.
    """
    token = meta.get(PROGRESS_TOKEN_KEY)
    if token is None or type(token) is str or type(token) is int:
        return token
    raise InvalidParams(f"params._meta.{PROGRESS_TOKEN_KEY}: expected a string or an integer.")


def meta_log_level(meta: Mapping[str, Any]) -> LoggingLevel | None:
    """Return the level from which the client wants log lines; None if it wants none.

    Raises:
        InvalidParams: there is no such level; names them all.
    """
    level = meta.get(LOG_LEVEL_KEY)
    if level is None or level in LOGGING_LEVELS:
        return cast("LoggingLevel | None", level)
    raise InvalidParams(f"params._meta.{LOG_LEVEL_KEY}: expected one of {', '.join(LOGGING_LEVELS)}.")


def _read(meta: Mapping[str, Any], key: str, kind: Any) -> Any:
    raw = meta.get(key)
    return None if raw is None else decode_as(kind, raw, where=f"params._meta.{key}")
