"""What a schema lets through is converted, or refused in words that a model can use."""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid
from typing import Any, Literal

import msgspec
import pytest

from genmcp.schema import Converter, InvalidValueError, Problem


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Booking(msgspec.Struct):
    nights: int
    guests: list[str] = []

    def __post_init__(self) -> None:
        if self.nights < 1:
            raise ValueError("nights must be at least 1")


def refusal(kind: Any, value: object) -> str:
    with pytest.raises(InvalidValueError) as caught:
        Converter[Any](kind)(value)
    (problem,) = caught.value.problems
    return str(problem)


@pytest.mark.parametrize(
    ("kind", "value", "result"),
    [
        (int, 3.0, 3),
        (int | None, -0.0, 0),
        (Literal[1, 2], 2.0, 2),
        (Level, 1.0, Level.LOW),
        (list[int], [1, 2.0], [1, 2]),
        (dict[str, int], {"a": 1.0}, {"a": 1}),
        (dict[int, int], {"1": 2.0}, {1: 2}),
        (int, 1e300, int(1e300)),
    ],
)
def test_whole_number_becomes_an_integer(kind: Any, value: object, result: object) -> None:
    converted = Converter[Any](kind)(value)
    assert converted == result
    assert ".0" not in repr(converted)


def test_number_meant_as_a_float_stays_one() -> None:
    assert repr(Converter[Any](list[float])([1, 2.0])) == "[1.0, 2.0]"
    assert repr(Converter[Any](int | float)(3.0)) == "3.0"
    assert repr(Converter[Any](dict[str, Any])({"a": 3.0})) == "{'a': 3.0}"


def test_struct_is_made_of_an_object() -> None:
    assert Converter[Booking](Booking)({"nights": 2, "guests": ["x"]}) == Booking(2, ["x"])


def test_input_is_not_changed() -> None:
    value = {"nights": 2.0, "guests": ["x"]}
    assert Converter[Booking](Booking)(value) == Booking(2, ["x"])
    assert repr(value) == "{'nights': 2.0, 'guests': ['x']}"


def test_refusal_of_the_author_is_told_as_written() -> None:
    with pytest.raises(InvalidValueError) as caught:
        Converter[Booking](Booking)({"nights": 0})
    assert caught.value.problems == [Problem("", "nights must be at least 1", kind="refused")]
    assert refusal(dict[str, list[Booking]], {"a": [{"nights": 0}]}) == "[...][0]: nights must be at least 1"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (datetime.datetime, "2016-12-31T23:59:60Z", "a date and time as 2026-07-28T09:30:00Z"),
        (datetime.date, "0000-01-01", "a date as 2026-07-28"),
        (datetime.time, "noon", "a time as 09:30:00"),
        (datetime.timedelta, "P1Y", "a duration in days, hours, minutes and seconds as P1DT2H"),
        (datetime.timedelta, "soon", "a duration in days, hours, minutes and seconds as P1DT2H"),
        (datetime.timedelta, "P9999999999999D", "a shorter duration"),
        (uuid.UUID, "x", "a UUID"),
        (bytes, "*", "Base64 text"),
        (decimal.Decimal, "x", "a decimal number as text"),
        (float, 10**400, "a number nearer to zero"),
        (Level, 7, "one of the values of the schema"),
        (int, "x", "an integer"),
        (int | str | None, [], "an integer, a string or null"),
    ],
)
def test_refusal_says_what_was_expected(kind: Any, value: object, text: str) -> None:
    assert refusal(list[kind], [value]).startswith(f"[0]: expected {text}, got ")


def test_refusal_names_the_path_and_the_value() -> None:
    assert refusal(Booking, {"nights": 1, "guests": ["x", 3]}) == "guests[1]: expected a string, got 3"


def test_refused_name_is_told_apart_from_its_value() -> None:
    assert refusal(dict[int, int], {"x": 1}) == 'expected names that are each an integer, got an object with "x"'
