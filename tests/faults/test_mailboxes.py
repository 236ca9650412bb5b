"""Many calls at once: each in its own mailbox, each answered with its own message, none lost and none crossed."""

from __future__ import annotations

import re
import time

import pytest
import trio
import trio.testing

from actors import Delivery
from genmcp import Channel, Suite, tool
from genmcp.testing import connect
from tests.faults.raw import Raw
from tests.faults.watch import Watched
from tests.interop.wire import call


@pytest.mark.slow
async def test_thousand_waiting_calls_get_their_own_messages(server: Watched) -> None:
    before = await server.census()
    clients = [await server.dial() for _ in range(1000)]
    for number, client in enumerate(clients):
        await client.post(call("wait", {"key": f"crowd {number}"}, id=f"id {number}"))
    await until_waiting(server, 1000)

    for pid in server.workers():
        assert server.push(pid, f"message for {pid}") == 200
    texts: dict[int, str] = {}

    async def read(number: int, client: Raw) -> None:
        texts[number] = (await client.answer(20))[2].decode()

    async with trio.open_nursery() as nursery:
        for number, client in enumerate(clients):
            nursery.start_soon(read, number, client)
    assert all(f'"id":"id {number}"' in text for number, text in texts.items())
    pairs = [re.search(r"(pid:[\w.]+) got message for (pid:[\w.]+)", text) for text in texts.values()]
    assert all(pair is not None and pair[1] == pair[2] for pair in pairs)
    assert len({pair[1] for pair in pairs if pair is not None}) == 1000

    async with trio.open_nursery() as nursery:
        for client in clients:
            nursery.start_soon(client.close)
    await server.settles_at(before)


async def until_waiting(server: Watched, count: int) -> None:
    ends = time.monotonic() + 10
    while len((await server.census())["workers"]) < count:
        assert time.monotonic() < ends
        await trio.sleep(0.05)
    while (
        len([1 for found in server.registry("GET", "/actors").json()["actors"] if found["status"] == "waiting"]) < count
    ):
        assert time.monotonic() < ends
        await trio.sleep(0.05)


@tool
async def wait(channel: Channel) -> str:
    """Answer with the next message."""
    return f"{channel.pid} got {await channel.receive()}"


@pytest.mark.slow
async def test_ten_thousand_waiting_calls_get_their_own_messages() -> None:
    suite = Suite(server_name="crowd", server_version="1", tools=[wait])
    async with connect(suite) as client:
        calls = [client.start_tool("wait") for _ in range(10_000)]
        await trio.testing.wait_all_tasks_blocked()
        assert {info.status for info in client.node.snapshot()} == {"waiting"}
        for each in calls:
            assert each.push(f"message for {each.pid}") is Delivery.DELIVERED
        for each in calls:
            assert (await each.result()).content[0].text == f"{each.pid} got message for {each.pid}"
        await trio.testing.wait_all_tasks_blocked()
        assert client.node.counts().actors == 0
        assert client.node.messages_lost == 0
