"""One thing that is wrong with a value, said so that a model can put it right: where, what was expected, what came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

__all__ = ["Problem", "path_text", "quote", "shorten"]

LONGEST_TEXT = 40
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w-]*\Z")


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong with a value.

    Attributes:
        path: Where, as `days` or `items[2].name`; empty for the value as a whole.
        expected: What was expected there; for `unknown` the name that was probably meant, or the names there are; for
            `refused` the whole reason, as the author wrote it.
        given: What was given, in short; empty for `missing` and `refused`.
        kind: `wrong` value, `missing` member, `unknown` member, or `refused` by the author's own check.
    """

    path: str
    expected: str
    given: str = ""
    kind: Literal["wrong", "missing", "unknown", "refused"] = "wrong"

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        match self.kind:
            case "missing":
                return f"{where}missing; expected {self.expected}"
            case "unknown":
                return f"{where}unknown; {self.expected}"
            case "refused":
                return f"{where}{self.expected}"
        return f"{where}expected {self.expected}, got {self.given}"


def path_text(steps: Iterable[str | int]) -> str:
    """Write the way to a value as `items[2].name`; a name that is not plain stands in brackets and quotes."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_NAME.match(step):
            text += f".{step}" if text else step
        else:
            text += f"[{quote(step)}]"
    return text


def quote(value: object) -> str:
    """Write a value as JSON, cut to a few dozen characters, on one line."""
    if isinstance(value, str):
        cut = value[:LONGEST_TEXT] + "…" if len(value) > LONGEST_TEXT else value
        # A lone surrogate has no UTF-8 form, and a message must always have one.
        return msgspec.json.encode(cut.encode(errors="replace").decode()).decode()
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return f"a {type(value).__name__}"
    return text[:LONGEST_TEXT] + "…" if len(text) > LONGEST_TEXT else text


def shorten(value: object) -> str:
    """Say what was given, in a few words: scalars as JSON, the others by what they hold."""
    if isinstance(value, Mapping):
        names = [quote(str(name)) for name, _ in zip(value, range(3), strict=False)]
        rest = f" and {len(value) - 3} more" if len(value) > 3 else ""
        return f"an object with {', '.join(names)}{rest}" if names else "an empty object"
    if isinstance(value, list | tuple):
        return (
            f"an array of {len(value)} items" if len(value) > 1 else "an array of 1 item" if value else "an empty array"
        )
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{quote(value)} ({len(value):,} characters)"
    return quote(value)
