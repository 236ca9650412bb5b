"""Trace context in `_meta`: which trace a message belongs to, as W3C Trace Context and W3C Baggage write it (M-14).

What is malformed is left out, as the W3C asks: it is no reason to refuse a request, and it must not go further.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import NotificationParams

NotificationT = TypeVar("NotificationT", bound=Model)

LONGEST = 8192
"""Characters of a `tracestate` or `baggage`; the W3C asks that this much of a baggage be passed on."""

_IDS = r"(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
_TRACEPARENT = re.compile(rf"00-{_IDS}|(?!00|ff)[0-9a-f]{{2}}-{_IDS}(?:-.{{0,200}})?")
_NONE: Mapping[str, str] = {}


def meta_trace_context(meta: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the `traceparent`, `tracestate` and `baggage` of a message that are well-formed.

    A `tracestate` means nothing without its `traceparent`. Pass them on to what the work calls in its turn.
    """
    if "traceparent" not in meta and "baggage" not in meta:
        return _NONE
    found: dict[str, str] = {}
    parent = meta.get("traceparent")
    if isinstance(parent, str) and _TRACEPARENT.fullmatch(parent):
        found["traceparent"] = parent
        if _is_list(meta.get("tracestate")):
            found["tracestate"] = meta["tracestate"]
    if _is_list(meta.get("baggage")):
        found["baggage"] = meta["baggage"]
    return found


def _is_list(value: object) -> bool:
    """Tell whether this is a list of `key=value`, some of which may be empty."""
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or len(value) > LONGEST:
        return False
    members = [member.strip() for member in value.split(",")]
    return any(members) and all(not member or member.find("=") > 0 for member in members)


def with_trace_context(notification: NotificationT, context: Mapping[str, str]) -> NotificationT:
    """Return the notification as a part of a trace; what it says of its trace itself is kept."""
    params: Any = getattr(notification, "params", None) or NotificationParams()
    meta = {**context, **(params.meta or {})}
    return msgspec.structs.replace(notification, params=msgspec.structs.replace(params, meta=meta))
