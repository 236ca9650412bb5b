from __future__ import annotations

import pytest

from benchmarks.measure import Amount, Comparison, Direction, Spread, alternate


def compared(limit: float, direction: Direction = "at most", *, binding: bool = True) -> Comparison:
    return Comparison("it", "ours", "base", "µs", [4.0, 9.0, 2.0], [2.0, 3.0, 2.0], limit, direction, binding)


def test_a_ratio_is_taken_pair_by_pair() -> None:
    assert compared(3.0).ratio == Spread(median=2.0, lowest=1.0, highest=3.0)


@pytest.mark.parametrize(
    ("limit", "direction", "holds"), [(2.0, "at most", True), (1.9, "at most", False), (2.1, "at least", False)]
)
def test_the_median_ratio_decides(limit: float, direction: Direction, holds: bool) -> None:
    assert compared(limit, direction).holds is holds


def test_a_missed_aim_is_not_a_broken_limit() -> None:
    assert "missed: at most 1" in compared(1.0, binding=False).lines()[0]
    assert "BROKEN: at most 1" in compared(1.0).lines()[0]


def test_an_amount_is_held_against_its_limit() -> None:
    assert Amount("idle", "bytes", 4_900, 5_000).holds
    assert not Amount("idle", "bytes", 5_100, 5_000).holds


async def test_both_run_in_turn_and_the_first_round_is_dropped() -> None:
    order: list[str] = []

    async def ours(count: int) -> None:
        order.append(f"ours {count}")

    async def base(count: int) -> None:
        order.append(f"base {count}")

    takes = await alternate(ours, base, rounds=2, count=3)
    assert [len(taken) for taken in takes] == [2, 2]
    assert order == ["base 3", "ours 3", "ours 3", "base 3", "base 3", "ours 3"]
