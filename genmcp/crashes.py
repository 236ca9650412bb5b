"""Crashes: what an exception that is not for the client becomes."""

from __future__ import annotations

import secrets

from actors import Actor
from actors.exits import lone_leaf
from genmcp import telemetry
from genmcp.mcp import InternalError

NO_EVENT_LOOP = ("no running event loop", "no current event loop")
ASYNCIO_HINT = (
    "hint: genmcp runs handlers on trio, so an asyncio library finds no event loop here; use one that runs on trio "
    "or anyio, or call its synchronous form from a `def` tool"
)


def mask(error: BaseException, actor: Actor, method: str) -> InternalError:
    """Return what the client is told of a crash: an id by which the one log record can be found (J3, J4)."""
    reference = secrets.token_hex(6)
    actor.annotate(reference=reference)
    leaf = lone_leaf(error)
    if any(text in str(leaf) for text in NO_EVENT_LOOP):
        leaf.add_note(ASYNCIO_HINT)
    telemetry.emit("transport.server_crashed", method=method, reference=reference)
    return InternalError(data={"reference": reference})
