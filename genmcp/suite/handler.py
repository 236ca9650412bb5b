"""A decorated function under `@resource`, `@prompt` or `completion`: it takes texts, and a channel if it asks for one.

What a client gives to a prompt or in a URI is text. A parameter of another simple type gets it converted: numbers,
booleans, dates, enumerations and `Literal`. A parameter with a default may be left out. An `async def` runs in the
request's worker, a `def` in a thread; the one takes a `Channel`, the other a `SyncChannel`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import UNSET
from msgspec import inspect as types

from genmcp.errors import ConfigurationError
from genmcp.schema import Parameter
from genmcp.schema.returns import union_members
from genmcp.suite.decorated import Decorated

SIMPLE = (
    types.AnyType,
    types.StrType,
    types.IntType,
    types.FloatType,
    types.BoolType,
    types.NoneType,
    types.LiteralType,
    types.EnumType,
    types.DecimalType,
    types.UUIDType,
    types.DateType,
    types.TimeType,
    types.DateTimeType,
    types.TimeDeltaType,
)
"""What a text can be converted to."""


class Unfit(ValueError):
    """A text does not fit its parameter.

    Attributes:
        name: The parameter.
        problem: What was expected.
    """

    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        self.problem = problem
        super().__init__(f"{name}: {problem}")


class _AnyReturn(Collection[type]):
    """Every class: what these functions return is turned into a result later, and described to nobody."""

    def __contains__(self, kind: object) -> bool:
        return True

    def __iter__(self) -> Iterator[type]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Handler(Decorated):
    """One decorated function that takes texts.

    Args:
        fn: The function.
        provider: What it serves, for error messages.
        as_is: Parameters that are passed on as they are, of any type.

    Attributes:
        description: Its docstring before the first section.
        parameters: What the client fills, by name.

    Raises:
        ConfigurationError: A parameter cannot be filled with a text, or the wrong channel is asked for.
    """

    def __init__(self, fn: Callable[..., Any], provider: str, *, as_is: Collection[str] = ()) -> None:
        super().__init__(fn, provider, endings=_AnyReturn())
        signature = self.signature
        self.description = signature.description
        self.parameters: Mapping[str, Parameter] = {item.name: item for item in signature.parameters}
        for item in signature.parameters:
            if item.name not in as_is and not _is_simple(types.type_info(item.kind)):
                raise ConfigurationError(
                    f"{provider}: parameter {item.name!r}: the client gives a text; take a str, or a number, bool, "
                    f"date, enumeration or Literal that one can be converted to, not {item.kind!r}"
                )

    @property
    def required(self) -> frozenset[str]:
        """The parameters without a default."""
        return frozenset(name for name, item in self.parameters.items() if item.default is UNSET)

    def bind(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Convert texts to what the function takes; names that it does not take are left out.

        Raises:
            Unfit: One of them is missing, or cannot be converted.
        """
        bound = {}
        for name, parameter in self.parameters.items():
            if name in texts:
                bound[name] = converted(texts[name], parameter)
            elif parameter.default is UNSET:
                raise Unfit(name, "is missing")
        return bound


def _is_simple(kind: types.Type) -> bool:
    if isinstance(kind, types.Metadata):
        return _is_simple(kind.type)
    if isinstance(kind, types.UnionType):
        return all(_is_simple(member) for member in kind.types)
    return isinstance(kind, SIMPLE)


def converted(text: str, parameter: Parameter) -> Any:
    """Return a text as the type of a parameter: as it is where that fits, else read as a number, a date, ….

    Raises:
        Unfit: It cannot be.
    """
    try:
        return msgspec.convert(text, parameter.kind)
    except msgspec.ValidationError:
        pass
    try:
        return msgspec.convert(text, parameter.kind, strict=False)
    except msgspec.ValidationError as error:
        choices = choices_of(parameter)
        wanted = f"expected one of {', '.join(choices)}" if choices else str(error).partition(", got ")[0]
        raise Unfit(parameter.name, wanted) from None


def choices_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the only texts that a parameter takes, if its type is a `Literal` or an enumeration of texts."""
    found: list[object] = []
    for member in union_members(parameter.kind):
        if get_origin(member) is Literal:
            found.extend(get_args(member))
        elif isinstance(member, type) and issubclass(member, enum.Enum):
            found.extend(item.value for item in member)
    return tuple(value for value in found if isinstance(value, str))
