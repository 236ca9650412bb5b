"""What can be seen of actors from outside; read directly, for everything is in one thread."""

from __future__ import annotations

import msgspec

from actors.address import Pid
from actors.cell import Cell


class ActorInfo(msgspec.Struct, frozen=True):
    """One actor at one moment.

    Attributes:
        pid: Its address.
        label: What it is.
        status: `starting`, `running`, `waiting` (for a message) or `stopping`.
        age: Seconds since it was spawned.
        mailbox: Messages that wait.
        handled: Messages taken so far.
        dropped: Messages that were lost because the mailbox was full and their sender could not be told.
        folded: Published messages that were counted as one with an equal one that waited.
        names: Its registered names.
        topics: What it is subscribed to.
        monitors: How many monitors and exit functions watch it.
    """

    pid: Pid
    label: str
    status: str
    age: float
    mailbox: int
    handled: int
    dropped: int
    folded: int
    names: tuple[str, ...]
    topics: tuple[str, ...]
    monitors: int


class Counts(msgspec.Struct, frozen=True):
    """How much a node holds; the same before and after if nothing leaked.

    Attributes:
        actors: Living actors, system actors included.
        names: Registered names.
        topics: Memberships, over all topics.
        monitors: Monitors and exit functions.
        timers: Timers that will still fire.
    """

    actors: int
    names: int
    topics: int
    monitors: int
    timers: int


def info(cell: Cell, now: float) -> ActorInfo:
    """Describe one actor.

    Args:
        cell: The actor.
        now: The time.

    Returns:
        A snapshot.
    """
    mailbox = cell.mailbox
    return ActorInfo(
        pid=cell.pid,
        label=cell.label,
        status=cell.status,
        age=now - cell.born,
        mailbox=0 if mailbox is None else mailbox.size,
        handled=0 if mailbox is None else mailbox.handled,
        dropped=0 if mailbox is None else mailbox.dropped,
        folded=0 if mailbox is None else mailbox.folded,
        names=tuple(cell.names or ()),
        topics=tuple(sorted(cell.topics or ())),
        monitors=len(cell.watched_by or ()) + len(cell.hooks or ()),
    )
