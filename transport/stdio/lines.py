"""From bytes to lines, within a bound (Q-01). Pure: no I/O, no JSON."""

from __future__ import annotations

import enum


class Oversize(enum.Enum):
    """What stands for a line that is too long to be kept."""

    OVERSIZE = "oversize"


OVERSIZE = Oversize.OVERSIZE

Line = bytes | Oversize


class Lines:
    """Cuts what arrives into lines. A line that is too long is reported once and skipped to its end.

    Args:
        limit: Bytes that a line may have, without its end.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begun = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[Line]:
        """Take some bytes; return the lines that they complete, without their ends."""
        found: list[Line] = []
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._add(piece, found)
            if not self._skipping:
                found.append(bytes(self._begun))
            self._begun.clear()
            self._skipping = False
        self._add(rest, found)
        return found

    def end(self) -> list[Line]:
        """Return what came after the last end of a line: a client may leave out the very last one."""
        rest, self._begun = bytes(self._begun), bytearray()
        return [rest] if rest.strip() else []

    def _add(self, piece: bytes, found: list[Line]) -> None:
        if self._skipping:
            return
        self._begun += piece
        if len(self._begun) > self._limit:
            self._begun = bytearray()
            self._skipping = True
            found.append(OVERSIZE)
