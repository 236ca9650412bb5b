"""The official Python client when it opens with `initialize`: the same server processes, the older revision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
import trio
from mcp import Client, MCPError
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    ResourceUpdatedNotification,
    Root,
    TextContent,
    ToolListChangedNotification,
)

if TYPE_CHECKING:
    from mcp_types import CallToolResult, LoggingMessageNotificationParams

    from tests.interop.process import ServerProcess

pytestmark = [
    pytest.mark.slow,
    # The client stops reading a stream at its last event and leaves the generators over it to trio, which warns.
    pytest.mark.filterwarnings("ignore:Async generator 'http(x2|core2)\\..*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),  # of what only these have
]

LEGACY = "legacy"


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


class Heard:
    """Collects what a client is told unasked."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.came = trio.Event()

    async def __call__(self, message: Any) -> None:
        self.messages.append(message)
        self.came.set()

    async def wait_for(self, kind: type[Any]) -> Any:
        with trio.fail_after(5):
            while True:
                found = [message for message in self.messages if isinstance(message, kind)]
                if found:
                    return found[0]
                self.came = trio.Event()
                await self.came.wait()


async def test_handshake_settles_on_the_newest_legacy_revision(everything: ServerProcess) -> None:
    async with Client(everything.url, mode=LEGACY) as client:
        assert client.protocol_version == "2025-11-25"
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("everything", "1.0.0")
        assert client.server_capabilities.resources is not None
        assert client.server_capabilities.resources.subscribe


async def test_tools_and_their_results_arrive(everything: ServerProcess) -> None:
    async with Client(everything.url, mode=LEGACY) as client:
        assert "test_simple_text" in {tool.name for tool in (await client.list_tools()).tools}
        assert "simple text" in text_of(await client.call_tool("test_simple_text"))


async def test_progress_and_logs_arrive_on_the_calls_stream(workshop: ServerProcess) -> None:
    logs: list[LoggingMessageNotificationParams] = []
    reports: list[float] = []

    async def keep(params: LoggingMessageNotificationParams) -> None:
        logs.append(params)

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(progress)

    async with Client(workshop.url, mode=LEGACY, logging_callback=keep) as client:
        assert text_of(await client.call_tool("count", {"to": 3}, progress_callback=report)) == "counted to 3"
    assert reports == [1, 2, 3]
    assert [log.data for log in logs] == [{"number": 1}, {"number": 2}, {"number": 3}]


async def test_a_level_that_was_set_lets_less_through(workshop: ServerProcess) -> None:
    logs: list[LoggingMessageNotificationParams] = []

    async def keep(params: LoggingMessageNotificationParams) -> None:
        logs.append(params)

    async with Client(workshop.url, mode=LEGACY, logging_callback=keep) as client:
        await client.session.set_logging_level("error")
        await client.call_tool("count", {"to": 2})
    assert logs == []


async def test_questions_come_as_requests_on_the_stream(everything: ServerProcess) -> None:
    async def elicit(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.com"})

    async def sample(context: Any, params: Any) -> CreateMessageResult:
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Paris"), model="m")

    async with Client(everything.url, mode=LEGACY, elicitation_callback=elicit, sampling_callback=sample) as client:
        assert "ada@example.com" in text_of(await client.call_tool("test_elicitation", {"message": "Who?"}))
        assert text_of(await client.call_tool("test_sampling", {"prompt": "Where?"})) == "LLM response: Paris"


async def test_one_handler_asks_clients_of_both_eras(everything: ServerProcess) -> None:
    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///a"), Root(uri="file:///b")])  # type: ignore[arg-type]  # a text is taken

    for mode in (LEGACY, "auto"):
        async with Client(everything.url, mode=mode, list_roots_callback=roots) as client:
            result = await client.call_tool("test_input_required_result_list_roots")
            assert text_of(result) == "The client has 2 roots."


async def test_several_rounds_of_several_questions_are_driven(everything: ServerProcess) -> None:
    async def elicit(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": "Ada"} if "name" in params.message else {"color": "red"})

    async with Client(everything.url, mode=LEGACY, elicitation_callback=elicit) as client:
        text = text_of(await client.call_tool("test_input_required_result_multi_round"))
    assert "Ada" in text
    assert "red" in text


async def test_a_question_that_a_client_cannot_answer_is_an_error(everything: ServerProcess) -> None:
    async with Client(everything.url, mode=LEGACY) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("test_sampling", {"prompt": "Where?"})
    assert "sampling" in refused.value.error.message


async def test_a_missing_resource_has_the_older_code(everything: ServerProcess) -> None:
    async with Client(everything.url, mode=LEGACY) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource("test://nothing/here")
    assert refused.value.error.code == -32002


async def test_changes_arrive_on_the_get_stream(everything: ServerProcess) -> None:
    heard = Heard()
    async with Client(everything.url, mode=LEGACY, message_handler=heard) as client:
        await trio.sleep(0.3)  # the client opens its GET stream behind the scenes
        await client.call_tool("test_trigger_tool_change")
        assert await heard.wait_for(ToolListChangedNotification)


async def test_a_watched_resource_is_heard_of_until_it_is_not(everything: ServerProcess) -> None:
    heard = Heard()
    async with Client(everything.url, mode=LEGACY, message_handler=heard) as client:
        await trio.sleep(0.3)  # as above
        await client.session.subscribe_resource("test://watched-resource")
        await client.call_tool("test_trigger_resource_update", {"uri": "test://watched-resource"})
        updated = await heard.wait_for(ResourceUpdatedNotification)
        assert str(updated.params.uri) == "test://watched-resource"
        await client.session.unsubscribe_resource("test://watched-resource")
        heard.messages.clear()
        await client.call_tool("test_trigger_resource_update", {"uri": "test://watched-resource"})
        await client.call_tool("test_trigger_tool_change")
        await heard.wait_for(ToolListChangedNotification)
        assert not [each for each in heard.messages if isinstance(each, ResourceUpdatedNotification)]


def test_a_session_that_is_closed_is_gone(everything: ServerProcess) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    }
    headers = {"Accept": "application/json, text/event-stream"}
    opened = httpx.post(everything.url, json=body, headers=headers)
    headers |= {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-06-18"}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert httpx.post(everything.url, json=ping, headers=headers).json() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert httpx.delete(everything.url, headers=headers).status_code == 200
    assert httpx.post(everything.url, json=ping, headers=headers).status_code == 404
