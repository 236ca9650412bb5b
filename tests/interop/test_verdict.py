from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.interop.verdict import Check, Fault, judge, read_checks, read_expected

if TYPE_CHECKING:
    from pathlib import Path

GOOD = Check("works", "SUCCESS")
BAD = Check("breaks", "FAILURE", "it broke")


def test_one_success_and_nothing_wrong_is_right() -> None:
    verdict = judge(["a"], {"a": [GOOD, Check("note", "INFO"), Check("later", "SKIPPED")]}, [])
    assert verdict.passed
    assert verdict.right == ("a",)


@pytest.mark.parametrize("status", ["FAILURE", "WARNING"])
def test_a_failure_or_warning_is_unexpected(status: str) -> None:
    verdict = judge(["a"], {"a": [GOOD, Check("breaks", status, "it broke")]}, [])
    assert verdict.unexpected == (Fault("a", "breaks", f"{status} it broke"),)
    assert not verdict.passed


def test_a_scenario_that_proves_nothing_is_unexpected() -> None:
    verdict = judge(["silent", "skipped"], {"skipped": [Check("later", "SKIPPED")]}, [])
    assert [str(fault) for fault in verdict.unexpected] == [
        "silent: it wrote no checks",
        "skipped: no check succeeded",
    ]


@pytest.mark.parametrize("entry", ["a", "a:breaks"])
def test_an_expected_failure_passes(entry: str) -> None:
    verdict = judge(["a"], {"a": [GOOD, BAD]}, [entry])
    assert verdict.passed
    assert (verdict.right, verdict.expected) == ((), ("a",))


def test_an_entry_for_one_check_does_not_cover_another() -> None:
    verdict = judge(["a"], {"a": [GOOD, BAD, Check("also", "FAILURE")]}, ["a:breaks"])
    assert [fault.check for fault in verdict.unexpected] == ["also"]
    assert verdict.expected == ()


def test_an_entry_that_no_longer_fails_is_stale() -> None:
    verdict = judge(["a"], {"a": [GOOD]}, ["a", "gone"])
    assert verdict.stale == ("a", "gone")
    assert not verdict.passed


def test_statuses_are_counted_over_all_scenarios() -> None:
    verdict = judge(["a", "b"], {"a": [GOOD, BAD], "b": [GOOD]}, [])
    assert verdict.counts == {"SUCCESS": 2, "FAILURE": 1}


def test_every_checks_file_is_read_by_scenario(tmp_path: Path) -> None:
    for scenario in ("tools-list", "json-schema-2020-12"):
        folder = tmp_path / f"server-{scenario}-2026-09-01T10-11-12-345Z"
        folder.mkdir()
        rows = [{"id": "x", "status": "FAILURE", "errorMessage": "no", "description": "d"}]
        (folder / "checks.json").write_text(json.dumps(rows))
    expected = [Check("x", "FAILURE", "no")]
    assert read_checks(tmp_path) == {"tools-list": expected, "json-schema-2020-12": expected}


def test_expected_failures_are_read_with_their_comments(tmp_path: Path) -> None:
    file = tmp_path / "expected.yml"
    file.write_text("# why\nserver:\n  - caching\n\n  - tools-list:tools-name-format # reason\n")
    assert read_expected(file) == ("caching", "tools-list:tools-name-format")


def test_an_unreadable_expected_failure_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "expected.yml"
    file.write_text("server:\n  - {caching: 1}\n")
    with pytest.raises(ValueError, match=r"expected\.yml:2"):
        read_expected(file)
