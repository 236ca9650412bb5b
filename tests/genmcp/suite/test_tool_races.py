"""Tools in odd moments: threads that outlive their request, tools that come and go, errors out of nurseries."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import Any

import pytest
import trio

from actors import ExitReason, Shutdown
from genmcp import (
    Channel,
    Extension,
    InvalidParams,
    McpError,
    Result,
    Sent,
    Stream,
    Suite,
    SyncChannel,
    Tool,
    ToolError,
    UnknownTool,
    tool,
)
from genmcp.mcp import v2607 as mcp
from genmcp.testing import channel, connect
from genmcp.threads import Threads
from genmcp.worker import WorkerSettings


def suite_of(*tools: Tool[Any, Any], **options: Any) -> Suite:
    return Suite(server_name="Test", server_version="1", tools=tools, **options)


def text(result: mcp.CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, mcp.TextContent)
    return block.text


# -- threads


async def test_abandoned_thread_holds_its_place_until_it_ends() -> None:
    release, over = threading.Event(), threading.Event()
    results: list[Sent] = []

    @tool
    def block(channel: SyncChannel) -> str:
        """Blocks."""
        release.wait(10)
        results.append(channel.send_result(mcp.call_tool_result(text="late")))
        over.set()
        return "late"

    @tool
    def quick() -> str:
        """Is quick."""
        return "quick"

    settings = WorkerSettings(threads=Threads(limit=1, queue=1))
    async with connect(suite_of(block, quick), settings=settings) as client:
        blocked = client.start_tool("block")
        await trio.testing.wait_all_tasks_blocked(0.02)
        blocked.leave()
        with trio.fail_after(5):
            while client.node.snapshot():
                await trio.sleep(0.001)
        waiting = client.start_tool("quick")
        await trio.testing.wait_all_tasks_blocked(0.02)
        assert not waiting.outbox.ended.is_set()
        with pytest.raises(McpError, match="busy"):
            await client.call_tool("quick")
        release.set()
        with trio.fail_after(5):
            assert text(await waiting.result()) == "quick"
            await trio.to_thread.run_sync(over.wait, 5)
    assert results == [Sent.CLOSED]
    assert blocked.outbox.final is None


async def test_call_that_waits_for_a_thread_gives_up_its_place_when_its_client_leaves() -> None:
    release = threading.Event()

    @tool
    def block() -> str:
        """Blocks."""
        release.wait(10)
        return "done"

    settings = WorkerSettings(threads=Threads(limit=1, queue=1))
    async with connect(suite_of(block), settings=settings) as client:
        running = client.start_tool("block")
        await trio.testing.wait_all_tasks_blocked(0.02)
        waiting = client.start_tool("block")
        await trio.testing.wait_all_tasks_blocked(0.02)
        waiting.leave()
        await trio.testing.wait_all_tasks_blocked(0.02)
        assert settings.threads.waiting == 0
        other = client.start_tool("block")
        release.set()
        with trio.fail_after(5):
            assert (text(await running.result()), text(await other.result())) == ("done", "done")


async def test_several_threads_may_use_one_channel() -> None:
    @tool
    def crowd(channel: SyncChannel) -> str:
        """Reports from many threads."""
        sent: list[Sent] = []

        def report(offset: int) -> None:
            sent.extend(channel.send_log("info", offset + number) for number in range(10))

        threads = [threading.Thread(target=report, args=(10 * each,)) for each in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return f"{len(sent)} {set(sent)}"

    async with connect(suite_of(crowd)) as client:
        call = client.start_tool("crowd", log_level="debug")
        with trio.fail_after(10):
            result = text(await call.result())
    assert result == "50 {<Sent.SENT: 'sent'>}"
    logged = [mcp.to_dict(note)["params"]["data"] for note in call.notifications]
    assert sorted(logged) == list(range(50))
    assert all(
        [number for number in logged if number // 10 == each] == [10 * each + n for n in range(10)] for each in range(5)
    )


async def test_sync_channel_shows_what_the_channel_shows() -> None:
    shown = {name for name in dir(Channel) if not name.startswith("_")} - {"backstage", "check_headers"}
    assert shown - {name for name in dir(SyncChannel) if not name.startswith("_")} == set()

    @tool
    def look(channel: SyncChannel) -> str:
        """Looks."""
        return f"{channel.status} {channel.close_reason} {channel.request_id} {channel.tool_name} {channel.log_level}"

    async with connect(suite_of(look)) as client:
        assert text(await client.call_tool("look", log_level="info")) == "open None 1 look info"


async def test_base_exception_of_a_library_ends_its_request_only(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    @tool
    async def cancelled() -> str:
        """Fails as asyncio does."""
        raise asyncio.CancelledError("secret")

    @tool
    async def fine() -> str:
        """Works."""
        await trio.sleep(1)
        return "fine"

    async with connect(suite_of(cancelled, fine)) as client:
        other = client.start_tool("fine")
        with pytest.raises(McpError) as caught:
            await client.call_tool("cancelled")
        assert text(await other.result()) == "fine"
    assert caught.value.code == -32603
    assert caught.value.data["reference"] in caplog.text


# -- finishing although the client left


@pytest.mark.parametrize("how", ["timeout", "shutdown"])
async def test_finishing_is_bounded_by_time_limit_and_shutdown(how: str, autojump_clock: trio.abc.Clock) -> None:
    seen: list[object] = []

    @tool(on_close="finish", timeout=5)
    async def must(channel: Channel) -> str:
        """Must finish."""
        try:
            await trio.sleep_forever()
        finally:
            seen.append((trio.current_time() - begun, channel.close_reason))

    async with connect(suite_of(must)) as client:
        begun = trio.current_time()
        call = client.start_tool("must")
        reasons: list[ExitReason] = []
        client.node.on_exit(call.pid, reasons.append)
        await trio.sleep(1)
        call.leave()
        await trio.sleep(1)
        if how == "shutdown":
            await client.node.stop()
        await trio.sleep(10)
    assert seen == [(pytest.approx(5 if how == "timeout" else 2), "client_gone")]
    assert reasons == [Shutdown("timeout") if how == "timeout" else Shutdown()]


# -- errors


async def test_tool_error_from_a_tools_own_nursery_is_for_the_model(autojump_clock: trio.abc.Clock) -> None:
    async def fail(kind: str) -> None:
        raise ToolError("visible") if kind == "tool" else InvalidParams("told")

    class Nested(Tool[dict[str, Any], None]):
        """Fails in a nursery."""

        name = "nested"

        async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> Any:
            kind = request.params.arguments["kind"]
            if kind == "stream":
                return Stream(None)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                nursery.start_soon(fail, kind)
            return None

        async def handle_message(self, message: object, channel: Channel, state: None, /) -> Any:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(fail, str(message))

    async with connect(suite_of(Nested())) as client:
        result = await client.call_tool("nested", {"kind": "tool"})
        assert (result.is_error, text(result)) == (True, "visible")
        with pytest.raises(InvalidParams, match="told"):
            await client.call_tool("nested", {"kind": "other"})
        call = client.start_tool("nested", {"kind": "stream"})
        call.push("tool")
        assert text(await call.result()) == "visible"


@pytest.mark.parametrize("callback", ["validate", "call", "handle_message"])
async def test_wrong_return_of_a_tool_names_callback_tool_and_value(
    callback: str, caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Wrong(Tool[dict[str, Any], None]):
        """Wrong."""

        name = "wrong"

        async def validate(self, request: mcp.CallToolRequest, /) -> Any:
            return "odd" if callback == "validate" else request

        async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> Any:
            return "odd" if callback == "call" else Stream(None)

        async def handle_message(self, message: object, channel: Channel, state: None, /) -> Any:
            return "odd"

    async with connect(suite_of(Wrong())) as client:
        call = client.start_tool("wrong")
        call.push("go")
        with pytest.raises(McpError, match="Internal error"):
            await call.result()
    assert f"Wrong.{callback} of tool 'wrong' returned 'odd'" in caplog.text


async def test_failing_extension_is_a_masked_crash_that_names_it(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Failing(Extension):
        async def tools(self, channel: Channel, /) -> Sequence[Tool[Any, Any]]:
            raise OSError("secret")

    async with connect(suite_of(extensions=[Failing])) as client:
        for method, params in (("tools/list", {}), ("tools/call", {"name": "x"})):
            with pytest.raises(McpError) as caught:
                await client.request(method, params)
            assert caught.value.code == -32603
            assert "secret" not in str(caught.value.to_dict())
    assert "Failing.tools" in caplog.text


async def test_extension_may_return_any_iterable_and_nothing_else(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    @tool
    async def extra() -> str:
        """Extra."""
        return "extra"

    class Generates(Extension):
        async def tools(self, channel: Channel, /) -> Any:
            return (each for each in [extra]) if channel.meta.principal is None else [extra, "odd"]

    async with connect(suite_of(extensions=[Generates])) as client:
        assert text(await client.call_tool("extra")) == "extra"
        with pytest.raises(McpError, match="Internal error"):
            await client.as_principal("ada").list_tools()
    assert "Generates.tools returned" in caplog.text


# -- tools that come and go


async def test_tool_removed_during_its_call_finishes_it(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def slow() -> str:
        """Is slow."""
        await trio.sleep(5)
        return "done"

    class Wait(Tool[dict[str, Any], None]):
        """Waits."""

        name = "wait"

        async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> Stream[None]:
            return Stream(None)

        async def handle_message(self, message: object, channel: Channel, state: None, /) -> Result:
            return Result(mcp.call_tool_result(text=str(message)))

    made = suite_of(slow, Wait())
    async with connect(made) as client:
        calls = [client.start_tool(name) for name in ("slow", "wait")]
        await trio.sleep(1)
        assert made.remove("slow")
        assert made.remove("wait")
        with pytest.raises(McpError):
            await client.call_tool("slow")
        calls[1].push("after")
        assert [text(await call.result()) for call in calls] == ["done", "after"]

        @tool(name="slow")
        async def other() -> str:
            """Is another one."""
            return "other"

        made.add(other)
        assert text(await client.call_tool("slow")) == "other"
        with pytest.raises(UnknownTool):
            await client.call_tool("wait")


async def test_plain_function_is_added_by_the_suites_own_decorator(autojump_clock: trio.abc.Clock) -> None:
    made = suite_of()

    @made.tool
    async def first(a: int) -> int:
        """First."""
        return a

    @made.tool(name="second", annotations={"readOnlyHint": True})
    def other(a: int) -> int:
        """Second."""
        return a + 1

    assert await first(1) == other(0) == 1
    async with connect(made) as client:
        assert [found.name for found in await client.list_tools()] == ["first", "second"]
        assert (await client.call_tool("first", {"a": 3})).structured_content == 3


# -- what a client declared


@pytest.mark.parametrize(
    ("declared", "path", "fine"),
    [
        ({"elicitation": {}}, ("elicitation", "form"), True),
        ({"elicitation": {}}, ("elicitation", "url"), False),
        ({"elicitation": {"url": {}}}, ("elicitation", "form"), False),
        ({"elicitation": {"form": {}}}, ("elicitation", "form"), True),
        ({"sampling": {}}, ("sampling",), True),
        ({"sampling": {}}, ("sampling", "tools"), False),
        ({"sampling": {"tools": {}}}, ("sampling", "tools"), True),
        ({"extensions": {"com.example/x": {}}}, ("extensions", "com.example/x"), True),
        ({"extensions": {"com.example/x": {"deep": {}}}}, ("extensions", "com.example/x", "deep"), True),
        ({"extensions": {}}, ("extensions", "com.example/x"), False),
        ({"experimental": {"x": {}}}, ("experimental", "x"), True),
        ({}, ("roots",), False),
    ],
)
def test_capability_is_what_this_request_declared(declared: Any, path: tuple[str, ...], fine: bool) -> None:
    made = channel(capabilities=mcp.decode_as(mcp.ClientCapabilities, declared))
    if fine:
        made.require_capability(*path)
        assert made.outbox.final is None
        return
    with pytest.raises(McpError) as caught:
        made.require_capability(*path)
    required: Any = caught.value.data["requiredCapabilities"]
    for step in path:
        required = required[step]
    assert (caught.value.code, required) == (-32021, {})


@pytest.mark.parametrize("wanted", mcp.LOGGING_LEVELS)
async def test_log_goes_out_at_its_level_and_above(wanted: mcp.LoggingLevel) -> None:
    made = channel(log_level=wanted)
    sent = [await made.send_log(level, level) for level in mcp.LOGGING_LEVELS]
    place = mcp.LOGGING_LEVELS.index(wanted)
    assert sent == [Sent.NOT_WANTED] * place + [Sent.SENT] * (8 - place)
    assert [mcp.to_dict(note)["params"]["level"] for note in made.outbox.notifications] == list(
        mcp.LOGGING_LEVELS[place:]
    )


async def test_progress_that_is_no_json_raises_also_where_nobody_asked() -> None:
    for token in (None, "t"):
        with pytest.raises(ValueError, match="finite"):
            await channel(progress_token=token).send_progress(float("nan"))
        with pytest.raises(ValueError, match="finite"):
            await channel(progress_token=token).send_progress(1, float("inf"))


async def test_nothing_is_logged_of_a_client_that_leaves(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    @tool
    async def slow(channel: Channel) -> str:
        """Is slow."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            await channel.receive()
        return "never"

    async with connect(suite_of(slow)) as client:
        calls = [client.start_tool("slow") for _ in range(20)]
        await trio.sleep(1)
        for call in calls:
            call.leave()
        await trio.sleep(1)
        assert client.node.snapshot() == ()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
