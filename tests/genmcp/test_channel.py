"""What a handler can do with its channel, one behaviour a test."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from actors import ReceiveTimeoutError
from genmcp import Channel, Sent, Suite, tool
from genmcp.mcp import v2607 as mcp
from genmcp.testing import channel, connect
from genmcp.worker import WorkerSettings


def progress(*values: float) -> list[float]:
    return list(values)


def suite_of(*tools: Any) -> Suite:
    return Suite(server_name="Test", server_version="1", tools=tools)


async def test_progress_without_a_token_is_not_wanted() -> None:
    made = channel(progress_token=None)
    assert await made.send_progress(1) is Sent.NOT_WANTED
    assert made.outbox.notifications == []


async def test_progress_that_does_not_increase_is_dropped() -> None:
    made = channel(progress_token="t")
    sent = [await made.send_progress(value) for value in (1, 3, 2, 3, 4)]
    assert sent == [Sent.SENT, Sent.SENT, Sent.NOT_WANTED, Sent.NOT_WANTED, Sent.SENT]
    assert [note.params.progress for note in made.outbox.notifications] == [1, 3, 4]  # type: ignore[union-attr]  # all progress


async def test_progress_of_several_tasks_never_goes_back() -> None:
    made = channel(progress_token="t")

    async def report(offset: int) -> None:
        for number in range(100):
            await made.send_progress(3 * number + offset)

    async def read() -> None:
        while True:
            await made.outbox.read()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        async with trio.open_nursery() as reporting:
            for offset in range(3):
                reporting.start_soon(report, offset)
        nursery.cancel_scope.cancel()
    values = [note.params.progress for note in made.outbox.notifications]  # type: ignore[union-attr]  # all progress
    assert values == sorted(set(values))
    assert values[-1] == 299


async def test_progress_token_keeps_its_type() -> None:
    for token in ("7", 7):
        made = channel(progress_token=token)
        await made.send_progress(0.5, 1, "half")
        [note] = made.outbox.notifications
        assert isinstance(note, mcp.ProgressNotification)
        assert note.params.progress_token == token
        assert type(note.params.progress_token) is type(token)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
async def test_progress_that_is_no_json_number_raises(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        await channel().send_progress(value)


async def test_merged_progress_keeps_the_last_value_before_the_result(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def busy(channel: Channel) -> str:
        """Reports much."""
        for number in range(1, 1001):
            await channel.send_progress(number, 1000)
            if number % 100 == 0:
                await trio.sleep(0.04)
        return "done"

    async with connect(suite_of(busy), settings=WorkerSettings(progress_interval=0.05)) as client:
        call = client.start_tool("busy", progress_token=1)
        await call.result()
    values = [note.params.progress for note in call.notifications]  # type: ignore[union-attr]  # all progress
    assert values == sorted(set(values))
    assert values[-1] == 1000
    assert len(values) < 20


async def test_merged_progress_that_does_not_increase_is_not_wanted(autojump_clock: trio.abc.Clock) -> None:
    sent: list[Sent] = []

    @tool
    async def repeats(channel: Channel) -> str:
        """Reports twice what waits already."""
        for progress, message in [(1, "sent"), (2, "first"), (2, "second")]:
            sent.append(await channel.send_progress(progress, message=message))
        return "done"

    async with connect(suite_of(repeats), settings=WorkerSettings(progress_interval=1)) as client:
        call = client.start_tool("repeats", progress_token=1)
        await call.result()
    assert sent == [Sent.SENT, Sent.SENT, Sent.NOT_WANTED]
    assert [note.params.message for note in call.notifications] == ["sent", "first"]  # type: ignore[union-attr]  # all progress


async def test_log_below_the_level_is_not_wanted() -> None:
    made = channel(log_level="warning")
    assert await made.send_log("info", "x") is Sent.NOT_WANTED
    assert await made.send_log("error", {"a": 1}, "db") is Sent.SENT
    [note] = made.outbox.notifications
    assert mcp.to_dict(note)["params"] == {"level": "error", "data": {"a": 1}, "logger": "db"}


async def test_log_without_a_level_is_not_wanted() -> None:
    made = channel(log_level=None)
    assert await made.send_log("emergency", "x") is Sent.NOT_WANTED


async def test_unknown_log_level_raises_at_the_caller() -> None:
    with pytest.raises(ValueError, match="fatal"):
        await channel(log_level=None).send_log("fatal", "x")  # type: ignore[arg-type]  # that is the mistake


async def test_log_of_what_is_no_json_raises_at_the_caller() -> None:
    with pytest.raises(TypeError):
        await channel(log_level=None).send_log("info", object())


async def test_receive_times_out() -> None:
    @tool
    async def wait(channel: Channel) -> str:
        """Waits."""
        with pytest.raises(ReceiveTimeoutError):
            await channel.receive(timeout=0.01)
        return "fine"

    async with connect(suite_of(wait)) as client:
        assert (await client.call_tool("wait")).content == [mcp.TextContent(text="fine")]


async def test_receive_can_be_selective(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def pick(channel: Channel) -> str:
        """Picks."""
        number = await channel.receive(match=int)
        even = await channel.receive(match=lambda message: message == "b")
        return f"{number} {even} {await channel.receive()}"

    async with connect(suite_of(pick)) as client:
        call = client.start_tool("pick")
        for message in ("a", "b", 1):
            call.push(message)
        assert (await call.result()).content == [mcp.TextContent(text="1 b a")]


async def test_slow_client_holds_the_sender_back(autojump_clock: trio.abc.Clock) -> None:
    sent: list[int] = []

    @tool
    async def flood(channel: Channel) -> str:
        """Floods."""
        for number in range(1, 201):
            await channel.send_progress(number)
            sent.append(number)
        return "done"

    async with connect(suite_of(flood)) as client:
        call = client.start_tool("flood", progress_token=1)
        await trio.sleep(1)
        assert len(sent) == 64
        for _ in range(200):
            await call.next_notification()
        await call.result()
    assert len(sent) == 200


async def test_start_stream_commits_without_an_event(autojump_clock: trio.abc.Clock) -> None:
    made = channel()
    assert await made.start_stream() is Sent.SENT
    assert await made.start_stream() is Sent.SENT
    assert made.outbox.streaming
    assert made.outbox.notifications == []


async def test_every_send_is_a_checkpoint() -> None:
    made = channel(log_level=None, progress_token=None)
    with trio.testing.assert_checkpoints():
        await made.send_progress(1)
    with trio.testing.assert_checkpoints():
        await made.send_log("info", 1)
    with trio.testing.assert_checkpoints():
        await made.send_result(mcp.call_tool_result(text="x"))
    with trio.testing.assert_checkpoints():
        await made.send_notification(mcp.ToolListChangedNotification())


async def test_channel_without_a_worker_says_so() -> None:
    with pytest.raises(RuntimeError, match="belongs to no worker"):
        _ = channel().pid


async def test_trace_is_passed_to_handlers_and_notifications(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def look(channel: Channel) -> dict[str, str]:
        """Reports progress; some of it waits for its interval."""
        for step in range(3):
            await channel.send_progress(step)
        await channel.send_log("info", "looked")
        return dict(channel.meta.trace_context)

    trace = {"traceparent": f"00-{'4b' * 16}-{'f0' * 8}-01", "tracestate": "vendor=1", "baggage": "user=ada"}
    async with connect(suite_of(look), settings=WorkerSettings(progress_interval=1)) as client:
        call = client.start_tool("look", progress_token=1, log_level="info", extra=trace)
        assert (await call.result()).structured_content == trace
        notes = [mcp.to_dict(note)["params"] for note in call.notifications]
        assert [note["_meta"] for note in notes] == [trace] * 3
        assert [note.get("progress") for note in notes] == [0, None, 2]
        plain = client.start_tool("look", progress_token=1, extra={"traceparent": "00-x"})
        assert (await plain.result()).structured_content == {}
        assert all("_meta" not in mcp.to_dict(note)["params"] for note in plain.notifications)
