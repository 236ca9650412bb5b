"""Whether anybody reads a stream. A disconnect cancels nothing (O-27), but nobody keeps a worker for ever, either."""

from __future__ import annotations

import trio

from actors import Node, Pid, Shutdown, Timer

GONE = Shutdown("client_disconnected")
"""The exit reason of a worker whose client did not come back."""


class Attendance:
    """Ends a stream's worker when its client has stayed away too long.

    Args:
        node: The node of the worker.
    """

    __slots__ = ("_gone_at", "_node", "_timer", "_worker")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._gone_at: float | None = None
        self._timer: Timer | None = None
        self._worker: Pid | None = None

    def of(self, worker: Pid) -> None:
        """Say whose worker it is; a later one takes the place of an earlier one."""
        self._worker = worker
        self._arm()

    def left(self, patience: float) -> None:
        """Note that nobody reads; after `patience` seconds of that the client counts as gone."""
        self._gone_at = trio.current_time() + patience
        self._arm()

    def back(self) -> None:
        """Note that somebody reads."""
        self._gone_at = None
        self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._gone_at is not None and self._worker is not None:
            left = max(0.0, self._gone_at - trio.current_time())
            self._timer = self._node.registry.stop_after(left, self._worker, GONE)
