"""`docs/security.md`: every security duty is answered, by names that exist."""

import re

import pytest

from tests.pages import ROOT, exists, names_in

TEXT = (ROOT / "docs" / "security.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in TEXT.splitlines() if line.startswith("| ")]
DUTIES = {
    "H": [2, 3, 4, 5, 6, 56],
    "M": [12],
    "T": [24, 25, 26, 27, 30, 32],
    "R": [16, 17, 18, 19],
    "P": [12],
    "C": [5, 6],
    "L": [8, 9],
    "K": [9, 10],
    "I": [*range(9, 14), *range(24, 33)],
    "S": [14],
    "B": [35, 36, 37, 38, 44],
    "A": list(range(1, 26)),
}


def test_every_duty_has_one_answer() -> None:
    answered = [duty for row in ROWS for duty in re.findall(r"[A-Z]-\d\d", row[0])]
    assert sorted(answered) == sorted(
        f"{section}-{number:02}" for section, numbers in DUTIES.items() for number in numbers
    )


def test_every_answer_says_who_and_how() -> None:
    answers = [row for row in ROWS if row != ["duty", "who", "how"]]
    assert [
        row for row in answers if len(row) < 2 or row[1].rstrip(" |") not in ("genmcp", "author", "operator", "both")
    ] == []


@pytest.mark.parametrize("name", names_in(TEXT))
def test_name_exists(name: str) -> None:
    assert exists(name)
