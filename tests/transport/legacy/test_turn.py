"""Questions to a 2025 client: requests on the call's stream, answers as responses, and every way it may go wrong."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from genmcp.worker import WorkerSettings
from tests.transport.legacy.talk import JUNE, MARCH, NOVEMBER, Client, Place, Reply, open_place, text_of

ELICIT, SAMPLE, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
ADA = {"action": "accept", "content": {"name": "Ada"}}


def questions(reply: Reply) -> list[Any]:
    return [message for message in reply.messages if message.get("method") == ELICIT]


def has_questions(reply: Reply, number: int) -> bool:
    return len(questions(reply)) == number


async def test_the_answer_goes_on_in_the_next_line(place: Place) -> None:
    client = await place.client()
    async with client.calling("ask") as call:
        question = await call.message(ELICIT)
        assert question["params"]["message"] == "Name?"
        reply = await client.answer(question, ADA)
        assert (reply.status, reply.body) == (202, b"")
        await call.until(lambda reply: reply.complete)
    assert text_of(call.messages[-1]) == "Ada"
    await place.quiet()
    assert place.kept[0] == 0


@pytest.mark.parametrize(("action", "outcome"), [("decline", "Declined"), ("cancel", "Dismissed")])
async def test_a_person_may_decline_or_dismiss(place: Place, action: str, outcome: str) -> None:
    client = await place.client()
    async with client.calling("ask") as call:
        await client.answer(await call.message(ELICIT), {"action": action})
        await call.until(lambda reply: reply.complete)
    assert text_of(call.messages[-1]) == outcome


async def test_rounds_go_on_one_stream_with_ids_of_their_own(place: Place) -> None:
    client = await place.client()
    async with client.calling("ask", rounds=3) as call:
        for number in range(1, 4):
            await call.until(partial(has_questions, number=number))
            await client.answer(questions(call)[-1], {"action": "accept", "content": {"name": str(number)}})
        await call.until(lambda reply: reply.complete)
    ids = [message["id"] for message in call.messages]
    assert text_of(call.messages[-1]) == "1, 2, 3"
    assert len(set(ids)) == 4
    assert all(len(str(each)) >= 20 for each in ids[:-1])


async def test_several_questions_are_asked_at_once(place: Place) -> None:
    client = await place.client()
    async with client.calling("both") as call:
        roots, name = await call.message(ROOTS), await call.message(ELICIT)
        await client.answer(roots, {"roots": [{"uri": "file:///a"}]})
        await client.answer(name, ADA)
        await call.until(lambda reply: reply.complete)
    assert text_of(call.messages[-1]) == "Ada and 1 roots"


async def test_a_handler_that_asks_by_a_result_is_run_again(place: Place) -> None:
    client = await place.client()
    async with client.calling("stateless") as call:
        await client.answer(await call.message(ELICIT), ADA)
        second = await call.until(lambda reply: [m for m in reply.messages if m.get("method")][1:])
        await client.answer(second[0], {"action": "accept", "content": {"name": "red"}})
        await call.until(lambda reply: reply.complete)
    assert text_of(call.messages[-1]) == "Ada likes red"
    assert place.shop.stateless.runs == 3


async def test_an_answer_that_does_not_fit_is_asked_for_again(place: Place) -> None:
    client = await place.client()
    async with client.calling("ask") as call:
        await client.answer(await call.message(ELICIT), {"action": "accept", "content": {"name": 5}})
        second = await call.until(lambda reply: [m for m in reply.messages if m.get("method")][1:])
        await client.answer(second[0], ADA)
        await call.until(lambda reply: reply.complete)
    assert text_of(call.messages[-1]) == "Ada"


async def test_answers_that_never_fit_end_the_request(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    answered = 0
    async with client.calling("ask") as call:
        while not call.complete:
            asked = [message for message in call.messages if message.get("method") == ELICIT]
            for question in asked[answered:]:
                answered += 1
                await client.answer(question, {"action": "accept", "content": {}})
            await trio.sleep(0.01)
    assert call.messages[-1]["error"]["code"] == -32603
    assert answered < 200
    await place.quiet()


@pytest.mark.parametrize(
    "answer",
    [{"result": {"nonsense": 1}}, {"result": 5}, {"result": {"action": "maybe"}}, {"result": None}],
)
async def test_a_malformed_answer_ends_the_request(place: Place, answer: dict[str, Any]) -> None:
    client = await place.client()
    async with client.calling("ask") as call:
        question = await call.message(ELICIT)
        assert (await client.post({"jsonrpc": "2.0", "id": question["id"], **answer})).status == 202
        await call.until(lambda reply: reply.complete)
    assert call.messages[-1]["error"]["code"] == -32603
    await place.quiet()


async def test_a_refusal_can_be_caught_by_the_handler(place: Place) -> None:
    client = await place.client()
    async with client.calling("sample") as call:
        question = await call.message(SAMPLE)
        error = {"code": -1, "message": "User rejected sampling request"}
        await client.post({"jsonrpc": "2.0", "id": question["id"], "error": error})
        await call.until(lambda reply: reply.complete)
    assert text_of(call.messages[-1]) == "refused with -1"


@pytest.mark.parametrize(("tool", "error"), [("ask", {"code": -32601}), ("stateless", {"code": 5, "message": "no"})])
async def test_a_refusal_that_nobody_catches_is_an_error(place: Place, tool: str, error: dict[str, Any]) -> None:
    client = await place.client()
    async with client.calling(tool) as call:
        question = await call.message(ELICIT)
        await client.post({"jsonrpc": "2.0", "id": question["id"], "error": error})
        await call.until(lambda reply: reply.complete)
    assert call.messages[-1]["error"]["code"] == -32603
    assert call.messages[-1]["error"]["data"]["code"] == error["code"]
    await place.quiet()


async def test_a_second_answer_changes_nothing(place: Place) -> None:
    client = await place.client()
    async with client.calling("ask") as call:
        question = await call.message(ELICIT)
        await client.answer(question, ADA)
        assert (await client.answer(question, {"action": "decline"})).status == 202
        await call.until(lambda reply: reply.complete)
    assert text_of(call.messages[-1]) == "Ada"


async def test_another_sessions_answer_is_nobodys(place: Place) -> None:
    client, thief = await place.client(), await place.client()
    async with client.calling("ask") as call:
        question = await call.message(ELICIT)
        assert (await thief.answer(question, {"action": "decline"})).status == 202
        await client.answer(question, ADA)
        await call.until(lambda reply: reply.complete)
    assert text_of(call.messages[-1]) == "Ada"


async def test_nobody_answering_ends_the_request_in_time(autojump_clock: MockClock) -> None:
    async with open_place(worker=WorkerSettings(conversation_ttl=60)) as place:
        client = await place.client()
        began = trio.current_time()
        async with client.calling("ask") as call:
            question = await call.message(ELICIT)
            await call.until(lambda reply: reply.complete)
        assert 60 <= trio.current_time() - began < 62
        cancelled = await call.message("notifications/cancelled")
        assert cancelled["params"]["requestId"] == question["id"]
        assert call.messages[-1]["error"]["code"] == -32603
        await place.quiet()
        assert (await client.answer(question, ADA)).status == 202
        assert place.shop.notes[0].startswith("asked ")


async def test_cancelling_a_call_withdraws_its_question(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.calling("ask", "call") as call:
        question = await call.message(ELICIT)
        assert (await client.cancel("call")).status == 202
        await call.until(lambda reply: reply.complete)
    assert call.messages[-1]["method"] == "notifications/cancelled"
    assert call.messages[-1]["params"]["requestId"] == question["id"]
    await place.quiet()
    assert place.shop.notes == ["asked client_gone"]
    assert place.kept[0] == 0


async def test_cancelling_a_call_stops_its_worker(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.calling("hold", 7) as call:
        await call.until(lambda reply: reply.is_stream)
        await client.cancel(7)
        await call.until(lambda reply: reply.complete)
    assert call.messages == []
    await place.quiet()
    assert place.shop.notes == ["held client_gone"]


@pytest.mark.parametrize("other", ["7", 8, None, 7.0])
async def test_only_the_very_id_is_cancelled(place: Place, other: Any, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.calling("hold", 7) as call:
        await call.until(lambda reply: reply.is_stream)
        assert (await client.cancel(other)).status == 202
        await trio.sleep(1)
        assert place.shop.notes == []
        await client.cancel(7)


async def test_nobody_cancels_another_sessions_call(place: Place, autojump_clock: MockClock) -> None:
    client, thief = await place.client(), await place.client()
    async with client.calling("hold", 7) as call:
        await call.until(lambda reply: reply.is_stream)
        await thief.cancel(7)
        await trio.sleep(1)
        assert place.shop.notes == []
        await client.cancel(7)


async def test_a_cancelled_call_without_a_stream_gets_no_answer(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.calling("work", 1, pause=5) as call:
        await trio.sleep(1)
        await client.cancel(1)
        await call.until(lambda reply: reply.complete)
    assert (call.status, call.body) == (202, b"")


async def test_a_page_is_asked_for_with_an_id(place: Place) -> None:
    client = await place.client()
    async with client.calling("page") as call:
        question = await call.message(ELICIT)
        assert question["params"] | {"elicitationId": ""} == {
            "mode": "url",
            "message": "Sign in",
            "url": "https://example.com/",
            "elicitationId": "",
        }
        assert question["params"]["elicitationId"]
        await client.answer(question, {"action": "accept"})
        await call.until(lambda reply: reply.complete)
    assert "Accepted" in text_of(call.messages[-1])


@pytest.mark.parametrize(("version", "mode"), [(NOVEMBER, "form"), (JUNE, None)])
async def test_forms_name_their_mode_where_there_are_two(place: Place, version: str, mode: str | None) -> None:
    client = await place.client(version)
    async with client.calling("ask") as call:
        question = await call.message(ELICIT)
        assert question["params"].get("mode") == mode
        await client.answer(question, ADA)


async def test_a_form_that_june_cannot_show_is_an_error(place: Place) -> None:
    client = await place.client(JUNE)
    answered = await client.tool("several")
    assert answered["error"]["code"] == -32603
    assert "which" in answered["error"]["message"]
    await place.quiet()


async def test_march_clients_can_be_asked_for_their_model(place: Place) -> None:
    client = await place.client(MARCH)
    async with client.calling("sample") as call:
        question = await call.message(SAMPLE)
        assert question["params"]["messages"] == [{"role": "user", "content": {"type": "text", "text": "Where?"}}]
        answer = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "here"}}
        await client.answer(question, answer)
        await call.until(lambda reply: reply.complete)
    assert "here" in text_of(call.messages[-1])


async def test_a_client_that_takes_no_stream_is_asked_on_its_get_stream(place: Place) -> None:
    client = await place.client()
    async with client.listening() as changes:
        await changes.until(lambda reply: reply.status)
        async with client.calling_as_json("ask") as call:
            await client.answer(await changes.message(ELICIT), ADA)
            await call.until(lambda reply: reply.complete)
    assert (call.is_stream, text_of(call.json)) == (False, "Ada")


async def test_a_client_without_any_stream_cannot_be_asked(place: Place) -> None:
    client = await place.client()
    async with client.calling_as_json("ask") as call:
        await call.until(lambda reply: reply.complete)
    assert call.json["error"]["code"] == -32603
    await place.quiet()


async def test_a_stopping_server_ends_what_waits_for_an_answer(autojump_clock: MockClock) -> None:
    async with open_place() as place:
        client: Client = await place.client()
        async with client.calling("ask") as call:
            await call.message(ELICIT)
            await place.node.stop(grace=1)
            await call.until(lambda reply: reply.complete)
    assert call.messages[-1]["error"]["code"] == -32603
