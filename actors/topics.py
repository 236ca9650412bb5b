"""Topics: who wants to hear of what, and telling them all."""

from __future__ import annotations

import logging
import threading

from actors.address import Pid
from actors.cell import Cell
from actors.exits import Shutdown
from actors.loop import Loop, on_loop
from actors.timers import Timers

logger = logging.getLogger("actors")
OVERLOADED = Shutdown("overloaded")


class Topics(Timers):
    """The part of the registry that knows topics. A topic exists while it has a member."""

    def __init__(self, loop: Loop, incarnation: str) -> None:
        super().__init__(loop, incarnation)
        self._topics: dict[str, dict[Cell, None]] = {}

    @on_loop
    def subscribe(self, topic: str, pid: Pid | None = None) -> None:
        """Have an actor get what is published on a topic, until it unsubscribes or ends.

        Subscribing twice is subscribing once. From any thread.

        Args:
            topic: Any string.
            pid: Who; default the current actor.

        Raises:
            NoProcessError: There is no such actor.
        """
        cell = self.self_or(pid)
        self._topics.setdefault(topic, {})[cell] = None
        if cell.topics is None:
            cell.topics = set()
        cell.topics.add(topic)

    @on_loop
    def unsubscribe(self, topic: str, pid: Pid | None = None) -> bool:
        """Take an actor off a topic; what was published before stays in its mailbox. From any thread.

        Args:
            topic: The topic.
            pid: Who; default the current actor.

        Returns:
            Whether it was a member.

        Raises:
            NoProcessError: There is no such actor.
        """
        cell = self.self_or(pid)
        if cell.topics is None or topic not in cell.topics:
            return False
        cell.topics.remove(topic)
        self.leave(topic, cell)
        return True

    @on_loop
    def members(self, topic: str) -> tuple[Pid, ...]:
        """List who is on a topic, in the order they came. From any thread.

        Args:
            topic: The topic.

        Returns:
            Their pids; a snapshot.
        """
        return tuple(cell.pid for cell in self._topics.get(topic, ()))

    def publish(self, topic: str, message: object) -> int:
        """Send a message to every member of a topic. Never waits.

        A member whose mailbox is full gets the message folded into an equal one that waits there; if there is
        none, it is stopped with `Shutdown("overloaded")`. From any thread, in order with that thread's sends.

        Args:
            topic: The topic.
            message: Any object; all members get the same one.

        Returns:
            How many members got it; from another thread than the node's, how many there are.
        """
        if threading.get_ident() != self.loop.thread:
            count = len(self._topics.get(topic, ()))
            return count if self.loop.soon(self.publish, topic, message) else 0
        return sum(self._publish_to(cell, topic, message) for cell in tuple(self._topics.get(topic, ())))

    def _publish_to(self, cell: Cell, topic: str, message: object) -> bool:
        if cell.put(message):
            return True
        assert cell.mailbox is not None
        if cell.mailbox.fold(message):
            return True
        self.count_lost(cell)
        if cell.stop(OVERLOADED):
            logger.warning("actor %s (%s) is overloaded by topic %s and stopped", cell.pid, cell.label, topic)
            self.kill_after_grace(cell)
        return False

    def leave(self, topic: str, cell: Cell) -> None:
        """Take an actor off a topic's list, and the topic off the table when that was the last."""
        members = self._topics[topic]
        del members[cell]
        if not members:
            del self._topics[topic]
