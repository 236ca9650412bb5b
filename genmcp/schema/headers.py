"""`x-mcp-header`: arguments that a client repeats in `Mcp-Param-…` headers, so that proxies can route by them.

The constraints are those of the Streamable HTTP transport (T-28, T-29): conforming clients drop a tool that breaks one,
so each is checked at start-up. The comparison of header and body is here too; decoding a header's Base64 form is the
transport's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, cast

import msgspec

from genmcp.schema.errors import SchemaError
from genmcp.schema.problem import path_text, quote
from genmcp.schema.walk import Place, Schema, subschemas

__all__ = ["HeaderParam", "HeaderType", "header_parameters", "matches"]

KEYWORD = "x-mcp-header"
LARGEST_INTEGER = 2**53 - 1

HeaderType = Literal["integer", "string", "boolean"]

_TYPES = ("integer", "string", "boolean")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?\Z", re.ASCII)
_LONGEST_NUMBER = 40


class HeaderParam(msgspec.Struct, frozen=True):
    """An argument that a header repeats.

    Attributes:
        path: The names that lead to it from the arguments, one for each level.
        type: Its type in the schema.
    """

    path: tuple[str, ...]
    type: HeaderType

    def value_in(self, arguments: Mapping[str, Any]) -> object:
        """Return the argument's value; None if it is absent or null, and then no header may come."""
        value: Any = arguments
        for name in self.path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


def header_parameters(input_schema: Schema, *, where: str = "input_schema") -> dict[str, HeaderParam]:
    """Find the arguments that headers repeat.

    Args:
        input_schema: A tool's input schema, compiled before (so its size is bounded).
        where: What the schema belongs to; every error begins with it.

    Returns:
        By header suffix, as the author wrote it: `Region` for `Mcp-Param-Region`.

    Raises:
        SchemaError: A suffix is no header name or is used twice, an annotated argument is not an integer, string or
            boolean, or it is not reached from the root by `properties` alone.
    """
    found: dict[str, HeaderParam] = {}
    folded: dict[str, Place] = {}
    for place, part in subschemas(input_schema):
        if KEYWORD not in part:
            continue
        at = f"{where}: {path_text(place) or 'the root'}: {KEYWORD}"
        suffix = _suffix(part[KEYWORD], at)
        if (other := folded.setdefault(suffix.lower(), place)) is not place:
            raise SchemaError(f"{at}: {quote(suffix)} is taken by {path_text(other)}; case makes no difference")
        found[suffix] = HeaderParam(_path(place, at), _type(part, at))
    return found


def _suffix(value: object, at: str) -> str:
    if not isinstance(value, str) or not _TOKEN.match(value):
        raise SchemaError(f"{at}: {quote(value)} is no header name; use letters, digits and !#$%&'*+-.^_`|~")
    return value


def _path(place: Place, at: str) -> tuple[str, ...]:
    """Turn `properties`, name, `properties`, name, … into the names alone."""
    keywords, names = place[::2], place[1::2]
    if not place or any(keyword != "properties" for keyword in keywords):
        raise SchemaError(f"{at}: allowed only on arguments that `properties` alone lead to from the root")
    return tuple(str(name) for name in names)


def _type(part: Schema, at: str) -> HeaderType:
    declared = part.get("type")
    if declared not in _TYPES:
        raise SchemaError(
            f"{at}: allowed only where `type` is integer, string or boolean, got {quote(declared)}; "
            "an argument that may be left out has a default instead of null"
        )
    return cast("HeaderType", declared)


def matches(header_text: str, body_value: object, type: HeaderType) -> bool:
    """Whether a header repeats a value of the body.

    Args:
        header_text: The header, its Base64 form decoded.
        body_value: The argument, present and not null.
        type: The type in the schema. Integers are compared as numbers (`42.0` is `42`) and must lie within
            ±(2^53-1); strings and booleans letter by letter.

    Returns:
        Also True for a value of another type than declared whose JSON form is the header: that it has the wrong type
        is then said by the check of the arguments, in words that a model can use.
    """
    if isinstance(body_value, str):
        return header_text == body_value
    if isinstance(body_value, bool):
        return header_text == ("true" if body_value else "false")
    if isinstance(body_value, int | float):
        return _same_integer(header_text, body_value) if type == "integer" else header_text == quote(body_value)
    return False


def _same_integer(header_text: str, body_value: float) -> bool:
    if not _NUMBER.match(header_text) or len(header_text) > _LONGEST_NUMBER:
        return False
    number = Decimal(header_text)
    return number == body_value and abs(number) <= LARGEST_INTEGER and number == number.to_integral_value()
