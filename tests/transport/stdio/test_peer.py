"""What each message is, and who answers it: requests of 2026-07-28."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from genmcp import Suite, telemetry
from tests.interop.wire import META, Json, call, request
from tests.transport.stdio.shop import Odd, Shop
from tests.transport.stdio.talk import Talk, talking

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
LOUD = {**META, "progressToken": "p", "io.modelcontextprotocol/logLevel": "info"}
FORMS = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}


def cancelled(request_id: object, **params: object) -> Json:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id, **params}}


def listen(request_id: int | str, **wanted: object) -> Json:
    return request("subscriptions/listen", {"notifications": wanted}, id=request_id)


def code_of(answer: Json) -> object:
    return answer["error"]["code"]


async def test_discovery_needs_no_handshake(talk: Talk, autojump_clock: MockClock) -> None:
    answer = await talk.ask(request("server/discover"))
    assert answer["result"]["supportedVersions"] == ["2026-07-28"]


@pytest.mark.parametrize("request_id", [0, -7, 2**53, "", "seven", "7"])
async def test_ids_keep_their_type(talk: Talk, autojump_clock: MockClock, request_id: int | str) -> None:
    answer = await talk.ask(call("add", {"a": 1, "b": 2}, id=request_id))
    assert answer["result"]["structuredContent"] == 3.0
    assert type(answer["id"]) is type(request_id)


async def test_requests_are_answered_side_by_side(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(*(call("sleep", {"seconds": seconds}, id=seconds) for seconds in (30, 20, 10)))
    assert [(await talk.hear())["id"] for _ in range(3)] == [10, 20, 30]


async def test_open_subscriptions_block_nobody(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(*(listen(f"l{number}", toolsListChanged=True) for number in range(20)))
    assert [(await talk.hear())["method"] for _ in range(20)] == ["notifications/subscriptions/acknowledged"] * 20
    assert (await talk.ask(call("add", {"a": 1, "b": 2})))["result"]


# -- refusals


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"", -32700),
        (b" \r", -32700),
        (b"\xff\xfe", -32700),
        (b'{"text": "\xc3\x28"}', -32700),
        (b'\xef\xbb\xbf{"jsonrpc": "2.0"}', -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}]', -32600),
        (b'"text"', -32600),
        (b'{"id": null, "jsonrpc": "2.0", "method": "ping"}', -32600),
        (b'{"id": 1.5, "jsonrpc": "2.0", "method": "ping"}', -32600),
        (b'{"id": 8, "jsonrpc": "2.0", "result": {}}', -32600),
        (b"x" * (4 * 2**20 + 1), -32600),
    ],
)
async def test_broken_line_is_answered_and_survived(
    talk: Talk, autojump_clock: MockClock, line: bytes, code: int
) -> None:
    await talk.say(line)
    refused = await talk.hear()
    assert code_of(refused) == code
    assert "id" not in refused
    assert (await talk.ask(call("add", {"a": 1, "b": 2})))["result"]


async def test_carriage_return_before_the_end_is_no_harm(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(b'{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}\r')
    assert code_of(await talk.hear()) == -32602


async def test_line_of_the_whole_limit_is_served(talk: Talk, autojump_clock: MockClock) -> None:
    message = call("add", {"a": 1, "b": 2, "c": "x" * (4 * 2**20 - 500)})
    answer = await talk.ask(message)
    assert answer["result"]["isError"]


async def test_broken_lines_are_logged_seldom(
    talk: Talk, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    await talk.say(*[b"{"] * 100)
    assert {code_of(await talk.hear()) for _ in range(100)} == {-32700}
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) < 10


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"jsonrpc": "1.0", "id": 3, "method": "tools/list"}, -32600),
        ({"jsonrpc": "2.0", "id": 3, "method": 5}, -32600),
        ({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}, -32602),
        ({"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {"_meta": {}}}, -32602),
        (request("tools/list", meta={**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}, id=3), -32022),
        (request("tools/list", meta={**META, "io.modelcontextprotocol/protocolVersion": "2025-11-25"}, id=3), -32022),
        (request("tools/list", meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, id=3), -32602),
        (request("initialize", id=3), -32601),
        (request("no/such", id=3), -32601),
        (request("prompts/list", id=3), -32601),
        (request("tools/call", {"name": 5}, id=3), -32602),
        (call("nothing", id=3), -32602),
        (request("tools/list", {"cursor": "made up"}, id=3), -32602),
    ],
)
async def test_wrong_request_is_refused_as_over_http(
    talk: Talk, autojump_clock: MockClock, message: Json, code: int
) -> None:
    assert code_of(await talk.ask(message)) == code


async def test_unserved_version_names_those_that_are(talk: Talk, autojump_clock: MockClock) -> None:
    asked = {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    answer = await talk.ask(request("server/discover", meta=asked))
    assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


async def test_handshake_without_the_old_era_names_the_new(shop: Shop, autojump_clock: MockClock) -> None:
    async with talking(shop.suite, settings={"legacy": False}) as talk:
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
        answer = await talk.ask(hello)
        assert code_of(answer) == -32022
        assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
        assert code_of(await talk.ask({"jsonrpc": "2.0", "id": 2, "method": "ping"})) == -32602


async def test_id_in_use_is_refused_until_it_is_free(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(call("sleep", {"seconds": 5}, id=1), call("add", {"a": 1, "b": 2}, id=1))
    assert code_of(await talk.hear()) == -32600
    assert (await talk.hear())["result"]["content"][0]["text"] == "slept 5"
    assert (await talk.ask(call("add", {"a": 1, "b": 2}, id=1)))["result"]


async def test_text_and_number_are_different_ids(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(call("sleep", {"seconds": 5}, id=1), call("sleep", {"seconds": 5}, id="1"))
    assert {(await talk.hear())["id"] for _ in range(2)} == {1, "1"}


async def test_more_requests_than_may_run_are_refused(shop: Shop, autojump_clock: MockClock) -> None:
    async with talking(shop.suite, settings={"live_workers": 2}) as talk:
        await talk.say(*(call("sleep", {"seconds": 5}, id=number) for number in range(3)))
        refused = await talk.hear()
        assert (refused["id"], code_of(refused)) == (2, -32603)
        assert "--live-workers" in refused["error"]["message"]
        assert {(await talk.hear())["id"] for _ in range(2)} == {0, 1}
        assert (await talk.ask(call("add", {"a": 1, "b": 2})))["result"]


async def test_crash_of_a_tool_ends_one_request(
    talk: Talk, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    await talk.say(call("sleep", {"seconds": 1}, id=1), call("crash", id=2))
    answer = await talk.hear()
    assert (answer["id"], code_of(answer)) == (2, -32603)
    assert answer["error"]["data"]["reference"] in caplog.text
    assert "secret" not in str(answer)
    assert (await talk.hear())["result"]["content"][0]["text"] == "slept 1"


async def test_refusals_are_told_to_telemetry(talk: Talk, autojump_clock: MockClock) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    detach = telemetry.attach(lambda name, fields: told.append((name, fields)))
    try:
        await talk.say(b"{", request("no/such"))
        await talk.hear()
        await talk.hear()
    finally:
        detach()
    rejected = [fields["code"] for name, fields in told if name == "transport.request_rejected"]
    assert rejected == [-32700, -32601]


async def test_fault_of_ours_is_masked_and_survived(
    talk: Talk, shop: Shop, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("transport.stdio.peer.start_request", lambda *_: 1 / 0)
        answer = await talk.ask(call("add", {"a": 1, "b": 2}))
    assert code_of(answer) == -32603
    assert answer["error"]["data"]["reference"] in caplog.text
    assert (await talk.ask(call("add", {"a": 1, "b": 2})))["result"]


# -- notifications and cancellation


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/unheard/of", "notifications/progress"])
async def test_other_notifications_are_ignored(talk: Talk, autojump_clock: MockClock, method: str) -> None:
    await talk.say({"jsonrpc": "2.0", "method": method})
    await talk.expect_silence()


async def test_cancelled_request_is_never_heard_of_again(
    talk: Talk, autojump_clock: MockClock, shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "genmcp")
    await talk.say(call("sleep", {"seconds": 5}, id="slow"))
    await trio.sleep(1)
    await talk.say(cancelled("slow", reason="nobody needs it"))
    await talk.expect_silence()
    assert shop.notes == ["asleep", "cancelled"]
    assert "'slow' is cancelled: nobody needs it" in caplog.text


async def test_cancelled_stream_closes_its_handler(talk: Talk, autojump_clock: MockClock, shop: Shop) -> None:
    await talk.say(call("held", id=1))
    await trio.sleep(1)
    await talk.say(cancelled(1))
    await talk.expect_silence()
    assert shop.notes == ["held", "closed: client_gone"]


async def test_cancelled_at_once_is_not_answered(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(call("sleep", {"seconds": 5}, id=1), cancelled(1))
    await talk.expect_silence()


async def test_id_of_a_cancelled_request_is_free(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(call("sleep", {"seconds": 5}, id=1), cancelled(1), call("add", {"a": 1, "b": 2}, id=1))
    assert (await talk.hear())["result"]["structuredContent"] == 3.0
    await talk.expect_silence()


@pytest.mark.parametrize(
    "notification",
    [
        cancelled(99),
        cancelled("1"),
        cancelled(1.0),
        cancelled(True),
        cancelled(None),
        cancelled([1]),
        cancelled(1, reason=5),
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]},
    ],
)
async def test_cancellation_that_names_nothing_is_ignored(
    talk: Talk, autojump_clock: MockClock, notification: Json, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "genmcp")
    await talk.say(call("sleep", {"seconds": 5}, id=1), notification)
    answer = await talk.hear()
    assert answer["result"]["content"][0]["text"] == "slept 5"
    assert "ignored" in caplog.text


async def test_cancellation_of_a_finished_request_is_ignored(talk: Talk, autojump_clock: MockClock) -> None:
    assert (await talk.ask(call("add", {"a": 1, "b": 2}, id=1)))["result"]
    await talk.say(cancelled(1))
    await talk.expect_silence()


# -- events


async def test_progress_and_logs_come_before_the_answer(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(call("count", {"to": 2}, id=1, meta=LOUD))
    heard = [await talk.hear() for _ in range(5)]
    assert [message.get("method", "answer") for message in heard] == [
        "notifications/progress",
        "notifications/message",
        "notifications/progress",
        "notifications/message",
        "answer",
    ]
    assert heard[2]["params"] == {"progressToken": "p", "progress": 2, "total": 2}


async def test_nothing_is_reported_unasked(talk: Talk, autojump_clock: MockClock) -> None:
    assert (await talk.ask(call("count", {"to": 3})))["result"]["content"][0]["text"] == "counted"


async def test_subscription_is_acknowledged_first_and_tagged(talk: Talk, autojump_clock: MockClock, shop: Shop) -> None:
    await talk.say(listen("a", toolsListChanged=True), listen(5, resourceSubscriptions=["test://note"]))
    acknowledged = {}
    for _ in range(2):
        heard = await talk.hear()
        assert heard["method"] == "notifications/subscriptions/acknowledged"
        acknowledged[heard["params"]["_meta"][SUBSCRIPTION]] = heard["params"]["notifications"]
    assert acknowledged == {"a": {"toolsListChanged": True}, 5: {"resourceSubscriptions": ["test://note"]}}
    shop.suite.tools_changed()
    heard = await talk.hear()
    assert (heard["method"], heard["params"]["_meta"]) == ("notifications/tools/list_changed", {SUBSCRIPTION: "a"})
    shop.suite.resource_updated("test://note")
    heard = await talk.hear()
    assert heard["params"] == {"uri": "test://note", "_meta": {SUBSCRIPTION: 5}}
    await talk.expect_silence()


async def test_cancelled_subscription_hears_nothing_more(talk: Talk, autojump_clock: MockClock, shop: Shop) -> None:
    await talk.say(listen("a", toolsListChanged=True), listen("b", toolsListChanged=True))
    await talk.hear()
    await talk.hear()
    await talk.say(cancelled("a"))
    await trio.sleep(1)
    shop.suite.tools_changed()
    assert (await talk.hear())["params"]["_meta"] == {SUBSCRIPTION: "b"}
    await talk.expect_silence()


@pytest.mark.parametrize("announce", [False, True])
async def test_subscription_that_we_end_gets_its_result(shop: Shop, autojump_clock: MockClock, announce: bool) -> None:
    async with talking(shop.suite, announce_end=announce) as talk:
        await talk.say(listen("a", toolsListChanged=True))
        await talk.hear()
        talk.serving.stop()
        heard = await talk.hear_rest()
    if announce:
        first = heard.pop(0)
        assert (first["method"], first["params"]["requestId"]) == ("notifications/cancelled", "a")
        assert first["params"]["_meta"] == {SUBSCRIPTION: "a"}
    (answer,) = heard
    assert answer["id"] == "a"
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["_meta"][SUBSCRIPTION] == "a"


async def test_question_and_retry_reach_one_worker(talk: Talk, autojump_clock: MockClock) -> None:
    asked = await talk.ask(call("greet", id=1, meta=FORMS))
    result = asked["result"]
    assert result["resultType"] == "input_required"
    (key,) = result["inputRequests"]
    answers = {key: {"action": "accept", "content": {"name": "Ada"}}}
    params = {"name": "greet", "arguments": {}, "inputResponses": answers, "requestState": result["requestState"]}
    answer = await talk.ask(request("tools/call", params, id=2, meta=FORMS))
    assert answer["result"]["content"][0]["text"] == "Hello, Ada"


@pytest.mark.parametrize("way", ["stop", "close"])
async def test_request_that_ends_without_an_answer_gets_an_error(way: str, autojump_clock: MockClock) -> None:
    async with talking(Odd()) as talk:
        answer = await talk.ask(call(way))
        assert code_of(answer) == -32603


async def test_assigns_and_principal_reach_handlers(autojump_clock: MockClock) -> None:
    seen: list[Any] = []

    from genmcp import Channel, tool

    @tool
    async def look(channel: Channel) -> None:
        """Look who is calling."""
        seen.append((channel.meta.principal, channel.meta.assigns["colour"]))

    suite = Suite(server_name="s", server_version="1", tools=[look])
    async with talking(suite, assigns={"colour": "red"}, principal="ada") as talk:
        await talk.ask(call("look"))
    assert seen == [("ada", "red")]
