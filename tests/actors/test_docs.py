"""Every program in docs/actors.md runs, and prints what the page says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "actors.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", TEXT, re.MULTILINE | re.DOTALL)


def test_every_program_on_the_page_is_found() -> None:
    assert len(PROGRAMS) == TEXT.count("```python") == 9


@pytest.mark.parametrize(("program", "output"), PROGRAMS, ids=range(len(PROGRAMS)))
def test_program_prints_what_the_page_says(program: str, output: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout, done.stderr) == (output, "")
