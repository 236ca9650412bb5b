"""What happens to the descriptors of a process: tried in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from transport.stdio import StdioError, take_standard_streams

ASK = """
import os, sys
from transport.stdio import StdioError, take_standard_streams
try:
    streams = take_standard_streams()
except StdioError as error:
    sys.exit(str(error))
"""


def run(code: str, *, shell: str = "exec", stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", f'{shell} "$0" -c "$1"'] if shell == "exec" else ["sh", "-c", f'exec "$0" -c "$1" {shell}']
    command += [sys.executable, ASK + code]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=30, check=False)


def test_private_descriptors_are_the_pipes() -> None:
    done = run("os.write(streams.stdout, os.read(streams.stdin, 100))", stdin="hello")
    assert (done.stdout, done.stderr) == ("hello", "")


def test_standard_ones_lead_elsewhere() -> None:
    done = run("print(repr(sys.stdin.read()), flush=True); os.write(1, b'raw')", stdin="hello")
    assert (done.stdout, done.stderr) == ("", "''\nraw")


def test_prints_of_before_are_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "print('before')" + ASK], input="", capture_output=True, text=True, check=False
    )
    assert done.stdout == "before\n"


def test_no_child_inherits_them() -> None:
    done = run("print(os.get_inheritable(streams.stdin), os.get_inheritable(streams.stdout))")
    assert done.stderr == "False False\n"


@pytest.mark.parametrize(("shell", "name"), [("<&-", "input"), (">&-", "output")])
def test_closed_stream_is_told_by_name(shell: str, name: str) -> None:
    done = run("", shell=shell)
    assert done.returncode == 1
    assert f"standard {name} is closed" in done.stderr


def test_closed_standard_error_swallows_prints() -> None:
    done = run("print('nowhere'); os.write(1, b'nowhere'); os.write(streams.stdout, b'here')", shell="2>&-")
    assert (done.returncode, done.stdout) == (0, "here")


def test_windows_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(StdioError, match=r"not supported on Windows.*genmcp serve"):
        take_standard_streams()
