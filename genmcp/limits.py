"""What the transport says to a worker besides the message: who calls, and how much a request may take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from genmcp.threads import Threads


class RequestContext(msgspec.Struct, frozen=True):
    """What the transport knows of a request beyond its message: the mount's `assigns`, and who is calling."""

    assigns: Mapping[str, Any] = {}
    principal: str | None = None


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
