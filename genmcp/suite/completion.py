"""Suggestions while a person fills in an argument of a prompt or a variable of a template (C-01 to C-06).

    @review.completion("language")
    async def languages(value: str, context: dict[str, str], channel: Channel) -> list[str]:
        return [name for name in LANGUAGES if name.startswith(value)]

The function's parameter gets what is typed so far. `context`, which it need not take, holds the arguments filled in
before. It is an `async def`, or a `def` that runs in a thread; a channel is injected. It returns the suggestions, the
best first, or a `Completion` that knows how many there are; of more than 100 the first 100 are sent. An argument of a
`Literal` or enumeration type completes by itself. Repositories define `complete` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from genmcp.channel import Channel
from genmcp.errors import CallbackReturnError, ConfigurationError, InvalidParams
from genmcp.mcp import v2607 as mcp
from genmcp.suite.handler import Handler, choices_of

FnT = TypeVar("FnT", bound=Callable[..., Any])

EXPECTED = "a list or tuple of texts, or a Completion"


class Completers:
    """The completion functions of one decorated function, by argument.

    Args:
        provider: What it is, for error messages.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._names: Collection[str] = ()
        self._functions: dict[str, tuple[str, Handler]] = {}
        self._choices: dict[str, tuple[str, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._functions or self._choices)

    def describe(self, handler: Handler) -> None:
        """Say what the arguments are; those that take a few values only complete by themselves."""
        self._names = handler.parameters
        for name, parameter in handler.parameters.items():
            choices = choices_of(parameter)
            if choices:
                self._choices[name] = choices

    def decorator(self, argument: str) -> Callable[[FnT], FnT]:
        """Return the decorator that registers a function for an argument.

        Raises:
            ConfigurationError: There is no such argument; on decorating, the function takes what it cannot get.
        """
        if argument not in self._names:
            known = ", ".join(self._names) or "none"
            raise ConfigurationError(f"{self._provider}: completion: no argument {argument!r}; there are: {known}")

        def register(fn: FnT) -> FnT:
            label = f"{self._provider}: completion of {argument!r}"
            handler = Handler(fn, label, as_is=("context",))
            taken = [name for name in handler.parameters if name != "context"]
            if not taken or not handler.required <= {taken[0], "context"}:
                raise ConfigurationError(f"{label}: the function takes what is typed, and if it wants a `context`")
            self._functions[argument] = (taken[0], handler)
            return fn

        return register

    async def complete(
        self, argument: str, value: str, context: Mapping[str, str], channel: Channel
    ) -> Sequence[str] | mcp.Completion:
        """Return the suggestions for an argument; none if nothing is registered for it.

        Raises:
            InvalidParams: There is no such argument.
        """
        if argument not in self._names:
            raise InvalidParams(f"Unknown argument: {argument}")
        if argument not in self._functions:
            return matching(self._choices.get(argument, ()), value)
        parameter, handler = self._functions[argument]
        arguments: dict[str, Any] = {parameter: value}
        if "context" in handler.parameters:
            arguments["context"] = dict(context)
        found: Sequence[str] | mcp.Completion = await handler.run(arguments, channel)
        return found


def matching(choices: Sequence[str], value: str) -> list[str]:
    """Return the choices that contain what is typed, those that begin with it first, without regard to case."""
    typed = value.casefold()
    found = [choice for choice in choices if typed in choice.casefold()]
    return sorted(found, key=lambda choice: not choice.casefold().startswith(typed))


def completion_result(value: object, callback: str) -> mcp.CompleteResult:
    """Return the result for what a completion function returned.

    Raises:
        CallbackReturnError: It may not return that.
    """
    if isinstance(value, mcp.Completion):
        return mcp.complete_result(value.values, total=value.total, has_more=value.has_more)
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return mcp.complete_result(value)
    raise CallbackReturnError(callback, value, EXPECTED)
