"""What a worker makes of odd moments and odd exceptions: each race has its winner, nothing is left behind."""

from __future__ import annotations

import gc
import logging
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from actors import Crashed, Exit, ExitReason, Killed, Node, Shutdown
from genmcp import Channel, Error, InvalidParams, McpError, MissingCapability, Result, Sent, Server, Stop, Stream
from genmcp.errors import InternalError
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Call, Client, connect
from genmcp.worker import RequestContext, start_notification

OK = mcp.call_tool_result(text="ok")
Handler = Callable[[Channel], Awaitable[Any]]


class Probe(Server[str]):
    """Runs one handler for requests, one for messages, and notes what `handle_close` was given."""

    def __init__(self, handler: Handler, on_message: Callable[[object, Channel], Awaitable[Any]] | None = None) -> None:
        self.handler = handler
        self.on_message = on_message
        self.closed: list[tuple[str | None, str]] = []
        self.sent_while_closing: list[Sent] = []

    async def init(self) -> str | Stop:
        return "from init"

    async def handle_request(self, request: mcp.Request, channel: Channel, state: str, /) -> Any:
        return await self.handler(channel)

    async def handle_message(self, message: object, channel: Channel, state: str, /) -> Any:
        assert self.on_message is not None
        return await self.on_message(message, channel)

    async def handle_close(self, channel: Channel, state: str, /) -> None:
        self.sent_while_closing.append(await channel.send_log("error", "late"))
        self.sent_while_closing.append(await channel.send_result(OK))
        self.sent_while_closing.append(await channel.start_stream())
        self.sent_while_closing.append(await channel.close())
        self.closed.append((channel.close_reason, state))


def exit_of(node: Node, call: Call) -> list[ExitReason]:
    reasons: list[ExitReason] = []
    node.on_exit(call.pid, reasons.append)
    return reasons


async def ended(client: Client, reasons: list[ExitReason]) -> ExitReason:
    with trio.fail_after(60):
        while not reasons:
            await trio.sleep(0.01)
    assert client.node.snapshot() == ()
    return reasons[0]


# -- a client that leaves between two steps


async def test_state_returned_as_the_client_leaves_is_cleaned_up(autojump_clock: trio.abc.Clock) -> None:
    calls: list[Call] = []

    async def handler(channel: Channel) -> Stream[str]:
        await trio.sleep(1)
        calls[0].leave()  # after the last point where this handler could be cancelled
        return Stream("a job to cancel")

    server = Probe(handler)
    async with connect(server) as client:
        calls.append(client.start_tool("x"))
        assert await ended(client, exit_of(client.node, calls[0])) == Shutdown("client_disconnected")
    assert server.closed == [("client_gone", "a job to cancel")]


async def test_state_returned_by_a_handler_that_swallowed_its_stop_is_cleaned_up(
    autojump_clock: trio.abc.Clock,
) -> None:
    async def handler(channel: Channel) -> Stream[str]:
        with trio.move_on_after(10) as scope:
            scope.shield = True
            await trio.sleep(2)
        return Stream("a job to cancel")

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        client.node.registry.stop(call.pid, Shutdown("timeout"))
        assert await ended(client, reasons) == Shutdown("timeout")
    assert server.closed == [("timeout", "a job to cancel")]


