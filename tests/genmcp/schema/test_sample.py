"""A large wrong value is answered in bounded time, and with an error of its own."""

from __future__ import annotations

import time
from typing import Any

from genmcp.schema import compile_schema

ROWS: dict[str, Any] = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Row"}, {"type": "null"}]}}
ROW: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CHECKED = compile_schema(
    {"type": "object", "properties": {"rows": ROWS}, "required": ["rows", "end"], "$defs": {"Row": ROW}}, where="x"
)


def test_million_errors_take_bounded_time() -> None:
    value = {"rows": [1] * 1_000_000, "end": 1}
    begin = time.perf_counter()
    problems = CHECKED.problems(value)
    assert time.perf_counter() - begin < 2  # seventeen seconds without the sample
    assert problems[0].path == "rows[0]"
    assert 1_000 < len(problems) <= 2_000


def test_late_error_of_a_large_value_is_found() -> None:
    value = {"rows": [{"name": "x"}] * 5_000 + [{"name": 3}], "end": 1}
    assert [problem.path for problem in CHECKED.problems(value)] == ["rows[5000].name"]


def test_member_that_the_sample_left_out_is_not_missed() -> None:
    value = {"rows": [{"name": 1}] + [{"name": "x"}] * 3_000, "end": 1}
    assert [problem.path for problem in CHECKED.problems(value)] == ["rows[0].name"]


def test_missing_member_of_a_large_value_is_found() -> None:
    assert [problem.path for problem in CHECKED.problems({"rows": [{"name": "x"}] * 3_000})] == ["end"]


def test_value_too_large_to_search_says_so() -> None:
    value = {"rows": [{"name": "x"}] * 50_000 + [{"name": 3}], "end": 1}
    (problem,) = CHECKED.problems(value)
    assert str(problem) == "expected a value that fits the schema, got one too large to say where it does not"


def test_item_cut_in_the_middle_is_not_blamed() -> None:
    wide = {"type": "object", "required": [f"k{number}" for number in range(3_000)]}
    checked = compile_schema(
        {"type": "object", "properties": {"a": {"anyOf": [wide, {"type": "null"}]}, "b": {}}}, where="x"
    )
    checked_strict = compile_schema({**checked.schema, "additionalProperties": False}, where="x")
    value = {"a": {f"k{number}": 1 for number in range(3_000)}, "c": 1}
    assert [problem.path for problem in checked_strict.problems(value)] == ["c"]
