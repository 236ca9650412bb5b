"""What the options of a Suite stand for: instances where classes may be given, and refusals that name the option."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from actors import Child
from genmcp.errors import ConfigurationError
from genmcp.suite.extension import Extension
from genmcp.suite.subscription import SubscriptionHandler


def as_extensions(given: Sequence[Extension | type[Extension]]) -> list[Extension]:
    """Return the extensions that the option `extensions=` stands for."""
    made: list[Extension] = []
    for item in given:
        extension: object = item() if isinstance(item, type) and issubclass(item, Extension) else item
        if not isinstance(extension, Extension):
            raise ConfigurationError(f"extensions: expected an Extension or a class of one, got {item!r}")
        made.append(extension)
    return made


def as_handler(
    given: SubscriptionHandler[Any] | type[SubscriptionHandler[Any]] | None,
) -> SubscriptionHandler[Any] | None:
    """Return the handler that the option `subscription_handler=` stands for."""
    made = given() if isinstance(given, type) and issubclass(given, SubscriptionHandler) else given
    if made is not None and not isinstance(made, SubscriptionHandler):
        raise ConfigurationError(
            f"subscription_handler: expected a SubscriptionHandler, a class of one or None, got {made!r}"
        )
    return made


def as_children(given: Sequence[Child | Callable[..., Any]]) -> list[Child]:
    """Return the children that the option `children=` stands for."""
    made = []
    for item in given:
        child = item if isinstance(item, Child) else Child(item) if inspect.iscoroutinefunction(item) else None
        if child is None:
            raise ConfigurationError(f"children: expected an async def function or Child(fn, …), got {item!r}")
        made.append(child)
    return made


def as_page_size(given: int | None) -> int | None:
    """Return the option `page_size=`, which is a positive number or None."""
    if given is not None and given < 1:
        raise ConfigurationError(f"page_size: expected a positive number or None, got {given!r}")
    return given
