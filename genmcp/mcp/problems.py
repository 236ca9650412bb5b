"""Says what is wrong with a message, in one sentence for the client: the path, what was expected, what was found."""

import re
from typing import Any

_WHERE = re.compile(r"(?: - at `[^`]*`)+$")
_ONE_PLACE = re.compile(r" - at `(key in )?\$?([^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<name>.+)`", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<wanted>.+?)`, got `(?P<found>.+)`", re.DOTALL)
_NOT_ALLOWED = re.compile(r"Invalid (?:enum )?value (?P<value>.+)", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_LONGEST_VALUE = 80
_LONGEST_PROBLEM = 1000

_WORDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}


def describe(problem: str, raw: Any, where: str) -> str:
    """Return the sentence for one decoding error.

    Args:
        problem: the decoder's own text.
        raw: the JSON value that was decoded; a member whose name the decoder does not say is looked up in it.
        where: the path of `raw` in the whole message.
    """
    if len(problem) > _LONGEST_PROBLEM:  # it repeats the client's value, however long
        problem = f"{problem[: _LONGEST_VALUE * 2]}…{problem[-_LONGEST_PROBLEM // 2 :]}"
    suffix = _WHERE.search(problem)
    places = _ONE_PLACE.findall(suffix.group()) if suffix else []
    text = problem[: suffix.start()] if suffix else problem
    inner = "".join(place for _, place in reversed(places))
    of_key = "a member's name in " if any(key for key, _ in places) else ""
    found = _EXPECTED.fullmatch(text)
    path = of_key + (_spell(inner, raw, where, found["found"] if found else None) or "the message")
    if found:
        return f"{path}: expected {_spell_kinds(found['wanted'])}, got {_spell_kinds(found['found'])}."
    if missing := _MISSING.fullmatch(text):
        return f"{_join(path, missing['name'])} is required."
    if value := _NOT_ALLOWED.fullmatch(text):
        return f"{path}: {_shorten(value['value'])} is not an allowed value."
    return f"{path}: {text}."


def _join(path: str, name: str) -> str:
    return name if path == "the message" else f"{path}.{name}"


def _shorten(value: str) -> str:
    return value if len(value) <= _LONGEST_VALUE else value[:_LONGEST_VALUE] + "…"


def _spell_kinds(kinds: str) -> str:
    """Turn `int | str` into `an integer or a string`."""
    return " or ".join(_WORDS.get(kind, kind) for kind in kinds.split(" | "))


def _spell(path: str, raw: Any, where: str, found: str | None) -> str:
    """Return the path in full: the decoder writes `[...]` for every member of an object that is a map."""
    spelled = where
    steps = _STEP.findall(path)
    for number, (name, index) in enumerate(steps):
        if index == "...":
            name = _culprit(raw, found if number == len(steps) - 1 else None)
        if index not in ("", "..."):
            spelled += f"[{index}]"
            raw = raw[int(index)] if isinstance(raw, list) else None
        else:
            spelled = f"{spelled}.{name}" if spelled else name
            raw = raw.get(name) if isinstance(raw, dict) else None
    return spelled


def _culprit(raw: Any, found: str | None) -> str:
    """Name the member that has the kind that was not expected; `*` when that says nothing."""
    if isinstance(raw, dict):
        suspects = [name for name, value in raw.items() if len(raw) == 1 or kind_of(value) == found]
        if suspects:
            return _shorten(suspects[0])
    return "*"


_KINDS: dict[type, str] = {dict: "object", list: "array", type(None): "null"}


def kind_of(value: Any) -> str:
    """Name the JSON kind of a decoded value the way the decoder does."""
    return _KINDS.get(type(value), type(value).__name__)
