"""What the options of a Suite stand for: instances where classes may be given, and refusals that name the option."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from actors import Child
from genmcp.callbacks import check_callbacks, is_async
from genmcp.errors import ConfigurationError
from genmcp.suite.extension import Extension
from genmcp.suite.subscription import SubscriptionHandler


def as_extensions(given: Sequence[Extension | type[Extension]]) -> list[Extension]:
    """Return the extensions that the option `extensions=` stands for."""
    made: list[Extension] = []
    for item in given:
        extension = _made(item, Extension, "extensions")
        if not isinstance(extension, Extension):
            raise ConfigurationError(f"extensions: expected an Extension or a class of one, got {item!r}")
        check_callbacks(extension, f"extensions: {type(extension).__name__}")
        made.append(extension)
    return made


def as_handler(
    given: SubscriptionHandler[Any] | type[SubscriptionHandler[Any]] | None,
) -> SubscriptionHandler[Any] | None:
    """Return the handler that the option `subscription_handler=` stands for."""
    made = _made(given, SubscriptionHandler, "subscription_handler")
    if made is None:
        return None
    if not isinstance(made, SubscriptionHandler):
        raise ConfigurationError(
            f"subscription_handler: expected a SubscriptionHandler, a class of one or None, got {made!r}"
        )
    check_callbacks(made, f"subscription_handler: {type(made).__name__}", SubscriptionHandler.subscribe)
    return made


def _made(given: object, kind: type[Any], option: str) -> object:
    """Return the instance that a bare class makes without arguments; whatever else it was given as it is."""
    if not (isinstance(given, type) and issubclass(given, kind)):
        return given
    try:
        return given()
    except TypeError as error:
        raise ConfigurationError(
            f"{option}: {given.__name__} cannot be made without arguments ({error}); give an instance"
        ) from None


def as_children(given: Sequence[Child | Callable[..., Any]]) -> list[Child]:
    """Return the children that the option `children=` stands for."""
    made = []
    for item in given:
        child = item if isinstance(item, Child) else Child(item) if is_async(item) else None
        if child is None:
            raise ConfigurationError(f"children: expected an async def function or Child(fn, …), got {item!r}")
        made.append(child)
    return made


@asynccontextmanager
async def as_lifespan(opened: object) -> AsyncIterator[Mapping[str, Any]]:
    """Keep open what the option `lifespan=` returned; yields the mapping that it yields, or an empty one."""
    if not isinstance(opened, AbstractAsyncContextManager):
        raise ConfigurationError(
            f"lifespan: expected a function that returns an async context manager, got one that returns {opened!r}; "
            "decorate it with contextlib.asynccontextmanager"
        )
    async with opened as assigns:
        if not isinstance(assigns, Mapping | None):
            raise ConfigurationError(f"lifespan: expected it to yield a mapping or nothing, got {assigns!r}")
        yield dict(assigns or {})


def as_page_size(given: int | None) -> int | None:
    """Return the option `page_size=`, which is a positive number or None."""
    if given is not None and given < 1:
        raise ConfigurationError(f"page_size: expected a positive number or None, got {given!r}")
    return given
