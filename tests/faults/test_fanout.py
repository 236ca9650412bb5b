"""A thousand subscriptions: each hears what it asked for and nothing else, and leaves nothing behind (B3, F2)."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from tests.faults.raw import Raw
from tests.faults.watch import APP, ENVIRON, Watched
from tests.interop.process import serving
from tests.interop.wire import request

pytestmark = pytest.mark.slow

STREAMS = 1000
ROUNDS = 25
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "tools": ({"toolsListChanged": True}, "notifications/tools/list_changed"),
    "prompts": ({"promptsListChanged": True}, "notifications/prompts/list_changed"),
    "resources": ({"resourcesListChanged": True}, "notifications/resources/list_changed"),
    "updated": ({"resourceSubscriptions": ["file:///a"]}, "notifications/resources/updated"),
}


def listening(number: int | str, *kinds: str) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    for kind in kinds:
        wanted |= KINDS[kind][0]
    return request("subscriptions/listen", {"notifications": wanted}, id=number)


class Listener:
    """One subscription and what it heard."""

    def __init__(self, client: Raw, number: int | str, kinds: tuple[str, ...]) -> None:
        self.client = client
        self.number = number
        self.wanted = {KINDS[kind][1] for kind in kinds}
        self.heard: list[dict[str, Any]] = []

    async def next(self) -> dict[str, Any]:
        event = b""
        while b"data: " not in event:
            event = await self.client.until(b"\n\n", 20)
        found: dict[str, Any] = json.loads(event.partition(b"data: ")[2])
        assert found["params"]["_meta"][SUBSCRIPTION] == self.number
        return found

    async def hear(self, count: int) -> None:
        for _ in range(count):
            self.heard.append(await self.next())


async def open_listener(server: Watched, number: int | str, kinds: tuple[str, ...], **options: Any) -> Listener:
    client = await server.dial(**options)
    await client.post(listening(number, *kinds))
    made = Listener(client, number, kinds)
    assert (await made.next())["method"] == "notifications/subscriptions/acknowledged"
    return made


async def test_thousand_streams_hear_a_hundred_changes(server: Watched) -> None:
    await server.tool("publish", {"times": 1, "kind": "tools"})
    before = await server.census()
    mixes = [tuple(kind for place, kind in enumerate(KINDS) if number >> place & 1) for number in range(1, 16)]
    listeners: list[Listener] = []
    for number in range(STREAMS):
        mixed_id = number if number % 2 else f"stream {number}"
        listeners.append(await open_listener(server, mixed_id, mixes[number % len(mixes)]))

    async with trio.open_nursery() as nursery:
        for listener in listeners:
            nursery.start_soon(listener.hear, ROUNDS * len(listener.wanted))
        for _ in range(ROUNDS):  # of one publish of each kind
            for kind in KINDS:
                heard = await server.tool("publish", {"times": 1, "kind": kind, "uri": "file:///a/b"})
                assert heard == sum(KINDS[kind][1] in listener.wanted for listener in listeners)
    for listener in listeners:
        methods = [event["method"] for event in listener.heard]
        assert {method: methods.count(method) for method in methods} == dict.fromkeys(listener.wanted, ROUNDS)
        assert b"data:" not in listener.client.received

    async with trio.open_nursery() as nursery:
        for listener in listeners:
            nursery.start_soon(listener.client.close)
    await server.settles_at(before, 10)


async def test_reader_that_stalls_costs_neither_memory_nor_neighbours(server: Watched) -> None:
    before = await server.census()
    attentive = await open_listener(server, 1, ("tools", "prompts"))
    stalled = [await open_listener(server, number, ("tools",), receive_buffer=4096) for number in range(2, 12)]
    heard = 0

    async def read() -> None:
        nonlocal heard
        while (await attentive.next())["method"] != KINDS["prompts"][1]:
            heard += 1

    with trio.fail_after(50):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await server.tool("publish", {"times": 20_000, "kind": "tools"})
            await server.tool("publish", {"times": 1, "kind": "prompts"})
    assert heard > 100  # equal changes are folded where a reader is slower than the publisher
    after = await server.census()
    assert after["memory"] - before["memory"] < 20_000_000
    for listener in [attentive, *stalled]:
        await listener.client.close()
    await server.settles_at(before)


async def check_stalled_readers_are_ended(server: Watched, changes: int) -> None:
    before = await server.census()
    attentive = await open_listener(server, 1, ("updated",))
    stalled = [await open_listener(server, number, ("updated",), receive_buffer=4096) for number in range(2, 12)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(attentive.hear, changes)
        for first in range(0, changes, 1000):
            assert await server.tool("publish_each", {"first": first, "times": 1000, "padding": 1900}) >= 1
            with trio.fail_after(5):
                while len(attentive.heard) < first + 1000:
                    await trio.sleep(0.001)
        with trio.fail_after(5):
            while (await server.census())["actors"] > before["actors"] + 1:
                await trio.sleep(0.05)
    uris = [event["params"]["uri"] for event in attentive.heard]
    assert [int(uri.split("/")[4]) for uri in uris] == list(range(changes))
    assert (await server.census())["memory"] - before["memory"] < 40_000_000
    for listener in [attentive, *stalled]:
        await listener.client.close()
    await server.settles_at(before)


async def test_stalled_readers_are_ended_while_others_hear_all(server: Watched) -> None:
    await check_stalled_readers_are_ended(server, 4000)


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_hundred_thousand_changes_end_who_stalls_and_reach_the_others(server: Watched) -> None:
    await check_stalled_readers_are_ended(server, 100_000)


async def test_streams_beyond_the_limit_are_refused() -> None:
    with serving(f"{APP}:few_streams", env=ENVIRON) as process:
        server = Watched(process)
        listeners = [await open_listener(server, number, ("tools",)) for number in range(3)]
        refused = await server.dial()
        await refused.post(listening("too many", "tools"))
        status, _, body = await refused.answer()
        assert (status, b'"code":-32602' in body, b"too many subscription streams" in body) == (200, True, True)
        await listeners.pop().client.close()
        with trio.fail_after(2):
            while True:
                retry = await server.dial()
                await retry.post(listening("again", "tools"))
                if b"acknowledged" in await retry.until(
                    b"}\n\n" if b"text/event" in await retry.until(b"\r\n\r\n") else b"}"
                ):
                    break
        await server.close()
