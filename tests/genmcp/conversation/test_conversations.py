"""Asking the client in the middle of a call: attach if the worker lives, else run again; nobody is asked twice."""

from __future__ import annotations

import os
from typing import Any

import msgspec
import pytest
import trio

import actors
from genmcp import (
    Accepted,
    Channel,
    Declined,
    Dismissed,
    ExpiredRequestState,
    InputRequired,
    InvalidParams,
    InvalidRequestState,
    McpError,
    MissingCapability,
    Result,
    Server,
    Suite,
    SyncChannel,
    Tool,
    prompt,
    resource,
    tokens,
    tool,
)
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Call, Client, connect
from genmcp.worker import WorkerSettings

ABLE = mcp.decode_as(mcp.ClientCapabilities, {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})


class Confirm(msgspec.Struct):
    ok: bool


class Name(msgspec.Struct):
    name: str


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def suite_of(*tools: Any) -> Suite:
    return Suite(server_name="Test", server_version="1", tools=tools)


class Log:
    """Side effects, counted."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tool(self, **options: Any) -> Any:
        @tool
        async def greet(channel: Channel, greeting: str = "Hello") -> str:
            """Greets, after asking twice."""
            self.lines.append("begun")
            try:
                name = await channel.elicit("Your name?", Name, **options)
                sure = await channel.elicit("Sure?", Confirm)
            except trio.Cancelled:
                self.lines.append("cancelled")
                raise
            self.lines.append("asked")
            match name, sure:
                case Accepted(Name(name=text)), Accepted(Confirm(ok=True)):
                    return f"{greeting} {text}"
            return "nobody"

        return greet


async def asked(call: Call) -> dict[str, Any]:
    result = await call.result()
    assert isinstance(result, mcp.InputRequiredResult)
    wire = mcp.to_dict(result)
    assert wire["resultType"] == "input_required"
    found: dict[str, Any] = wire["inputRequests"]
    return found


async def text_of(call: Call) -> str:
    result = await call.result()
    assert isinstance(result, mcp.CallToolResult), result
    [block] = result.content
    assert isinstance(block, mcp.TextContent)
    return block.text


async def test_worker_goes_on_in_the_next_line(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    async with connect(suite_of(log.tool()), capabilities=ABLE) as client:
        first = client.start_tool("greet")
        [(key, request)] = (await asked(first)).items()
        assert (key, request["method"], request["params"]["mode"]) == ("q1", "elicitation/create", "form")
        second = client.retry(first, {"q1": accept(name="Ada")})
        assert second.pid == first.pid
        assert list(await asked(second)) == ["q2"]
        third = client.retry(second, {"q2": accept(ok=True)})
        assert await text_of(third) == "Hello Ada"
        await trio.sleep(1)
        assert client.node.snapshot() == ()
    assert log.lines == ["begun", "asked"]


async def test_server_info_is_in_questions_too(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite_of(Log().tool()), capabilities=ABLE) as client:
        call = client.start_tool("greet")
        result = await call.result()
        assert "io.modelcontextprotocol/serverInfo" in result.meta
        assert len(result.request_state) < 600


async def test_vanished_worker_is_run_again_and_nobody_is_asked_twice(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    async with connect(suite_of(log.tool()), capabilities=ABLE) as client:
        first = client.start_tool("greet")
        await asked(first)
        second = client.retry(first, {"q1": accept(name="Ada")})
        await asked(second)
        client.node.registry.kill(second.pid)
        await trio.sleep(1)
        third = client.retry(second, {"q2": accept(ok=True)})
        assert third.pid != first.pid
        assert await text_of(third) == "Hello Ada"
    assert log.lines == ["begun", "cancelled", "begun", "asked"]


async def test_answers_after_a_changed_question_are_asked_again(autojump_clock: trio.abc.Clock) -> None:
    runs = 0

    @tool
    async def shifting(channel: Channel) -> str:
        """Asks something else first whenever it runs again."""
        nonlocal runs
        runs += 1
        name = await channel.elicit(f"Your name, in run {runs}?", Name)
        sure = [await channel.elicit(question, Confirm) for question in ("Sure?", "Really?")]
        return f"{name!r} {sure!r}"

    async with connect(suite_of(shifting), capabilities=ABLE) as client:
        call = client.start_tool("shifting")
        assert list(await asked(call)) == ["q1"]
        call = client.retry(call, {"q1": accept(name="Ada")})
        assert list(await asked(call)) == ["q2"]
        call = client.retry(call, {"q2": accept(ok=True)})
        assert list(await asked(call)) == ["q3"]
        client.node.registry.kill(call.pid)
        await trio.sleep(1)
        call = client.retry(call, {"q3": accept(ok=True)})
        assert (await asked(call))["q1"]["params"]["message"] == "Your name, in run 2?"
        call = client.retry(call, {"q1": accept(name="Bob")})
        assert list(await asked(call)) == ["q2"]


async def test_another_process_with_the_key_goes_on(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    async with connect(suite_of(log.tool()), capabilities=ABLE) as here:
        first = here.start_tool("greet")
        await asked(first)
        async with connect(suite_of(log.tool()), capabilities=ABLE) as there:
            second = there.retry(first, {"q1": accept(name="Ada")})
            assert list(await asked(second)) == ["q2"]
            assert await text_of(there.retry(second, {"q2": accept(ok=True)})) == "Hello Ada"


async def test_once_refuses_to_run_again(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    async with connect(suite_of(log.tool(once=True)), capabilities=ABLE) as client:
        first = client.start_tool("greet")
        await asked(first)
        client.node.registry.kill(first.pid)
        await trio.sleep(1)
        with pytest.raises(InvalidRequestState):
            client.retry(first, {"q1": accept(name="Ada")})
    assert log.lines == ["begun", "cancelled"]


async def test_single_use_refuses_on_another_node_only(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    async with connect(suite_of(log.tool(single_use=True)), capabilities=ABLE) as here:
        first = here.start_tool("greet")
        await asked(first)
        async with connect(suite_of(log.tool(single_use=True)), capabilities=ABLE) as there:
            with pytest.raises(InvalidRequestState):
                there.retry(first, {"q1": accept(name="Ada")})
        here.node.registry.kill(first.pid)
        await trio.sleep(1)
        await asked(here.retry(first, {"q1": accept(name="Ada")}))


async def test_two_conversations_do_not_mix(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite_of(Log().tool()), capabilities=ABLE) as client:
        calls = {name: client.start_tool("greet") for name in ("Ada", "Bob")}
        for key in ("q1", "q2"):
            for name, call in calls.items():
                await asked(call)
                answer = accept(name=name) if key == "q1" else accept(ok=True)
                calls[name] = client.retry(call, {key: answer})
        assert [await text_of(call) for call in calls.values()] == ["Hello Ada", "Hello Bob"]


async def test_round_is_used_once(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite_of(Log().tool()), capabilities=ABLE) as client:
        first = client.start_tool("greet")
        await asked(first)
        second = client.retry(first, {"q1": accept(name="Ada")})
        with pytest.raises(InvalidRequestState, match="used before"):
            client.retry(first, {"q1": accept(name="Eve")})  # while the first retry is being answered
        await asked(second)
        with pytest.raises(InvalidRequestState):
            client.retry(first, {"q1": accept(name="Eve")})
        assert await text_of(client.retry(second, {"q2": accept(ok=True)})) == "Hello Ada"


async def test_state_of_another_principal_or_request_or_a_changed_one_is_refused(
    autojump_clock: trio.abc.Clock,
) -> None:
    async with connect(suite_of(Log().tool()), capabilities=ABLE, as_principal="ada") as client:
        first = client.start_tool("greet")
        await asked(first)
        state = first.outbox.final.request_state
        answers = {"q1": accept(name="Ada")}
        with pytest.raises(InvalidRequestState):
            client.as_principal("eve").retry(first, answers)
        with pytest.raises(InvalidRequestState):
            client.start(
                "tools/call",
                {"name": "greet", "arguments": {"greeting": "Bye"}, "inputResponses": answers, "requestState": state},
            )
        with pytest.raises(InvalidRequestState):
            client.start(
                "tools/call",
                {"name": "greet", "arguments": {}, "inputResponses": answers, "requestState": f"{state}-TAMPERED"},
            )
        await asked(client.retry(first, answers))


async def test_missing_and_invalid_answers_are_asked_again_and_unknown_ones_ignored(
    autojump_clock: trio.abc.Clock,
) -> None:
    async with connect(suite_of(Log().tool()), capabilities=ABLE) as client:
        call = client.start_tool("greet")
        attempts: list[dict[str, Any]] = [
            {},
            {"other": accept(name="x")},
            {"q1": accept(name=5)},
            {"q1": {"roots": []}},
        ]
        for answers in attempts:
            assert list(await asked(call)) == ["q1"]
            call = client.retry(call, answers)
        assert list(await asked(call)) == ["q1"]
        call = client.retry(call, {"q1": accept(name="Ada"), "q9": accept()})
        assert list(await asked(call)) == ["q2"]


async def test_answers_without_a_state_count(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite_of(Log().tool()), capabilities=ABLE) as client:
        answers = {"q1": accept(name="Ada"), "q2": accept(ok=True)}
        call = client.start("tools/call", {"name": "greet", "arguments": {}, "inputResponses": answers})
        assert await text_of(call) == "Hello Ada"


@pytest.mark.parametrize(("action", "expected"), [("decline", Declined()), ("cancel", Dismissed())])
async def test_person_may_say_no(action: str, expected: object, autojump_clock: trio.abc.Clock) -> None:
    seen: list[object] = []

    @tool
    async def ask(channel: Channel) -> None:
        """Asks."""
        seen.append(await channel.elicit("Well?", Confirm))

    async with connect(suite_of(ask), capabilities=ABLE) as client:
        call = client.start_tool("ask")
        await asked(call)
        await client.retry(call, {"q1": {"action": action}}).result()
    assert seen == [expected]


async def test_undeclared_capability_is_not_asked_for(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def ask(kind: str, channel: Channel) -> None:
        """Asks."""
        if kind == "form":
            await channel.elicit("Well?", Confirm)
        elif kind == "url":
            await channel.elicit_url("Look", "https://example.com")
        elif kind == "sampling":
            await channel.sample("Hi", max_tokens=1)
        else:
            await channel.list_roots()

    only_form = mcp.decode_as(mcp.ClientCapabilities, {"elicitation": {}})
    async with connect(suite_of(ask), capabilities=only_form) as client:
        for kind, required in (
            ("url", {"elicitation": {"url": {}}}),
            ("sampling", {"sampling": {}}),
            ("roots", {"roots": {}}),
        ):
            with pytest.raises(MissingCapability) as caught:
                await client.call_tool("ask", {"kind": kind})
            assert caught.value.data == {"requiredCapabilities": required}
        await asked(client.start_tool("ask", {"kind": "form"}))


async def test_model_and_roots_can_be_asked_together(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def gather(channel: Channel) -> str:
        """Gathers."""
        answers = await channel.ask(
            {
                "who": mcp.elicit_form("Who?", {"type": "object", "properties": {"name": {"type": "string"}}}),
                "what": mcp.create_message([mcp.SamplingMessage("user", mcp.text("Hi"))], max_tokens=5),
                "where": mcp.list_roots(),
            }
        )
        return f"{answers['who'].value['name']} {answers['what'].content.text} {answers['where'][0].uri}"

    async with connect(suite_of(gather), capabilities=ABLE) as client:
        call = client.start_tool("gather")
        assert set(await asked(call)) == {"who", "what", "where"}
        call = client.retry(
            call,
            {
                "who": accept(name="Ada"),
                "what": {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"},
            },
        )
        assert list(await asked(call)) == ["where"]
        call = client.retry(call, {"where": {"roots": [{"uri": "file:///x"}]}})
        assert await text_of(call) == "Ada hello file:///x"


async def test_page_is_accepted_without_a_value(autojump_clock: trio.abc.Clock) -> None:
    seen: list[object] = []

    @tool
    async def look(channel: Channel) -> None:
        """Looks."""
        seen.append(await channel.elicit_url("Log in", "https://example.com/login", key="login"))

    async with connect(suite_of(look), capabilities=ABLE) as client:
        call = client.start_tool("look")
        assert (await asked(call))["login"]["params"] == {
            "mode": "url",
            "message": "Log in",
            "url": "https://example.com/login",
        }
        await client.retry(call, {"login": {"action": "accept"}}).result()
    assert seen == [Accepted(None)]


class Secret(msgspec.Struct):
    password: str


class Nested(msgspec.Struct):
    inner: Name


@pytest.mark.parametrize("form", [Secret, Nested])
async def test_forms_that_must_not_be_asked_are_refused_at_the_author(
    form: Any, caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    @tool
    async def ask(channel: Channel) -> None:
        """Asks."""
        await channel.elicit("Well?", form)

    async with connect(suite_of(ask), capabilities=ABLE) as client:
        with pytest.raises(McpError) as caught:
            await client.call_tool("ask")
    assert caught.value.code == -32603
    assert "SchemaError" in caplog.text


@pytest.mark.parametrize(
    ("url", "fine"),
    [("https://x.org", True), ("http://127.0.0.1:1/x", True), ("http://x.org", False), ("javascript:x", False)],
)
async def test_pages_are_https_outside_this_machine(url: str, fine: bool, autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def look(channel: Channel) -> None:
        """Looks."""
        await channel.elicit_url("Look", url)

    async with connect(suite_of(look), capabilities=ABLE) as client:
        if fine:
            await asked(client.start_tool("look"))
        else:
            with pytest.raises(McpError):
                await client.call_tool("look")


async def test_nobody_answers_in_time(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    async with connect(suite_of(log.tool()), capabilities=ABLE) as client:
        call = client.start_tool("greet")
        reasons: list[actors.ExitReason] = []
        client.node.on_exit(call.pid, reasons.append)
        await asked(call)
        await trio.sleep(599)
        assert len(client.node.snapshot()) == 1
        await trio.sleep(2)
        assert client.node.snapshot() == ()
    assert reasons == [actors.Shutdown("expired")]
    assert log.lines == ["begun", "cancelled"]


async def test_oldest_waiting_worker_makes_room_and_its_client_goes_on(autojump_clock: trio.abc.Clock) -> None:
    log = Log()
    settings = WorkerSettings(conversations=2)
    made = suite_of(log.tool())
    async with connect(made, capabilities=ABLE, settings=settings) as client:
        calls = [client.start_tool("greet") for _ in range(3)]
        for call in calls:
            await asked(call)
        await trio.sleep(1)
        assert len(client.node.snapshot()) == 2
        assert len(made.conversations) == 2
        for call in calls:
            assert list(await asked(client.retry(call, {"q1": accept(name="Ada")}))) == ["q2"]


async def test_client_of_the_retry_owns_the_worker(autojump_clock: trio.abc.Clock) -> None:
    seen: list[str | None] = []

    @tool
    async def slow(channel: Channel) -> str:
        """Is slow."""
        await channel.elicit("Go on?", Confirm)
        try:
            await trio.sleep_forever()
        finally:
            seen.append(channel.close_reason)

    async with connect(suite_of(slow), capabilities=ABLE) as client:
        first = client.start_tool("slow")
        await asked(first)
        second = client.retry(first, {"q1": accept(ok=True)})
        await trio.sleep(1)
        second.leave()
        await trio.sleep(1)
        assert client.node.snapshot() == ()
    assert seen == ["client_gone"]


async def test_channel_is_that_of_the_retry(autojump_clock: trio.abc.Clock) -> None:
    seen: list[Any] = []

    @tool
    async def look(channel: Channel) -> str:
        """Looks."""
        await channel.send_progress(5)
        seen.append((channel.request_id, channel.progress_token, channel.log_level))
        await channel.elicit("Go on?", Confirm)
        seen.append((channel.request_id, channel.progress_token, channel.log_level))
        await channel.send_progress(1)
        return "done"

    async with connect(suite_of(look), capabilities=ABLE) as client:
        first = client.start_tool("look", progress_token="a")
        await asked(first)
        second = client.retry(first, {"q1": accept(ok=True)}, progress_token="b", log_level="info")
        await second.result()
    assert seen == [(1, "a", None), (2, "b", "info")]
    assert [mcp.to_dict(note)["params"]["progressToken"] for note in second.notifications] == ["b"]


async def test_channel_is_suspended_while_it_waits(autojump_clock: trio.abc.Clock) -> None:
    channels: list[Channel] = []

    @tool
    async def look(channel: Channel) -> str:
        """Looks."""
        channels.append(channel)
        await channel.elicit("Go on?", Confirm)
        return str(await channel.receive())

    async with connect(suite_of(look), capabilities=ABLE) as client:
        first = client.start_tool("look", progress_token=1)
        await asked(first)
        assert channels[0].status == "suspended"
        first.push("meanwhile")
        second = client.retry(first, {"q1": accept(ok=True)})
        assert await text_of(second) == "meanwhile"


async def test_time_limit_stands_still_while_the_person_thinks(autojump_clock: trio.abc.Clock) -> None:
    @tool(timeout=5)
    async def ask(channel: Channel) -> str:
        """Asks."""
        await trio.sleep(3)
        await channel.elicit("Go on?", Confirm)
        await trio.sleep(1)
        await channel.elicit("Really?", Confirm)
        await trio.sleep(3)
        return "never"

    async with connect(suite_of(ask), capabilities=ABLE) as client:
        call = client.start_tool("ask")
        await asked(call)
        await trio.sleep(300)
        call = client.retry(call, {"q1": accept(ok=True)})
        await asked(call)
        begun = trio.current_time()
        with pytest.raises(McpError, match="5 s"):
            await client.retry(call, {"q2": accept(ok=True)}).result()
        assert trio.current_time() - begun == pytest.approx(1)


async def test_synchronous_handler_waits_in_its_thread() -> None:
    @tool
    def ask(channel: SyncChannel) -> str:
        """Asks."""
        return repr(channel.elicit("Go on?", Confirm))

    async with connect(suite_of(ask), capabilities=ABLE) as client:
        call = client.start_tool("ask")
        await asked(call)
        assert await text_of(client.retry(call, {"q1": accept(ok=True)})) == "Accepted(value=Confirm(ok=True))"


async def test_shutdown_ends_waiting_workers(autojump_clock: trio.abc.Clock) -> None:
    made = suite_of(Log().tool())
    async with connect(made, capabilities=ABLE) as client:
        await asked(client.start_tool("greet"))
    assert len(made.conversations) == 0


class Stateless(Tool):
    """Asks without keeping its worker."""

    name = "stateless"

    async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> mcp.CallToolResult | InputRequired:
        answers = request.params.input_responses
        if request.params.request_state is None:
            asked = {
                key: mcp.elicit_form("?", {"type": "object", "properties": {"x": {"type": "integer"}}}) for key in "ab"
            }
            return InputRequired(asked, {"step": 1})
        state: Any = request.params.request_state
        assert state == {"step": 1}
        assert answers is not None
        return mcp.call_tool_result(text=str({key: mcp.to_dict(answer)["content"] for key, answer in answers.items()}))


async def test_stateless_question_runs_the_handler_again_with_complete_answers(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite_of(Stateless), capabilities=ABLE) as client:
        call = client.start_tool("stateless")
        assert set(await asked(call)) == {"a", "b"}
        call = client.retry(call, {"a": accept(x=1), "b": accept(x="no")})
        assert list(await asked(call)) == ["b"]
        assert await text_of(client.retry(call, {"b": accept(x=2)})) == "{'a': {'x': 1}, 'b': {'x': 2}}"


async def test_low_level_server_may_ask_too(autojump_clock: trio.abc.Clock) -> None:
    class Low(Server[None]):
        async def handle_request(self, request: mcp.Request, channel: Channel, state: None, /) -> Result:
            answer = await channel.elicit("Go on?", Confirm)
            return Result(mcp.call_tool_result(text=repr(answer)))

    async with connect(Low(), capabilities=ABLE) as client:
        call = client.start_tool("x")
        await asked(call)
        assert await text_of(client.retry(call, {"q1": accept(ok=True)})) == "Accepted(value=Confirm(ok=True))"


async def test_low_level_server_may_have_a_state_of_its_own(autojump_clock: trio.abc.Clock) -> None:
    class Low(Server[None]):
        async def handle_request(self, request: mcp.Request, channel: Channel, state: None, /) -> Result:
            assert isinstance(request, mcp.CallToolRequest)
            own = request.params.request_state
            return Result(mcp.call_tool_result(text=own) if own else mcp.input_required_result(None, "mine"))

    async with connect(Low()) as client:
        call = client.start_tool("x")
        await call.result()
        assert await text_of(client.retry(call, {})) == "mine"


async def other_requests_cannot_ask(client: Client) -> None:
    with pytest.raises(McpError):
        await client.request("tools/list")


async def test_only_some_requests_can_ask(caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock) -> None:
    class Low(Server[None]):
        async def handle_request(self, request: mcp.Request, channel: Channel, state: None, /) -> Result:
            await channel.elicit("Go on?", Confirm)
            return Result(mcp.list_tools_result([]))

    async with connect(Low(), capabilities=ABLE) as client:
        await other_requests_cannot_ask(client)
    assert "only a tools/call, prompts/get or resources/read can ask" in caplog.text


@pytest.mark.parametrize("how", ["return", "send"])
async def test_question_of_a_low_level_server_needs_its_capability(how: str, autojump_clock: trio.abc.Clock) -> None:
    class Low(Server[None]):
        async def handle_request(self, request: mcp.Request, channel: Channel, state: None, /) -> Result:
            question = mcp.input_required_result({"where": mcp.list_roots()}, "mine")
            if how == "send":
                await channel.send_result(question)
            return Result(question)

    forms = mcp.decode_as(mcp.ClientCapabilities, {"elicitation": {}})
    async with connect(Low(), capabilities=forms) as client:
        with pytest.raises(MissingCapability) as caught:
            await client.call_tool("x")
    assert caught.value.data == {"requiredCapabilities": {"roots": {}}}
    async with connect(Low(), capabilities=ABLE) as client:
        assert list(await asked(client.start_tool("x"))) == ["where"]


async def test_question_that_is_sent_needs_a_request_that_can_ask(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Low(Server[None]):
        async def handle_request(self, request: mcp.Request, channel: Channel, state: None, /) -> Result:
            await channel.send_result(mcp.input_required_result({"where": mcp.list_roots()}))
            return Result(mcp.list_tools_result([]))

    async with connect(Low(), capabilities=ABLE) as client:
        await other_requests_cannot_ask(client)
    assert "only a tools/call, prompts/get or resources/read can ask" in caplog.text


async def test_expired_state_is_told_from_an_invalid_one(autojump_clock: trio.abc.Clock) -> None:
    clock = Clock()
    before = tokens.use(tokens.KeyRing([os.urandom(32)], clock=clock))
    try:
        async with connect(suite_of(Stateless), capabilities=ABLE) as client:
            first = client.start_tool("stateless")
            await asked(first)
            clock.now += 599
            second = client.retry(first, {"a": accept(x=1)})
            assert list(await asked(second)) == ["b"]
            clock.now += 2
            with pytest.raises(ExpiredRequestState):
                client.retry(first, {"a": accept(x=1)})
            clock.now += 597
            await client.retry(second, {"b": accept(x=1)}).result()
    finally:
        tokens.use(before)


class Clock:
    """The wall clock that states are judged by."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


