"""Functions as prompts: the decorator `prompt`.

    @prompt
    def review(language: Literal["python", "go"], focus: str = "style") -> str:
        "Reviews code."
        return f"Review this {language} code, above all its {focus}."

The parameters become the prompt's arguments: texts, or what one can be converted to; one with a default need not be
given. The docstring says what the prompt and its arguments are. A parameter annotated `Channel` (in `async def`) or
`SyncChannel` (in `def`, which runs in a thread) is injected. The returns are those of `PromptRepo.get`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

from genmcp.channel import Channel
from genmcp.errors import ConfigurationError, InvalidParams
from genmcp.mcp import v2607 as mcp
from genmcp.suite.completion import Completers
from genmcp.suite.contract import CacheHint, check_meta
from genmcp.suite.handler import Handler, Unfit
from genmcp.suite.page import Page
from genmcp.suite.prompt import Prompting, PromptRepo, check_arguments

P = ParamSpec("P")
R = TypeVar("R")
FnT = TypeVar("FnT", bound=Callable[..., Any])


class FunctionPrompt(PromptRepo, Generic[P, R]):
    """A function that is a prompt; made by `prompt`. Calling it calls the function.

    Attributes:
        prompt: Its description, as `prompts/list` shows it.
    """

    def __init__(
        self,
        fn: Callable[P, R],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[mcp.Icon] = (),
        meta: dict[str, Any] | None = None,
        cache: CacheHint = ("private", 0),
    ) -> None:
        self.fn = fn
        self.name = name if name is not None else getattr(fn, "__name__", type(fn).__name__)
        if not isinstance(self.name, str) or not self.name:
            raise ConfigurationError(f"prompt {fn!r}: name: expected a text that is not empty, got {self.name!r}")
        self._exact = self.name
        self.cache = cache
        self._handler = Handler(fn, self.label)
        self._completers = Completers(self.label)
        self._completers.describe(self._handler)
        check_meta(meta, self.label)
        required = self._handler.required
        self.prompt = mcp.Prompt(
            self.name,
            title=title,
            description=description if description is not None else self._handler.description,
            arguments=[
                mcp.PromptArgument(item.name, description=item.description, required=item.name in required or None)
                for item in self._handler.parameters.values()
            ]
            or None,
            icons=list(icons) or None,
            meta=meta,
        )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, as in a unit test."""
        return self.fn(*args, **kwargs)

    @property
    def label(self) -> str:
        """What the log and start-up errors call it."""
        return f"prompt {self.name!r}"

    def completion(self, argument: str, /) -> Callable[[FnT], FnT]:
        """Decorate a function that suggests values for an argument; see `genmcp.suite.completion`.

        Raises:
            ConfigurationError: The prompt has no such argument, or the function asks for what there is not.
        """
        return self._completers.decorator(argument)

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Prompt]:
        """Return the one prompt."""
        del cursor, channel
        return Page((self.prompt,))

    async def get(self, name: str, arguments: Mapping[str, str], channel: Channel, /) -> Prompting:
        """Check and convert the arguments, and run the function.

        Raises:
            InvalidParams: An argument is missing, unknown, or not what its parameter takes; the text names it.
        """
        check_arguments(self.prompt, arguments)
        try:
            bound = self._handler.bind(arguments)
        except Unfit as error:
            raise InvalidParams(f"Prompt {name}: the argument {error.name!r}: {error.problem}") from None
        value: Prompting = await self._handler.run(bound, channel)
        return value

    async def complete(
        self, name: str, argument: str, value: str, context: Mapping[str, str], channel: Channel, /
    ) -> Sequence[str] | mcp.Completion:
        """Ask the function that was registered with `completion`."""
        del name
        return await self._completers.complete(argument, value, context, channel)

    def _disappointments(self) -> Sequence[str]:
        missing = f"{self.label}: no description, so people have only the name to go by; write a docstring"
        return [] if self.prompt.description else [missing]

    @property
    def completes(self) -> bool:
        """True if an argument has a completion function, or takes a few values only."""
        return bool(self._completers)


@overload
def prompt(fn: Callable[P, R], /) -> FunctionPrompt[P, R]: ...
@overload
def prompt(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    icons: Sequence[mcp.Icon] = (),
    meta: dict[str, Any] | None = None,
    cache: CacheHint = ("private", 0),
) -> Callable[[Callable[P, R]], FunctionPrompt[P, R]]: ...
def prompt(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a prompt of a function, as `@prompt` or `@prompt(option=…)`.

    Args:
        fn: An `async def`, which runs in the request's worker, or a `def`, which runs in a thread.
        options: `name` (default: the function's), `title`, `description` (default: the docstring), `icons`, `meta`,
            and `cache`, the hint for the list.

    Returns:
        A `FunctionPrompt`, to be given to `Suite(prompts=[…])`.

    Raises:
        ConfigurationError: A parameter or option cannot be served; it names the prompt and what was expected.
    """
    if fn is not None:
        return FunctionPrompt(fn)
    return lambda fn: FunctionPrompt(fn, **options)
