"""What may be asked: refused is it where the author writes it, before anything reaches the client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from genmcp import Channel, MissingCapability, Suite, tool
from genmcp.conversation import questions
from genmcp.mcp import v2607 as mcp
from genmcp.testing import connect


def use(*ids: str) -> mcp.SamplingMessage:
    return mcp.SamplingMessage("assistant", [mcp.ToolUseContent(id, "run", {}) for id in ids])


def result(*ids: str, role: Any = "user", beside: Sequence[mcp.TextContent] = ()) -> mcp.SamplingMessage:
    return mcp.SamplingMessage(role, [*(mcp.ToolResultContent(id, [mcp.text("ok")]) for id in ids), *beside])


def say(text: str = "Hi", role: Any = "user") -> mcp.SamplingMessage:
    return mcp.SamplingMessage(role, mcp.text(text))


def sampling(*messages: mcp.SamplingMessage, **options: Any) -> Any:
    return questions.sampling(mcp.create_message(messages, max_tokens=5, **options))


@pytest.mark.parametrize(
    "messages",
    [
        [say()],
        [say(), use("1"), result("1"), say("so", "assistant")],
        [say(), use("1", "2"), result("2", "1")],
        [say(), use("1"), result("1"), use("1"), result("1")],
        [say(), mcp.SamplingMessage("assistant", mcp.ToolUseContent("1", "run", {})), result("1")],
    ],
)
def test_calls_of_tools_are_followed_by_their_results(messages: list[mcp.SamplingMessage]) -> None:
    assert sampling(*messages).request.params.messages == tuple(messages)


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([say(), use("1"), result("1", beside=[mcp.text("and")])], "message 3: .* holds nothing else"),
        ([say(), use("1"), result("1", role="assistant")], "message 3: a message with results of tools is the user's"),
        ([say(), use("1", "2"), result("1")], "message 3: expected a result for each"),
        ([say(), use("1"), result("1", "1")], "message 3: expected a result for each"),
        ([say(), use("1"), say()], "message 3: expected a result for each"),
        ([say(), result("1")], "message 2: expected a result for each"),
        ([say(), use("1")], r"message 2: the calls \['1'\] have no results"),
        ([mcp.SamplingMessage("user", mcp.ToolUseContent("1", "run", {}))], "message 1: only the assistant calls"),
    ],
)
def test_turns_that_no_model_takes_are_refused(messages: list[mcp.SamplingMessage], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        sampling(*messages)


@pytest.mark.parametrize("include", ["thisServer", "allServers"])
def test_context_of_servers_is_refused(include: Any) -> None:
    with pytest.raises(ValueError, match="include_context is deprecated"):
        sampling(say(), include_context=include)
    assert sampling(say(), include_context="none").needs == ("sampling",)


@pytest.mark.parametrize("options", [{"tools": [mcp.Tool("run")]}, {"tool_choice": mcp.ToolChoice("auto")}])
async def test_tools_of_a_model_need_their_capability(options: dict[str, Any]) -> None:
    @tool
    async def ask(channel: Channel) -> str:
        """Asks the model."""
        return str(await channel.sample("Hi", max_tokens=5, **options))

    made = Suite(server_name="Test", server_version="1", tools=[ask])
    async with connect(made, capabilities=mcp.decode_as(mcp.ClientCapabilities, {"sampling": {}})) as client:
        with pytest.raises(MissingCapability) as caught:
            await client.call_tool("ask")
    assert caught.value.data == {"requiredCapabilities": {"sampling": {"tools": {}}}}
    able = mcp.decode_as(mcp.ClientCapabilities, {"sampling": {"tools": {}}})
    async with connect(made, capabilities=able) as client:
        assert isinstance(await client.start_tool("ask").result(), mcp.InputRequiredResult)


@pytest.mark.parametrize(
    "url",
    ["https:", "https://", "https:///x", "https://a b", "https://x.org/a b", 'https://x.org/"', "//x.org", "x.org", ""],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected an https: URL"):
        questions.page("Look", url)


@pytest.mark.parametrize("url", ["https://ada:secret@x.org", "https://ada@x.org/", "http://:secret@localhost/"])
def test_page_with_a_login_inside_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="has to log in") as caught:
        questions.page("Look", url)
    assert "secret" not in str(caught.value)


def test_page_asks_with_mode_message_and_url_only() -> None:
    asked = mcp.to_dict(questions.page("Look", "https://x.org/a?b=c#d").request)
    assert asked["params"] == {"mode": "url", "message": "Look", "url": "https://x.org/a?b=c#d"}


def test_form_asks_with_mode_message_and_flat_schema() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    asked = mcp.to_dict(questions.form("Who?", schema).request)
    assert asked["params"] == {"mode": "form", "message": "Who?", "requestedSchema": schema}
