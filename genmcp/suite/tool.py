"""The behaviour of a tool: `Tool`.

Choose `@genmcp.tool` on a function for most tools; subclass `Tool` when it needs options of its own, a hand-written
schema, or messages: a result that is produced elsewhere and arrives in the worker's mailbox.

Lifecycle: one instance serves every call. For each call, in the call's own worker: `validate`, `call`, then
`handle_message` for each message once `call` returned `Stream(state)`, and `handle_close` if something other than a
return ended the stream.

    class Report(Tool[ReportInput, str]):
        name = "report"

        async def call(self, request, channel, /):
            job = await queue.enqueue(request.params.arguments.city, reply_to=str(channel.pid))
            return Stream(job)

        async def handle_message(self, message, channel, state, /):
            return mcp.call_tool_result(text=message.output)

| return of `call` or `handle_message` | what it does |
|---|---|
| `CallToolResult` | answers; structured content is checked against `output_schema` |
| `Result(result, stop_reason)` | the same, with an exit reason for the worker |
| `Error(reason)` | answers with a JSON-RPC error |
| `InputRequired(requests, state)` | asks the client; the call is made again with the answers |
| `Stream(state)` | holds the response open for messages |
| raises `ToolError(text)` | a result with `isError: true` and that text, for the model to read |

(`GenMCP.Suite.Tool`; the protocol's page on tools.)
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Generic, get_args, get_origin

import msgspec
from typing_extensions import TypeVar

from genmcp.callbacks import check_callbacks
from genmcp.channel import Channel
from genmcp.errors import ConfigurationError
from genmcp.mcp import v2607 as mcp
from genmcp.schema import SchemaError, schema_for
from genmcp.server import Error, InputRequired, Result, StateT, Stop, Stream
from genmcp.suite.contract import NO_ARGUMENTS, CacheHint, ToolContract, check_hint, check_timeout

ArgsT = TypeVar("ArgsT", default=dict[str, Any])


class Tool(Generic[ArgsT, StateT]):
    """Base class of tools; see the module for when to use it, its lifecycle and the table of returns.

    `Tool[ReportInput]` derives `input_schema` from its type argument, and `request.params.arguments` then is a
    `ReportInput`; without a type argument the arguments are a dict.

    Attributes:
        name: Unique among the Suite's tools; 1 to 128 characters of `A-Z a-z 0-9 _ - .` (T-14).
        title: A name for people.
        description: What the tool does, for the model. The default is the class's docstring.
        icons: Icons for people.
        annotations: Hints: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`, `title`.
        meta: The tool's `_meta`, carried through as it is.
        input_schema: JSON Schema of the arguments, root `type: object`; passed through unaltered.
        output_schema: JSON Schema of the structured content, which is checked against it.
        cache: Cache hint for `tools/list`: the smallest of all tools counts.
        timeout: Seconds that a call may take, messages included; None leaves it to the server's default.
    """

    name: str = ""
    title: str | None = None
    description: str | None = None
    icons: Sequence[mcp.Icon] = ()
    annotations: mcp.ToolAnnotations | dict[str, Any] | None = None
    meta: dict[str, Any] | None = None
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    cache: CacheHint = ("private", 0)
    timeout: float | None = None

    async def validate(self, request: mcp.CallToolRequest, /) -> mcp.CallToolRequest[ArgsT]:
        """Check the arguments and turn them into `ArgsT`. The default checks them against the input schema.

        Raises:
            ToolError: The arguments are refused; the text tells the model why.
        """
        return self.contract.validated(request)

    async def call(
        self, request: mcp.CallToolRequest[ArgsT], channel: Channel, /
    ) -> mcp.CallToolResult | Result | Error | InputRequired | Stream[StateT]:
        """Carry out one call. Every tool defines it; see the module's table of returns.

        A client that leaves, a timeout and a stop cancel it: `try`/`finally` is its clean-up.
        """
        raise TypeError(f"{type(self).__name__} does not define call")  # refused at start-up, where a tool is added

    async def handle_message(
        self, message: object, channel: Channel, state: StateT, /
    ) -> mcp.CallToolResult | Result | Error | InputRequired | Stream[StateT] | Stop:
        """Handle a message while the call streams. The default ends the call with `Shutdown("unexpected_message")`."""
        del message, channel, state
        return Stop("unexpected_message")

    async def handle_close(self, channel: Channel, state: StateT, /) -> None:
        """Clean up when something other than a return ended the stream; see `Server.handle_close`."""

    @property
    def contract(self) -> ToolContract[ArgsT]:
        """The tool's schemas, compiled, and its description for the wire; made once.

        Raises:
            ConfigurationError: Something about the tool is wrong; it names the tool, the field and what was expected.
        """
        if self._contract is None:
            self._contract = self._make_contract()
        return self._contract

    _contract: ToolContract[ArgsT] | None = None

    def _make_contract(self) -> ToolContract[ArgsT]:
        provider = type(self).__name__
        if not self.name or type(self.name) is not str:
            raise ConfigurationError(f"{provider}: name: expected a text that is not empty, got {self.name!r}")
        label = f"tool {self.name!r} ({provider})"
        check_callbacks(self, label, Tool.call)
        check_hint(self.cache, label)
        check_timeout(self.timeout, label)
        arguments = argument_type(type(self))
        schema = self.input_schema
        if schema is None:
            schema = NO_ARGUMENTS if arguments is None else _schema_of(arguments, label)
        return ToolContract(self._describe(schema, self.output_schema), arguments=arguments, provider=label)

    def _documentation(self) -> str | None:
        own = type(self).__doc__
        return inspect.cleandoc(own) if own and own != Tool.__doc__ else None

    def _describe(self, input_schema: dict[str, Any], output_schema: dict[str, Any] | None) -> mcp.Tool:
        annotations = self.annotations
        if isinstance(annotations, dict):
            annotations = tool_annotations(annotations, f"tool {self.name!r}")
        return mcp.Tool(
            name=self.name,
            title=self.title,
            description=self.description if self.description is not None else self._documentation(),
            icons=list(self.icons) or None,
            annotations=annotations,
            meta=self.meta,
            input_schema=input_schema,
            output_schema=output_schema,
        )


def tool_annotations(given: Mapping[str, Any], provider: str) -> mcp.ToolAnnotations:
    """Return the annotations that a dict of wire names stands for.

    Raises:
        ConfigurationError: A hint is unknown or has the wrong type.
    """
    unknown = given.keys() - {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    if unknown:
        raise ConfigurationError(f"{provider}: annotations: unknown hint {sorted(unknown)[0]!r}")
    try:
        return msgspec.convert(given, mcp.ToolAnnotations)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{provider}: annotations: {error}") from None


def argument_type(cls: type[Any]) -> type[Any] | None:
    """Return the `ArgsT` that a subclass of `Tool[ArgsT, …]` names, or None if it names none (or a dict)."""
    for base in (base for klass in cls.__mro__ for base in getattr(klass, "__orig_bases__", ())):
        origin = get_origin(base)
        if isinstance(origin, type) and issubclass(origin, Tool):
            first = get_args(base)[0]
            return None if isinstance(first, typing.TypeVar) or get_origin(first) is dict or first is dict else first
    return None


def _schema_of(arguments: type[Any], label: str) -> dict[str, Any]:
    try:
        return schema_for(arguments, arguments=True)
    except SchemaError as error:
        raise ConfigurationError(f"{label}: arguments: {error}") from None
