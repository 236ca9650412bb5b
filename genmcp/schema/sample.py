"""A part of a large value, small enough to be searched for everything that is wrong with it.

Finding all errors costs some ten microseconds and more than a kilobyte an error, and a request of four megabytes can
hold two million wrong items: without a bound it would hold the server for half a minute. The first answer, valid or
not, is native and fast, so only the search is bounded: the value is copied depth first until 2,000 values are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from genmcp.schema.walk import Place

__all__ = ["Sample"]

MOST_SEARCHED = 2_000
MOST_TRIED = 20_000


class Sample:
    """A JSON value, or the beginning of it.

    Attributes:
        value: The value, or a copy that ends where the count ran out.
        cut_at: The innermost container that is incomplete (all around it are, too); None if nothing was left out.
        is_searchable: Whether the whole is small enough to be searched for its first error, whatever the schema.
    """

    __slots__ = ("_left", "cut_at", "is_searchable", "value")

    def __init__(self, value: object) -> None:
        counted = _count(value)
        self._left = MOST_SEARCHED
        self.cut_at: Place | None = None
        self.is_searchable = counted <= MOST_TRIED
        self.value: Any = value if counted <= MOST_SEARCHED else self._copy(value, ())

    def is_whole(self, place: Iterable[str | int]) -> bool:
        """Whether what lies at a place was copied whole, so that an error there is an error of the value itself."""
        steps = tuple(place)
        return self.cut_at is None or self.cut_at[: len(steps)] != steps

    def _copy(self, value: Any, place: Place) -> Any:
        self._left -= 1
        if isinstance(value, dict):
            return dict(self._copies(value.items(), place))
        if isinstance(value, list | tuple):
            return [copy for _, copy in self._copies(enumerate(value), place)]
        return value

    def _copies(self, members: Iterable[tuple[Any, Any]], place: Place) -> Iterable[tuple[Any, Any]]:
        for key, member in members:
            if self._left <= 0:
                self.cut_at = self.cut_at or place
                return
            yield key, self._copy(member, (*place, key))


def _count(value: object) -> int:
    """Count the values in a value, up to one more than is of interest."""
    pending: list[object] = [value]
    counted = 0
    while pending and counted <= MOST_TRIED:
        found = pending.pop()
        counted += 1
        if isinstance(found, dict):
            pending.extend(found.values())
        elif isinstance(found, list | tuple):
            pending.extend(found)
    return counted