async def test_state_of_a_tool_does_not_open_a_prompt(autojump_clock: trio.abc.Clock) -> None:
    @prompt(name="greet")
    async def greet(channel: Channel) -> str:
        """Greets."""
        return repr(await channel.elicit("Your name?", Name))

    made = Suite(server_name="Test", server_version="1", tools=[Log().tool()], prompts=[greet])
    async with connect(made, capabilities=ABLE) as client:
        first = client.start_tool("greet")
        await asked(first)
        params = {"inputResponses": {"q1": accept(name="Ada")}, "requestState": first.outbox.final.request_state}
        with pytest.raises(InvalidRequestState):
            client.start("prompts/get", {"name": "greet", "arguments": {}, **params})


async def test_state_of_one_resource_does_not_open_another(autojump_clock: trio.abc.Clock) -> None:
    @resource("asks://{room}")
    async def room(room: str, channel: Channel) -> str:
        """A room whose door asks for a name."""
        return f"{room}: {await channel.elicit('Your name?', Name)!r}"

    made = Suite(server_name="Test", server_version="1", resources=[room])
    async with connect(made, capabilities=ABLE) as client:
        first = client.start("resources/read", {"uri": "asks://hall"})
        await asked(first)
        params = {"inputResponses": {"q1": accept(name="Ada")}, "requestState": first.outbox.final.request_state}
        with pytest.raises(InvalidRequestState):
            client.start("resources/read", {"uri": "asks://vault", **params})
        result = await client.start("resources/read", {"uri": "asks://hall", **params}).result()
        assert "hall: Accepted" in result.contents[0].text


@pytest.mark.parametrize(
    "answers",
    [[], "q1", 7, {"q1": None}, {"q1": 7}, {"q1": []}, {"q1": {"action": "perhaps"}}, {"q1": {"content": {}}}],
)
async def test_answers_of_no_known_shape_are_refused_naming_the_place(
    answers: Any, autojump_clock: trio.abc.Clock
) -> None:
    log = Log()
    async with connect(suite_of(log.tool()), capabilities=ABLE) as client:
        with pytest.raises(InvalidParams, match=r"^params\.inputResponses"):
            client.start("tools/call", {"name": "greet", "arguments": {}, "inputResponses": answers})
    assert log.lines == []


async def test_url_alone_does_not_imply_forms(autojump_clock: trio.abc.Clock) -> None:
    only_pages = mcp.decode_as(mcp.ClientCapabilities, {"elicitation": {"url": {}}})
    async with connect(suite_of(Log().tool()), capabilities=only_pages) as client:
        with pytest.raises(MissingCapability) as caught:
            await client.call_tool("greet")
    assert caught.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}
