"""How figures are taken and judged: alternately, several times, as ratios with their spread."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Direction = Literal["at most", "at least"]
Run = Callable[[int], Awaitable[None]]


@dataclass(frozen=True)
class Spread:
    """Several takes of one figure: the median and how far they lie apart."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Summarise at least one value."""
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        """Median, then the extremes."""
        return f"{self.median:,.2f} ({self.lowest:,.2f} to {self.highest:,.2f})"


@dataclass(frozen=True)
class Comparison:
    """Ours beside the plain thing, taken in pairs.

    Attributes:
        name: What was measured.
        ours: What `ours_values` are of.
        base: What `base_values` are of.
        unit: Of both.
        ours_values: Our takes, in order.
        base_values: The takes right before or after them.
        limit: The ratio of ours to base that must hold.
        direction: Whether the limit is an upper or a lower one.
        binding: Whether missing the limit fails the run; an aim is only printed.
    """

    name: str
    ours: str
    base: str
    unit: str
    ours_values: list[float]
    base_values: list[float]
    limit: float
    direction: Direction = "at most"
    binding: bool = True

    @property
    def ratio(self) -> Spread:
        """Ours divided by base, pair by pair."""
        return Spread.of([ours / base for ours, base in zip(self.ours_values, self.base_values, strict=True)])

    @property
    def holds(self) -> bool:
        """Whether the median of the ratios keeps the limit."""
        return _keeps(self.ratio.median, self.limit, self.direction)

    def lines(self) -> list[str]:
        """The comparison as printed."""
        return [
            f"{self.name}: {self.ratio} times {self.base}, {_judgement(self.holds, self.binding)}: "
            f"{self.direction} {self.limit:g}",
            f"    {self.ours}: {Spread.of(self.ours_values)} {self.unit}",
            f"    {self.base}: {Spread.of(self.base_values)} {self.unit}",
        ]

    def data(self) -> dict[str, Any]:
        """The comparison as kept."""
        return {"kind": "comparison", **asdict(self), "ratio": asdict(self.ratio), "holds": self.holds}


@dataclass(frozen=True)
class Amount:
    """A figure that means the same on every machine, with its limit."""

    name: str
    unit: str
    value: float
    limit: float
    direction: Direction = "at most"
    binding: bool = field(default=True)

    @property
    def holds(self) -> bool:
        """Whether the limit is kept."""
        return _keeps(self.value, self.limit, self.direction)

    def lines(self) -> list[str]:
        """The amount as printed."""
        judgement = _judgement(self.holds, self.binding)
        return [f"{self.name}: {self.value:,.0f} {self.unit}, {judgement}: {self.direction} {self.limit:,g}"]

    def data(self) -> dict[str, Any]:
        """The amount as kept."""
        return {"kind": "amount", **asdict(self), "holds": self.holds}


Figure = Comparison | Amount


async def alternate(ours: Run, base: Run, *, rounds: int, count: int) -> tuple[list[float], list[float]]:
    """Run both in turn, each `rounds` times over `count` operations, the first to run changing every round.

    Returns:
        Microseconds per operation, ours and base, one value a round. A first round of each is thrown away.
    """
    taken: dict[Run, list[float]] = {ours: [], base: []}
    for turn in range(rounds + 1):
        for run in (ours, base) if turn % 2 else (base, ours):
            microseconds = await _clocked(run, count)
            if turn > 0:
                taken[run].append(microseconds)
    return taken[ours], taken[base]


async def _clocked(run: Run, count: int) -> float:
    gc.collect()
    start = time.perf_counter()
    await run(count)
    return (time.perf_counter() - start) / count * 1e6


def _keeps(value: float, limit: float, direction: Direction) -> bool:
    return value <= limit if direction == "at most" else value >= limit


def _judgement(holds: bool, binding: bool) -> str:
    if holds:
        return "kept"
    return "BROKEN" if binding else "missed"
