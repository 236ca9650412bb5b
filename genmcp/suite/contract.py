"""What a tool promises and expects, compiled once at start-up: its schemas and its description for the wire."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeAlias, cast

import msgspec
from typing_extensions import TypeVar

from genmcp.errors import ConfigurationError, ToolError
from genmcp.mcp import v2607 as mcp
from genmcp.schema import (
    Converter,
    HeaderParam,
    InvalidValueError,
    SchemaError,
    Validator,
    compile_schema,
    describe,
    header_parameters,
)

ArgsT = TypeVar("ArgsT", default=dict[str, Any])

NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}\Z")
"""The names that every client takes (T-14)."""

NO_ARGUMENTS: dict[str, Any] = {"type": "object"}


CacheHint: TypeAlias = tuple[Literal["public", "private"], int]
"""Who may keep a result, and for how many milliseconds."""


class OutputSchemaError(TypeError):
    """A tool's structured content does not match its output schema, which is the author's mistake (T-11)."""


class ToolContract(Generic[ArgsT]):
    """The compiled contract of one tool.

    Attributes:
        wire: The tool as `tools/list` shows it.
        headers: The parameters that `Mcp-Param-…` headers mirror, by header suffix.
        warnings: What is allowed but will disappoint: a missing description, a name that clients may refuse.
    """

    def __init__(self, wire: mcp.Tool, *, arguments: type[Any] | None = None, provider: str) -> None:
        self.wire = wire
        self._convert = None if arguments is None else Converter[ArgsT](arguments)
        self._provider = provider
        check_meta(wire.meta, provider)
        try:
            self._input = compile_schema(wire.input_schema, where=f"{provider}: input_schema")
            self.headers: Mapping[str, HeaderParam] = header_parameters(wire.input_schema)
            self._output: Validator | None = None
            if wire.output_schema is not None:
                self._output = compile_schema(wire.output_schema, where=f"{provider}: output_schema", output=True)
        except SchemaError as error:
            text = str(error)
            raise ConfigurationError(text if text.startswith(provider) else f"{provider}: {text}") from None
        self.warnings = tuple(self._disappointments())

    def _disappointments(self) -> list[str]:
        found = []
        if not NAME.match(self.wire.name):
            found.append(
                f"{self._provider}: clients may refuse the name {self.wire.name!r}; use 1 to 128 of A-Z a-z 0-9 _ - ."
            )
        if not self.wire.description:
            found.append(f"{self._provider}: no description, so a model has only the name to go by; write a docstring")
        return found

    def validated(self, request: mcp.CallToolRequest) -> mcp.CallToolRequest[ArgsT]:
        """Return the request with its arguments checked, and converted if the tool declares a type for them.

        Raises:
            ToolError: They do not match the input schema; the text names each path and what was expected.
        """
        arguments = request.params.arguments
        problems = self._input.problems(arguments)
        if problems:
            raise ToolError(f"Invalid arguments for {self.wire.name}: {describe(problems)}")
        if self._convert is None:
            return cast("mcp.CallToolRequest[ArgsT]", request)
        try:
            converted = self._convert(arguments)
        except InvalidValueError as error:  # a rule of the type that its schema cannot say
            raise ToolError(f"Invalid arguments for {self.wire.name}: {describe(error.problems)}") from None
        params = msgspec.structs.replace(request.params, arguments=converted)
        return cast("mcp.CallToolRequest[ArgsT]", msgspec.structs.replace(request, params=params))

    def checked(self, result: mcp.CallToolResult) -> mcp.CallToolResult:
        """Return a result whose structured content matches the output schema.

        Raises:
            OutputSchemaError: It does not, or is missing although the tool declares an output schema.
        """
        if self._output is None or result.is_error:
            return result
        if result.structured_content is msgspec.UNSET:
            raise OutputSchemaError(f"{self._provider} declares an output schema but returned no structured content")
        problems = self._output.problems(msgspec.to_builtins(result.structured_content))
        if problems:
            raise OutputSchemaError(f"{self._provider} returned what its output schema refuses: {describe(problems)}")
        return result


def check_hint(cache: object, provider: str) -> None:
    """Refuse a cache hint that is none (K-02, K-03).

    Raises:
        ConfigurationError: It names the provider and what was expected.
    """
    match cache:
        case ("public" | "private", int(ttl)) if type(ttl) is int and ttl >= 0:  # True is no number
            return
    raise ConfigurationError(
        f"{provider}: cache: expected ('public' or 'private', milliseconds), as in ('private', 0), got {cache!r}"
    )


def check_timeout(seconds: object, provider: str) -> None:
    """Refuse a time limit that is none.

    Raises:
        ConfigurationError: It names the provider and what was expected.
    """
    if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
        raise ConfigurationError(f"{provider}: timeout: expected a positive number of seconds or None, got {seconds!r}")


def check_meta(meta: Mapping[str, Any] | None, provider: str) -> None:
    """Refuse `_meta` keys that break the grammar or use a reserved prefix (M-01 to M-04).

    Raises:
        ConfigurationError: It names the provider and the key.
    """
    for key in meta or {}:
        try:
            mcp.check_meta_key(key)
        except ValueError as error:
            raise ConfigurationError(f"{provider}: meta: {error}") from None
        if mcp.is_reserved(key):
            raise ConfigurationError(f"{provider}: meta: the prefix of {key!r} is the protocol's own; use one of yours")
