"""Questions to the client, and the result that carries them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from genmcp.mcp.v2607.base import JSONObject
from genmcp.mcp.v2607.elicitation import ElicitRequest, ElicitRequestFormParams, ElicitRequestURLParams
from genmcp.mcp.v2607.roots import ListRootsRequest
from genmcp.mcp.v2607.rounds import InputRequest, InputRequiredResult
from genmcp.mcp.v2607.sampling import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ModelPreferences,
    SamplingMessage,
    ToolChoice,
)
from genmcp.mcp.v2607.tool import Tool


def elicit_form(message: str, requested_schema: JSONObject) -> ElicitRequest:
    """Return a question that a form answers.

    Args:
        message: what the person is told.
        requested_schema: `{"type": "object", "properties": …}`, flat, of strings, numbers, booleans and choices.
    """
    return ElicitRequest(ElicitRequestFormParams(message=message, requested_schema=requested_schema, mode="form"))


def elicit_url(message: str, url: str) -> ElicitRequest:
    """Return a question that a page in the browser answers.

    Args:
        message: why the person should open it.
        url: the page; without anything secret in it.
    """
    return ElicitRequest(ElicitRequestURLParams(message=message, url=url))


def create_message(
    messages: Sequence[SamplingMessage],
    *,
    max_tokens: int,
    model_preferences: ModelPreferences | None = None,
    system_prompt: str | None = None,
    include_context: Literal["none", "thisServer", "allServers"] | None = None,
    temperature: float | None = None,
    stop_sequences: Sequence[str] | None = None,
    metadata: JSONObject | None = None,
    tools: Sequence[Tool] | None = None,
    tool_choice: ToolChoice | None = None,
) -> CreateMessageRequest:
    """Return a question for the client's model; `CreateMessageRequestParams` says what the arguments mean."""
    return CreateMessageRequest(
        CreateMessageRequestParams(
            messages=messages,
            max_tokens=max_tokens,
            model_preferences=model_preferences,
            system_prompt=system_prompt,
            include_context=include_context,
            temperature=temperature,
            stop_sequences=stop_sequences,
            metadata=metadata,
            tools=tools,
            tool_choice=tool_choice,
        )
    )


def list_roots() -> ListRootsRequest:
    """Return a question for the client's roots."""
    return ListRootsRequest()


def input_required_result(
    requests: Mapping[str, InputRequest] | None = None,
    request_state: str | None = None,
    *,
    meta: dict[str, Any] | None = None,
) -> InputRequiredResult:
    """Return the result that asks for input and ends this round.

    Args:
        requests: the questions, by the keys that the answers will have.
        request_state: what the client sends back unread; seal it (`genmcp.tokens`) before you rely on it.
        meta: the result's `_meta`.

    Raises:
        ValueError: neither questions nor state (the protocol wants one of them).
    """
    if not requests and request_state is None:
        raise ValueError("an InputRequiredResult needs questions or a request state")
    return InputRequiredResult(
        input_requests=dict(requests) if requests else None, request_state=request_state, meta=meta
    )
