"""Functions as tools: what the decorator makes of a signature, and how a call runs."""

from __future__ import annotations

import logging
import threading
import time
from typing import Annotated, Any

import msgspec
import pytest
import trio

from genmcp import Channel, ConfigurationError, McpError, Sent, Suite, SyncChannel, ToolError, tool
from genmcp.mcp import v2607 as mcp
from genmcp.testing import connect
from genmcp.threads import Threads
from genmcp.worker import WorkerSettings


def suite_of(*tools: Any) -> Suite:
    return Suite(server_name="Test", server_version="1", tools=tools)


@tool(annotations={"readOnlyHint": True})
async def add(a: float, b: float) -> float:
    """Adds two numbers and returns the sum."""
    return a + b


@tool
def shout(text: str) -> str:
    """Shouts.

    Args:
        text: What to shout.
    """
    return text.upper()


class Point(msgspec.Struct):
    x: int
    y: int = 0


@tool
async def mirror(point: Point) -> Point:
    """Returns the point."""
    return point


async def test_decorated_function_is_still_a_function() -> None:
    assert await add(1, 2) == 3
    assert shout("x") == "X"


async def test_structured_return_is_checked_and_mirrored(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite_of(add)) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2.5})
    assert result.structured_content == 3.5
    assert result.content == [mcp.TextContent(text="3.5")]


async def test_text_return_is_content_only() -> None:
    async with connect(suite_of(shout)) as client:
        result = await client.call_tool("shout", {"text": "hi"})
        [described] = await client.list_tools()
    assert result.content == [mcp.TextContent(text="HI")]
    assert result.structured_content is msgspec.UNSET
    assert described.output_schema is None
    assert described.description == "Shouts."
    assert described.input_schema["properties"]["text"]["description"] == "What to shout."


async def test_struct_argument_arrives_converted(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite_of(mirror)) as client:
        result = await client.call_tool("mirror", {"point": {"x": 1}})
    assert result.structured_content == {"x": 1, "y": 0}


async def test_wrong_arguments_are_a_tool_error_naming_the_path(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite_of(mirror)) as client:
        result = await client.call_tool("mirror", {"point": {"x": "one"}, "other": 1})
    assert result.is_error
    text = result.content[0].text  # type: ignore[union-attr]  # a text block
    assert "point.x" in text
    assert "other" in text


