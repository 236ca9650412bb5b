"""After any number of requests, however they end, the server holds what it held before (B1, G1)."""

from __future__ import annotations

import contextlib
import random

import pytest
import trio

from tests.faults.raw import Raw
from tests.faults.watch import Watched, new_key
from tests.interop.wire import LOG_LEVEL, META, call, request

pytestmark = pytest.mark.slow

SEED = 20260728
LOUD = {**META, LOG_LEVEL: "debug", "progressToken": 1}
LISTEN = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
AT_ONCE = 20


def any_request(chance: random.Random) -> dict[str, object]:
    """A call that answers, waits, streams, floods, sits in a thread or subscribes."""
    key = new_key()
    choices = [
        call("echo", {"value": "x" * chance.choice([1, 10_000])}),
        call("wait", {"key": key, "stream": False}),
        call("wait", {"key": key, "stream": True}),
        call("park", {"key": key}),
        call("flood", {"key": key}, meta=LOUD),
        call("steps", {"values": list(range(50)), "pause": 0.001}, meta=LOUD),
        call("block_thread", {"seconds": 0.02}),
        LISTEN,
    ]
    return chance.choice(choices)


async def abort_at_random(server: Watched, chance: random.Random) -> None:
    """Open a connection, ask for something, and break off in the middle of it."""
    client = await server.dial(receive_buffer=chance.choice([None, 4096]))
    with contextlib.suppress(trio.BrokenResourceError, AssertionError):
        with trio.move_on_after(chance.choice([0.0, 0.001, 0.01, 0.05])):
            await ask_at_random(client, chance)
    match chance.randrange(3):
        case 0:
            await client.close()
        case 1:
            await client.reset()
        case 2:
            with contextlib.suppress(OSError):
                client.shut_writing()
            await trio.sleep(chance.choice([0.0, 0.03]))
            await client.close()


async def ask_at_random(client: Raw, chance: random.Random) -> None:
    whole = client.spelled(any_request(chance))
    for _ in range(chance.choice([0, 0, 1, 3])):
        whole += client.spelled(any_request(chance))
    whole = whole[: chance.choice([len(whole), len(whole), chance.randrange(len(whole))])]
    cut = chance.randrange(len(whole) + 1)
    await client.send(whole[:cut])
    await trio.lowlevel.checkpoint()
    await client.send(whole[cut:] + chance.choice([b"", b"\r\n", b"garbage"]))
    while chance.random() < 0.9:
        await client.stream.receive_some()


async def abort_http2_at_random(server: Watched, chance: random.Random) -> None:
    """Open some streams of one connection, reset some, and break off."""
    client = await server.dial_http2()
    client.acknowledges = chance.random() < 0.5
    with contextlib.suppress(trio.BrokenResourceError, EOFError):
        streams = [await client.begin(any_request(chance)) for _ in range(chance.randint(1, 5))]
        with trio.move_on_after(chance.choice([0.0, 0.01, 0.05])):
            await client.pump(lambda: False)
        for stream in streams:
            if stream not in client.ended | set(client.resets) and chance.random() < 0.5:
                client.h2.reset_stream(stream)
        await client.flush()
        with trio.move_on_after(chance.choice([0.0, 0.01])):
            await client.pump(lambda: False)
    await chance.choice([client.close, client.reset])()


async def check_nothing_is_left(server: Watched, aborts: int, seed: int) -> None:
    await server.tool("block_thread", {"seconds": 0})  # trio keeps a thread for a while
    before = await server.census()
    chance = random.Random(seed)
    for _ in range(aborts // AT_ONCE):
        async with trio.open_nursery() as nursery:
            for _ in range(AT_ONCE):
                attack = abort_http2_at_random if chance.random() < 0.2 else abort_at_random
                nursery.start_soon(attack, server, random.Random(chance.random()))
    assert await server.tool("echo", {"value": seed}) == repr(seed)
    await server.settles_at(before, 15)


async def test_two_hundred_random_aborts_leave_nothing(server: Watched) -> None:
    await check_nothing_is_left(server, 200, SEED)
    assert (await server.census())["actors"] == 1


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_ten_thousand_random_aborts_leave_nothing(server: Watched) -> None:
    seed = random.randrange(2**32)
    await check_nothing_is_left(server, 500, seed)
    before = (await server.census())["memory"]
    for round_ in range(10):
        await check_nothing_is_left(server, 1000, seed + round_ + 1)
    assert (await server.census())["memory"] - before < 20_000_000, seed


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_thousands_of_calls_leave_no_memory(server: Watched) -> None:
    for _ in range(2000):
        await server.tool("echo", {"value": 1})
    before = await server.census()
    for _ in range(20_000):
        await server.tool("echo", {"value": 1})
    assert (await server.census())["memory"] - before["memory"] < 5_000_000
    await server.settles_at(before)
