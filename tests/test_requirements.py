"""Every requirement of the protocol's server side names the tests that prove it, or says why none can.

`requirements.toml` is that map; `requirement_rows.txt` lists the rows that it has to cover. They come from the
checklist of server requirements; where that document lies beside the project, the list is compared with it.
"""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CHECKLIST = ROOT / ".." / "shared" / "spec" / "server-requirements.md"
SECTIONS = "HVBMDTLXORPCGKISQ"
OBLIGING = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "REQ", "MUST (client)", "MUST NOT (client)")


@functools.cache
def rows() -> dict[str, str]:
    """The level of every row by its id."""
    found: dict[str, str] = {}
    for line in (HERE / "requirement_rows.txt").read_text().splitlines():
        if match := re.fullmatch(r"(?P<section>[A-Z]) (?P<level>[A-Za-z() ]+): (?P<numbers>[\d ]+)", line):
            found |= {f"{match['section']}-{number}": match["level"] for number in match["numbers"].split()}
    return found


@functools.cache
def entries() -> dict[str, dict[str, object]]:
    """The map from a row's id to its proof."""
    return tomllib.loads((HERE / "requirements.toml").read_text())


@functools.cache
def names_in(file: str) -> frozenset[str]:
    """The names of the tests that a file defines, `Class::test` for those in classes; none if there is no such file."""
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    names = set()
    for node in ast.parse(path.read_text()).body:
        members = (
            [(f"{node.name}::", member) for member in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        )
        for prefix, member in members:
            if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and member.name.startswith("test_"):
                names.add(prefix + member.name)
    return frozenset(names)


def proofs() -> list[tuple[str, str]]:
    """Every pair of a row's id and a test that it names."""
    return [
        (row, test)
        for row, entry in entries().items()
        if isinstance(tests := entry.get("tests", []), list)
        for test in tests
    ]


def test_every_obliging_row_has_an_entry() -> None:
    assert sorted(rows().keys() - entries().keys()) == []


def test_every_entry_stands_for_a_row() -> None:
    assert sorted(entries().keys() - rows().keys()) == []


def test_every_entry_has_tests_or_a_reason() -> None:
    undecided = [
        row for row, entry in entries().items() if set(entry) not in ({"tests"}, {"why"}) or not all(entry.values())
    ]
    assert undecided == []


def test_every_named_test_exists() -> None:
    missing = [
        f"{row}: {test}"
        for row, test in proofs()
        for file, _, name in [test.partition("::")]
        if name not in names_in(file)
    ]
    assert missing == []


def test_no_entry_names_a_test_twice() -> None:
    assert len(proofs()) == len(set(proofs()))


def test_reasons_are_single_sentences() -> None:
    reasons = {row: str(entry["why"]) for row, entry in entries().items() if "why" in entry}
    assert {row: why for row, why in reasons.items() if not re.fullmatch(r"[A-Z`].{20,}\.", why)} == {}


def test_most_rows_are_proven_by_tests() -> None:
    proven = [row for row, entry in entries().items() if "tests" in entry]
    assert len(proven) >= 0.8 * len(rows())


def test_the_list_of_rows_is_that_of_the_checklist() -> None:
    if not CHECKLIST.is_file():
        pytest.skip("the checklist does not lie beside the project")
    pattern = rf"^\| ([{SECTIONS}]-\d\d) \| ([^|]+?) \|"
    found = dict(re.findall(pattern, CHECKLIST.read_text(), re.MULTILINE))
    assert {row: level for row, level in found.items() if level in OBLIGING} == rows()
