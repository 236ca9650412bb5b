"""After any mix of spawns, crashes, kills, timers, monitors and calls nothing of an ended actor is left."""

import gc
import logging
import random
import weakref
from collections.abc import Iterator

import pytest
import trio
from trio.testing import MockClock

from actors import ActorError, Call, Exit, Node, Pid, Shutdown, current
from actors.testing import settle


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """A thousand crashes need no thousand tracebacks in the report."""
    logging.getLogger("actors").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("actors").setLevel(logging.NOTSET)


class Mix:
    """Does one random thing after another to a node."""

    def __init__(self, node: Node, seed: int) -> None:
        self.node = node
        self.random = random.Random(seed)
        self.pids: list[Pid] = []

    async def step(self) -> None:
        """Do one thing."""
        action = self.random.choice([self.spawn, self.spawn, self.end, self.message, self.watch, self.time, self.call])
        await action()
        if self.random.random() < 0.3:
            await trio.sleep(self.random.random())

    async def spawn(self) -> None:
        """Start an actor that does whatever comes to it."""
        name = self.random.choice([None, None, "a", "b", "c"])
        try:
            self.pids.append(self.node.spawn(self.body, self.random.random(), name=name, capacity=5, grace=3))
        except ActorError:
            assert self.node.registry.whereis(name or "") is not None

    async def body(self, luck: float) -> None:
        """Live, and die in one of many ways."""
        me = current()
        if luck < 0.1:
            return
        if luck < 0.2:
            raise ValueError
        if luck < 0.5:
            me.registry.subscribe(f"topic {luck:.1f}")
        if luck > 0.8:
            me.registry.send_every(1 + luck, "tick")
        try:
            while True:
                match await me.receive(timeout=None if luck < 0.6 else 20):
                    case Call(from_=from_):
                        me.registry.reply(from_, luck)
                    case "crash":
                        raise RuntimeError
                    case "leave":
                        raise Exit(Shutdown("left"))
        finally:
            if luck > 0.7:
                with me.clean_up():
                    await trio.sleep(luck * 5)

    async def end(self) -> None:
        """End somebody."""
        if self.pids:
            pid = self.random.choice(self.pids)
            self.random.choice([self.node.registry.kill, self.node.registry.stop])(pid)

    async def message(self) -> None:
        """Tell somebody, or many, something."""
        text = self.random.choice(["crash", "leave", "nothing", "nothing"])
        self.node.registry.publish(f"topic {self.random.random() / 2:.1f}", text)
        if self.pids:
            self.node.registry.send(self.random.choice(self.pids), text)

    async def watch(self) -> None:
        """Have one actor watch another, perhaps not for long."""
        living = [pid for pid in self.pids if self.node.actor(pid) is not None]
        if len(living) > 1:
            ref = self.node.registry.monitor(self.random.choice(self.pids), self.random.choice(living))
            if self.random.random() < 0.3:
                self.node.registry.demonitor(ref)

    async def time(self) -> None:
        """Set a timer, perhaps not for long."""
        if self.pids:
            timer = self.node.registry.send_after(self.random.random() * 50, "tick", self.random.choice(self.pids))
            if self.random.random() < 0.3:
                timer.cancel()

    async def call(self) -> None:
        """Call somebody who may be away, busy or about to end."""
        if self.pids:
            try:
                await self.node.registry.call(self.random.choice(self.pids), "x", timeout=self.random.random())
            except ActorError:
                return


@pytest.mark.parametrize("seed", range(8))
async def test_random_life_leaves_nothing_behind(node: Node, seed: int, autojump_clock: MockClock) -> None:
    assert node._nursery is not None
    before, tasks = node.counts(), len(node._nursery.child_tasks)
    mix = Mix(node, seed)
    for _ in range(400):
        await mix.step()
    for pid in mix.pids:
        node.registry.stop(pid)
    for pid in mix.pids:
        await node.wait(pid)
    await settle()
    assert node.counts() == before
    assert len(node._nursery.child_tasks) == tasks


async def test_ended_actors_are_freed_without_the_collector(node: Node) -> None:
    ended: list[weakref.ref[object]] = []

    class Local:
        pass

    async def body(end: str) -> None:
        local = Local()
        ended.append(weakref.ref(local))
        if end == "crash":
            raise ValueError
        if end == "receive":
            await current().receive()
        await trio.lowlevel.checkpoint()

    gc.collect()
    gc.disable()
    try:
        for end in ("return", "crash", "receive"):
            for _ in range(10):
                pid = node.spawn(body, end)
                node.registry.send(pid, 1)
        await settle()
        assert len(ended) == 30
        assert [ref() for ref in ended if ref() is not None] == []
    finally:
        gc.enable()


async def test_ended_actor_that_is_held_holds_nothing(node: Node) -> None:
    class Argument:
        pass

    async def body(argument: Argument) -> None:
        await trio.lowlevel.checkpoint()

    argument = Argument()
    ref = weakref.ref(argument)
    pid = node.spawn(body, argument)
    actor = node.actor(pid)
    del argument
    await node.wait(pid)
    await settle()
    assert actor is not None
    assert ref() is None
