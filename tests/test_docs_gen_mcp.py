"""`docs/gen_mcp.md`: our names exist, and none of GenMCP's is left out."""

import re

import pytest

from tests.pages import ROOT, exists, names_in

DOCS = ROOT / "docs" / "gen_mcp.md"
CHECKLIST = ROOT.parent / "shared" / "gen_mcp-checklist.md"

THEIRS = re.compile(r":([a-z_]\w*)|\b([a-z_]\w*\??)(?:\(|/\d)")
NOISE = {"ok", "error", "any", "shutdown", "gen_mcp", "transport"}  # atoms of the language, and parts of other names


def rows() -> list[list[str]]:
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row != ["GenMCP", "genmcp", "notes"]]


def our_names() -> list[str]:
    return names_in(" ".join(f"{ours} {notes}" for _, ours, notes in rows()))


def test_every_row_has_three_cells() -> None:
    assert [row for row in rows() if len(row) != 3] == []


@pytest.mark.parametrize("name", our_names())
def test_our_name_exists(name: str) -> None:
    assert exists(name)


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {re.match(r"[\w.]+", part)[0].split(".")[-1]: part for part in parts}  # type: ignore[index] # headings have names


@pytest.mark.skipif(not CHECKLIST.exists(), reason="the list of GenMCP's names is not here")
def test_every_name_of_the_original_is_mentioned() -> None:
    ours = sections(DOCS.read_text())
    missing = []
    for module, checklist in sections(CHECKLIST.read_text()).items():
        spans = " ".join(re.findall(r"`([^`]+)`", checklist.partition("\n")[2]))
        names = {atom or function for atom, function in THEIRS.findall(spans)} - NOISE
        missing += [
            f"{module}: {name}" for name in sorted(names) if not re.search(rf"\b{re.escape(name)}", ours[module])
        ]
    assert missing == []
