"""What a request says of itself under `_meta`, read once when its worker starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from genmcp.mcp import protocol_version
from genmcp.mcp import v2607 as mcp


class ChannelMeta(msgspec.Struct, frozen=True):
    """What the request says of itself, and what the mount says of the caller.

    Attributes:
        protocol_version: The revision this request speaks.
        client_info: Who the client says it is; not to be trusted, and None when it does not say.
        client_capabilities: What the client can do, declared on this very request.
        assigns: The mount's `assigns` and `copy_assigns`, over those of the Suite's lifespan.
        principal: Who is calling, as the mount's `principal` function found out; None is the anonymous principal.
        trace_context: The request's `traceparent`, `tracestate` and `baggage`, if it is part of a trace: pass them on
            to what the handler calls. Notifications of the request carry them by themselves (M-14).
    """

    protocol_version: str
    client_info: mcp.Implementation | None
    client_capabilities: mcp.ClientCapabilities
    assigns: Mapping[str, Any] = {}
    principal: str | None = None
    trace_context: Mapping[str, str] = {}


class FoundMeta(msgspec.Struct, frozen=True):
    """What `read_meta` found: the channel's meta, the progress token and the log level."""

    channel: ChannelMeta
    progress_token: mcp.ProgressToken | None
    log_level: mcp.LoggingLevel | None


NO_CAPABILITIES = mcp.ClientCapabilities()


def read_meta(meta: Mapping[str, Any], assigns: Mapping[str, Any], principal: str | None) -> FoundMeta:
    """Read a message's `_meta`. What is absent is absent: requiring it is the transport's business.

    Raises:
        InvalidParams: A value has the wrong type, or the log level is unknown (L-07).
    """
    channel = ChannelMeta(
        protocol_version=mcp.meta_protocol_version(meta) or protocol_version(),
        client_info=mcp.meta_client_info(meta),
        client_capabilities=mcp.meta_client_capabilities(meta) or NO_CAPABILITIES,
        assigns=assigns,
        principal=principal,
        trace_context=mcp.meta_trace_context(meta),
    )
    return FoundMeta(channel, mcp.meta_progress_token(meta), mcp.meta_log_level(meta))
