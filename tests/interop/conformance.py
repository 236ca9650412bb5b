"""Runs the official MCP conformance suite against the example server of this folder, or against any URL.

    python -m tests.interop.conformance [--revision 2026-07-28] [--url http://127.0.0.1:8000/mcp] [--out DIR]

Exit code 0: every scenario of every revision is right, or listed in `expected-failures-<revision>.yml` beside this
file, and no entry of that list is stale (see `verdict`). 1: not so. 2: Node.js or its packages cannot be had.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.interop.node import CONFORMANCE, FOLDER, NodeUnavailableError, node_with_packages
from tests.interop.process import serving
from tests.interop.verdict import Verdict, judge, read_checks, read_expected

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EVERYTHING = str(FOLDER / "everything.py") + ":suite"
KNOWN_REVISIONS = ("2026-07-28", "2025-11-25")
SERVED_REVISIONS = KNOWN_REVISIONS
SUITE_SECONDS = 900.0
NOT_OFFERED = "tasks-"
"""How the scenarios of the tasks extension begin: the suite runs them, unscored, though no server must offer it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parse(arguments)
    try:
        node = node_with_packages()
    except NodeUnavailableError as error:
        print(f"The conformance suite cannot run: {error}", file=sys.stderr)
        return 2
    passed = True
    with _target(options.url) as url:
        for revision in options.revision or SERVED_REVISIONS:
            verdict = run(node, url, revision, options.out)
            print(report(revision, verdict))
            passed = passed and verdict.passed
    return 0 if passed else 1


def run(node: Path, url: str, revision: str, out: Path | None = None) -> Verdict:
    """Run one revision's server scenarios against a URL and judge what the suite wrote.

    Args:
        node: The Node.js to run the suite with.
        url: The MCP endpoint, on a loopback address: the suite refuses others.
        revision: The protocol revision, which also decides how the suite speaks.
        out: Keep the suite's results below this folder; they are thrown away otherwise.

    Raises:
        FileExistsError: `out` holds the results of an earlier run of this revision.
    """
    expected_file = FOLDER / f"expected-failures-{revision}.yml"
    expected = read_expected(expected_file) if expected_file.exists() else ()
    with contextlib.ExitStack() as stack:
        results = Path(stack.enter_context(tempfile.TemporaryDirectory())) if out is None else out / revision
        if any(results.glob("*/checks.json")):
            raise FileExistsError(f"{results} holds the results of an earlier run")
        command = [str(node), str(CONFORMANCE), "server", "--url", url, "--requirements", revision, "-o", str(results)]
        subprocess.run(command, stdout=subprocess.DEVNULL, timeout=SUITE_SECONDS, check=False)
        checks = {name: found for name, found in read_checks(results).items() if not name.startswith(NOT_OFFERED)}
        return judge([name for name in scenarios(node, revision) if not name.startswith(NOT_OFFERED)], checks, expected)


def scenarios(node: Path, revision: str) -> tuple[str, ...]:
    """List the server scenarios that the suite runs at a revision, the ones that it does not score included."""
    command = [str(node), str(CONFORMANCE), "list", "--requirements", revision]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    scored = listing.partition("Server scenarios")[2].partition("Client scenarios")[0]
    names = [*re.findall(r"^  - (\S+)$", scored, re.MULTILINE), *re.findall(r"- (\S+) \[server\]", listing)]
    if not names:
        raise ValueError(f"the suite lists no server scenario for {revision}:\n{listing}")
    return tuple(names)


def report(revision: str, verdict: Verdict) -> str:
    """Write a verdict as text: what is wrong, a line each, then the sums."""
    lines = [f"unexpected: {fault}" for fault in verdict.unexpected]
    lines += [f"stale: {entry} is expected to fail and does not" for entry in verdict.stale]
    counts = ", ".join(f"{number} {status}" for status, number in sorted(verdict.counts.items()))
    lines.append(
        f"{revision}: {len(verdict.right)} scenarios right, {len(verdict.expected)} expected to fail, "
        f"{len(verdict.unexpected)} unexpected faults, {len(verdict.stale)} stale entries ({counts})"
    )
    return "\n".join(lines)


@contextlib.contextmanager
def _target(url: str | None) -> Iterator[str]:
    """The URL given, or a server of our own that ends with the block."""
    if url is not None:
        yield url
        return
    with serving(EVERYTHING) as server:
        yield server.url


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.conformance", description=(__doc__ or "").strip())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--revision", action="append", choices=KNOWN_REVISIONS, help="may be given twice")
    parser.add_argument("--url", help="an MCP endpoint that is served already")
    parser.add_argument("--out", type=Path, help="keep the suite's results below this folder")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
