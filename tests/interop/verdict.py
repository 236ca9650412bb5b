"""How a run of the official conformance suite is judged: stricter than by the suite's own exit code.

The suite's exit code ignores warnings and every scenario that it does not score, and a scenario of which all
checks are skipped passes. Here a scenario is right when it ran, has at least one SUCCESS and neither a FAILURE
nor a WARNING. A committed list names what is known to fail; an entry of it that no longer fails is stale, so the
list can only shrink.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_RUN_FOLDER = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d{2}-\d{2}T[\d\-]+Z")
_ENTRY = re.compile(r"\s+-\s+(?P<entry>[\w.:\-]+)\s*(#.*)?")
_NOT_RIGHT = ("FAILURE", "WARNING")


@dataclass(frozen=True)
class Check:
    """One check that the suite made.

    Attributes:
        id: Its name within the scenario; a scenario may make the same check several times.
        status: SUCCESS, FAILURE, WARNING, INFO or SKIPPED.
        message: What was wrong, if anything was.
    """

    id: str
    status: str
    message: str = ""


@dataclass(frozen=True)
class Fault:
    """Why a scenario is not right: a check that did not hold, or `check` empty when it proved nothing at all."""

    scenario: str
    check: str
    message: str

    def __str__(self) -> str:
        """The fault in one line."""
        name = f"{self.scenario}:{self.check}" if self.check else self.scenario
        return f"{name}: {self.message}"


@dataclass(frozen=True)
class Verdict:
    """What a run amounts to.

    Attributes:
        right: Scenarios without a fault.
        expected: Scenarios with faults that the list of expected failures covers.
        unexpected: Faults that it does not cover.
        stale: Its entries that cover no fault.
        counts: How many checks ended with which status.
    """

    right: tuple[str, ...]
    expected: tuple[str, ...]
    unexpected: tuple[Fault, ...]
    stale: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def passed(self) -> bool:
        """Whether nothing unexpected happened and the list of expected failures is up to date."""
        return not self.unexpected and not self.stale


def read_checks(folder: Path) -> dict[str, list[Check]]:
    """Read every checks.json that the suite wrote under its output folder, by scenario."""
    found: dict[str, list[Check]] = {}
    for file in sorted(folder.glob("*/checks.json")):
        if match := _RUN_FOLDER.fullmatch(file.parent.name):
            rows = json.loads(file.read_text())
            found.setdefault(match["scenario"], []).extend(
                Check(row["id"], row["status"], str(row.get("errorMessage") or row.get("description") or ""))
                for row in rows
            )
    return found


def read_expected(file: Path) -> tuple[str, ...]:
    """Read the entries under `server:` of a file of expected failures, `scenario` or `scenario:check-id` each.

    It is written in the suite's own format (YAML), of which only this list is understood.

    Raises:
        ValueError: A line is neither the heading, an entry, a comment nor empty.
    """
    entries = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#") or line.rstrip() in ("server:", "server: []"):
            continue
        match = _ENTRY.fullmatch(line)
        if match is None:
            raise ValueError(f"{file.name}:{number} is not an expected failure: {line!r}")
        entries.append(match["entry"])
    return tuple(entries)


def judge(scenarios: Sequence[str], checks: Mapping[str, Sequence[Check]], expected: Sequence[str]) -> Verdict:
    """Judge a run.

    Args:
        scenarios: What the suite had to run.
        checks: What it wrote, by scenario.
        expected: What is known to fail.
    """
    faults = {scenario: tuple(_faults(scenario, checks.get(scenario, ()))) for scenario in scenarios}
    covered = frozenset(expected)
    unexpected = tuple(f for found in faults.values() for f in found if not covered & _names(f))
    named = {name for found in faults.values() for fault in found for name in _names(fault)}
    uncovered = {fault.scenario for fault in unexpected}
    return Verdict(
        right=tuple(scenario for scenario, found in faults.items() if not found),
        expected=tuple(scenario for scenario, found in faults.items() if found and scenario not in uncovered),
        unexpected=unexpected,
        stale=tuple(entry for entry in expected if entry not in named),
        counts=Counter(check.status for rows in checks.values() for check in rows),
    )


def _faults(scenario: str, checks: Sequence[Check]) -> Iterable[Fault]:
    for check in checks:
        if check.status in _NOT_RIGHT:
            yield Fault(scenario, check.id, f"{check.status} {check.message}".strip())
    if not any(check.status == "SUCCESS" for check in checks):
        yield Fault(scenario, "", "no check succeeded" if checks else "it wrote no checks")


def _names(fault: Fault) -> frozenset[str]:
    """The entries of a list of expected failures that cover this fault."""
    return frozenset({fault.scenario, f"{fault.scenario}:{fault.check}"})
