"""Conversations in odd moments: a retry finds a worker that can go on, or the handler runs again."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
import pytest
import trio

from actors import ExitReason, Shutdown
from genmcp import Accepted, Channel, ChannelClosedError, InvalidParams, Suite, SyncChannel, Tool, tool
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Call, connect

ABLE = mcp.decode_as(mcp.ClientCapabilities, {"elicitation": {}})


class Confirm(msgspec.Struct):
    ok: bool


YES = {"action": "accept", "content": {"ok": True}}


def suite_of(*tools: Tool[Any, Any]) -> Suite:
    return Suite(server_name="Test", server_version="1", tools=tools)


async def asked(call: Call) -> list[str]:
    result = await call.result()
    assert isinstance(result, mcp.InputRequiredResult), result
    return list(result.input_requests or ())


class Log:
    """Counts how often its tool began."""

    def __init__(self) -> None:
        self.begun = 0
        self.sent: list[Any] = []

    def tool(self) -> Tool[Any, Any]:
        @tool
        async def ask(channel: Channel) -> str:
            """Asks."""
            self.begun += 1
            answer = await channel.elicit("Well?", Confirm)
            return f"{answer}"

        return ask


async def test_tasks_of_one_handler_ask_one_after_another(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def both(channel: Channel) -> str:
        """Asks twice at once."""
        answers: dict[str, object] = {}

        async def one(key: str) -> None:
            answers[key] = await channel.elicit(f"{key}?", Confirm, key=key)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, "a")
            nursery.start_soon(one, "b")
        return str(sorted(answers))

    async with connect(suite_of(both), capabilities=ABLE) as client:
        call = client.start_tool("both")
        seen = []
        for _ in range(2):
            [key] = await asked(call)
            seen.append(key)
            call = client.retry(call, {key: YES})
        result = await call.result()
    assert sorted(seen) == ["a", "b"]
    assert result.content == [mcp.TextContent(text="['a', 'b']")]


async def test_malformed_retry_does_not_cost_the_conversation(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    async with connect(suite_of(log.tool()), capabilities=ABLE) as client:
        first = client.start_tool("ask")
        await asked(first)
        with pytest.raises(InvalidParams, match="logLevel"):
            client.retry(first, {"q1": YES}, extra={"io.modelcontextprotocol/logLevel": "loud"})
        second = client.retry(first, {"q1": YES})
        assert second.pid == first.pid
        assert not (await second.result()).is_error
    assert log.begun == 1


@pytest.mark.parametrize("how", ["stop", "kill", "expire"])
async def test_retry_in_the_turn_in_which_its_worker_ends_runs_the_handler_again(
    how: str, autojump_clock: trio.abc.Clock
) -> None:
    log = Log()
    made = suite_of(log.tool())
    async with connect(made, capabilities=ABLE) as client:
        first = client.start_tool("ask")
        await asked(first)
        if how == "stop":
            client.node.registry.stop(first.pid, Shutdown("operator"))
        elif how == "kill":
            client.node.registry.kill(first.pid)
        else:
            made.conversations.expire_all("expired")
        second = client.retry(first, {"q1": YES})
        assert second.pid != first.pid
        assert (await second.result()).content == [mcp.TextContent(text="Accepted(value=Confirm(ok=True))")]
    assert log.begun == 2


async def test_client_that_leaves_between_attach_and_wake_cancels_the_worker(autojump_clock: trio.abc.Clock) -> None:
    log = Log()

    @tool
    async def ask(channel: Channel) -> str:
        """Asks."""
        answer = await channel.elicit("Well?", Confirm)
        log.sent.append(answer)
        log.sent.append(await channel.send_progress(1))
        return "never"

    async with connect(suite_of(ask), capabilities=ABLE) as client:
        first = client.start_tool("ask", progress_token=1)
        reasons: list[ExitReason] = []
        client.node.on_exit(first.pid, reasons.append)
        await asked(first)
        second = client.retry(first, {"q1": YES}, progress_token=2)
        second.leave()
        await trio.sleep(1)
        assert client.node.snapshot() == ()
    assert reasons == [Shutdown("client_disconnected")]
    assert second.notifications == []
    assert log.sent in ([], [Accepted(Confirm(ok=True))])


async def test_client_of_a_round_that_is_over_cannot_cancel_the_next(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    async with connect(suite_of(log.tool()), capabilities=ABLE) as client:
        first = client.start_tool("ask")
        await asked(first)
        first.leave()  # its connection closes after the answer, as connections do
        await trio.sleep(1)
        second = client.retry(first, {"q1": YES})
        assert second.pid == first.pid
        assert not (await second.result()).is_error


@pytest.mark.parametrize("how", ["answered", "gone"])
async def test_nobody_is_asked_where_nobody_could_answer(
    how: str, caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    seen: list[str] = []

    @tool(on_close="finish" if how == "gone" else "cancel")
    async def late(channel: Channel) -> str:
        """Asks too late."""
        await trio.sleep(1)
        if how == "answered":
            await channel.send_result(mcp.call_tool_result(text="early"))
        with pytest.raises(ChannelClosedError):
            await channel.elicit("Well?", Confirm)
        seen.append("refused")
        return "late"

    made = suite_of(late)
    async with connect(made, capabilities=ABLE) as client:
        call = client.start_tool("late")
        await trio.sleep(0.5)
        if how == "gone":
            call.leave()
        await trio.sleep(5)
        assert client.node.snapshot() == ()
        assert len(made.conversations) == 0
    assert seen == ["refused"]
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_time_limit_that_passed_before_the_question_does_not_come_back(autojump_clock: trio.abc.Clock) -> None:
    @tool(timeout=2)
    async def ask(channel: Channel) -> str:
        """Asks."""
        await trio.sleep(1)
        await channel.elicit("Well?", Confirm)
        await trio.sleep(0.5)
        return "in time"

    async with connect(suite_of(ask), capabilities=ABLE) as client:
        first = client.start_tool("ask")
        await asked(first)
        await trio.sleep(500)
        result = await client.retry(first, {"q1": YES}).result()
        await trio.sleep(5)
    assert result.content == [mcp.TextContent(text="in time")]


async def test_sync_handler_that_waits_for_an_answer_is_woken_by_a_stop() -> None:
    seen: list[str] = []

    @tool
    def ask(channel: SyncChannel) -> str:
        """Asks."""
        try:
            channel.elicit("Well?", Confirm)
        except BaseException as error:
            seen.append(type(error).__name__)
        return "late"

    async with connect(suite_of(ask), capabilities=ABLE) as client:
        call = client.start_tool("ask")
        await asked(call)
        client.node.registry.stop(call.pid, Shutdown("operator"))
        with trio.fail_after(5):
            while not seen:
                await trio.sleep(0.01)
    assert seen == ["ChannelClosedError"]
