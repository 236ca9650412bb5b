"""Questions to the client as requests of the 2025 revisions, and answers as those of 2026-07-28 (O-32, O-36, O-37)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from genmcp.mcp import AnswerRefused, InternalError, InvalidParams
from genmcp.mcp import v2607 as mcp
from transport.legacy.forms import plain_form
from transport.legacy.revision import Revision

_ANSWERS: dict[str, Any] = {
    mcp.ElicitRequest.method: mcp.ElicitResult,
    mcp.CreateMessageRequest.method: mcp.CreateMessageResult,
    mcp.ListRootsRequest.method: mcp.ListRootsResult,
}


def question_down(request: mcp.InputRequest, revision: Revision) -> dict[str, Any]:
    """Return method and params of the request that asks the same.

    Raises:
        McpError: The client's revision cannot ask that.
    """
    plain = mcp.to_dict(request)
    params: dict[str, Any] = plain.get("params") or {}
    match request:
        case mcp.ElicitRequest(params=mcp.ElicitRequestURLParams()):
            params["elicitationId"] = secrets.token_urlsafe(12)
        case mcp.ElicitRequest() if not revision.rich_forms:
            params.pop("mode", None)
            params["requestedSchema"] = plain_form(params["requestedSchema"], revision.version)
        case mcp.CreateMessageRequest() if not revision.sampling_tools:
            params["messages"] = [each for message in params["messages"] for each in _one_block_each(message)]
    found: dict[str, Any] = {"method": request.method}
    if params:
        found["params"] = params
    return found


def _one_block_each(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Split a message of several blocks: older clients take one block a message."""
    content = message["content"]
    blocks = content if isinstance(content, list) else [content]
    if any(block.get("type") in ("tool_use", "tool_result") for block in blocks):
        raise InternalError("The client's model takes no tools")
    return [{"role": message["role"], "content": block} for block in blocks]


def answer_up(method: str, message: Mapping[str, Any]) -> mcp.InputResponse:
    """Return what a client's response to a question means.

    Args:
        method: What was asked.
        message: The response as it came.

    Raises:
        AnswerRefused: It is an error.
        InternalError: It is no answer to that; the text is meant for the client that sent it.
    """
    if "error" in message:
        raise refused(method, message["error"])
    result = message.get("result")
    if not isinstance(result, dict):
        raise InternalError(f"The client answered {method} with neither a result nor an error")
    try:
        answer: mcp.InputResponse = mcp.decode_as(_ANSWERS[method], result, where="result")
    except InvalidParams as error:
        raise InternalError(f"The client's answer to {method} is malformed: {error.message}") from None
    return answer


def refused(method: str, error: Any) -> AnswerRefused:
    """Return the error for a question that the client answered with an error, such as -1 when its user refused."""
    given = error if isinstance(error, dict) else {}
    message = given.get("message")
    text = message[:200] if isinstance(message, str) else "no reason given"
    return AnswerRefused(method, given.get("code"), text)
