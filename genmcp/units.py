"""Times and sizes as people write them: ``15``, ``200ms``, ``10m``, ``1d``, ``65536``, ``64KiB``, ``4 MiB``."""

import re
from collections.abc import Mapping

__all__ = ["read_bytes", "read_seconds", "show_bytes", "show_seconds"]

SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {
    "b": 1.0,
    "bytes": 1.0,
    "k": 2.0**10,
    "kib": 2.0**10,
    "m": 2.0**20,
    "mib": 2.0**20,
    "g": 2.0**30,
    "gib": 2.0**30,
}


def read_seconds(text: str) -> float:
    """Read a time; without a unit it is seconds.

    Raises:
        ValueError: It is not a number, or the unit is none of ms, s, m, min, h, d.
    """
    return _number_with_unit(text, SECONDS, "s")


def read_bytes(text: str) -> int:
    """Read a size; without a unit it is bytes, and K, M, G are powers of 1024.

    Raises:
        ValueError: It is not a number, the unit is unknown, or it is not a whole number of bytes.
    """
    size = _number_with_unit(text, BYTES, "b")
    if size != int(size):
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return int(size)


def show_seconds(seconds: float) -> str:
    """Write a time in the largest unit that leaves a whole number: ``1 d``, ``20 min``, ``15 s``, ``0.5 s``."""
    return _in_units(seconds, (("d", 86400), ("h", 3600), ("min", 60)), "s")


def show_bytes(size: float) -> str:
    """Write a size in the largest unit that leaves a whole number: ``4 MiB``, ``64 KiB``, ``1000 bytes``."""
    return _in_units(size, (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)), "bytes")


def _number_with_unit(text: str, units: Mapping[str, float], default: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([a-z]*)", text.strip().lower(), re.ASCII)
    unit = units.get(match[2] or default) if match else None
    if match is None or unit is None:
        raise ValueError(f"{text!r} is not a number with one of the units {', '.join(units)}")
    return float(match[1]) * unit


def _in_units(value: float, units: tuple[tuple[str, int], ...], smallest: str) -> str:
    for name, size in units:
        if value >= size and value % size == 0:
            return f"{value / size:g} {name}"
    return f"{value:g} {smallest}"
