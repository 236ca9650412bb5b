from collections.abc import Iterator
from typing import Any

import pytest
import trio.testing

from genmcp import PromptNotFound, ResourceNotFound
from genmcp.cli.banner import summary
from genmcp.cli.demo import MOST_NOTES, notes, suite
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Call, connect

FORMS = mcp.ClientCapabilities(elicitation=mcp.ElicitationCapability(form={}))


@pytest.fixture(autouse=True)
def same_notes() -> Iterator[None]:
    """Leave the notebook as it was."""
    before = dict(notes)
    yield
    notes.clear()
    notes.update(before)


def text_of(result: Any) -> str:
    (block,) = result.content
    assert isinstance(block, mcp.TextContent)
    return block.text


def progress_of(call: Call) -> list[str | None]:
    return [note.params.message for note in call.notifications if isinstance(note, mcp.ProgressNotification)]


async def test_ordinary_tool_answers() -> None:
    async with connect(suite) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == 3


async def test_slow_tool_reports_progress(autojump_clock: trio.testing.MockClock) -> None:
    async with connect(suite) as client:
        call = client.start_tool("countdown", {"seconds": 3}, progress_token="p")
        assert text_of(await call.result()) == "Lift-off"
    assert progress_of(call) == ["3 to go", "2 to go", "1 to go"]


async def test_waiting_tool_tells_its_address_and_ends_by_a_message() -> None:
    async with connect(suite) as client:
        call = client.start_tool("wait_for_message", progress_token="p", log_level="info")
        await call.next_notification()
        await call.next_notification()
        call.push("hello")
        assert text_of(await call.result()) == "Somebody sent: 'hello'"
    assert progress_of(call) == [f"python -m genmcp send {call.pid} '\"hello\"'"]


async def test_waiting_tool_gives_up(autojump_clock: trio.testing.MockClock) -> None:
    async with connect(suite) as client:
        assert text_of(await client.call_tool("wait_for_message", {"timeout": 3600})) == "Nobody sent anything"


async def test_streaming_tool_sees_the_childs_ticks(autojump_clock: trio.testing.MockClock) -> None:
    async with connect(suite) as client:
        call = client.start_tool("ticks", {"count": 2}, progress_token="p")
        assert text_of(await call.result()) == "Saw 2 ticks"
    assert len(progress_of(call)) == 2


async def test_asking_tool_goes_on_with_the_answer() -> None:
    async with connect(suite, capabilities=FORMS) as client:
        call = client.start_tool("greet")
        asked = await call.result()
        (key,) = asked.input_requests
        answered = client.retry(call, {key: {"action": "accept", "content": {"name": "Ada"}}})
        assert text_of(await answered.result()) == "Hello, Ada"
        call = client.start_tool("greet")
        (key,) = (await call.result()).input_requests
        declined = client.retry(call, {key: {"action": "decline"}})
        assert text_of(await declined.result()) == "Hello, whoever you are"


async def test_written_note_is_told_and_read(autojump_clock: trio.testing.MockClock) -> None:
    wanted = {"notifications": {"resourceSubscriptions": ["demo://notes/todo"]}}
    async with connect(suite) as client:
        with pytest.raises(ResourceNotFound):
            await client.request("resources/read", {"uri": "demo://notes/todo"})
        listening = client.start("subscriptions/listen", wanted)
        await listening.next_notification()
        written = await client.call_tool("write_note", {"name": "todo", "text": "Tea"})
        update = await listening.next_notification()
        read = await client.request("resources/read", {"uri": "demo://notes/todo"})
    assert written.structured_content == {"uri": "demo://notes/todo", "characters": 3, "streams_told": 1}
    assert isinstance(update, mcp.ResourceUpdatedNotification)
    assert update.params.uri == "demo://notes/todo"
    assert read.contents == [mcp.TextResourceContents("demo://notes/todo", "Tea", mime_type="text/plain")]


async def test_notebook_does_not_grow_for_ever() -> None:
    async with connect(suite) as client:
        for number in range(MOST_NOTES - len(notes)):
            assert not (await client.call_tool("write_note", {"name": f"n-{number}", "text": ""})).is_error
        full = await client.call_tool("write_note", {"name": "one-more", "text": ""})
        over = await client.call_tool("write_note", {"name": "welcome", "text": "Hello"})
        wrong = await client.call_tool("write_note", {"name": "No name", "text": ""})
    assert "is full" in text_of(full)
    assert notes["welcome"] == "Hello"
    assert not over.is_error
    assert wrong.is_error


async def test_resource_and_template_are_listed() -> None:
    async with connect(suite) as client:
        resources = (await client.request("resources/list")).resources
        templates = (await client.request("resources/templates/list")).resource_templates
        about = await client.request("resources/read", {"uri": "demo://about"})
    assert [item.uri for item in resources] == ["demo://about"]
    assert [item.uri_template for item in templates] == ["demo://notes/{name}"]
    assert about.contents[0].text.startswith("# The genmcp demo")
    assert (about.cache_scope, about.ttl_ms) == ("public", 3_600_000)


async def test_prompt_embeds_the_note() -> None:
    async with connect(suite) as client:
        result = await client.request("prompts/get", {"name": "rewrite", "arguments": {"name": "welcome"}})
        with pytest.raises(ResourceNotFound):
            await client.request("prompts/get", {"name": "rewrite", "arguments": {"name": "absent"}})
        with pytest.raises(PromptNotFound):
            await client.request("prompts/get", {"name": "absent"})
    embedded, wish = [message.content for message in result.messages]
    assert embedded.resource.text == notes["welcome"]
    assert wish.text == "Rewrite this note: shorter."


@pytest.mark.parametrize(
    "ref", [{"type": "ref/resource", "uri": "demo://notes/{name}"}, {"type": "ref/prompt", "name": "rewrite"}]
)
async def test_names_of_notes_complete(ref: dict[str, str]) -> None:
    async with connect(suite) as client:
        params = {"ref": ref, "argument": {"name": "name", "value": "we"}}
        assert (await client.request("completion/complete", params)).completion.values == ["welcome"]


def test_summary_counts_what_is_offered() -> None:
    assert summary(suite).partition(" with ")[2] == (
        "6 tools, 2 resources, 1 prompt: add, countdown, wait_for_message, ticks, greet, write_note"
    )
