"""The actor runtime beside the trio primitives that it stands on."""

from __future__ import annotations

import gc
import math
import tracemalloc
from typing import TYPE_CHECKING, TypeVar

import outcome
import trio
import trio.testing

import actors
from benchmarks.measure import Amount, Comparison, Figure, alternate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

BATCH = 100  # how many live at once while spawning is measured: the parent reads its mailbox once a batch


async def measure(*, quick: bool) -> list[Figure]:
    """Take every figure of the runtime; quickly means too few operations to trust the clock."""
    rounds, count = (2, 200) if quick else (9, 20_000)
    parked = 50 if quick else 2_000
    return [
        *await in_actor(lambda node: spawning(node, rounds, count)),
        await in_actor(lambda node: messaging(node, rounds, count)),
        Amount("an idle actor, its mailbox not opened", "bytes", await idle_bytes(trio.sleep_forever, parked), 5_000),
        Amount("an idle actor that waits in its mailbox", "bytes", await idle_bytes(wait, parked), 8_000),
    ]


async def in_actor(work: Callable[[actors.Node], Awaitable[T]]) -> T:
    """Run a measurement as an actor of a node of its own, so that it has a mailbox."""
    results: list[outcome.Outcome[T]] = []
    done = trio.Event()

    async def body(node: actors.Node) -> None:
        results.append(await outcome.acapture(work, node))
        done.set()

    async with actors.Node(name="benchmark") as node:
        node.spawn(body, node)
        await done.wait()
        return results[0].unwrap()


async def spawning(node: actors.Node, rounds: int, count: int) -> list[Comparison]:
    """Compare actors with bare tasks that do the same: start and end, and reply to their parent in between."""

    async def nothing() -> None:
        pass

    async def spawn(number: int) -> None:
        for _ in range(number // BATCH):
            for _ in range(BATCH):
                node.spawn(nothing)
            await settle()

    async def start(number: int) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(number // BATCH):
                for _ in range(BATCH):
                    nursery.start_soon(nothing)
                await settle()

    ours, base = await alternate(spawn, start, rounds=rounds, count=count)
    ending = Comparison("spawn and exit", "an actor", "a task of a nursery", "µs", ours, base, limit=5.0)
    return [ending, await replying(node, rounds, count)]


async def settle() -> None:
    """Let what was started end: it begins in the next turn of the loop, and is over after it."""
    for _ in range(2):
        await trio.lowlevel.checkpoint()


async def replying(node: actors.Node, rounds: int, count: int) -> Comparison:
    """Compare an actor that replies to its parent's mailbox with a task that replies to a memory channel."""
    parent = actors.current()
    registry, pid = node.registry, parent.pid
    inlet, outlet = trio.open_memory_channel[str](math.inf)

    async def reply() -> None:
        registry.send(pid, "reply")

    async def put() -> None:
        inlet.send_nowait("reply")

    async def spawn(number: int) -> None:
        for _ in range(number // BATCH):
            for _ in range(BATCH):
                node.spawn(reply)
            for _ in range(BATCH):
                await parent.receive()

    async def start(number: int) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(number // BATCH):
                for _ in range(BATCH):
                    nursery.start_soon(put)
                for _ in range(BATCH):
                    await outlet.receive()

    ours, base = await alternate(spawn, start, rounds=rounds, count=count)
    return Comparison("spawn, reply and exit", "an actor", "a task and a memory channel", "µs", ours, base, limit=3.5)


async def messaging(node: actors.Node, rounds: int, count: int) -> Comparison:
    """Compare one message between two actors with one between two tasks, as half of a round trip."""
    here = actors.current()
    registry, pid = node.registry, here.pid

    async def mirror() -> None:
        me = actors.current()
        while True:
            registry.send(pid, await me.receive())

    async def by_mailbox(number: int) -> None:
        for _ in range(number // 2):
            registry.send(other, "message")
            await here.receive()

    async def by_channel(number: int) -> None:
        there_send, there_receive = trio.open_memory_channel[str](math.inf)
        back_send, back_receive = trio.open_memory_channel[str](math.inf)

        async def mirror_task() -> None:
            while True:
                back_send.send_nowait(await there_receive.receive())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(mirror_task)
            for _ in range(number // 2):
                there_send.send_nowait("message")
                await back_receive.receive()
            nursery.cancel_scope.cancel()

    other = node.spawn(mirror)
    ours, base = await alternate(by_mailbox, by_channel, rounds=rounds, count=count)
    registry.kill(other)
    return Comparison("one message", "mailbox to mailbox", "a memory channel", "µs", ours, base, limit=2.0)


async def wait() -> None:
    """Wait in the mailbox for a message that never comes."""
    await actors.current().receive()


async def idle_bytes(behaviour: Callable[[], Awaitable[object]], number: int) -> float:
    """What one more parked actor adds to the memory that Python has allocated, as tracemalloc counts it."""
    async with actors.Node(name="benchmark") as node:
        node.spawn(behaviour)
        await trio.testing.wait_all_tasks_blocked()
        gc.collect()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(number):
                node.spawn(behaviour)
            await trio.testing.wait_all_tasks_blocked()
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        return (after - before) / number
