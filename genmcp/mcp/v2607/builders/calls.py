"""Results of tools and prompts."""

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from genmcp.mcp.jsonrpc import dump
from genmcp.mcp.v2607.base import Role
from genmcp.mcp.v2607.builders.blocks import ContentLike, content_block
from genmcp.mcp.v2607.content import ContentBlock, TextContent
from genmcp.mcp.v2607.prompts import GetPromptResult, PromptMessage
from genmcp.mcp.v2607.tools import CallToolResult

ResultPart: TypeAlias = ContentLike
"""Content, or one of the pairs `("data", value)`, `("_data", value)` and `("error", True | message)`."""

PromptLike: TypeAlias = PromptMessage | ContentLike
"""A message; content, which the user says; or a pair `("assistant", text)`."""


class _Draft:
    """A tool's result while its parts are put together."""

    def __init__(self) -> None:
        self.content: list[ContentBlock] = []
        self.structured: Any = UNSET
        self.is_error: bool | None = None

    def add(self, part: ResultPart) -> None:
        match part:
            case ("data", value):
                self.add_data(value, mirror=True)
            case ("_data", value):
                self.add_data(value, mirror=False)
            case ("error", bool() | str() as error):
                self.add_error(error)
            case _:
                self.content.append(content_block(part))

    def add_data(self, value: Any, *, mirror: bool) -> None:
        if self.structured is not UNSET:
            raise ValueError("a tool's result has one structured value, two were given")
        sent = dump(value)
        self.structured = msgspec.json.decode(sent)  # what the client will read, not what the author may still change
        if mirror:
            self.content.append(TextContent(sent.decode()))

    def add_error(self, error: bool | str) -> None:
        # An error stays one, whatever parts follow: only the first word on it may be False.
        self.is_error = True if isinstance(error, str) or self.is_error else error
        if isinstance(error, str):
            self.content.append(TextContent(error))


def call_tool_result(
    *content: ResultPart,
    text: str | None = None,
    data: Any = UNSET,
    mirror: bool = True,
    error: bool | str | None = None,
    meta: dict[str, Any] | None = None,
) -> CallToolResult:
    """Return the result of a tool, parts in the order of the arguments.

    Args:
        content: blocks, texts and pairs, see `content_block`; also `("data", value)`, `("_data", value)` (without
            the mirror) and `("error", …)`.
        text: a block of text.
        data: the structured value: anything that is JSON, null and falsy values included, structs and
            dataclasses as well.
        mirror: whether `data` is repeated as a block of JSON text, for clients that show content only.
        error: True marks the result as a failure of the tool, a text as well, and is added as a block.
        meta: the result's `_meta`.

    Raises:
        TypeError: some content is none, or `data` is not JSON.
        ValueError: two structured values, or `data` holds a number or text that JSON cannot express.
    """
    draft = _Draft()
    for part in content:
        draft.add(part)
    if text is not None:
        draft.content.append(TextContent(text))
    if data is not UNSET:
        draft.add_data(data, mirror=mirror)
    if error is not None:
        draft.add_error(error)
    return CallToolResult(draft.content, draft.structured, draft.is_error, meta=meta)


def user(content: ContentLike) -> PromptMessage:
    """Return a message that the user says."""
    return _say("user", content)


def assistant(content: ContentLike) -> PromptMessage:
    """Return a message that the assistant says."""
    return _say("assistant", content)


def _say(role: Role, content: ContentLike) -> PromptMessage:
    return PromptMessage(role, content_block(content))


def get_prompt_result(
    *messages: PromptLike, description: str | None = None, meta: dict[str, Any] | None = None
) -> GetPromptResult:
    """Return the messages of a prompt.

    Args:
        messages: `user(…)` and `assistant(…)`; bare content is the user's, `("assistant", content)` the assistant's.
        description: what the prompt is for.
        meta: the result's `_meta`.

    Raises:
        TypeError: something is neither a message nor content.
    """
    return GetPromptResult([_message(part) for part in messages], description, meta=meta)


def _message(part: PromptLike) -> PromptMessage:
    if isinstance(part, PromptMessage):
        return part
    match part:
        case ("assistant", content):
            return assistant(content)
        case _:
            return user(part)
