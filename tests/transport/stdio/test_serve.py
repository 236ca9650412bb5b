"""How talking to a client ends, and what a client that does not read is spared and costs."""

from __future__ import annotations

import json

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from genmcp import Channel, Suite, tool
from tests.interop.wire import META, Json, call, request
from tests.transport.stdio.shop import Shop
from tests.transport.stdio.talk import Talk, talking
from transport.stdio.writer import MUCH

LOUD = {**META, "io.modelcontextprotocol/logLevel": "info"}


def listen(request_id: str) -> Json:
    return request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=request_id)


async def time_to_end(talk: Talk) -> float:
    started = trio.current_time()
    with trio.fail_after(100):
        await talk.ended.wait()
    return trio.current_time() - started


async def test_end_of_input_ends_an_idle_server_at_once(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.ask(request("server/discover"))
    await talk.out.aclose()
    assert await time_to_end(talk) < 0.1
    assert talk.serving.ending == "input"


async def test_short_calls_are_answered_after_the_end_of_input(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(*(call("add", {"a": number, "b": 0}, id=number) for number in range(50)))
    await talk.say(call("sleep", {"seconds": 0.1}, id="short"))
    await talk.out.aclose()
    assert {message["id"] for message in await talk.hear_rest()} == {*range(50), "short"}


@pytest.mark.parametrize("attempt", range(30))
async def test_whole_exchange_may_come_in_one_piece(shop: Shop, attempt: int) -> None:
    asked = [request("server/discover", id=0), *(call("add", {"a": number, "b": 0}, id=number) for number in (1, 2))]
    async with talking(shop.suite) as talk:
        await talk.out.send_all(b"".join(json.dumps(each).encode() + b"\n" for each in asked))
        await talk.out.aclose()
        assert all("result" in message for message in await talk.hear_rest())


async def test_last_line_needs_no_end(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.out.send_all(json.dumps(call("add", {"a": 1, "b": 2})).encode())
    await talk.out.aclose()
    (answer,) = await talk.hear_rest()
    assert answer["result"]["structuredContent"] == 3.0


async def test_long_calls_are_cancelled_after_the_end_of_input(
    talk: Talk, shop: Shop, autojump_clock: MockClock
) -> None:
    await talk.say(call("sleep", {"seconds": 60}, id=1), call("held", id=2), listen("l"))
    await talk.hear()
    await talk.out.aclose()
    assert await time_to_end(talk) < 0.5
    assert await talk.hear_rest() == []
    assert sorted(shop.notes) == ["asleep", "cancelled", "closed: client_gone", "held"]


async def test_stop_lets_calls_finish_and_subscriptions_end(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await talk.say(listen("l"), call("sleep", {"seconds": 8}, id="short"), call("sleep", {"seconds": 60}, id="long"))
    await talk.hear()
    talk.serving.stop()
    took = await time_to_end(talk)
    heard = {message["id"]: message for message in await talk.hear_rest()}
    assert 10 <= took < 10.5
    assert list(heard) == ["l", "short", "long"]
    assert heard["l"]["result"]["resultType"] == "complete"
    assert heard["short"]["result"]["content"][0]["text"] == "slept 8"
    assert heard["long"]["error"]["code"] == -32603
    assert "shut" in heard["long"]["error"]["message"]
    assert talk.serving.ending == "stop"
    assert talk.ends[0] >= took


async def test_stop_of_an_idle_server_waits_for_nothing(talk: Talk, autojump_clock: MockClock) -> None:
    talk.serving.stop()
    talk.serving.stop()
    assert await time_to_end(talk) < 0.1


async def test_stopping_server_takes_no_new_request(talk: Talk, autojump_clock: MockClock) -> None:
    await talk.say(call("sleep", {"seconds": 5}, id=1))
    await trio.sleep(1)
    talk.serving.stop()
    await trio.sleep(1)
    refused = await talk.ask(call("add", {"a": 1, "b": 2}, id=2))
    assert refused["error"] == {"code": -32603, "message": "The server is shutting down"}
    await talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert await time_to_end(talk) < 0.1


async def test_end_of_input_shortens_a_stop(talk: Talk, shop: Shop, autojump_clock: MockClock) -> None:
    await talk.say(call("held", id=1))
    await trio.sleep(1)
    talk.serving.stop()
    await trio.sleep(1)
    await talk.out.aclose()
    assert await time_to_end(talk) < 0.5
    assert shop.notes == ["held", "closed: client_gone"]


async def test_slow_clean_up_does_not_hold_the_end(autojump_clock: MockClock) -> None:
    @tool
    async def cling() -> None:
        """Be slow to let go."""
        import actors

        try:
            await trio.sleep_forever()
        finally:
            with actors.current().clean_up(60):
                await trio.sleep(60)

    async with talking(Suite(server_name="s", server_version="1", tools=[cling])) as talk:
        await talk.say(call("cling"))
        await trio.sleep(1)
        await talk.out.aclose()
        assert await time_to_end(talk) < 1


async def test_closed_output_cancels_everything(shop: Shop, autojump_clock: MockClock) -> None:
    async with talking(shop.suite, lockstep=True) as talk:
        await talk.say(call("held", id=1), call("count", {"to": 1}, id=2, meta=LOUD))
        await trio.sleep(1)
        await talk.leave()
        assert await time_to_end(talk) < 0.5
        assert talk.serving.ending == "output"
        assert shop.notes == ["held", "closed: client_gone"]


async def test_client_that_does_not_read_is_given_up(shop: Shop, autojump_clock: MockClock) -> None:
    async with talking(shop.suite, lockstep=True) as talk:
        await talk.say(call("held", id=1), call("add", {"a": 1, "b": 2}, id=2))
        assert 30 <= await time_to_end(talk) < 31
        assert shop.notes == ["held", "closed: stalled"]


async def test_sender_feels_a_client_that_does_not_read(shop: Shop, autojump_clock: MockClock) -> None:
    async with talking(shop.suite, lockstep=True) as talk:
        await talk.say(call("flood", id=1, meta=LOUD))
        await trio.sleep(5)
        said = shop.notes.count("said")
        assert 64 <= said <= 64 + 66  # in the outbox, and in the piece that is being written
        await trio.sleep(5)
        assert shop.notes.count("said") == said
        await talk.hear()
        await trio.sleep(1)
        assert shop.notes.count("said") > said


async def test_unread_answers_stop_the_reading(autojump_clock: MockClock) -> None:
    calls = 0

    @tool
    async def big(channel: Channel) -> str:
        """Answer at length."""
        nonlocal calls
        calls += 1
        return "x" * (MUCH // 4)

    async with talking(Suite(server_name="s", server_version="1", tools=[big]), lockstep=True) as talk:
        await talk.say(*(call("big", id=number) for number in range(100)))
        await trio.sleep(10)
        assert calls < 30
        assert {(await talk.hear())["id"] for _ in range(100)} == set(range(100))
        assert calls == 100


async def test_nothing_is_left_after_many_talks(shop: Shop, autojump_clock: MockClock) -> None:
    for _ in range(20):
        async with talking(shop.suite) as talk:
            await talk.say(call("held", id=1), listen("l"), call("add", {"a": 1, "b": 2}, id=2))
            await trio.sleep(1)
            await talk.out.aclose()
            await talk.ended.wait()
            assert talk.serving.node.counts().actors == 0
