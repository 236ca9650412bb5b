"""Streams to come back to: a disconnect cancels nothing, what was missed is sent again, and all of it is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from genmcp.worker import WorkerSettings
from tests.transport.legacy.talk import JUNE, MARCH, NOVEMBER, Client, Place, Reply, open_place, rpc, text_of

ADA = {"action": "accept", "content": {"name": "Ada"}}


def work(steps: int, pause: float = 1) -> Any:
    params = {"name": "work", "arguments": {"steps": steps, "pause": pause}, "_meta": {"progressToken": 1}}
    return rpc("tools/call", 1, **params)


def progress_of(messages: Sequence[Any]) -> list[int]:
    return [each["params"]["progress"] for each in messages if each.get("method") == "notifications/progress"]


async def left_after(client: Client, events: int, message: Any) -> Reply:
    """Make a request and leave after some of its messages."""
    async with client.posting(message) as call:
        await call.until(lambda reply: len(reply.messages) >= events)
    return call


@pytest.mark.parametrize("version", [NOVEMBER, JUNE, MARCH])
async def test_a_client_that_left_comes_back_for_the_rest(
    place: Place, version: str, autojump_clock: MockClock
) -> None:
    client = await place.client(version)
    call = await left_after(client, 2, work(5))
    await trio.sleep(2)
    async with client.listening(last_event_id=call.last_id()) as rest:
        await rest.until(lambda reply: reply.complete)
    assert progress_of(call.messages) + progress_of(rest.messages) == [1, 2, 3, 4, 5]
    assert text_of(rest.messages[-1]) == "done"
    assert place.shop.notes == ["worked"]


async def test_a_finished_stream_can_be_read_again(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    call = await client.post(work(2))
    async with client.listening(last_event_id=call.events[1].id) as rest:
        await rest.until(lambda reply: reply.complete)
    assert rest.messages == call.messages[1:]
    assert [event.id for event in rest.events] == [event.id for event in call.events[2:]]


async def test_a_disconnect_is_no_cancellation(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.calling("work", pause=5) as call:
        await trio.sleep(1)  # before there is any stream
    assert call.status == 0
    await place.quiet()
    assert place.shop.notes == ["worked"]
    assert place.kept == (0, 0)


async def test_who_stays_away_too_long_is_gone(autojump_clock: MockClock) -> None:
    async with open_place(worker=WorkerSettings(conversation_ttl=60)) as place:
        client = await place.client()
        async with client.calling("hold") as call:
            await call.until(lambda reply: reply.is_stream)
        await trio.sleep(59)
        assert place.shop.notes == []
        await trio.sleep(2)
        await place.quiet()
        assert place.shop.notes == ["held client_gone"]


async def test_who_comes_back_is_waited_for_again(autojump_clock: MockClock) -> None:
    async with open_place(worker=WorkerSettings(conversation_ttl=60)) as place:
        client = await place.client()
        call = await left_after(client, 1, work(5, pause=40))
        for _ in range(3):
            await trio.sleep(50)
            async with client.listening(last_event_id=call.last_id()) as rest:
                await rest.until(lambda reply: reply.status)
        await place.quiet()
        assert place.shop.notes == ["worked"]


async def test_a_cancelled_call_cannot_be_waited_for(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    call = await left_after(client, 1, work(50))
    await client.cancel(1)
    async with client.listening(last_event_id=call.last_id()) as rest:
        await rest.until(lambda reply: reply.complete)
    assert [each for each in rest.messages if "result" in each or "error" in each] == []
    await place.quiet()
    assert place.shop.notes == []


async def test_a_question_waits_for_the_client_to_come_back(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.calling("ask", rounds=2) as call:
        first = await call.message("elicitation/create")
    await trio.sleep(5)
    await client.answer(first, ADA)
    async with client.listening(last_event_id=call.last_id()) as rest:
        await client.answer(await rest.message("elicitation/create"), ADA)
        await rest.until(lambda reply: reply.complete)
    assert text_of(rest.messages[-1]) == "Ada, Ada"


async def test_another_connection_takes_a_stream_over(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.posting(work(6)) as call:
        await call.until(lambda reply: len(progress_of(reply.messages)) == 2)
        async with client.listening(last_event_id=call.last_id()) as rest:
            await call.until(lambda reply: reply.complete)
            await rest.until(lambda reply: reply.complete)
    assert progress_of(call.messages) + progress_of(rest.messages) == [1, 2, 3, 4, 5, 6]


async def test_nothing_of_another_session_is_sent(place: Place, autojump_clock: MockClock) -> None:
    client, thief = await place.client(), await place.client()
    call = await client.post(work(2))
    async with thief.listening(last_event_id=call.events[0].id) as stolen:
        await stolen.until(lambda reply: reply.complete)
    assert (stolen.status, stolen.code) == (400, -32600)


@pytest.mark.parametrize("last_event", ["", "x", "1.2.3", "é", "abc.9999999999999", "abc.-1", "abc.\u0661"])
async def test_an_event_of_no_stream_is_400(place: Place, last_event: str) -> None:
    client = await place.client()
    async with client.listening(last_event_id=last_event) as reply:
        await reply.until(lambda reply: reply.complete)
    assert (reply.status, reply.code) == (400, -32600)


async def test_after_an_event_that_never_was_comes_what_is_new(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    call = await left_after(client, 1, work(3))
    name = call.last_id().rpartition(".")[0]
    async with client.listening(last_event_id=f"{name}.9000") as rest:
        await rest.until(lambda reply: reply.complete)
    assert progress_of(rest.messages) == [2, 3]


async def test_a_stream_is_forgotten_with_its_session(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    await client.post(work(2))
    assert place.kept == (0, 1)
    await client.delete()
    assert place.kept == (0, 0)


async def test_a_stream_is_forgotten_after_a_while(autojump_clock: MockClock) -> None:
    async with open_place(worker=WorkerSettings(conversation_ttl=60)) as place:
        client = await place.client()
        call = await client.post(work(2))
        await trio.sleep(61)
        async with client.listening(last_event_id=call.events[0].id) as rest:
            await rest.until(lambda reply: reply.complete)
        assert rest.status == 400
        assert place.kept == (0, 0)


async def test_what_is_kept_for_an_absent_client_is_bounded(
    place: Place, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    client = await place.client()
    call = await left_after(client, 1, work(1000, pause=0.1))
    await place.quiet()
    async with client.listening(last_event_id=call.last_id()) as rest:
        await rest.until(lambda reply: reply.complete)
    assert len(rest.messages) == 256
    assert text_of(rest.messages[-1]) == "done"
    assert len([record for record in caplog.records if "oldest events" in record.message]) == 1


async def test_a_handler_closes_its_stream_and_goes_on(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    call = await client.post(rpc("tools/call", 1, name="polled", arguments={}, _meta={"progressToken": 1}))
    assert (call.is_stream, call.messages) == (True, [])
    assert [(event.data, event.retry) for event in call.events] == [("", None), (None, 500)]
    async with client.listening(last_event_id=call.last_id()) as rest:
        await rest.until(lambda reply: reply.complete)
    assert progress_of(rest.messages) == [1]
    assert text_of(rest.messages[-1]) == "after all"
    assert place.shop.notes == ["sent"]


@pytest.mark.parametrize("version", [JUNE, MARCH])
async def test_older_clients_keep_their_stream(place: Place, version: str, autojump_clock: MockClock) -> None:
    client = await place.client(version)
    assert text_of(await client.tool("polled")) == "after all"
    assert place.shop.notes == ["not_wanted"]


async def test_a_client_that_reads_slowly_holds_its_worker_back(autojump_clock: MockClock) -> None:
    async with open_place(outbox=4, write_deadline=1000) as place:
        client = await place.client()
        message = rpc("tools/call", 1, name="work", arguments={"steps": 5000, "pause": 0}, _meta={"progressToken": 1})
        async with client.posting(message) as call:
            call.reading = trio.Event()  # it reads the head, and then nothing for a while
            await trio.sleep(100)
            assert place.shop.notes == []  # the tool waits
            call.reading.set()
            await call.until(lambda reply: reply.complete)
    assert progress_of(call.messages) == list(range(1, 5001))


async def test_a_client_that_never_reads_is_left_behind(autojump_clock: MockClock) -> None:
    async with open_place(outbox=4, write_deadline=30) as place:
        client = await place.client()
        message = rpc("tools/call", 1, name="work", arguments={"steps": 5000, "pause": 0}, _meta={"progressToken": 1})
        async with client.posting(message) as call:
            await call.until(lambda reply: reply.messages)
            call.reading = trio.Event()
            await trio.sleep(100)
            assert place.shop.notes == ["worked"]  # a disconnect cancels nothing
            call.reading.set()
    await place.quiet()
