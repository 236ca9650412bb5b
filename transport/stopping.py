"""How a server stops: in order, in time, and whatever hangs (transport.md §6; user demand E1, E2).

    0        no new connections; not ready; idle connections end; subscriptions end with their result;
             workers that wait for a client's answer end
    ≤ grace  requests may finish
    + 0.3 s  the rest are stopped and their clients told why
    + 0.2 s  what is still connected is reset
    + 0.2 s  children and the node end
    + 0.9 s  an alarm ends the process

A second signal ends the process at once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import trio

from actors import ActorInfo, Node, Shutdown
from genmcp.mcp import v2607 as mcp
from genmcp.server import Server
from transport.door import Door
from transport.http import Front

__all__ = ["ALARM", "BOUND", "Rooms", "end_node", "stop_in_order", "workers_of"]

LOG = logging.getLogger("genmcp")

NOTICE = 0.3
"""Seconds in which clients are told that their request was stopped."""
BOUND = 0.7
"""Seconds after the grace period in which all is over if nothing hangs."""
ALARM = 0.9
"""Seconds after the grace period at which the process ends whatever hangs."""

POLL = 0.02
STOPPING = Shutdown("shutdown")
SUBSCRIPTION = "subscriptions/listen"
WORKERS = frozenset(mcp.REQUESTS) | {"notifications/cancelled"}
"""The first word of a worker's label, by which it is told from other actors."""


class Rooms(msgspec.Struct, frozen=True):
    """What has to be stopped.

    Attributes:
        door: The public door.
        admin: The registry API's own door, if it has one.
        fronts: Say whether the server is ready.
        node: Where the workers live.
        servers: Whose workers they are.
    """

    door: Door
    admin: Door | None
    fronts: Sequence[Front]
    node: Node
    servers: Sequence[Server[Any]] = ()

    @property
    def quiet(self) -> bool:
        """True when no client waits for an answer and no worker is left."""
        return not self.door.busy and next(self.workers(), None) is None

    def workers(self) -> Iterator[ActorInfo]:
        """See `workers_of`."""
        return workers_of(self.node)

    def stop(self, workers: Iterable[ActorInfo]) -> None:
        """Stop workers; each tells its client."""
        for worker in workers:
            self.node.registry.stop(worker.pid, STOPPING)

    async def until_quiet(self) -> None:
        """Wait until `quiet`."""
        # A stop is rare; an event instead would be paid for by every request.
        while not self.quiet:  # noqa: ASYNC110  (see above)
            await trio.sleep(POLL)


def workers_of(node: Node) -> Iterator[ActorInfo]:
    """Return the actors that answer requests; children of a Suite and what it spawned are not among them."""
    return (info for info in node.snapshot() if info.label.partition(" ")[0] in WORKERS)


async def end_node(node: Node, deadline: float) -> None:
    """Stop what still lives on a node, children last; what is left at the deadline is killed."""
    with trio.move_on_at(deadline):
        await node.stop(grace=max(0.0, deadline - trio.current_time()))
        return
    for info in node.snapshot():
        LOG.warning("%s (%s) did not end in time and is killed", info.pid, info.label)
        node.registry.kill(info.pid)


async def stop_in_order(rooms: Rooms, grace: float) -> None:
    """Take a server out of service; returns when no request is left and every connection was told to end.

    The registry API goes on through the grace period when it has a door of its own, so that what workers wait for
    can still reach them.
    """
    for front in rooms.fronts:
        front.ready = False
    await rooms.door.refuse()
    rooms.stop(worker for worker in rooms.workers() if worker.label.startswith(SUBSCRIPTION))
    for server in rooms.servers:
        server.conversations.expire_all("shutdown")  # their clients have been answered, with a question
    with trio.move_on_after(grace):
        await rooms.until_quiet()
    left = list(rooms.workers())
    if left:
        LOG.warning("%d requests are stopped: they did not end within the grace period of %g s", len(left), grace)
        rooms.stop(left)
    with trio.move_on_after(NOTICE):
        await rooms.until_quiet()
    rooms.door.abort()
    if rooms.admin is not None:
        await rooms.admin.refuse()
        rooms.admin.abort()
