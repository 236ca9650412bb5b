"""`initialize`: which revision a client gets, what it is told, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.transport.calls import Call
from tests.transport.legacy.talk import ALL, JUNE, MARCH, NOVEMBER, Client, Place, open_place, rpc, text_of

INFO = {"name": "a", "version": "1"}


async def initialize(place: Place, **params: Any) -> Any:
    return await Client(place.app).call(Call(message=rpc("initialize", 5, **params)))


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (NOVEMBER, NOVEMBER),
        (JUNE, JUNE),
        (MARCH, MARCH),
        ("2024-11-05", NOVEMBER),
        ("2026-07-28", NOVEMBER),
        ("tomorrow", NOVEMBER),
    ],
)
async def test_a_version_that_is_not_served_gets_the_newest(place: Place, asked: str, given: str) -> None:
    reply = await initialize(place, protocolVersion=asked, capabilities={}, clientInfo=INFO)
    assert (reply.status, reply.json["result"]["protocolVersion"]) == (200, given)


@pytest.mark.parametrize("version", ALL)
async def test_the_result_says_who_and_what(place: Place, version: str) -> None:
    opened = (await place.client(version)).opened
    assert opened["capabilities"] == {
        "tools": {"listChanged": True},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "logging": {},
    }
    assert opened["instructions"] == "Ask."
    assert set(opened) == {"protocolVersion", "capabilities", "serverInfo", "instructions"}


@pytest.mark.parametrize(
    ("version", "known"),
    [(NOVEMBER, {"title", "description"}), (JUNE, {"title"}), (MARCH, set())],
)
async def test_who_the_server_is_fits_the_revision(place: Place, version: str, known: set[str]) -> None:
    info = (await place.client(version)).opened["serverInfo"]
    assert set(info) == {"name", "version"} | known


async def test_the_body_decides_over_the_header(place: Place) -> None:
    message = rpc("initialize", 1, protocolVersion=JUNE, capabilities={}, clientInfo=INFO)
    reply = await Client(place.app).call(Call(message=message, headers={"mcp-protocol-version": NOVEMBER}))
    assert reply.json["result"]["protocolVersion"] == JUNE


async def test_session_ids_are_visible_ascii_and_unlike(place: Place) -> None:
    ids = {(await place.client()).session for _ in range(20)}
    assert len(ids) == 20
    assert all(0x21 <= ord(letter) <= 0x7E for each in ids for letter in each)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"protocolVersion": 5, "capabilities": {}, "clientInfo": INFO},
        {"protocolVersion": NOVEMBER, "capabilities": [], "clientInfo": INFO},
        {"protocolVersion": NOVEMBER, "capabilities": {"roots": 5}, "clientInfo": INFO},
        {"protocolVersion": NOVEMBER, "capabilities": {"elicitation": {"form": 1}}, "clientInfo": INFO},
        {"protocolVersion": NOVEMBER, "capabilities": {}},
        {"protocolVersion": NOVEMBER, "capabilities": {}, "clientInfo": {"name": "a"}},
    ],
)
async def test_a_malformed_handshake_opens_no_session(place: Place, params: dict[str, Any]) -> None:
    reply = await initialize(place, **params)
    assert (reply.status, reply.code, reply.json["id"]) == (200, -32602, 5)
    assert "mcp-session-id" not in reply.headers


async def test_what_is_too_large_for_a_token_is_left_out(place: Place) -> None:
    capabilities = {"sampling": {}, "experimental": {"x": {"text": "y" * 5000}}}
    client = await place.client(NOVEMBER, capabilities)
    assert len(client.session) < 1000
    assert "sampling" not in (await client.tool("version"))["result"]  # it works


async def test_a_far_too_large_capability_is_refused(place: Place) -> None:
    reply = await initialize(
        place, protocolVersion=NOVEMBER, capabilities={"roots": {"x": "y" * 9000}}, clientInfo=INFO
    )
    assert reply.code == -32602


@pytest.mark.parametrize("version", ALL)
async def test_handlers_see_the_revision_and_the_client(place: Place, version: str) -> None:
    client = await place.client(version)
    assert text_of(await client.tool("version")) == f"{version} tester info"


@pytest.mark.parametrize(("version", "tool"), [(JUNE, "page"), (MARCH, "page"), (MARCH, "ask")])
async def test_what_a_revision_lacks_cannot_be_asked(place: Place, version: str, tool: str) -> None:
    client = await place.client(version)
    assert (await client.tool(tool))["error"]["code"] == -32021


async def test_without_legacy_a_handshake_is_told_what_is_served() -> None:
    async with open_place(legacy=False) as place:
        reply = await initialize(place, protocolVersion=NOVEMBER, capabilities={}, clientInfo=INFO)
        assert (reply.status, reply.code, reply.json["error"]["data"]) == (
            400,
            -32022,
            {"supported": ["2026-07-28"], "requested": NOVEMBER},
        )


async def test_opening_many_sessions_keeps_nothing(place: Place) -> None:
    for _ in range(200):
        await place.client()
    assert place.kept == (0, 0)
    assert place.node.snapshot() == ()
