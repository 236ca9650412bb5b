"""The official Python client against real server processes: what it understands is what the protocol means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio
from mcp import Client, MCPError
from mcp.client.subscriptions import ToolsListChanged
from mcp_types import AudioContent, ElicitResult, EmbeddedResource, ImageContent, TextContent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.client.context import ClientRequestContext
    from mcp_types import CallToolResult, ElicitRequestParams, LoggingMessageNotificationParams

    from tests.interop.process import ServerProcess

pytestmark = [
    pytest.mark.slow,
    # The client stops reading a stream at its last event and leaves the generators over it to trio, which warns.
    pytest.mark.filterwarnings("ignore:Async generator 'http(x2|core2)\\..*:ResourceWarning"),
]

Report = tuple[float, float | None, str | None]


class Progress:
    """Collects the reports of one call."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.came = trio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.reports.append((progress, total, message))
        self.came.set()


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def abandon(client: Client, tool: str, arguments: dict[str, Any]) -> None:
    """Call a tool and leave once it has reported progress."""
    progress = Progress()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.call_tool, tool, arguments, None, progress)
        await progress.came.wait()
        nursery.cancel_scope.cancel()


async def eventually(call: Callable[[], Awaitable[CallToolResult]], words: str) -> bool:
    """Repeat a call until its result holds the words; false if that takes five seconds."""
    with trio.move_on_after(5):
        while True:
            if words in str((await call()).content):
                return True
            await trio.sleep(0.02)
    return False


