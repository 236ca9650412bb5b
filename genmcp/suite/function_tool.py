"""Functions as tools: the decorator `tool`.

    @tool(annotations={"readOnlyHint": True})
    async def add(a: float, b: float) -> float:
        "Adds two numbers and returns the sum."
        return a + b

The parameters become the input schema, the docstring the description, the return annotation the output schema:
`str`, `bytes`, content blocks, lists of them, `CallToolResult`, `None` and no annotation give content only; any other
annotation gives structured content, mirrored as text for clients that know none. A parameter annotated `Channel` (in
`async def`) or `SyncChannel` (in `def`) is injected. A `def` runs in a worker thread. The decorated name is still a
plain function: `await add(1, 2)` in a unit test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

from genmcp.channel import Channel
from genmcp.errors import ConfigurationError, ToolError
from genmcp.mcp import v2607 as mcp
from genmcp.schema import InvalidValueError, describe
from genmcp.server import Error, InputRequired, Result, Stream
from genmcp.suite.content import content_of
from genmcp.suite.contract import CacheHint, ToolContract, check_hint, check_timeout
from genmcp.suite.decorated import Decorated
from genmcp.suite.tool import Tool

P = ParamSpec("P")
R = TypeVar("R")

ENDINGS = (Result, Error, InputRequired, mcp.InputRequiredResult)
"""What a function may return to end its request in a way of its own."""


class FunctionTool(Tool, Generic[P, R]):
    """A function that is a tool; made by `tool`. Calling it calls the function."""

    def __init__(
        self,
        fn: Callable[P, R],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[mcp.Icon] = (),
        annotations: mcp.ToolAnnotations | dict[str, Any] | None = None,
        meta: dict[str, Any] | None = None,
        output_schema: dict[str, Any] | None = None,
        cache: CacheHint = ("private", 0),
        timeout: float | None = None,
        text_mirror: bool = True,
        on_close: Literal["cancel", "finish"] = "cancel",
    ) -> None:
        self.fn = fn
        self.name = name if name is not None else getattr(fn, "__name__", type(fn).__name__)
        self.title = title
        self.icons = icons
        self.annotations = annotations
        self.meta = meta
        self.cache = cache
        self.timeout = timeout
        self._mirror = text_mirror
        self._finish_anyway = on_close == "finish"
        self._function = Decorated(fn, f"tool {self.name!r}", endings=ENDINGS)
        signature = self._function.signature
        self.description = description if description is not None else signature.description
        self.input_schema = signature.input_schema
        self.output_schema = output_schema if output_schema is not None else signature.output_schema
        self._check_options(on_close)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, as in a unit test."""
        return self.fn(*args, **kwargs)

    def _check_options(self, on_close: str) -> None:
        if on_close not in ("cancel", "finish"):
            raise ConfigurationError(f"tool {self.name!r}: on_close: expected 'cancel' or 'finish', got {on_close!r}")
        if self._finish_anyway and not self._function.is_async:
            raise ConfigurationError(f"tool {self.name!r}: on_close='finish' is for async def; a thread runs on anyway")

    def _documentation(self) -> str | None:
        return None  # the class's docstring says nothing of the function

    def _make_contract(self) -> ToolContract:
        if not self.name:
            raise ConfigurationError(f"tool {self.fn!r}: name: expected a text that is not empty")
        check_hint(self.cache, f"tool {self.name!r}")
        check_timeout(self.timeout, f"tool {self.name!r}")
        assert self.input_schema is not None  # made from the signature
        return ToolContract(self._describe(self.input_schema, self.output_schema), provider=f"tool {self.name!r}")

    async def call(
        self, request: mcp.CallToolRequest, channel: Channel, /
    ) -> mcp.CallToolResult | Result | Error | InputRequired | Stream[None]:
        """Bind the arguments, run the function, and make content of what it returns."""
        try:
            arguments = self._function.signature.bind(request.params.arguments)
        except InvalidValueError as error:  # a rule of a type that its schema cannot say
            raise ToolError(f"Invalid arguments for {self.name}: {describe(error.problems)}") from None
        if self._finish_anyway:
            with channel.backstage.finish_anyway():
                value = await self._function.run(arguments, channel)
        else:
            value = await self._function.run(arguments, channel)
        if isinstance(value, Result | Error | InputRequired):
            return value
        if isinstance(value, mcp.InputRequiredResult):
            return Result(value)
        return content_of(value, structured=self.output_schema is not None, mirror=self._mirror)


@overload
def tool(fn: Callable[P, R], /) -> FunctionTool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    icons: Sequence[mcp.Icon] = (),
    annotations: mcp.ToolAnnotations | dict[str, Any] | None = None,
    meta: dict[str, Any] | None = None,
    output_schema: dict[str, Any] | None = None,
    cache: CacheHint = ("private", 0),
    timeout: float | None = None,
    text_mirror: bool = True,
    on_close: Literal["cancel", "finish"] = "cancel",
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a tool of a function, as `@tool` or `@tool(option=…)`.

    Args:
        fn: An `async def`, which runs in the call's worker, or a `def`, which runs in a thread.
        options: `name` (default: the function's), `title`, `description` (default: the docstring), `icons`,
            `annotations`, `meta`, `cache` and `timeout` as in `Tool`; `output_schema` overrides that of the return
            annotation; `text_mirror=False` leaves out the text copy of structured content; `on_close="finish"` lets
            an async tool end its work although the client left.

    Returns:
        A `FunctionTool`, to be given to `Suite(tools=[…])`.

    Raises:
        ConfigurationError: A parameter or option cannot be served; it names the tool and what was expected.
    """
    if fn is not None:
        return FunctionTool(fn)
    return lambda fn: FunctionTool(fn, **options)
