"""Who keeps sessions, and what of them: bounded, expiring, and nothing of a session that only calls tools."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from genmcp.mcp import InvalidRequest
from tests.transport.calls import Call
from tests.transport.legacy.talk import NOVEMBER, Client, Place, open_place, rpc, text_of
from transport.legacy.client import Client as Told
from transport.legacy.controller import MemorySessions, SealedSessions, SessionController
from transport.legacy.sessions import Sessions

TOLD = Told(NOVEMBER, {"name": "a", "version": "1"}, {})
PING = rpc("ping", 1)


@pytest.fixture(params=["sealed", "memory"])
def controller(request: pytest.FixtureRequest) -> SessionController:
    """Each of the controllers that come along."""
    return SealedSessions(max_age=100) if request.param == "sealed" else MemorySessions(max_age=100)


async def test_a_session_is_found_as_it_was_created(controller: SessionController) -> None:
    session_id = await controller.create(TOLD, None, {})
    assert await controller.fetch(session_id, None, {}) == TOLD
    assert await controller.fetch("nonsense", None, {}) is None


async def test_a_session_belongs_to_its_principal(controller: SessionController) -> None:
    session_id = await controller.create(TOLD, "ada", {})
    assert await controller.fetch(session_id, "ada", {}) == TOLD
    assert await controller.fetch(session_id, "eve", {}) is None
    assert await controller.fetch(session_id, None, {}) is None


async def test_an_ended_session_is_not_found(controller: SessionController) -> None:
    ended, other = await controller.create(TOLD, None, {}), await controller.create(TOLD, None, {})
    await controller.delete(ended, None, {})
    assert await controller.fetch(ended, None, {}) is None
    assert await controller.fetch(other, None, {}) == TOLD


async def test_ended_ids_are_remembered_within_bounds(autojump_clock: MockClock) -> None:
    controller = SealedSessions(max_age=100, most_ended=3)
    ids = [await controller.create(TOLD, None, {}) for _ in range(5)]
    for each in ids:
        await controller.delete(each, None, {})
    found = [await controller.fetch(each, None, {}) is not None for each in ids]
    assert found == [True, True, False, False, False]
    await trio.sleep(101)
    await controller.delete(ids[0], None, {})
    assert len(controller) == 1


async def test_kept_sessions_expire_when_unused(autojump_clock: MockClock) -> None:
    controller = MemorySessions(max_age=100)
    session_id = await controller.create(TOLD, None, {})
    for _ in range(3):
        await trio.sleep(60)
        assert await controller.fetch(session_id, None, {}) == TOLD
    await trio.sleep(101)
    assert await controller.fetch(session_id, None, {}) is None
    await controller.create(TOLD, None, {})
    assert len(controller) == 1


async def test_kept_sessions_are_bounded() -> None:
    controller = MemorySessions(most=3)
    ids = [await controller.create(TOLD, None, {}) for _ in range(5)]
    assert [await controller.fetch(each, None, {}) is not None for each in ids] == [False, False, True, True, True]


async def test_an_endpoint_uses_the_controller_it_is_given() -> None:
    async with open_place(session_controller=MemorySessions()) as place:
        client = await place.client()
        assert len(client.session) < 40
        assert text_of(await client.tool("echo", text="a")) == "a"
        await client.delete()
        assert (await client.post(PING)).status == 404


class Guarded(SessionController):
    """Lets one client in, whose session is never ended."""

    async def create(self, client: Told, principal: str | None, scope: Any, /) -> str:
        if client.info["name"] != "tester":
            raise InvalidRequest("testers only", status=403)
        return "the-one"

    async def fetch(self, session_id: str, principal: str | None, scope: Any, /) -> Told | None:
        return TOLD if session_id == "the-one" else None


async def test_a_controller_of_ones_own_may_refuse() -> None:
    async with open_place(session_controller=Guarded()) as place:
        client = await place.client()
        assert client.session == "the-one"
        info = {"protocolVersion": NOVEMBER, "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
        reply = await Client(place.app).call(Call(message=rpc("initialize", 1, **info)))
        assert (reply.status, reply.code, "mcp-session-id" in reply.headers) == (403, -32600, False)
        assert (await client.delete()).status == 200
        assert (await client.post(PING)).status == 200  # its fetch knows nothing of the end


async def test_an_unfinished_controller_says_what_it_lacks() -> None:
    with pytest.raises(TypeError, match="does not define create"):
        await SessionController().create(TOLD, None, {})
    with pytest.raises(TypeError, match="does not define fetch"):
        await SessionController().fetch("a", None, {})


async def test_a_session_of_which_too_much_is_kept_is_ended() -> None:
    sessions = Sessions(SealedSessions(), most=2)
    ids = [await sessions.controller.create(TOLD, None, {}) for _ in range(3)]
    for each in ids:
        found = await sessions.find(each, None, {})
        assert found is not None
        found.level = "error"
        sessions.settle(each)
    assert len(sessions) == 2
    assert await sessions.find(ids[0], None, {}) is None  # told to begin again rather than robbed of its level


async def test_what_a_session_changed_expires(autojump_clock: MockClock) -> None:
    sessions = Sessions(MemorySessions(max_age=100))
    first, second = [await sessions.controller.create(TOLD, None, {}) for _ in range(2)]
    found = await sessions.find(first, None, {})
    assert found is not None
    found.level = "error"
    sessions.settle(first)
    await trio.sleep(101)
    second = await sessions.controller.create(TOLD, None, {})
    await sessions.find(second, None, {})
    sessions.settle(second)
    assert len(sessions) == 0


async def test_two_requests_at_once_share_their_session(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.calling("work", 1), client.calling("work", 2):
        await trio.sleep(0.01)
        assert place.kept[0] == 1
        await client.request("ping")
        assert place.kept[0] == 1
    await place.quiet()
    assert place.kept[0] == 0
