"""Prompts: templates of messages that a person picks."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import (
    Icon,
    ListResult,
    MetaObject,
    NotificationMessage,
    NotificationParams,
    PaginatedRequestParams,
    RequestMessage,
    RequestParams,
    Result,
    Role,
)
from genmcp.mcp.v2607.content import ContentBlock
from genmcp.mcp.v2607.rounds import InputResponses


class PromptArgument(Model, frozen=True):
    """An argument of a prompt; its value is always text."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class Prompt(Model, frozen=True):
    """The description of a prompt."""

    name: str
    description: str | None = None
    arguments: Sequence[PromptArgument] | None = None
    title: str | None = None
    icons: Sequence[Icon] | None = None
    meta: MetaObject | None = field(default=None, name="_meta")


class PromptMessage(Model, frozen=True):
    """One message of a prompt."""

    role: Role
    content: ContentBlock


class ListPromptsRequest(RequestMessage, frozen=True, kw_only=True, tag="prompts/list"):
    """Asks for a page of prompts."""

    method: ClassVar[str] = "prompts/list"
    params: PaginatedRequestParams


class ListPromptsResult(ListResult, frozen=True):
    """A page of prompts."""

    prompts: Sequence[Prompt]


class GetPromptRequestParams(RequestParams, frozen=True, kw_only=True):
    """Which prompt, with which arguments; on a retry, the answers to what it asked and the state it gave out."""

    name: str
    arguments: dict[str, str] = field(default_factory=dict)
    input_responses: InputResponses | None = None
    request_state: str | None = None


class GetPromptRequest(RequestMessage, frozen=True, kw_only=True, tag="prompts/get"):
    """Asks for the messages of a prompt."""

    method: ClassVar[str] = "prompts/get"
    params: GetPromptRequestParams


class GetPromptResult(Result, frozen=True):
    """The messages of a prompt."""

    messages: Sequence[PromptMessage]
    description: str | None = None


class PromptListChangedNotification(
    NotificationMessage, frozen=True, kw_only=True, tag="notifications/prompts/list_changed"
):
    """The list of prompts is another one now."""

    method: ClassVar[str] = "notifications/prompts/list_changed"
    params: NotificationParams | None = None
