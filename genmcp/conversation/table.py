"""The conversations of a server in this process: which workers wait for an answer, and which rounds were used.

Both are bounded. A worker that is ended because too many wait is no loss: its client's retry runs the handler again
with the answers so far. A round that was used is remembered until its state would have expired anyway.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Protocol

import trio

REMEMBERED = 10_000


class Waiting(Protocol):
    """Whoever waits for the answers of a round: a worker's dialogue."""

    owner: Any

    @property
    def waits(self) -> bool:
        """True while the worker can still go on."""
        ...

    def expire(self, why: str = "expired") -> None:
        """End the worker; `why` is the detail of its exit reason."""
        ...


class Conversations:
    """The waiting workers and used rounds of one server."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()
        self._used: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def suspend(self, round_id: str, waiting: Waiting, capacity: int) -> None:
        """Note that a worker waits for the answers of a round; beyond the capacity the oldest one is expired."""
        self._waiting[round_id] = waiting
        if len(self._waiting) > capacity:
            self._waiting.popitem(last=False)[1].expire()

    def forget(self, round_id: str) -> None:
        """Note that nobody waits for this round any more."""
        self._waiting.pop(round_id, None)

    def expire_all(self, why: str) -> None:
        """End every waiting worker: the server stops, and a retry elsewhere runs the handler again."""
        for waiting in tuple(self._waiting.values()):
            waiting.expire(why)

    def use(self, round_id: str, ttl: float) -> bool:
        """Use a round. Returns False if it was used before."""
        now = trio.current_time()
        while self._used and (next(iter(self._used.values())) <= now or len(self._used) >= REMEMBERED):
            self._used.popitem(last=False)
        if round_id in self._used:
            return False
        self._used[round_id] = now + ttl
        return True

    def take(self, round_id: str) -> Waiting | None:
        """Return the worker that waits for this round, if it still does."""
        waiting = self._waiting.pop(round_id, None)
        return waiting if waiting is not None and waiting.waits else None
