"""Measure, print and keep: `python -m benchmarks [--quick] [--only runtime|front] [--out FOLDER]`.

Exit code 1 when a binding limit is broken; a quick run is too short to judge by and always ends with 0.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from benchmarks import front, runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.measure import Figure

RESULTS = Path(__file__).resolve().parent / "results"
PARTS = ("runtime", "front")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure genmcp beside what it stands on."
    )
    parser.add_argument("--quick", action="store_true", help="only see that everything runs")
    parser.add_argument("--only", choices=PARTS, help="one part instead of all")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder for the figures")
    options = parser.parse_args(arguments)
    figures: list[Figure] = []
    for part in [options.only] if options.only else PARTS:
        found = measure(part, quick=options.quick)
        for figure in found:
            print("\n".join(figure.lines()), flush=True)
        figures += found
    print(f"kept in {keep(figures, options.out, quick=options.quick)}")
    broken = [figure for figure in figures if figure.binding and not figure.holds]
    return 1 if broken and not options.quick else 0


def measure(part: str, *, quick: bool) -> list[Figure]:
    """Take the figures of one part."""
    if part == "front":
        return front.measure(quick=quick)

    async def in_trio() -> list[Figure]:
        return await runtime.measure(quick=quick)

    return trio.run(in_trio)


def keep(figures: list[Figure], folder: Path, *, quick: bool) -> Path:
    """Write the figures, and what they were taken on, to a file named after the time."""
    now = datetime.datetime.now(datetime.UTC)
    record: dict[str, Any] = {
        "taken": now.isoformat(timespec="seconds"),
        "quick": quick,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "versions": {name: metadata.version(name) for name in ("trio", "hypercorn", "msgspec", "genmcp")},
        "figures": [figure.data() for figure in figures],
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{now:%Y%m%dT%H%M%SZ}.json"
    file.write_text(json.dumps(record, indent=2) + "\n")
    return file


if __name__ == "__main__":
    raise SystemExit(main())
