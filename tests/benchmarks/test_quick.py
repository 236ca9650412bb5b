from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "named"),
    [
        ("runtime", ["spawn, reply and exit", "one message", "an idle actor"]),
        ("front", ["tools/call on 16 connections"]),
    ],
)
def test_a_quick_benchmark_prints_and_keeps_its_figures(part: str, named: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "--quick", "--only", part, "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    assert [name for name in named if name not in done.stdout] == []
    (kept,) = tmp_path.glob("*.json")
    figures = json.loads(kept.read_text())["figures"]
    assert figures
    assert all(figure["name"] in done.stdout for figure in figures)
