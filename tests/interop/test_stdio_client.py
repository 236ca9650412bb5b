"""The official Python client over stdio, at both eras, against real server processes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
import trio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.subscriptions import ToolsListChanged
from mcp_types import ElicitResult, ResourceUpdatedNotification, TextContent, ToolListChangedNotification

from tests.interop.conformance import EVERYTHING
from tests.interop.node import FOLDER
from tests.interop.piped import stdio_command
from tests.interop.process import ROOT

if TYPE_CHECKING:
    from mcp_types import CallToolResult, LoggingMessageNotificationParams

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="not supported there"),
    # What the older revisions have and the released one has not is what is tried here.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
both_eras = pytest.mark.parametrize("mode", list(ERAS))

WORKSHOP = f"{FOLDER / 'workshop.py'}:suite"
NOISY = f"{FOLDER / 'noisy.py'}:suite"


def process(app: str) -> StdioServerParameters:
    command, *arguments = stdio_command(app)
    return StdioServerParameters(command=command, args=arguments, cwd=ROOT)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


class Heard:
    """Collects what a client is sent unasked."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    async def __call__(self, message: Any) -> None:
        self.messages.append(message)

    async def wait_for(self, kind: type) -> Any:
        with trio.fail_after(10):
            while not (found := [message for message in self.messages if isinstance(message, kind)]):
                await trio.sleep(0.02)
        return found[0]


@both_eras
async def test_each_era_is_settled_and_lists_tools(mode: str) -> None:
    async with Client(process(EVERYTHING), mode=mode) as client:
        assert client.protocol_version == ERAS[mode]
        assert client.server_info is not None
        assert client.server_info.name == "everything"
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "test_simple_text" in names
        assert (await client.list_prompts()).prompts
        assert (await client.list_resources()).resources


@both_eras
async def test_calls_report_and_log_before_the_result(mode: str) -> None:
    logs: list[object] = []
    reports: list[float] = []

    async def keep(params: LoggingMessageNotificationParams) -> None:
        logs.append(params.data)

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(progress)

    async with Client(process(WORKSHOP), mode=mode, logging_callback=keep, log_level="info") as client:
        if mode == "legacy":
            await client.session.set_logging_level("info")
        result = await client.call_tool("count", {"to": 3}, progress_callback=report)
        assert text_of(result) == "counted to 3"
    assert reports == [1, 2, 3]
    assert logs == [{"number": 1}, {"number": 2}, {"number": 3}]


@both_eras
async def test_calls_run_side_by_side_without_crossing(mode: str) -> None:
    said: dict[str, str] = {}

    async with Client(process(NOISY), mode=mode) as client, trio.open_nursery() as nursery:

        async def say(text: str) -> None:
            said[text] = text_of(await client.call_tool("echo", {"text": text}))

        for number in range(50):
            nursery.start_soon(say, f"{mode} {number}")
            if number % 10 == 0:
                nursery.start_soon(client.call_tool, "shout")
    assert len(said) == 50
    assert all(text == answer for text, answer in said.items())


@both_eras
async def test_handler_asks_the_person_at_the_client(mode: str) -> None:
    async def elicit(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.com"})

    async with Client(process(EVERYTHING), mode=mode, elicitation_callback=elicit) as client:
        assert "ada@example.com" in text_of(await client.call_tool("test_elicitation", {"message": "Who?"}))


@both_eras
async def test_abandoned_call_is_cancelled(mode: str) -> None:
    async with Client(process(WORKSHOP), mode=mode) as client:
        came = trio.Event()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            came.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, "hold", {"name": mode}, None, report)
            await came.wait()
            nursery.cancel_scope.cancel()
        with trio.fail_after(5):
            while mode not in str((await client.call_tool("who_left")).content):
                await trio.sleep(0.02)
        assert text_of(await client.call_tool("count", {"to": 1})) == "counted to 1"


@both_eras
async def test_failure_of_a_tool_is_a_protocol_error(mode: str) -> None:
    async with Client(process(WORKSHOP), mode=mode) as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool("fail", {"way": "crash"})
        assert failed.value.error.code == -32603
        assert (await client.call_tool("fail", {"way": "refusal"})).is_error


async def test_subscription_hears_of_a_change() -> None:
    async with Client(process(EVERYTHING)) as client, client.listen(tools_list_changed=True) as subscription:
        assert subscription.honored.tools_list_changed
        await client.call_tool("test_trigger_tool_change")
        with trio.fail_after(5):
            event = await anext(aiter(subscription))
    assert isinstance(event, ToolsListChanged)


async def test_older_client_hears_of_changes_unasked() -> None:
    heard = Heard()
    async with Client(process(EVERYTHING), mode="legacy", message_handler=heard) as client:
        await client.session.subscribe_resource("test://watched-resource")
        await client.call_tool("test_trigger_resource_update", {"uri": "test://watched-resource"})
        updated = await heard.wait_for(ResourceUpdatedNotification)
        assert str(updated.params.uri) == "test://watched-resource"
        await client.call_tool("test_trigger_tool_change")
        await heard.wait_for(ToolListChangedNotification)


async def test_older_client_is_answered_its_pings() -> None:
    async with Client(process(WORKSHOP), mode="legacy") as client:
        assert await client.session.send_ping() is not None
