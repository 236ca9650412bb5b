"""Whether `Mcp-Param-…` headers say what the tool's arguments say (H-43 to H-47; -32020).

A tool may declare, by `x-mcp-header` in its schema, that a parameter is mirrored into a header so that gateways can
route by it. Only declared headers are looked at: those of unknown tools or unknown suffixes are ignored (AMB-12).

| argument | header | verdict |
|---|---|---|
| absent or null | absent | fine |
| absent or null | there | refused: somebody would route by a value that the tool never sees (AMB-09) |
| there | absent | refused |
| there | there | strings and booleans as written, integers by value (`42.0` equals `42`) |
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

from genmcp.mcp import HeaderMismatch
from transport.headers import PARAM_PREFIX, Headers, spelled

GREATEST_INTEGER = 2**53 - 1

_NUMBER = frozenset("0123456789+-.eE")
_LONGEST_NUMBER = 40


class MirroredParameter(Protocol):
    """One parameter that a tool's schema mirrors; `genmcp.schema.headers.HeaderParam` is one."""

    @property
    def path(self) -> tuple[str, ...]:
        """The property names from the root of the arguments."""
        ...


def check_param_headers(headers: Headers, declared: Mapping[str, MirroredParameter], arguments: Any) -> None:
    """Require each declared header to equal its argument.

    Args:
        headers: Of the request.
        declared: By header suffix, in any case.
        arguments: The arguments of the call as they came, not yet checked against the schema.

    Raises:
        HeaderMismatch: A header is missing, unexpected, malformed or differs; the text names header and argument.
    """
    for suffix, parameter in declared.items():
        name = PARAM_PREFIX + suffix.lower().encode("latin-1")
        value = headers.routing_decoded(name)
        argument = _at(arguments, parameter.path)
        if argument is None and value is None:
            continue
        where = ".".join(parameter.path)
        if value is None:
            raise HeaderMismatch(f"The header {spelled(name)} is required: it mirrors the argument {where!r}")
        if argument is None:
            raise HeaderMismatch(f"The header {spelled(name)} was sent but the argument {where!r} is absent")
        if not _equal(value, argument):
            raise HeaderMismatch(f"The header {spelled(name)} differs from the argument {where!r}")


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    """Return what is at the exact path, or None."""
    for key in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(key)
    return arguments


def _equal(value: str, argument: Any) -> bool:
    """Compare by the argument's own type; what cannot be mirrored at all equals no header."""
    if isinstance(argument, str):
        return value == argument
    if isinstance(argument, bool):
        return value == ("true" if argument else "false")
    if isinstance(argument, (int, float)) and abs(argument) <= GREATEST_INTEGER:
        return _number(value) == Decimal(argument)
    return False


def _number(value: str) -> Decimal | None:
    if len(value) > _LONGEST_NUMBER or not _NUMBER.issuperset(value):
        return None
    try:
        return Decimal(value)
    except InvalidOperation:
        return None
