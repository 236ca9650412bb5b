"""Read a docstring in Google form: what the function does, and what each argument is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import msgspec

__all__ = ["Docstring", "read_docstring"]

_ARGUMENTS = ("args", "arguments", "keyword args", "keyword arguments", "parameters", "params")
_SECTION = re.compile(
    r"(arg(ument)?s|attributes|examples?|keyword arg(ument)?s|notes?|other parameters|param(eter)?s|raises|"
    r"references|returns?|see also|todo|warnings?|warns|yields?):",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\*{0,2}(?P<name>\w+)\s*(\(.*?\))?\s*:\s*(?P<text>.*)")


class Docstring(msgspec.Struct, frozen=True):
    """What a docstring says.

    Attributes:
        description: The paragraphs before the first section; empty if there are none.
        arguments: The description of each argument of the `Args:` section, on one line.
    """

    description: str
    arguments: dict[str, str]


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring; one that has no sections is all description.

    Args:
        text: The docstring as it stands in the source, or None.
    """
    lines = inspect.cleandoc(text or "").splitlines()
    first = next((number for number, line in enumerate(lines) if _SECTION.fullmatch(line.rstrip())), len(lines))
    return Docstring("\n".join(lines[:first]).strip(), dict(_entries(lines[first:])))


def _entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield name and text of every argument; an entry's further lines are indented more than its first."""
    inside, margin, name, words = False, 0, "", list[str]()
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip() and not indent:
            inside, margin = line.rstrip().rstrip(":").lower() in _ARGUMENTS, 0
        elif inside and line.strip():
            margin = margin or indent
            entry = _ENTRY.fullmatch(line.strip()) if indent <= margin else None
            if entry is not None:
                if name:
                    yield name, " ".join(words)
                name, words = entry["name"], [entry["text"]] if entry["text"] else []
            elif name:
                words.append(line.strip())
    if name:
        yield name, " ".join(words)