async def test_discover_settles_on_the_released_revision(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        assert client.protocol_version == "2026-07-28"
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("everything", "1.0.0")
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.logging is not None


async def test_unserved_features_are_not_advertised(workshop: ServerProcess) -> None:
    async with Client(workshop.url) as client:
        assert client.server_capabilities.prompts is None
        with pytest.raises(MCPError) as refused:
            await client.session.list_prompts()
    assert refused.value.error.code == -32601


async def test_tools_are_listed_with_whole_schemas(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert next(iter(tools)) == "test_simple_text"
    schema = tools["json_schema_2020_12_tool"].input_schema
    assert {"$schema", "$defs", "allOf", "if", "then", "else", "additionalProperties"} <= set(schema)
    assert tools["test_x_mcp_header"].input_schema["properties"]["region"]["x-mcp-header"] == "Region"


@pytest.mark.parametrize(
    ("tool", "kinds"),
    [
        ("test_simple_text", [TextContent]),
        ("test_image_content", [ImageContent]),
        ("test_audio_content", [AudioContent]),
        ("test_embedded_resource", [EmbeddedResource]),
        ("test_multiple_content_types", [TextContent, ImageContent, EmbeddedResource]),
    ],
)
async def test_every_kind_of_content_arrives(everything: ServerProcess, tool: str, kinds: list[type]) -> None:
    async with Client(everything.url) as client:
        result = await client.call_tool(tool)
    assert [type(block) for block in result.content] == kinds
    assert not result.is_error


async def test_header_parameters_are_checked_and_served(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        await client.list_tools()
        result = await client.call_tool("test_x_mcp_header", {"region": "Köln, „Süd“"})
    assert text_of(result) == "region: Köln, „Süd“"


async def test_progress_arrives_before_the_result(workshop: ServerProcess) -> None:
    progress = Progress()
    async with Client(workshop.url) as client:
        result = await client.call_tool("count", {"to": 3}, progress_callback=progress)
    assert text_of(result) == "counted to 3"
    assert progress.reports == [(1, 3, "at 1"), (2, 3, "at 2"), (3, 3, "at 3")]


async def test_only_logs_at_the_wanted_level_arrive(workshop: ServerProcess) -> None:
    logs: list[LoggingMessageNotificationParams] = []

    async def keep(params: LoggingMessageNotificationParams) -> None:
        logs.append(params)

    async with Client(workshop.url, logging_callback=keep, log_level="info") as client:
        await client.call_tool("count", {"to": 2})
    assert [(log.level, log.data, log.logger) for log in logs] == [
        ("info", {"number": 1}, "counter"),
        ("info", {"number": 2}, "counter"),
    ]


async def test_no_logs_arrive_unless_asked_for(workshop: ServerProcess) -> None:
    logs: list[LoggingMessageNotificationParams] = []

    async def keep(params: LoggingMessageNotificationParams) -> None:
        logs.append(params)

    async with Client(workshop.url, logging_callback=keep) as client:
        await client.call_tool("count", {"to": 2})
    assert logs == []


async def test_leaving_a_call_cancels_its_handler(workshop: ServerProcess) -> None:
    async with Client(workshop.url) as client:
        await abandon(client, "hold", {"name": "the one who left"})
        assert await eventually(lambda: client.call_tool("who_left"), "the one who left")


async def test_one_connection_carries_many_calls_at_once(workshop: ServerProcess) -> None:
    texts: list[str] = []

    async def count(client: Client, to: int) -> None:
        texts.append(text_of(await client.call_tool("count", {"to": to})))

    async with Client(workshop.url) as client, trio.open_nursery() as nursery:
        for to in range(20):
            nursery.start_soon(count, client, to)
    assert sorted(texts) == sorted(f"counted to {to}" for to in range(20))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ElicitResult(action="accept", content={"name": "Ada"}), "Ada"),
        (ElicitResult(action="decline"), ""),
        (ElicitResult(action="cancel"), ""),
    ],
)
async def test_a_question_is_answered_within_the_call(
    everything: ServerProcess, answer: ElicitResult, words: str
) -> None:
    questions: list[str] = []

    async def ask(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return answer

    async with Client(everything.url, elicitation_callback=ask) as client:
        result = await client.call_tool("test_input_required_result_elicitation")
    assert len(questions) == 1
    assert words in text_of(result)
    assert not result.is_error


async def test_a_question_nobody_can_answer_is_refused(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool("test_input_required_result_elicitation")
    assert failed.value.error.code == -32021


async def test_a_subscription_hears_of_changed_tools(everything: ServerProcess) -> None:
    async with Client(everything.url) as client, client.listen(tools_list_changed=True) as subscription:
        assert subscription.honored.tools_list_changed
        await client.call_tool("test_trigger_tool_change")
        with trio.fail_after(5):
            event = await anext(aiter(subscription))
    assert isinstance(event, ToolsListChanged)


@pytest.mark.parametrize(
    ("way", "code", "words"),
    [
        ("crash", -32603, ""),
        ("late_crash", -32603, ""),
        ("own_error", 4242, "our own kind of error"),
        ("invalid_params", -32602, "do not fit together"),
        ("missing_capability", -32021, ""),
        ("not_found", -32602, ""),
    ],
)
async def test_each_failure_is_a_protocol_error(workshop: ServerProcess, way: str, code: int, words: str) -> None:
    async with Client(workshop.url) as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool("fail", {"way": way})
    assert failed.value.error.code == code
    assert words in failed.value.error.message
    assert "a fault that no client may read" not in str(failed.value.error)


async def test_a_refusal_is_a_result_for_the_model(workshop: ServerProcess) -> None:
    async with Client(workshop.url) as client:
        result = await client.call_tool("fail", {"way": "refusal"})
    assert result.is_error
    assert text_of(result) == "for the model to read"


async def test_arguments_that_do_not_fit_are_a_result(workshop: ServerProcess) -> None:
    async with Client(workshop.url) as client:
        result = await client.call_tool("count", {"to": "three"})
    assert result.is_error
    assert "to" in text_of(result)


async def test_an_unknown_tool_is_a_protocol_error(workshop: ServerProcess) -> None:
    async with Client(workshop.url) as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool("nowhere")
    assert failed.value.error.code == -32602


async def test_a_low_level_server_is_discovered_and_listed(jobs: ServerProcess) -> None:
    async with Client(jobs.url) as client:
        assert client.protocol_version == "2026-07-28"
        assert [tool.name for tool in (await client.list_tools()).tools] == ["run"]


async def test_a_low_level_server_answers_from_its_mailbox(jobs: ServerProcess) -> None:
    progress = Progress()
    async with Client(jobs.url) as client:
        result = await client.call_tool("run", {"query": "the weather"}, progress_callback=progress)
    assert text_of(result) == "result of the weather"
    assert [report[:2] for report in progress.reports] == [(1, 3), (2, 3), (3, 3)]


async def test_a_low_level_server_closes_for_a_client_that_left(jobs: ServerProcess) -> None:
    async with Client(jobs.url) as client:
        await abandon(client, "run", {"query": "forever"})
        assert await eventually(lambda: client.call_tool("run", {"query": "cancelled"}), "1 cancelled")
