"""Sampling: asking the client's model. Deprecated in this revision, still served.

`CreateMessageRequest` exists inside `inputRequests` only, so it has neither `jsonrpc` nor `id`.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, TypeAlias

from msgspec import field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import JSONObject, MetaObject, Role
from genmcp.mcp.v2607.content import SamplingMessageContentBlock
from genmcp.mcp.v2607.tool import Tool

SamplingContent: TypeAlias = SamplingMessageContentBlock | Sequence[SamplingMessageContentBlock]


class SamplingMessage(Model, frozen=True):
    """One turn of the conversation that the model continues."""

    role: Role
    content: SamplingContent
    meta: MetaObject | None = field(default=None, name="_meta")


class ModelHint(Model, frozen=True):
    """A part of a model's name, such as `"sonnet"`."""

    name: str | None = None


class ModelPreferences(Model, frozen=True, kw_only=True):
    """Which model is preferred: hints in order, and how much cost, speed and intelligence matter (0 to 1)."""

    hints: Sequence[ModelHint] | None = None
    cost_priority: float | None = None
    speed_priority: float | None = None
    intelligence_priority: float | None = None


class ToolChoice(Model, frozen=True):
    """Whether the model may, must or must not use the tools."""

    mode: Literal["auto", "required", "none"] | None = None


class CreateMessageRequestParams(Model, frozen=True, kw_only=True):
    """What the model shall continue, and within which limits.

    Attributes:
        messages: the conversation so far.
        max_tokens: at most this much is sampled.
        include_context: deprecated; only for clients with `sampling.context`.
        tools: only for clients with `sampling.tools`, as is `tool_choice`.
        metadata: passed on to the model's provider.
    """

    messages: Sequence[SamplingMessage]
    max_tokens: int
    model_preferences: ModelPreferences | None = None
    system_prompt: str | None = None
    include_context: Literal["none", "thisServer", "allServers"] | None = None
    temperature: float | None = None
    stop_sequences: Sequence[str] | None = None
    metadata: JSONObject | None = None
    tools: Sequence[Tool] | None = None
    tool_choice: ToolChoice | None = None


class CreateMessageRequest(Model, frozen=True, tag_field="method", tag="sampling/createMessage"):
    """A question for the client's model."""

    method: ClassVar[str] = "sampling/createMessage"
    params: CreateMessageRequestParams


class CreateMessageResult(Model, frozen=True, kw_only=True):
    """What the model said, which model it was, and why it stopped."""

    role: Role
    content: SamplingContent
    model: str
    stop_reason: str | None = None
    meta: MetaObject | None = field(default=None, name="_meta")
