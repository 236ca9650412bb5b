"""What an actor costs, against bare trio in the same process: ratios, which do not depend on the machine."""

import time
import tracemalloc
from collections.abc import Awaitable, Callable

import pytest
import trio

from actors import Node, current
from actors.testing import settle

pytestmark = pytest.mark.slow
ROUNDS, EACH = 7, 1500


async def ratio(ours: Callable[[], Awaitable[None]], bare: Callable[[], Awaitable[None]]) -> float:
    """Compare the best of several rounds, taken in turns so that a busy moment hits both."""
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for index, measured in enumerate((ours, bare)):
            started = time.perf_counter()
            await measured()
            best[index] = min(best[index], time.perf_counter() - started)
    return best[0] / best[1]


async def test_spawn_reply_and_exit_cost_five_bare_tasks_at_most(node: Node, nursery: trio.Nursery) -> None:
    async def reply(done: trio.Event) -> None:
        done.set()

    async def ours() -> None:
        for _ in range(EACH):
            done = trio.Event()
            node.spawn(reply, done)
            await done.wait()

    async def bare() -> None:
        for _ in range(EACH):
            done = trio.Event()
            nursery.start_soon(reply, done)
            await done.wait()

    assert await ratio(ours, bare) <= 5


async def test_message_costs_two_channel_items_at_most(node: Node) -> None:
    measured: list[float] = []

    async def body() -> None:
        me = current()
        inlet, outlet = trio.open_memory_channel[int](10)

        async def ours() -> None:
            for n in range(EACH):
                me.registry.send(me.pid, n)
                await me.receive()

        async def bare() -> None:
            for n in range(EACH):
                inlet.send_nowait(n)
                await outlet.receive()

        measured.append(await ratio(ours, bare))

    await node.wait(node.spawn(body))
    assert measured[0] <= 2


@pytest.mark.parametrize(("receives", "limit"), [(False, 5_000), (True, 8_000)])
async def test_idle_actor_is_small(node: Node, receives: bool, limit: int) -> None:
    async def sleep() -> None:
        await trio.sleep_forever()

    async def receive() -> None:
        await current().receive()

    tracemalloc.start()
    try:
        body = receive if receives else sleep
        for _ in range(100):
            node.spawn(body)
        await settle()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):
            node.spawn(body)
        await settle()
        assert (tracemalloc.get_traced_memory()[0] - before) / 1000 <= limit
    finally:
        tracemalloc.stop()
