"""What resources and prompts have in common: a provider owns URIs or names, and a shelf finds the owner of one."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from genmcp.callbacks import check_callbacks, named
from genmcp.channel import Channel
from genmcp.errors import ConfigurationError
from genmcp.mcp import v2607 as mcp
from genmcp.server import InputRequired, Result
from genmcp.suite.contract import CacheHint, check_hint

LOG = logging.getLogger("genmcp")


class Provider:
    """The base of `ResourceRepo` and `PromptRepo`: what routing needs to know.

    Attributes:
        prefix: What the provider's URIs or names begin with; the longest prefix that fits decides.
        cache: Cache hint for its lists: who may keep a page, and for how many milliseconds.
    """

    prefix: str = ""
    cache: CacheHint = ("private", 0)

    _exact: str | None = None
    """The only URI or name it has, if it is a decorated function without variables."""

    _is_pattern: bool = False
    """True for a decorated template, which owns what it matches and not all that begins with its prefix."""

    @property
    def label(self) -> str:
        """What the log and start-up errors call it."""
        return type(self).__name__

    def owns(self, name: str, /) -> bool:
        """Tell whether a URI or name is this provider's."""
        return name.startswith(self.prefix) if self._exact is None else name == self._exact

    @property
    def key(self) -> str:
        """What it is found by from outside: `suite.remove` takes it, and `suite.offers` shows it."""
        return self.prefix if self._exact is None else self._exact

    def _check(self) -> None:
        """Refuse what is wrong with it at start-up, with a `ConfigurationError`."""

    def _disappointments(self) -> Sequence[str]:
        """Return what is allowed but will disappoint, to be warned of at start-up."""
        return []

    def _precedes(self, other: Provider) -> bool:
        """Tell whether it must be asked before another provider with an equal prefix.

        Raises:
            ConfigurationError: Both own the same, so that neither may be first.
        """
        if other._is_pattern:
            return False  # which takes only what it matches, and leaves the rest to this one
        raise ConfigurationError(
            f"{self.label} and {other.label} have the same prefix {self.prefix!r}; make one of them longer"
        )

    def _shadows(self, other: Provider) -> bool:
        """Tell whether it leaves nothing to another provider that is asked after it."""
        return self.prefix == other.prefix


ProviderT = TypeVar("ProviderT", bound=Provider)


class Shelf(Generic[ProviderT]):
    """Providers of one kind, found as api says: the exact one first, then the longest prefix.

    Args:
        option: What a Suite's option for them is called, for start-up errors.
    """

    def __init__(self, option: str) -> None:
        self._option = option
        self._all: list[ProviderT] = []
        self._exact: dict[str, ProviderT] = {}
        self._by_prefix: list[ProviderT] = []

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the providers, in the order in which they were added."""
        return tuple(provider.key for provider in self._all)

    def __iter__(self) -> Iterator[ProviderT]:
        """Go through the providers in the order in which they were added."""
        return iter(self._all)

    def add(self, provider: ProviderT) -> None:
        """Add a provider.

        Raises:
            ConfigurationError: It is wrong, or another one owns the same.
        """
        try:
            check_callbacks(provider, provider.label)
            check_hint(provider.cache, provider.label)
            provider._check()
            if provider._exact is None:
                self._by_prefix.insert(self._place_of(provider), provider)
            elif provider._exact in self._exact:
                raise ConfigurationError(f"there are two {provider._exact!r}")
            else:
                self._exact[provider._exact] = provider
        except ConfigurationError as error:
            raise ConfigurationError(f"{self._option}: {error}") from None
        self._all.append(provider)
        for warning in provider._disappointments():
            LOG.warning("%s: %s", self._option, warning)

    def _place_of(self, provider: ProviderT) -> int:
        equal = [other for other in self._by_prefix if other.prefix == provider.prefix]
        behind = {id(other) for other in equal if provider._precedes(other)}
        for place, other in enumerate(self._by_prefix):
            if id(other) in behind or len(other.prefix) < len(provider.prefix):
                return place
        return len(self._by_prefix)

    def add_missing(self, providers: Iterable[ProviderT]) -> None:
        """Add an extension's providers behind those that are there; of two that own the same the first one stays."""
        for provider in providers:
            check_hint(provider.cache, provider.label)
            provider._check()
            if provider._exact is not None:
                if self._exact.setdefault(provider._exact, provider) is provider:
                    self._all.append(provider)
            elif all(not other._shadows(provider) for other in self._by_prefix):
                places = [n for n, other in enumerate(self._by_prefix) if len(other.prefix) >= len(provider.prefix)]
                self._by_prefix.insert(places[-1] + 1 if places else 0, provider)
                self._all.append(provider)

    def copy(self) -> Shelf[ProviderT]:
        """Return another shelf with the same providers."""
        made: Shelf[ProviderT] = Shelf(self._option)
        made._all, made._exact, made._by_prefix = list(self._all), dict(self._exact), list(self._by_prefix)
        return made

    def remove(self, name: str) -> bool:
        """Remove the one with this exact URI or name, or else this prefix. Returns False if there is none."""
        gone = [self._exact[name]] if name in self._exact else [p for p in self._by_prefix if p.key == name]
        self._exact.pop(name, None)
        self._by_prefix = [provider for provider in self._by_prefix if provider not in gone]
        self._all = [provider for provider in self._all if provider not in gone]
        return bool(gone)

    def owner(self, name: str) -> ProviderT | None:
        """Return the provider that a URI or name belongs to."""
        exact = self._exact.get(name)
        if exact is not None:
            return exact
        return next((provider for provider in self._by_prefix if provider.owns(name)), None)


def calling(provider: Provider, callback: str) -> AbstractContextManager[str]:
    """Run a provider's callback in a block: if it raises, the log names both. Yields `Class.callback`."""
    return named(f"{provider.label}.{callback}")


def as_question(value: object, channel: Channel) -> Result | None:
    """Return the result for a provider's `InputRequired`, its state sealed; None if the value is none."""
    if isinstance(value, InputRequired):
        return Result(channel.backstage.conversation.input_required(value.requests, value.state))
    if isinstance(value, mcp.InputRequiredResult):
        return Result(channel.backstage.conversation.input_required(value.input_requests or {}, value.request_state))
    return None


def instance_of(given: object, kind: type[Any], option: str, decorator: str) -> Any:
    """Return the provider that an element of a Suite's option stands for; a class is made without arguments.

    Raises:
        ConfigurationError: It stands for none; says what to do about the usual mistakes.
    """
    if isinstance(given, type) and issubclass(given, kind):
        try:
            return given()
        except TypeError as error:
            raise ConfigurationError(
                f"{option}: {given.__name__} cannot be made without arguments ({error}); give an instance"
            ) from None
    if isinstance(given, kind):
        return given
    hint = f"; decorate the function with {decorator}" if callable(given) else ""
    raise ConfigurationError(
        f"{option}: expected a {kind.__name__}, a class of one or a function decorated with {decorator}, "
        f"got {given!r}{hint}"
    )
