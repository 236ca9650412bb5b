"""Log records that a client can cause at will: the first few, then how many were left out (user demand J1)."""

from __future__ import annotations

import logging

import trio

BURST = 5
PERIOD = 60.0


class Seldom:
    """Logs at most a few records a minute.

    Args:
        log: Where to.
        level: Of every record.
        burst: Records in one period.
        period: Seconds.
    """

    def __init__(self, log: logging.Logger, level: int, *, burst: int = BURST, period: float = PERIOD) -> None:
        self._log = log
        self._level = level
        self._burst = burst
        self._period = period
        self._since = -period
        self._count = 0

    def __call__(self, text: str, *values: object) -> None:
        """Log, unless there were too many of late. Needs trio's clock."""
        now = trio.current_time()
        if now >= self._since + self._period:
            self._told_of_the_rest()
            self._since, self._count = now, 0
        self._count += 1
        if self._count <= self._burst:
            self._log.log(self._level, text, *values)
        if self._count == self._burst:
            self._log.log(self._level, "More of this kind is not logged for %g s", self._period)

    def _told_of_the_rest(self) -> None:
        left_out = self._count - self._burst
        if left_out > 0:
            self._log.log(self._level, "%d records of one kind were left out", left_out)
