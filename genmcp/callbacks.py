"""Callbacks, checked when a provider or server is taken: what must be an `async def` is one, and the other way round.

A callback that is the wrong kind of function fails on the first request, far from its mistake: a coroutine where a
value was expected, or a value where one is awaited.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import actors
from genmcp.errors import CallbackReturnError, ConfigurationError, McpError


def check_callbacks(provider: object, label: str, *required: Callable[..., Any]) -> None:
    """Refuse an object whose class overrides a callback of genmcp's with the wrong kind of function.

    Args:
        provider: The tool, repository, extension, handler or server.
        label: What errors call it.
        required: Callbacks of its base class that it must override.

    Raises:
        ConfigurationError: It names the provider, the callback, and what was expected.
    """
    for callback in required:
        if getattr(type(provider), callback.__name__) is callback:
            raise ConfigurationError(f"{label}: {callback.__name__}: missing; define it as an `async def`")
    for base in type(provider).__mro__:
        if not base.__module__.startswith("genmcp."):
            continue
        for name, theirs in vars(base).items():
            if inspect.isfunction(theirs) and not name.startswith("_"):
                _check(getattr(provider, name), theirs, f"{label}: {name}")


def _check(own: Any, theirs: Callable[..., Any], place: str) -> None:
    if inspect.iscoroutinefunction(theirs):
        if not is_async(own):
            raise ConfigurationError(f"{place}: expected an `async def`, got {own!r}")
    elif inspect.iscoroutinefunction(own):
        raise ConfigurationError(f"{place}: expected a plain `def`, got an `async def`")


@contextmanager
def named(name: str) -> Iterator[str]:
    """Run a provider's callback in this block: if it raises, the log names it.

    Args:
        name: `Class.callback`.

    Yields:
        The name, for a `CallbackReturnError`.
    """
    try:
        yield name
    except (McpError, CallbackReturnError):
        raise
    except Exception as error:
        error.add_note(f"raised by {name}")
        actors.current().annotate(provider=name)
        raise


def is_async(fn: Any) -> bool:
    """Tell whether a function is an `async def`, or wraps one."""
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(inspect.unwrap(fn))
