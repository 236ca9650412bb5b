"""The turns of a sampling conversation that uses tools: each call is answered, and nothing stands between (I-38)."""

from __future__ import annotations

from collections.abc import Sequence

from genmcp.mcp import v2607 as mcp


def check_turns(messages: Sequence[mcp.SamplingMessage]) -> None:
    """Refuse messages that no model takes.

    Raises:
        ValueError: A user's message mixes results of tools with other content, results belong to no call, or a call has
            none; it names the message.
    """
    called: set[str] = set()
    for number, message in enumerate(messages, 1):
        blocks = message.content if isinstance(message.content, Sequence) else [message.content]
        answered = [block.tool_use_id for block in blocks if isinstance(block, mcp.ToolResultContent)]
        if answered and (message.role != "user" or len(answered) != len(blocks)):
            raise _refused(number, "a message with results of tools is the user's and holds nothing else")
        if sorted(answered) != sorted(called):
            raise _refused(number, f"expected a result for each of the calls {sorted(called)}, got {sorted(answered)}")
        called = {block.id for block in blocks if isinstance(block, mcp.ToolUseContent)}
        if called and message.role != "assistant":
            raise _refused(number, "only the assistant calls tools")
    if called:
        raise _refused(len(messages), f"the calls {sorted(called)} have no results")


def _refused(number: int, problem: str) -> ValueError:
    return ValueError(f"sample: message {number}: {problem}")
