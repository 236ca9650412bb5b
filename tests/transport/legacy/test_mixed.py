"""Both eras at once on one endpoint: no answer goes astray, and nothing is left when all have gone."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock

from tests.transport.calls import Call, request
from tests.transport.legacy.talk import ALL, Client, Place, Reply, open_place, rpc, text_of

CALLS = 500


class Crowd:
    """Clients that share sessions, each call with a word of its own."""

    def __init__(self, place: Place, clients: list[Client]) -> None:
        self.place = place
        self.clients = clients
        self.right = 0
        self.dice = random.Random(7)

    def client(self, number: int) -> Client:
        return self.clients[number % len(self.clients)]

    async def modern(self, number: int) -> None:
        """Call by a request of today."""
        message = request("tools/call", number, name="echo", arguments={"text": f"word {number}"})
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo"}
        reply = await Client(self.place.app).call(Call(message=message, headers=headers))
        self.note(reply, number)

    async def legacy(self, number: int) -> None:
        """Call within a session."""
        message = rpc("tools/call", number, name="echo", arguments={"text": f"word {number}"})
        self.note(await self.client(number).post(message), number)

    async def asked(self, number: int) -> None:
        """Call, and answer the question that comes."""
        client = self.client(number)
        async with client.calling("ask", number) as call:
            question = await call.message("elicitation/create")
            await trio.sleep(self.dice.random())
            await client.answer(question, {"action": "accept", "content": {"name": f"word {number}"}})
            await call.until(lambda reply: reply.complete)
        self.note(call, number)

    async def returning(self, number: int) -> None:
        """Call, leave in the middle, and come back."""
        client = self.client(number)
        message = rpc("tools/call", number, name="work", arguments={"steps": 3}, _meta={"progressToken": number})
        async with client.posting(message) as call:
            await call.until(lambda reply: reply.messages)
        await trio.sleep(self.dice.random())
        async with client.listening(last_event_id=call.last_id()) as rest:
            await rest.until(lambda reply: reply.complete)
        tokens = {each["params"].get("progressToken", number) for each in (*call.messages, *rest.messages[:-1])}
        assert tokens == {number}
        assert (rest.messages[-1]["id"], text_of(rest.messages[-1])) == (number, "done")
        self.right += 1

    async def leaving(self, number: int) -> None:
        """Call, leave, and do not come back; or change one's mind."""
        client = self.client(number)
        async with client.calling("hold", number) as call:
            await call.until(lambda reply: reply.is_stream)
            if number % 2:
                await client.cancel(number)
                await call.until(lambda reply: reply.complete)
        self.right += 1

    def note(self, reply: Reply, number: int) -> None:
        response = reply.messages[-1]
        assert (response["id"], text_of(response)) == (number, f"word {number}")
        self.right += 1


async def test_five_hundred_mixed_calls_cross_and_leave_nothing(autojump_clock: MockClock) -> None:
    async with open_place() as place:
        before = place.node.counts()
        clients = [await place.client(ALL[number % 3]) for number in range(12)]
        able = [client for client in clients if client.version != ALL[2]]  # March cannot be asked
        crowd = Crowd(place, able)
        ways: list[Callable[[int], Awaitable[None]]] = [
            crowd.modern, crowd.legacy, crowd.asked, crowd.returning, crowd.leaving
        ]  # fmt: skip
        async with trio.open_nursery() as nursery:
            for number in range(CALLS):
                nursery.start_soon(crowd.dice.choice(ways), number)
        assert crowd.right == CALLS
        for client in clients:
            await client.delete()
        await place.quiet()
        assert place.kept == (0, 0)
        assert place.node.counts() == before
        assert place.app.live_workers == 0
        assert len(place.shop.suite.conversations) == 0


async def test_sessions_that_just_stay_away_leave_nothing(autojump_clock: MockClock) -> None:
    async with open_place() as place:
        before = place.node.counts()
        crowd = Crowd(place, [await place.client() for _ in range(10)])
        async with trio.open_nursery() as nursery:
            for number in range(100):
                nursery.start_soon(crowd.leaving, number)
        await trio.sleep(601)
        await place.quiet()
        assert place.kept[0] == 0
        assert place.node.counts() == before
