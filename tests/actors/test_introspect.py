import pytest
import trio
from trio.testing import MockClock

from actors import Counts, Node, current
from actors.testing import Probe, settle


async def sleep() -> None:
    await trio.sleep_forever()


async def test_snapshot_tells_all_of_an_actor(node: Node, probe: Probe, autojump_clock: MockClock) -> None:
    pid = node.spawn(sleep, name="b", label="sleeper")
    node.registry.register("a", pid)
    for topic in ("t2", "t1"):
        node.registry.subscribe(topic, pid)
    probe.watch(pid)
    node.registry.send(pid, 1)
    await trio.sleep(5)
    info = node.snapshot()[1]
    assert (info.pid, info.label, info.status) == (pid, "sleeper", "running")
    assert info.age == pytest.approx(5)
    assert (info.mailbox, info.handled, info.dropped, info.folded) == (1, 0, 0, 0)
    assert (info.names, info.topics, info.monitors) == (("b", "a"), ("t1", "t2"), 1)


async def test_status_follows_an_actors_life(node: Node) -> None:
    async def body() -> None:
        await current().receive()
        try:
            await trio.sleep_forever()
        finally:
            with current().clean_up():
                await gate.wait()

    def status() -> str:
        return node.snapshot()[0].status

    gate = trio.Event()
    pid = node.spawn(body)
    assert status() == "starting"
    await settle()
    assert status() == "waiting"
    node.registry.send(pid, 1)
    await settle()
    assert status() == "running"
    assert node.snapshot()[0].handled == 1
    node.registry.stop(pid)
    await settle()
    assert status() == "stopping"
    gate.set()


async def test_system_actors_are_counted_but_not_listed(node: Node) -> None:
    node.spawn(sleep, system=True, name="machinery")
    assert node.snapshot() == ()
    assert node.counts() == Counts(actors=1, names=1, topics=0, monitors=0, timers=0)


async def test_counts_add_up(node: Node) -> None:
    a, b = node.spawn(sleep, name="a"), node.spawn(sleep)
    node.registry.subscribe("t", a)
    node.registry.subscribe("t", b)
    node.registry.monitor(a, b)
    node.on_exit(a, lambda _: None)
    node.registry.send_after(3600, "x", a)
    assert node.counts() == Counts(actors=2, names=1, topics=2, monitors=2, timers=1)