async def test_falsy_and_null_values_are_structured_content(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def nothing() -> int | None:
        """Nothing."""
        return None

    async with connect(suite_of(nothing)) as client:
        result = await client.call_tool("nothing")
    assert result.structured_content is None
    assert result.content == [mcp.TextContent(text="null")]


async def test_text_mirror_can_be_left_out(autojump_clock: trio.abc.Clock) -> None:
    @tool(text_mirror=False)
    async def pair() -> list[int]:
        """A pair."""
        return [1, 2]

    async with connect(suite_of(pair)) as client:
        result = await client.call_tool("pair")
    assert result.structured_content == [1, 2]
    assert result.content == []


async def test_channel_of_any_name_is_injected_and_left_out_of_the_schema(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def whoami(line: Channel, greeting: str = "hello") -> str:
        """Says who calls."""
        return f"{greeting} {line.meta.principal} {line.tool_name}"

    async with connect(suite_of(whoami), as_principal="ada") as client:
        [described] = await client.list_tools()
        result = await client.call_tool("whoami")
    assert set(described.input_schema["properties"]) == {"greeting"}
    assert result.content == [mcp.TextContent(text="hello ada whoami")]


def test_wrong_pairing_of_channels_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'late'.*'line'"):

        @tool
        async def late(line: SyncChannel) -> None:
            """Never."""

    with pytest.raises(ConfigurationError, match="def takes a SyncChannel"):

        @tool
        def early(line: Channel) -> None:
            """Never."""


async def test_raw_message_reaches_a_function_through_receive(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def wait(channel: Channel) -> str:
        """Waits."""
        await channel.send_progress(0, 1, str(channel.pid))
        return str(await channel.receive(timeout=60))

    async with connect(suite_of(wait)) as client:
        call = client.start_tool("wait", progress_token="p")
        progress = await call.next_notification()
        assert isinstance(progress, mcp.ProgressNotification)
        assert progress.params.message == str(call.pid)
        client.push(str(call.pid), "pushed")
        result = await call.result()
    assert result.content == [mcp.TextContent(text="pushed")]


async def test_tool_error_is_shown_and_others_are_masked(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    @tool
    async def fail(kind: str) -> str:
        """Fails."""
        raise ToolError("visible") if kind == "tool" else RuntimeError("secret")

    async with connect(suite_of(fail)) as client:
        result = await client.call_tool("fail", {"kind": "tool"})
        with pytest.raises(McpError) as caught:
            await client.call_tool("fail", {"kind": "other"})
    assert result.is_error
    assert result.content == [mcp.TextContent(text="visible")]
    assert caught.value.code == -32603
    assert "secret" not in str(caught.value.to_dict())
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert caught.value.data["reference"] in record.getMessage()


async def test_timeout_of_a_tool_names_its_limit(autojump_clock: trio.abc.Clock) -> None:
    seen: list[str] = []

    @tool(timeout=0.2)
    async def slow() -> str:
        """Sleeps."""
        try:
            await trio.sleep(5)
        finally:
            seen.append("cancelled")
        return "never"

    async with connect(suite_of(slow)) as client:
        begun = trio.current_time()
        with pytest.raises(McpError, match=r"0\.2 s") as caught:
            await client.call_tool("slow")
        assert trio.current_time() - begun < 0.5
    assert caught.value.code == -32603
    assert seen == ["cancelled"]


async def test_default_timeout_of_the_server_applies(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def slow() -> str:
        """Sleeps."""
        await trio.sleep(5)
        return "never"

    async with connect(suite_of(slow), settings=WorkerSettings(tool_timeout=1)) as client:
        with pytest.raises(McpError, match="1 s"):
            await client.call_tool("slow")


@pytest.mark.parametrize(("own", "servers"), [(3, 1), (1, 3)])
async def test_own_timeout_of_a_tool_comes_first(own: float, servers: float, autojump_clock: trio.abc.Clock) -> None:
    @tool(timeout=own)
    async def slow() -> str:
        """Sleeps."""
        await trio.sleep(2)
        return "in time"

    async with connect(suite_of(slow), settings=WorkerSettings(tool_timeout=servers)) as client:
        if own > 2:
            assert (await client.call_tool("slow")).content == [mcp.TextContent("in time")]
        else:
            with pytest.raises(McpError, match="1 s"):
                await client.call_tool("slow")


async def test_finish_lets_the_work_end_although_the_client_left(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    done: list[str] = []

    @tool(on_close="finish")
    async def must(channel: Channel) -> str:
        """Must finish."""
        await trio.sleep(5)
        done.append((await channel.send_progress(1) is Sent.CLOSED and "closed") or "open")
        return "dropped"

    async with connect(suite_of(must)) as client:
        call = client.start_tool("must", progress_token=1)
        await trio.sleep(1)
        call.leave()
        await trio.sleep(10)
        assert client.node.snapshot() == ()
    assert done == ["closed"]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_sync_tool_runs_in_a_thread_and_uses_the_channel() -> None:
    names: list[str] = []

    @tool
    def work(channel: SyncChannel) -> str:
        """Works."""
        names.append(threading.current_thread().name)
        assert channel.send_progress(1, 2) is Sent.SENT
        return str(channel.receive(timeout=5))

    async with connect(suite_of(work)) as client:
        call = client.start_tool("work", progress_token=1)
        await call.next_notification()
        call.push("mail")
        result = await call.result()
    assert names != [threading.main_thread().name]
    assert result.content == [mcp.TextContent(text="mail")]


async def test_sync_tool_sees_that_its_client_left() -> None:
    seen: list[object] = []
    over = threading.Event()

    @tool
    def work(channel: SyncChannel) -> str:
        """Works."""
        while not channel.closed:
            time.sleep(0.005)
        seen.append(channel.send_progress(1))
        over.set()
        return "late"

    async with connect(suite_of(work)) as client:
        call = client.start_tool("work", progress_token=1)
        await trio.testing.wait_all_tasks_blocked(0.02)
        call.leave()
        with trio.fail_after(5):
            while client.node.snapshot():
                await trio.sleep(0.005)
            await trio.to_thread.run_sync(over.wait, 5)
    assert seen == [Sent.CLOSED]


async def test_sync_tool_waiting_for_mail_is_woken_when_its_client_leaves() -> None:
    seen: list[str] = []
    over = threading.Event()

    @tool
    def work(channel: SyncChannel) -> str:
        """Works."""
        try:
            channel.receive()
        except Exception as error:
            seen.append(type(error).__name__)
        over.set()
        return "late"

    async with connect(suite_of(work)) as client:
        call = client.start_tool("work")
        await trio.testing.wait_all_tasks_blocked(0.02)
        call.leave()
        with trio.fail_after(5):
            await trio.to_thread.run_sync(over.wait, 5)
    assert seen == ["ChannelClosedError"]


async def test_threads_beyond_limit_and_queue_are_refused_at_once() -> None:
    release = threading.Event()

    @tool
    def block() -> str:
        """Blocks."""
        release.wait(10)
        return "done"

    settings = WorkerSettings(threads=Threads(limit=2, queue=2))
    async with connect(suite_of(block, add), settings=settings) as client:
        calls = [client.start_tool("block") for _ in range(10)]
        with trio.fail_after(10):
            while sum(call.outbox.ended.is_set() for call in calls) < 6:
                await trio.sleep(0.001)
            assert (await client.call_tool("add", {"a": 1, "b": 1})).structured_content == 2
            refused = [call for call in calls if call.outbox.ended.is_set()]
            release.set()
            for call in calls:
                if call in refused:
                    with pytest.raises(McpError, match="busy"):
                        await call.result()
                else:
                    assert (await call.result()).content == [mcp.TextContent(text="done")]
    assert len(refused) == 6


async def test_sync_tool_blocks_nobody_else() -> None:
    @tool
    def nap() -> str:
        """Naps."""
        time.sleep(0.3)
        return "awake"

    async with connect(suite_of(nap, add)) as client:
        call = client.start_tool("nap")
        begun = time.perf_counter()
        for _ in range(20):
            await client.call_tool("add", {"a": 1, "b": 1})
        assert time.perf_counter() - begun < 0.25
        assert not call.outbox.ended.is_set()
        await call.result()


def test_header_annotation_becomes_a_mirrored_parameter() -> None:
    @tool
    async def where(region: Annotated[str, msgspec.Meta(extra_json_schema={"x-mcp-header": "Region"})]) -> str:
        """Where."""
        return region

    assert list(where.contract.headers) == ["Region"]


def test_missing_description_is_a_start_up_warning(caplog: pytest.LogCaptureFixture) -> None:
    @tool
    async def mute() -> None: ...

    suite_of(mute)
    assert "tool 'mute': no description" in caplog.text


def test_name_that_clients_may_refuse_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    @tool(name="two words")
    async def named() -> None:
        """Named."""

    suite_of(named)
    assert "'two words'" in caplog.text
