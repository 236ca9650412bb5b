"""Arrays of messages, which only clients of 2025-03-26 may send."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.transport.legacy.talk import JUNE, MARCH, NOVEMBER, Place, rpc, text_of

PING = rpc("ping", 1)
NOTE = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}


async def test_an_array_of_requests_gets_an_array_of_responses(place: Place) -> None:
    client = await place.client(MARCH)
    reply = await client.post([PING, NOTE, rpc("tools/call", 2, name="echo", arguments={"text": "a"}), rpc("no", 3)])
    assert reply.status == 200
    assert {each["id"]: "error" in each for each in reply.json} == {1: False, 2: False, 3: True}


async def test_an_array_of_one_request_gets_an_array(place: Place) -> None:
    client = await place.client(MARCH)
    assert (await client.post([PING])).json == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.parametrize("messages", [[NOTE], [NOTE, NOTE], [{"jsonrpc": "2.0", "id": "x", "result": {}}]])
async def test_an_array_without_requests_is_taken(place: Place, messages: list[Any]) -> None:
    client = await place.client(MARCH)
    reply = await client.post(messages)
    assert (reply.status, reply.body) == (202, b"")


async def test_messages_of_an_array_share_one_stream(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client(MARCH)
    works = [
        rpc("tools/call", each, name="work", arguments={"steps": each}, _meta={"progressToken": each})
        for each in (1, 2)
    ]
    reply = await client.post([*works, PING | {"id": 3}])
    assert reply.is_stream
    assert sorted(each["id"] for each in reply.messages if "id" in each) == [1, 2, 3]
    tokens = [each["params"]["progressToken"] for each in reply.messages if each.get("method", "").endswith("progress")]
    assert sorted(tokens) == [1, 2, 2]


async def test_questions_of_an_array_are_answered_in_an_array(place: Place) -> None:
    client = await place.client(MARCH)
    call = [rpc("tools/call", each, name="sample", arguments={}) for each in (1, 2)]
    async with client.posting(call) as reply:
        asked = await reply.until(lambda reply: reply.messages if len(reply.messages) == 2 else None)
        result = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "here"}}
        answers = [{"jsonrpc": "2.0", "id": question["id"], "result": result} for question in asked]
        assert (await client.post(answers)).status == 202
        await reply.until(lambda reply: reply.complete)
    assert all("here" in text_of(each) for each in reply.messages[2:])


async def test_one_of_an_array_can_be_cancelled(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client(MARCH)
    call = [rpc("tools/call", 1, name="hold", arguments={}), rpc("tools/call", 2, name="work", arguments={})]
    async with client.posting(call) as reply:
        await trio.sleep(0.1)
        await client.cancel(1)
        await reply.until(lambda reply: reply.complete)
    assert [each["id"] for each in reply.messages if "id" in each] == [2]


@pytest.mark.parametrize("version", [NOVEMBER, JUNE])
async def test_newer_clients_have_no_arrays(place: Place, version: str) -> None:
    client = await place.client(version)
    reply = await client.post([PING])
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize(
    "messages",
    [[], [5], [[]], [PING, None], [PING, {"jsonrpc": "2.0"}], [rpc("initialize", 1)], [PING] * 101],
)
async def test_a_wrong_array_is_refused_as_a_whole(place: Place, messages: list[Any]) -> None:
    client = await place.client(MARCH)
    reply = await client.post(messages)
    assert (reply.status, reply.code) == (400, -32600)
    assert place.node.snapshot() == ()
