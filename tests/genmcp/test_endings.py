"""How a request ends: every row of the table in genmcp.worker, before and after a stream was begun."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from actors import Crashed, ExitReason, Killed, Node, Normal, Shutdown
from genmcp import Channel, Error, McpError, MethodNotFound, Result, Sent, Server, Stop, Stream
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Call, Client, connect

OK = mcp.call_tool_result(text="ok")
Handler = Callable[[Channel], Awaitable[Any]]


class Probe(Server[str]):
    """Runs one handler and notes what `handle_close` was given."""

    def __init__(
        self, handler: Handler | None = None, on_message: Callable[[object, Channel], Awaitable[Any]] | None = None
    ) -> None:
        self.handler = handler
        self.on_message = on_message
        self.closed: list[tuple[str | None, str]] = []

    async def init(self) -> str:
        return "from init"

    async def handle_request(self, request: mcp.Request, channel: Channel, state: str, /) -> Any:
        return Stream("streamed") if self.handler is None else await self.handler(channel)

    async def handle_message(self, message: object, channel: Channel, state: str, /) -> Any:
        assert self.on_message is not None
        return await self.on_message(message, channel)

    async def handle_close(self, channel: Channel, state: str, /) -> None:
        assert channel.status == "closed"
        self.closed.append((channel.close_reason, state))


@pytest.fixture(params=["json", "sse"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def begin(mode: str, channel: Channel) -> None:
    if mode == "sse":
        await channel.start_stream()


def exit_of(node: Node, call: Call) -> list[ExitReason]:
    reasons: list[ExitReason] = []
    node.on_exit(call.pid, reasons.append)
    return reasons


async def ended(client: Client, call: Call, reasons: list[ExitReason]) -> ExitReason:
    with trio.fail_after(60):
        while not reasons:
            await trio.sleep(0.01)
    assert client.node.snapshot() == ()
    assert call.outbox.ended.is_set() or call.outbox.closed
    return reasons[0]


async def test_result_is_the_answer(mode: str, autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        await begin(mode, channel)
        return Result(OK)

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        assert await call.result() == OK
        assert await ended(client, call, reasons) == Shutdown("reply")
    assert call.outbox.streaming == (mode == "sse")
    assert server.closed == []


async def test_result_is_delivered_before_any_exit(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        return Result(OK, Shutdown("custom"))

    async with connect(Probe(handler)) as client:
        call = client.start_tool("x")
        seen: list[bool] = []
        client.node.on_exit(call.pid, lambda reason: seen.append(call.outbox.ended.is_set()))
        reasons = exit_of(client.node, call)
        assert await ended(client, call, reasons) == Shutdown("custom")
        assert seen == [True]


async def test_error_is_the_answer(mode: str, autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Error:
        await begin(mode, channel)
        return Error("no luck")

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        with pytest.raises(McpError, match="no luck") as caught:
            await call.result()
        assert caught.value.code == -32603
        assert await ended(client, call, reasons) == Shutdown("reply")
    assert server.closed == []


async def test_raised_mcp_error_is_the_answer(mode: str, autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Error:
        await begin(mode, channel)
        raise MethodNotFound("tools/call")

    async with connect(Probe(handler)) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        with pytest.raises(MethodNotFound):
            await call.result()
        assert await ended(client, call, reasons) == Shutdown("reply")


@pytest.mark.parametrize(
    ("stop", "answer", "reason"),
    [
        (Stop(), None, Normal()),
        (Stop("done"), None, Shutdown("done")),
        (Stop(Shutdown("over")), None, Shutdown("over")),
        (Stop(Killed()), -32603, Killed()),
        (Stop(McpError(4711, "told")), 4711, Shutdown("told")),
    ],
)
async def test_stop_ends_a_stream(
    stop: Stop, answer: int | None, reason: ExitReason, autojump_clock: trio.abc.Clock
) -> None:
    async def on_message(message: object, channel: Channel) -> Stop:
        return stop

    server = Probe(on_message=on_message)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        call.push("go")
        if answer is None:
            assert await call.result() is None
        else:
            with pytest.raises(McpError) as caught:
                await call.result()
            assert caught.value.code == answer
        assert await ended(client, call, reasons) == reason
    assert call.outbox.streaming
    assert server.closed == []


@pytest.mark.parametrize(
    ("stop", "text", "code"),
    [
        (Stop("not today"), "not today", -32602),
        (Stop(Shutdown("secret")), "refused", -32602),
        (Stop(McpError(4711, "own", data=1)), "own", 4711),
    ],
)
async def test_stop_from_init_is_answered(stop: Stop, text: str, code: int, autojump_clock: trio.abc.Clock) -> None:
    class Refusing(Server[None]):
        async def init(self) -> Stop:
            return stop

    async with connect(Refusing()) as client:
        with pytest.raises(McpError, match=text) as caught:
            await client.call_tool("x")
        assert caught.value.code == code
        assert "secret" not in str(caught.value)


async def test_exception_is_masked_and_logged_once(
    mode: str, caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Result:
        await begin(mode, channel)
        raise RuntimeError("secret")

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("boom")
        reasons = exit_of(client.node, call)
        with pytest.raises(McpError) as caught:
            await call.result()
        assert isinstance(await ended(client, call, reasons), Crashed)
    error = caught.value
    assert error.code == -32603
    assert "secret" not in str(error.to_dict())
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.exc_info is not None
    for part in (error.data["reference"], str(call.pid), "tools/call", "boom"):
        assert part in record.getMessage()
    assert server.closed == []


async def test_bare_value_is_a_callback_return_error(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Any:
        return {"content": []}

    async with connect(Probe(handler)) as client:
        with pytest.raises(McpError, match="Internal error"):
            await client.call_tool("x")
    assert "Probe.handle_request returned {'content': []}; expected Result, Error or Stream" in caplog.text


async def test_stop_from_handle_request_is_refused(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Any:
        return Stop()

    async with connect(Probe(handler)) as client:
        with pytest.raises(McpError):
            await client.call_tool("x")
    assert "CallbackReturnError" in caplog.text


async def test_sent_result_is_the_answer_and_the_handler_runs_on(mode: str, autojump_clock: trio.abc.Clock) -> None:
    sent: list[Sent] = []

    async def handler(channel: Channel) -> Result:
        await begin(mode, channel)
        sent.append(await channel.send_result(OK))
        await trio.sleep(5)
        sent.append(await channel.send_progress(1))
        sent.append(await channel.send_result(OK))
        return Result(mcp.call_tool_result(text="ignored"))

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x", progress_token=1)
        reasons = exit_of(client.node, call)
        assert await call.result() == OK
        assert reasons == []
        assert await ended(client, call, reasons) == Shutdown("reply")
    assert sent == [Sent.SENT, Sent.CLOSED, Sent.CLOSED]
    assert server.closed == []


async def test_sent_result_ends_a_stream_at_the_next_return(autojump_clock: trio.abc.Clock) -> None:
    async def on_message(message: object, channel: Channel) -> Stream[str]:
        await channel.send_error("early")
        return Stream("on")

    server = Probe(on_message=on_message)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        call.push("go")
        with pytest.raises(McpError, match="early"):
            await call.result()
        assert await ended(client, call, reasons) == Shutdown("reply")
    assert server.closed == []


async def test_close_ends_the_request_and_runs_handle_close(mode: str, autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        await begin(mode, channel)
        assert await channel.close() is Sent.SENT
        assert channel.close_reason == "closed"
        return Result(mcp.call_tool_result(text="ignored"))

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        if mode == "sse":
            assert await call.result() is None
        else:
            with pytest.raises(McpError) as caught:
                await call.result()
            assert caught.value.code == -32603
        assert await ended(client, call, reasons) == Shutdown("closed")
    assert server.closed == [("closed", "from init")]


async def test_close_keeps_a_reason_that_is_returned(autojump_clock: trio.abc.Clock) -> None:
    async def on_message(message: object, channel: Channel) -> Stop:
        await channel.close()
        return Stop(Shutdown("mine"))

    server = Probe(on_message=on_message)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        call.push("go")
        assert await ended(client, call, reasons) == Shutdown("mine")
    assert server.closed == [("closed", "streamed")]


@pytest.mark.parametrize("reason", ["client_gone", "stalled"])
async def test_client_that_leaves_cancels_the_handler(reason: Any, mode: str, autojump_clock: trio.abc.Clock) -> None:
    seen: list[str] = []

    async def handler(channel: Channel) -> Result:
        await begin(mode, channel)
        try:
            await trio.sleep_forever()
        finally:
            seen.append("finally")

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        call.leave(reason)
        assert await ended(client, call, reasons) == Shutdown("client_disconnected")
    assert not call.outbox.ended.is_set()  # no further message for a cancelled request (H-25)
    assert seen == ["finally"]
    assert server.closed == [(reason, "from init")]


async def test_client_that_leaves_at_once_is_noticed(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        await trio.sleep_forever()

    async with connect(Probe(handler)) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        call.leave()
        assert await ended(client, call, reasons) == Shutdown("client_disconnected")


async def test_state_of_a_stream_reaches_handle_close(autojump_clock: trio.abc.Clock) -> None:
    server = Probe()
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        call.leave()
        await ended(client, call, reasons)
    assert server.closed == [("client_gone", "streamed")]


@pytest.mark.parametrize(
    ("reason", "close_reason", "text"),
    [
        (Shutdown("overloaded"), "overloaded", "More messages"),
        (Shutdown("expired"), "expired", "waited longer"),
        (Shutdown("shutdown"), "shutdown", "shutting down"),
        (Shutdown("operator"), "killed", "stopped by the server"),
    ],
)
async def test_stop_from_outside_is_told_and_closes(
    reason: Shutdown, close_reason: str, text: str, mode: str, autojump_clock: trio.abc.Clock
) -> None:
    seen: list[str | None] = []

    async def handler(channel: Channel) -> Result:
        await begin(mode, channel)
        try:
            await trio.sleep_forever()
        finally:
            seen.append(channel.close_reason)

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        client.node.registry.stop(call.pid, reason)
        with pytest.raises(McpError, match=text) as caught:
            await call.result()
        assert caught.value.code == -32603
        assert await ended(client, call, reasons) == reason
    assert seen == [close_reason]
    assert server.closed == [(close_reason, "from init")]


async def test_kill_is_told_but_closes_nothing(mode: str, autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        await begin(mode, channel)
        await trio.sleep_forever()

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        client.node.registry.kill(call.pid)
        with pytest.raises(McpError) as caught:
            await call.result()
        assert caught.value.code == -32603
        assert await ended(client, call, reasons) == Killed()
    assert server.closed == []


async def test_stop_during_init_closes_nothing(autojump_clock: trio.abc.Clock) -> None:
    class Slow(Probe):
        async def init(self) -> str:
            await trio.sleep_forever()

    server = Slow()
    async with connect(server) as client:
        call = client.start_tool("x")
        await trio.sleep(1)
        call.leave()
        await trio.sleep(1)
        assert client.node.snapshot() == ()
    assert server.closed == []


async def test_full_mailbox_of_a_subscriber_ends_its_request(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        channel.registry.subscribe("news")
        await trio.sleep_forever()

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        for number in range(1002):
            client.node.registry.publish("news", number)
        assert await ended(client, call, reasons) == Shutdown("overloaded")
    assert server.closed == [("overloaded", "from init")]


async def test_failing_handle_close_is_logged_and_changes_nothing(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Failing(Probe):
        async def handle_close(self, channel: Channel, state: str, /) -> None:
            raise KeyError("oops")

    async with connect(Failing()) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        call.leave()
        assert await ended(client, call, reasons) == Shutdown("client_disconnected")
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "handle_close" in record.getMessage()


async def test_handle_close_is_bounded_by_the_grace_period(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Hanging(Probe):
        async def handle_close(self, channel: Channel, state: str, /) -> None:
            await trio.sleep_forever()

    async with connect(Hanging()) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        begun = trio.current_time()
        call.leave()
        await ended(client, call, reasons)
        assert 9 < trio.current_time() - begun < 11
    assert "cut short" in caplog.text


async def test_value_that_is_no_json_is_a_crash(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Result:
        return Result(mcp.CallToolResult(content=[], structured_content={"x": object()}))

    async with connect(Probe(handler)) as client:
        with pytest.raises(McpError) as caught:
            await client.call_tool("x")
    assert caught.value.code == -32603
    assert "reference" in caught.value.data


async def test_asyncio_in_a_handler_gets_a_hint(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    import asyncio

    async def handler(channel: Channel) -> Result:
        asyncio.get_running_loop()
        return Result(OK)

    async with connect(Probe(handler)) as client:
        with pytest.raises(McpError):
            await client.call_tool("x")
    assert "genmcp runs handlers on trio" in caplog.text


async def test_server_without_discovery_is_warned_about_once(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async with connect(Server[None]()) as client:
        for _ in range(2):
            with pytest.raises(MethodNotFound):
                await client.discover()
    assert caplog.text.count("mcp.discover_result") == 1
