from typing import Any

import trio.testing

from genmcp.cli.demo import suite
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Call, connect

FORMS = mcp.ClientCapabilities(elicitation=mcp.ElicitationCapability(form={}))


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
