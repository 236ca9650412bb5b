"""Whether anybody reads a stream. A disconnect cancels nothing (O-27), but nobody keeps a worker for ever, either."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import trio

from actors import Node, Pid, StoppedError


class Attendance:
    """Ends what writes to a stream when its client has stayed away too long.

    Args:
        node: Where to wait.
        leave: Called when the client counts as gone.
    """

    __slots__ = ("_leave", "_node", "_waiting")

    def __init__(self, node: Node, leave: Callable[[], None]) -> None:
        self._node = node
        self._leave = leave
        self._waiting: Pid | None = None

    def left(self, patience: float) -> None:
        """Note that nobody reads; after `patience` seconds of that the client counts as gone."""
        self.back()
        with suppress(StoppedError):  # everything ends anyway
            self._waiting = self._node.spawn(self._wait, patience, label="waits for a client to come back", system=True)

    def back(self) -> None:
        """Note that somebody reads, or that there is nothing left to read."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._node.registry.stop(waiting)

    async def _wait(self, patience: float) -> None:
        await trio.sleep(patience)
        self._waiting = None
        self._leave()
