"""The package's face: what it exports, and the program in its docstring."""

import subprocess
import sys
import textwrap
from pathlib import Path

import actors

ROOT = Path(__file__).parents[2]


def test_every_export_exists_and_is_documented() -> None:
    assert sorted(actors.__all__) == list(actors.__all__)
    for name in actors.__all__:
        assert getattr(actors, name).__doc__, name


def test_every_public_class_of_the_api_is_exported() -> None:
    ours = {name for name, value in vars(actors).items() if getattr(value, "__module__", "").startswith("actors.")}
    assert ours == set(actors.__all__)


def test_program_in_the_docstring_runs() -> None:
    doc = actors.__doc__
    assert doc is not None
    program = textwrap.dedent(doc[doc.index("    import trio") : doc.index("Nothing in here")])
    assert len([line for line in program.splitlines() if line.strip()]) == 10
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout, done.stderr) == ("pong\n", "")
