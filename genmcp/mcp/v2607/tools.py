"""Tools: listing and calling them."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, cast

from msgspec import UNSET, UnsetType, field
from typing_extensions import TypeVar

from genmcp.mcp.v2607.base import (
    ListResult,
    NotificationMessage,
    NotificationParams,
    PaginatedRequestParams,
    RequestMessage,
    RequestParams,
    Result,
)
from genmcp.mcp.v2607.content import ContentBlock
from genmcp.mcp.v2607.rounds import InputResponses
from genmcp.mcp.v2607.tool import Tool

ArgsT = TypeVar("ArgsT", default=dict[str, Any])

# An ArgsT other than the default is only ever put in the place of a dict that was decoded.
_no_arguments = cast("Callable[[], Any]", dict)


class ListToolsRequest(RequestMessage, frozen=True, kw_only=True, tag="tools/list"):
    """Asks for a page of tools."""

    method: ClassVar[str] = "tools/list"
    params: PaginatedRequestParams


class ListToolsResult(ListResult, frozen=True):
    """A page of tools."""

    tools: Sequence[Tool]


class CallToolRequestParams(RequestParams, Generic[ArgsT], frozen=True, kw_only=True):
    """Which tool to call with what; on a retry, the answers to what it asked and the state it gave out.

    Attributes:
        name: the tool.
        arguments: a dict, empty when the client sent none; in a `Tool[Args]` that was validated, an `Args`.
        input_responses: the answers, by the keys of the questions.
        request_state: as the client sent it: not to be trusted before it was opened.
    """

    name: str
    arguments: ArgsT = field(default_factory=_no_arguments)
    input_responses: InputResponses | None = None
    request_state: str | None = None


class CallToolRequest(RequestMessage, Generic[ArgsT], frozen=True, kw_only=True, tag="tools/call"):
    """Calls a tool."""

    method: ClassVar[str] = "tools/call"
    params: CallToolRequestParams[ArgsT]


class CallToolResult(Result, frozen=True):
    """What the tool gave back.

    Attributes:
        content: for the model to read.
        structured_content: any JSON value, null included; UNSET when there is none.
        is_error: the tool failed, and the content says why, so that the model can try otherwise.
    """

    content: Sequence[ContentBlock] = field(default_factory=tuple[ContentBlock, ...])
    structured_content: Any | UnsetType = UNSET
    is_error: bool | None = None


class ToolListChangedNotification(
    NotificationMessage, frozen=True, kw_only=True, tag="notifications/tools/list_changed"
):
    """The list of tools is another one now."""

    method: ClassVar[str] = "notifications/tools/list_changed"
    params: NotificationParams | None = None
