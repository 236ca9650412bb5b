"""Turn JSON values that a schema has let through into the author's types.

JSON Schema and msgspec do not agree on every value. `3.0` is an integer to JSON Schema and a float to msgspec: it is
converted. What no schema can say (a leap second, Base64 that is none, a check in `__post_init__`) becomes a `Problem`
for the model, like any other wrong argument, instead of a crash.
"""

from __future__ import annotations

import re
from typing import Any, Generic, TypeVar

import msgspec

from genmcp.schema.expectation import alternatives, format_text, types_text
from genmcp.schema.messages import describe
from genmcp.schema.problem import Problem, shorten
from genmcp.schema.walk import Place, look_up

__all__ = ["Converter", "InvalidValueError"]

T = TypeVar("T")

_NAMES = {
    "array": "array",
    "bool": "boolean",
    "float": "number",
    "int": "integer",
    "null": "null",
    "object": "object",
    "str": "string",
}
_REASONS = {
    "Invalid RFC3339 encoded datetime": "a date and time as 2026-07-28T09:30:00Z",
    "Invalid RFC3339 encoded date": format_text("date"),
    "Invalid RFC3339 encoded time": "a time as 09:30:00",
    "Invalid ISO8601 duration": "a duration in days, hours, minutes and seconds as P1DT2H",
    "Only units 'D', 'H', 'M', and 'S'": "a duration in days, hours, minutes and seconds as P1DT2H",
    "Duration is out of range": "a shorter duration",
    "Invalid UUID": format_text("uuid"),
    "Invalid base64 encoded string": "Base64 text",
    "Invalid decimal string": "a decimal number as text",
    "Invalid enum value": "one of the values of the schema",
    "Integer value out of range": "an integer nearer to zero",
    "Number out of range": "a number nearer to zero",
}
_LOCATED = re.compile(r"(?P<text>.*?)(?: - at (?P<name>`key` in )?`\$(?P<path>[^`]*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<kind>[^`]*)`(?P<bound>.*?)(?:, got .*)?")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


class InvalidValueError(ValueError):
    """A JSON value that fits its schema but not the author's type.

    Attributes:
        problems: What is wrong with it; at least one.
    """

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(describe(problems, subject="values"))


class Converter(Generic[T]):
    """Makes values of one type from JSON values.

    Attributes:
        kind: The type; `Any` leaves values as they are.
    """

    __slots__ = ("kind",)

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def __call__(self, value: object) -> T:
        """Convert a JSON value that the type's schema has let through.

        Raises:
            InvalidValueError: The type refuses it all the same.
        """
        try:
            return self._convert(value)
        except msgspec.ValidationError as error:
            refusal = error
        whole = _with_integers(value)
        if whole is not value:
            try:
                return self._convert(whole)
            except msgspec.ValidationError as error:
                refusal = error
        raise InvalidValueError([_problem(str(refusal), value)])

    def _convert(self, value: object) -> T:
        converted: T = msgspec.convert(value, self.kind, str_keys=True)
        return converted


def _with_integers(value: Any) -> Any:
    """Copy a value with `3.0` as `3`; the value itself if there is nothing to change."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        copy: Any = {name: _with_integers(member) for name, member in value.items()}
        return copy if any(copy[name] is not value[name] for name in value) else value
    if isinstance(value, list):
        copy = [_with_integers(item) for item in value]
        return copy if any(new is not old for new, old in zip(copy, value, strict=True)) else value
    return value


def _problem(message: str, value: object) -> Problem:
    """Translate one of msgspec's messages, `Expected `int`, got `str` - at `$.items[2]``."""
    located = _LOCATED.fullmatch(message)
    text, path, is_name = (located["text"], located["path"] or "", located["name"]) if located else (message, "", None)
    given = shorten(look_up(value, _steps(path))) if "[...]" not in path else "another value"
    wanted = _wanted(text)
    if wanted is None:
        return Problem(path.removeprefix("."), text, kind="refused")
    return Problem(path.removeprefix("."), f"names that are each {wanted}" if is_name else wanted, given)


def _wanted(text: str) -> str | None:
    """What msgspec expected; None if the text is not its own but the author's."""
    if expected := _EXPECTED.fullmatch(text):
        return alternatives(_in_words(name.strip()) for name in expected["kind"].split("|")) + expected["bound"]
    return next((wanted for beginning, wanted in _REASONS.items() if text.startswith(beginning)), None)


def _in_words(name: str) -> str:
    return types_text([_NAMES[name]]) if name in _NAMES else f"a {name}"


def _steps(path: str) -> Place:
    return tuple(name or int(index) for name, index in _STEP.findall(path))
