"""Clients of the 2025 revisions on lines, beside messages of 2026-07-28."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from genmcp import Suite, tool
from tests.interop.wire import Json, call, request
from tests.transport.stdio.shop import Odd, Shop
from tests.transport.stdio.talk import Talk, talking

NEWEST = "2025-11-25"
FORMS: Json = {"elicitation": {}}


def old(method: str, params: Json | None = None, *, id: object = 1) -> Json:
    message: Json = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def old_call(tool: str, arguments: Json | None = None, *, id: object = 1, **params: Any) -> Json:
    return old("tools/call", {"name": tool, "arguments": arguments or {}, **params}, id=id)


def note(method: str, params: Json | None = None) -> Json:
    message: Json = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


async def shake_hands(talk: Talk, version: str = NEWEST, capabilities: Json | None = None) -> Json:
    params = {
        "protocolVersion": version,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "old", "version": "1"},
    }
    answer = await talk.ask(old("initialize", params, id="hello"))
    await talk.say(note("notifications/initialized"))
    result: Json = answer["result"]
    return result


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (NEWEST, NEWEST),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", NEWEST),
        ("2026-07-28", NEWEST),
        ("1999-01-01", NEWEST),
    ],
)
async def test_handshake_settles_on_a_revision(talk: Talk, autojump_clock: MockClock, asked: str, given: str) -> None:
    result = await shake_hands(talk, asked)
    assert result["protocolVersion"] == given
    assert result["serverInfo"]["name"] == "shop"
    assert "resultType" not in result


async def test_malformed_handshake_is_refused_and_may_be_repeated(talk: Talk, autojump_clock: MockClock) -> None:
    assert (await talk.ask(old("initialize", {})))["error"]["code"] == -32602
    assert (await shake_hands(talk))["protocolVersion"] == NEWEST


async def test_ping_is_answered_at_any_time(talk: Talk, autojump_clock: MockClock) -> None:
    assert (await talk.ask(old("ping")))["result"] == {}
    await shake_hands(talk)
    assert (await talk.ask(old("ping")))["result"] == {}


async def test_whole_handshake_may_come_in_one_piece(talk: Talk, autojump_clock: MockClock) -> None:
    params = {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    await talk.say(
        old("initialize", params, id=1),
        note("notifications/initialized"),
        old("logging/setLevel", {"level": "error"}, id=2),
        old_call("count", {"to": 2}, id=3),
    )
    assert [(await talk.hear())["id"] for _ in range(3)] == [1, 2, 3]


async def test_old_results_have_nothing_of_the_new_era(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    result = (await talk.ask(old_call("add", {"a": 1, "b": 2})))["result"]
    assert result == {"content": [{"type": "text", "text": "3.0"}]}
    tools = (await talk.ask(old("tools/list")))["result"]
    assert set(tools) == {"tools"}


async def test_both_eras_share_the_process(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await talk.say(call("sleep", {"seconds": 2}, id=1), old_call("sleep", {"seconds": 1}, id=2))
    assert "resultType" not in (await talk.hear())["result"]
    assert (await talk.hear())["result"]["resultType"] == "complete"
    assert (await talk.ask(request("server/discover")))["result"]["supportedVersions"] == ["2026-07-28"]
    assert (await talk.ask(old("server/discover")))["error"]["code"] == -32601


async def test_ids_are_shared_between_the_eras(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await talk.say(call("sleep", {"seconds": 2}, id=1), old("ping", id=1))
    assert (await talk.hear())["error"]["code"] == -32600
    assert (await talk.hear())["result"]["content"][0]["text"] == "slept 2"


async def test_progress_and_logs_reach_an_old_client(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await talk.say(old_call("count", {"to": 1}, _meta={"progressToken": 7}))
    heard = [await talk.hear() for _ in range(3)]
    assert heard[0]["params"] == {"progressToken": 7, "progress": 1, "total": 1}
    assert heard[1]["params"] == {"level": "info", "data": "at 1"}
    assert heard[2]["id"] == 1


async def test_log_level_is_kept_for_the_session(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    assert (await talk.ask(old("logging/setLevel", {"level": "warning"})))["result"] == {}
    assert (await talk.ask(old_call("count", {"to": 3})))["result"]
    assert (await talk.ask(old("logging/setLevel", {"level": "loud"})))["error"]["code"] == -32602


async def test_cancelled_old_request_is_never_heard_of_again(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await talk.say(old_call("sleep", {"seconds": 5}))
    await trio.sleep(1)
    await talk.say(note("notifications/cancelled", {"requestId": 1, "reason": "enough"}))
    await talk.expect_silence()
    assert shop.notes == ["asleep", "cancelled"]
    assert (await talk.ask(old_call("add", {"a": 1, "b": 2})))["result"]


# -- questions


async def test_question_is_a_request_and_the_answer_goes_on(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk, capabilities=FORMS)
    await talk.say(old_call("greet"))
    question = await talk.hear()
    assert question["method"] == "elicitation/create"
    assert question["params"]["message"] == "What is your name?"
    answer = {"action": "accept", "content": {"name": "Ada"}}
    await talk.say({"jsonrpc": "2.0", "id": question["id"], "result": answer})
    assert (await talk.hear())["result"]["content"][0]["text"] == "Hello, Ada"


async def test_cancelled_request_withdraws_its_question(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk, capabilities=FORMS)
    await talk.say(old_call("greet"))
    question = await talk.hear()
    await talk.say(note("notifications/cancelled", {"requestId": 1}))
    withdrawn = await talk.hear()
    assert withdrawn["method"] == "notifications/cancelled"
    assert withdrawn["params"]["requestId"] == question["id"]
    await talk.say({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    await talk.expect_silence()


async def test_answer_that_nobody_waits_for_is_ignored(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await talk.say({"jsonrpc": "2.0", "id": "made up", "result": {}}, {"jsonrpc": "2.0", "id": 4, "error": {}})
    await talk.expect_silence()


async def test_question_to_a_client_without_forms_is_refused(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    assert "error" in await talk.ask(old_call("greet"))


# -- changes


async def test_changes_are_heard_unasked(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await trio.sleep(1)
    shop.suite.tools_changed()
    heard = await talk.hear()
    assert heard["method"] == "notifications/tools/list_changed"
    assert "_meta" not in heard.get("params", {})


async def test_only_subscribed_resources_are_told(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await trio.sleep(1)
    shop.suite.resource_updated("test://note")
    await talk.expect_silence()
    assert (await talk.ask(old("resources/subscribe", {"uri": "test://note"})))["result"] == {}
    shop.suite.resource_updated("test://note")
    assert (await talk.hear())["params"] == {"uri": "test://note"}
    assert (await talk.ask(old("resources/unsubscribe", {"uri": "test://note"})))["result"] == {}
    shop.suite.resource_updated("test://note")
    await talk.expect_silence()


async def test_subscription_right_behind_the_handshake_counts(
    talk: Talk, shop: Shop, autojump_clock: MockClock
) -> None:
    params = {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    await talk.say(
        old("initialize", params, id=1),
        note("notifications/initialized"),
        old("resources/subscribe", {"uri": "test://note"}, id=2),
    )
    await talk.hear()
    assert (await talk.hear())["result"] == {}
    shop.suite.resource_updated("test://note")
    assert (await talk.hear())["method"] == "notifications/resources/updated"


async def test_subscription_before_initialized_counts(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    params = {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    await talk.ask(old("initialize", params))
    assert (await talk.ask(old("resources/subscribe", {"uri": "test://note"})))["result"] == {}
    shop.suite.resource_updated("test://note")
    assert (await talk.hear())["params"] == {"uri": "test://note"}


async def test_stream_of_changes_that_ends_is_opened_again(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await trio.sleep(1)
    node = talk.serving.node
    (listener,) = (info for info in node.snapshot() if info.label.startswith("subscriptions/listen"))
    node.registry.kill(listener.pid)
    await trio.sleep(2)
    shop.suite.tools_changed()
    assert (await talk.hear())["method"] == "notifications/tools/list_changed"


async def test_server_without_subscriptions_is_not_asked_again(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "genmcp")
    async with talking(Odd()) as talk:
        await shake_hands(talk)
        await trio.sleep(60)
        assert caplog.text.count("no changes to hear of") == 1


# -- messages that are wrong, and arrays


@pytest.mark.parametrize(("version", "has_id"), [(NEWEST, False), ("2025-06-18", True), ("2025-03-26", True)])
async def test_id_of_a_broken_line_is_that_of_the_revision(
    talk: Talk, autojump_clock: MockClock, version: str, has_id: bool
) -> None:
    await shake_hands(talk, version)
    await talk.say(b"{")
    refused = await talk.hear()
    assert refused["error"]["code"] == -32700
    assert ("id" in refused) is has_id
    assert refused.get("id") is None


async def test_array_is_taken_by_the_one_revision_that_has_them(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk, "2025-03-26")
    await talk.say([old_call("add", {"a": 1, "b": 2}, id=1), note("notifications/x"), old("ping", id=2)])
    assert {(await talk.hear())["id"] for _ in range(2)} == {1, 2}


@pytest.mark.parametrize("array", [[], [old("initialize", {}, id=3)], [old("ping", id=4), 5], [old("ping")] * 101])
async def test_array_is_taken_whole_or_not_at_all(talk: Talk, autojump_clock: MockClock, array: list[Any]) -> None:
    await shake_hands(talk, "2025-03-26")
    await talk.say(array)
    refused = await talk.hear()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    await talk.expect_silence()


async def test_array_is_refused_by_later_revisions(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk, "2025-06-18")
    await talk.say([old("ping", id=1)])
    refused = await talk.hear()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)


async def test_second_handshake_begins_again(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    await talk.say(old_call("held", id=1))
    await trio.sleep(1)
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    await talk.say(old("initialize", params, id=2))
    heard = {(message := await talk.hear())["id"]: message for _ in range(2)}
    assert heard[1]["error"]["code"] == -32603
    assert heard[2]["result"]["protocolVersion"] == "2025-06-18"
    assert shop.notes == ["held", "closed: client_gone"]


async def test_unknown_method_of_an_old_client_is_refused(talk: Talk, autojump_clock: MockClock) -> None:
    await shake_hands(talk)
    assert (await talk.ask(old("no/such")))["error"]["code"] == -32601
    assert (await talk.ask(old("subscriptions/listen", {"notifications": {}})))["error"]["code"] == -32601


async def test_request_that_ends_without_an_answer_gets_an_error(autojump_clock: MockClock) -> None:
    async with talking(Odd()) as talk:
        await shake_hands(talk)
        assert (await talk.ask(old_call("stop")))["error"]["code"] == -32603


# -- the end


async def test_end_of_input_cancels_what_an_old_client_left(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await shake_hands(talk, capabilities=FORMS)
    await talk.say(old_call("held", id=1), old_call("greet", id=2))
    await talk.hear()
    await talk.out.aclose()
    started = trio.current_time()
    await talk.ended.wait()
    assert trio.current_time() - started < 0.6
    assert shop.notes == ["held", "closed: client_gone"]
    assert talk.serving.node.counts().actors == 0


async def test_stop_answers_what_an_old_client_waits_for(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await shake_hands(talk, capabilities=FORMS)
    await talk.say(old_call("held", id=1), old_call("greet", id=2), old_call("sleep", {"seconds": 1}, id=3))
    await talk.hear()
    talk.serving.stop()
    heard = {message["id"]: message for message in await talk.hear_rest() if "id" in message}
    assert heard[1]["error"]["code"] == -32603
    assert heard[2]["error"]["code"] == -32603
    assert heard[3]["result"]["content"][0]["text"] == "slept 1"


async def test_server_busy_with_the_handshake_sees_the_end(autojump_clock: MockClock) -> None:
    class Slow(Odd):
        async def init(self) -> None:
            await trio.sleep(3600)

    async with talking(Slow()) as talk:
        params = {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
        await talk.say(old("initialize", params))
        await trio.sleep(1)
        await talk.out.aclose()
        with trio.move_on_after(1):
            await talk.ended.wait()
        assert talk.ended.is_set()


async def test_old_and_new_talk_in_a_crowd(autojump_clock: MockClock) -> None:
    @tool
    async def echo(value: str) -> str:
        """Say it again."""
        await trio.sleep(len(value) % 3)
        return value

    async with talking(Suite(server_name="s", server_version="1", tools=[echo])) as talk:
        await shake_hands(talk)
        for number in range(250):
            await talk.say(call("echo", {"value": f"new {number}"}, id=f"n{number}"))
            await talk.say(old_call("echo", {"value": f"old {number}"}, id=f"o{number}"))
        heard = [await talk.hear() for _ in range(500)]
    for message in heard:
        era = "new" if message["id"].startswith("n") else "old"
        assert message["result"]["content"][0]["text"] == f"{era} {message['id'][1:]}"
        assert ("resultType" in message["result"]) == (era == "new")