async def test_result_in_the_turn_of_the_timeout_is_the_answer(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        await trio.sleep(1)
        channel.registry.stop(channel.pid, Shutdown("timeout"))
        return Result(OK)

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        assert await call.result() == OK
        assert await ended(client, reasons) == Shutdown("reply")
    assert server.closed == []


async def test_result_that_was_sent_stands_when_the_client_leaves(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        assert await channel.send_result(OK) is Sent.SENT
        await trio.sleep_forever()

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        assert await call.result() == OK
        client.node.registry.stop(call.pid, Shutdown("client_disconnected"))
        assert await ended(client, reasons) == Shutdown("client_disconnected")
    assert server.closed == []


async def test_nothing_can_be_sent_while_closing(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Stream[str]:
        return Stream("streamed")

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x", log_level="debug")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        client.node.registry.stop(call.pid, Shutdown("expired"))
        await ended(client, reasons)
    assert server.sent_while_closing == [Sent.CLOSED] * 4
    assert server.closed == [("expired", "streamed")]
    assert call.notifications == []


async def test_kill_cuts_a_close_that_is_under_way(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Slow(Probe):
        async def handle_close(self, channel: Channel, state: str, /) -> None:
            await trio.sleep(5)
            self.closed.append((channel.close_reason, state))

    async def handler(channel: Channel) -> Stream[str]:
        return Stream("streamed")

    server = Slow(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        call.leave()
        await trio.sleep(1)
        begun = trio.current_time()
        client.node.registry.kill(call.pid)
        assert await ended(client, reasons) == Killed()
        assert trio.current_time() - begun < 0.1
    assert server.closed == []


async def test_kill_after_close_runs_no_callback(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        await channel.close()
        await trio.sleep_forever()

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        client.node.registry.kill(call.pid)
        assert await ended(client, reasons) == Killed()
    assert server.sent_while_closing == []


async def test_node_cancelled_from_outside_lets_requests_close(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Stream[str]:
        return Stream("streamed")

    server = Probe(handler)
    calls: list[Call] = []
    with trio.CancelScope() as scope:
        async with connect(server) as client:
            calls.append(client.start_tool("x"))
            await trio.sleep(1)
            scope.cancel()
            await trio.sleep_forever()
    assert server.closed == [("shutdown", "streamed")]
    [call] = calls
    assert isinstance(call.outbox.final, McpError)
    assert "shutting down" in call.outbox.final.message


# -- closing by oneself


async def test_second_close_finds_it_closed(autojump_clock: trio.abc.Clock) -> None:
    sent: list[Sent] = []

    async def handler(channel: Channel) -> Error:
        sent.extend([await channel.close(), await channel.close(), await channel.send_result(OK)])
        sent.extend([await channel.start_stream(), await channel.send_progress(1)])
        return Error("ignored")

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x", progress_token=1)
        reasons = exit_of(client.node, call)
        assert await ended(client, reasons) == Shutdown("closed")
    assert sent == [Sent.SENT, *[Sent.CLOSED] * 4]
    assert server.closed == [("closed", "from init")]
    assert not call.outbox.streaming


async def test_state_returned_after_close_reaches_handle_close(autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Stream[str]:
        await channel.close()
        return Stream("the last one")

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        assert await ended(client, exit_of(client.node, call)) == Shutdown("closed")
    assert server.closed == [("closed", "the last one")]


@pytest.mark.parametrize("how", ["result", "close"])
async def test_answer_from_another_task_ends_a_worker_that_waits(how: str, autojump_clock: trio.abc.Clock) -> None:
    channels: list[Channel] = []

    async def handler(channel: Channel) -> Stream[str]:
        channels.append(channel)
        return Stream("streamed")

    server = Probe(handler)
    async with connect(server) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        await trio.sleep(1)
        assert await (channels[0].close() if how == "close" else channels[0].send_result(OK)) is Sent.SENT
        assert await ended(client, reasons) == Shutdown("closed" if how == "close" else "reply")
    assert server.closed == ([("closed", "streamed")] if how == "close" else [])


# -- exceptions in odd places


@pytest.mark.parametrize(
    ("error", "code"), [(InvalidParams("told"), -32602), (MissingCapability({"sampling": {}}), -32021)]
)
async def test_mcp_error_from_a_handlers_own_nursery_is_the_answer(
    error: McpError, code: int, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Result:
        async def fail() -> None:
            raise error

        async with trio.open_nursery() as outer, trio.open_nursery() as inner:
            outer.start_soon(trio.sleep_forever)
            inner.start_soon(fail)
        return Result(OK)

    async with connect(Probe(handler)) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        with pytest.raises(McpError) as caught:
            await call.result()
        assert caught.value.code == code
        assert await ended(client, reasons) == Shutdown("reply")


async def test_group_of_errors_is_one_crash(caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock) -> None:
    async def handler(channel: Channel) -> Result:
        raise ExceptionGroup("both", [InvalidParams("secret"), RuntimeError("secret")])

    async with connect(Probe(handler)) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        with pytest.raises(McpError) as caught:
            await call.result()
        assert isinstance(await ended(client, reasons), Crashed)
    assert caught.value.code == -32603
    assert "secret" not in str(caught.value.to_dict())
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert caught.value.data["reference"] in record.getMessage()


async def test_quiet_exit_of_a_handler_is_told_without_a_log(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Result:
        async def leave() -> None:
            raise Exit(Shutdown("enough"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(leave)
        return Result(OK)

    async with connect(Probe(handler)) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        with pytest.raises(McpError) as caught:
            await call.result()
        assert caught.value.code == -32603
        assert await ended(client, reasons) == Shutdown("enough")
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_hundred_workers_of_which_ten_crash_do_not_touch_each_other(autojump_clock: trio.abc.Clock) -> None:
    errors: list[Exception] = [KeyError("x"), ExceptionGroup("g", [ValueError(), OSError()]), RecursionError()]

    async def handler(channel: Channel) -> Result:
        await trio.sleep(0.5)
        if isinstance(channel.request_id, int) and channel.request_id % 10 == 0:
            raise errors[channel.request_id // 10 % 3]
        await trio.sleep(1)
        return Result(OK)

    async with connect(Probe(handler)) as client:
        calls = [client.start_tool("x") for _ in range(100)]
        for call in calls:
            await call.outbox.ended.wait()
    assert sum(call.outbox.final == OK for call in calls) == 90


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (Result({"content": []}), "a result struct of genmcp.mcp"),  # type: ignore[arg-type]  # the mistakes that
        (Error(ValueError("x")), "an McpError or a text"),  # type: ignore[arg-type]  # this test is about
        (None, "Result, Error or Stream"),
    ],
)
async def test_wrong_contents_of_a_return_name_the_callback(
    returned: Any, text: str, caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Any:
        return returned

    async with connect(Probe(handler)) as client:
        with pytest.raises(McpError, match="Internal error"):
            await client.call_tool("x")
    assert "CallbackReturnError: Probe.handle_request returned" in caplog.text
    assert text in caplog.text


async def test_question_to_a_request_that_takes_none_is_refused(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Result:
        return Result(mcp.input_required_result(None, "mine"))

    async with connect(Probe(handler)) as client:
        with pytest.raises(McpError, match="Internal error"):
            await client.request("tools/list")
        assert isinstance(await client.request("tools/call", {"name": "x"}), mcp.InputRequiredResult)
    assert "tools/call, prompts/get or resources/read" in caplog.text


@pytest.mark.parametrize("code", [-32002, -32042, -32050, -32000])
@pytest.mark.parametrize("how", ["return", "raise", "send"])
async def test_error_code_that_the_protocol_reserves_is_not_sent(
    how: str, code: int, caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def handler(channel: Channel) -> Error:
        error = McpError(code, "mine")
        if how == "raise":
            raise error
        if how == "send":
            await channel.send_error(error)
        return Error(error)

    async with connect(Probe(handler)) as client:
        with pytest.raises(McpError, match="Internal error"):
            await client.call_tool("x")
    assert f"error code {code} is reserved" in caplog.text


async def test_messages_that_were_not_taken_go_on_in_order(autojump_clock: trio.abc.Clock) -> None:
    seen: list[object] = []

    async def handler(channel: Channel) -> Stream[str]:
        seen.append(await channel.receive(match=int))
        return Stream("on")

    async def on_message(message: object, channel: Channel) -> Any:
        seen.append(message)
        return Result(OK) if message == "end" else Stream("on")

    async with connect(Probe(handler, on_message)) as client:
        call = client.start_tool("x")
        for message in ("a", "b", 1, "c", "end", "left", "over"):
            call.push(message)
        await call.result()
        await trio.sleep(1)
        assert client.node.messages_lost == 2
    assert seen == [1, "a", "b", "c", "end"]


# -- notifications


async def test_malformed_meta_of_a_notification_is_refused(autojump_clock: trio.abc.Clock) -> None:
    async with connect(Server[None]()) as client:
        with trio.fail_after(5), pytest.raises(InvalidParams):
            await client.notify(
                "notifications/cancelled",
                {"requestId": 1, "_meta": {"io.modelcontextprotocol/logLevel": "loud"}},
            )


async def test_notification_stopped_before_its_first_step_is_answered(autojump_clock: trio.abc.Clock) -> None:
    server = Server[None]()
    notification: Any = mcp.decode({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    told: list[BaseException | None] = []
    async with connect(server) as client:
        pid = start_notification(client.node, server, notification, RequestContext(), told.append)
        client.node.registry.kill(pid)
        await trio.sleep(1)
    assert [type(error) for error in told] == [InternalError]


async def test_crash_of_a_notification_has_a_reference(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Failing(Server[None]):
        async def handle_notification(self, notification: Any, channel: Channel, state: None, /) -> None:
            raise RuntimeError("secret")

    async with connect(Failing()) as client:
        with pytest.raises(McpError) as caught:
            await client.notify("notifications/cancelled", {"requestId": 1})
        await trio.sleep(1)
    assert "secret" not in str(caught.value.to_dict())
    assert caught.value.data["reference"] in caplog.text


async def test_stop_from_init_refuses_a_notification_and_is_its_exit_reason(autojump_clock: trio.abc.Clock) -> None:
    class Refusing(Server[None]):
        async def init(self) -> Stop:
            return Stop("not today")

    async with connect(Refusing()) as client:
        reasons: list[ExitReason] = []
        spawn = client.node.spawn

        def watched(*args: Any, **options: Any) -> Any:
            pid = spawn(*args, **options)
            client.node.on_exit(pid, reasons.append)
            return pid

        client.node.spawn = watched  # type: ignore[method-assign]  # to see how the worker ends
        with pytest.raises(InvalidParams, match="not today"):
            await client.notify("notifications/cancelled", {"requestId": 1})
        await trio.sleep(1)
    assert reasons == [Shutdown("not today")]


# -- what a request says of itself


@pytest.mark.parametrize("given", [0, "", "0", 2**53 - 1, -1, 2**70])
async def test_ids_come_back_as_they_are(given: Any, autojump_clock: trio.abc.Clock) -> None:
    seen: list[Any] = []

    async def handler(channel: Channel) -> Result:
        seen.append(channel.request_id)
        return Result(OK)

    async with connect(Probe(handler)) as client:
        wanted: dict[str, Any] = {"notifications": {}}
        await client.start("subscriptions/listen", wanted, request_id=given).result()
        call = client.start("subscriptions/listen", wanted, request_id=given)
        client.node.registry.stop(call.pid, Shutdown("expired"))
        result = mcp.to_dict(await call.result())
    assert seen == [given]
    assert type(seen[0]) is type(given)
    assert result["_meta"]["io.modelcontextprotocol/subscriptionId"] == given


async def test_unknown_meta_keys_reach_the_handler(autojump_clock: trio.abc.Clock) -> None:
    seen: list[Any] = []

    class Look(Server[None]):
        async def handle_request(self, request: mcp.Request, channel: Channel, state: None, /) -> Result:
            seen.append(request.params.meta)
            return Result(OK)

    async with connect(Look()) as client:
        await client.request(
            "tools/call", {"name": "x"}, extra={"com.example/trace": {"a": [1]}, "traceparent": "00-x"}
        )
    assert seen[0]["com.example/trace"] == {"a": [1]}
    assert seen[0]["traceparent"] == "00-x"


# -- nothing is left


async def test_nothing_is_left_of_thousands_of_requests() -> None:
    class Held:
        """What each request's state holds."""

    alive: weakref.WeakSet[Held] = weakref.WeakSet()

    class Busy(Server[Held]):
        async def init(self) -> Held:
            held = Held()
            alive.add(held)
            return held

        async def handle_request(self, request: mcp.Request, channel: Channel, state: Held, /) -> Any:
            kind = int(str(channel.request_id)) % 5
            if kind == 0:
                raise ExceptionGroup("crash", [ValueError(), KeyError()])
            if kind in (1, 2):
                channel.registry.subscribe("news")
                return Stream(state)
            return Result(OK) if kind == 3 else Error("no")

        async def handle_message(self, message: object, channel: Channel, state: Held, /) -> Any:
            return Result(OK)

    async def some(client: Client, count: int) -> None:
        calls = [client.start_tool("x") for _ in range(count)]
        await trio.testing.wait_all_tasks_blocked()
        for call in calls[::2]:
            call.leave()
        client.node.registry.publish("news", "go")
        while client.node.snapshot():
            await trio.sleep(0.001)

    def living() -> int:
        gc.collect()
        # trio keeps scopes that had a deadline in its heap for a while, a thousand at most
        return sum(not isinstance(each, trio.CancelScope | tuple) for each in gc.get_objects())

    logging.disable(logging.CRITICAL)
    try:
        async with connect(Busy()) as client:
            await some(client, 200)
            counts, objects = client.node.counts(), living()
            for _ in range(10):
                await some(client, 200)
            gc.collect()
            assert client.node.counts() == counts
            assert len(alive) <= 1  # the loop still holds the task that it ran last
            assert living() - objects < 100
    finally:
        logging.disable(logging.NOTSET)


async def test_request_that_has_ended_is_freed_without_the_collector(autojump_clock: trio.abc.Clock) -> None:
    class Held:
        """What a request's state holds."""

    alive: weakref.WeakSet[Held] = weakref.WeakSet()

    class Holding(Server[Held]):
        async def init(self) -> Held:
            held = Held()
            alive.add(held)
            return held

        async def handle_request(self, request: mcp.Request, channel: Channel, state: Held, /) -> Any:
            return Result(OK) if channel.tool_name == "quick" else Stream(state)

        async def handle_message(self, message: object, channel: Channel, state: Held, /) -> Any:
            return Result(OK)

    async with connect(Holding()) as client:
        gc.disable()
        try:
            for name in ("quick", "slow"):
                call = client.start_tool(name)
                call.push("go")
                await call.result()
                await trio.sleep(1)
                del call
            await trio.testing.wait_all_tasks_blocked()
            await client.call_tool("quick")  # the loop holds the task that it ran last
            await trio.sleep(1)
            assert len(alive) <= 1
        finally:
            gc.enable()


@pytest.mark.parametrize("grouped", [False, True])
async def test_exit_of_a_library_ends_its_request_only(
    grouped: bool, caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    async def leave() -> None:
        raise SystemExit(2)

    async def handler(channel: Channel) -> Result:
        if not grouped:
            await leave()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(leave)
        return Result(OK)

    async with connect(Probe(handler)) as client:
        call = client.start_tool("x")
        reasons = exit_of(client.node, call)
        with pytest.raises(McpError):
            await call.result()
        assert isinstance(await ended(client, reasons), Crashed)
    assert "the handler called sys.exit(2)" in caplog.text
