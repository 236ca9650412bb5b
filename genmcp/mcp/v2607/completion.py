"""Completion: suggestions while a person types an argument of a prompt or a resource template."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import RequestMessage, RequestParams, Result


class PromptReference(Model, frozen=True, tag_field="type", tag="ref/prompt"):
    """Names a prompt."""

    name: str
    title: str | None = None


class ResourceTemplateReference(Model, frozen=True, tag_field="type", tag="ref/resource"):
    """Names a resource template by its URI template."""

    uri: str


class CompletionArgument(Model, frozen=True):
    """The argument that is being typed, and what is there of it. Inline in the schema of the protocol."""

    name: str
    value: str


class CompletionContext(Model, frozen=True):
    """The arguments that were filled in before. Inline in the schema of the protocol."""

    arguments: dict[str, str] = field(default_factory=dict)


class CompleteRequestParams(RequestParams, frozen=True, kw_only=True):
    """What is being completed."""

    ref: PromptReference | ResourceTemplateReference
    argument: CompletionArgument
    context: CompletionContext | None = None


class CompleteRequest(RequestMessage, frozen=True, kw_only=True, tag="completion/complete"):
    """Asks for suggestions."""

    method: ClassVar[str] = "completion/complete"
    params: CompleteRequestParams


class Completion(Model, frozen=True):
    """The suggestions, at most 100 of them, and how many there are in all. Inline in the schema of the protocol."""

    values: Sequence[str]
    total: int | None = None
    has_more: bool | None = None


class CompleteResult(Result, frozen=True):
    """The suggestions."""

    completion: Completion
