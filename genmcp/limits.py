"""What the transport says to a worker besides the message: who calls, and how much a request may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from genmcp.schema import HeaderParam
from genmcp.threads import Threads

HeaderCheck = Callable[[Mapping[str, HeaderParam], Mapping[str, Any]], None]
"""Raises a `HeaderMismatch` where a header and the argument that it mirrors differ."""


class RequestContext(msgspec.Struct, frozen=True):
    """What the transport knows of a request beyond its message.

    Attributes:
        assigns: What the mount says of the caller.
        principal: Who is calling.
        check_headers: Compares the request's `Mcp-Param-…` headers with arguments, where there are headers.
    """

    assigns: Mapping[str, Any] = {}
    principal: str | None = None
    check_headers: HeaderCheck | None = None


class WorkerSettings(msgspec.Struct, frozen=True):
    """Limits of a worker.

    Attributes:
        mailbox_capacity: Messages that wait in its mailbox at most.
        grace: Seconds that `handle_close` may take.
        progress_interval: Seconds between two progress notifications at least, merging what lies between; None: off.
        tool_timeout: Seconds that a tool without a timeout of its own may take; None: no limit.
        conversation_ttl: Seconds that a worker waits for its client's answer.
        conversations: Workers that may wait so; beyond that the oldest is ended.
        threads: Where synchronous handlers run.
    """

    mailbox_capacity: int = 1000
    grace: float = 10.0
    progress_interval: float | None = None
    tool_timeout: float | None = None
    conversation_ttl: float = 600.0
    conversations: int = 1000
    threads: Threads = msgspec.field(default_factory=Threads)
