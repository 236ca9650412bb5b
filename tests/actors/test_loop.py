"""What works from other threads, and what is left to do when the run is over."""

import threading
from collections.abc import Callable

import pytest
import trio

from actors import Call, Delivery, Killed, Node, NoProcess, Shutdown, StoppedError, current
from actors.testing import Probe, running_node, settle


async def sleep() -> None:
    await trio.sleep_forever()


async def in_thread(fn: Callable[[], object]) -> object:
    """Run in a thread that trio did not start, as a job queue's client would."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(fn())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    await trio.to_thread.run_sync(thread.join)
    return results[0]


async def test_message_from_a_thread_is_queued_and_arrives(node: Node, probe: Probe) -> None:
    assert await in_thread(lambda: node.registry.send(probe.pid, "hello")) is Delivery.QUEUED
    assert await probe.next() == "hello"


async def test_messages_of_one_thread_keep_their_order(node: Node, probe: Probe) -> None:
    node.registry.subscribe("news", probe.pid)

    def send_all() -> None:
        for n in range(0, 300, 3):
            node.registry.send(probe.pid, n)
            node.registry.publish("news", n + 1)
            node.registry.cast(probe.pid, n + 2)

    await in_thread(send_all)
    await settle()
    assert [getattr(message, "request", message) for message in probe.messages] == list(range(300))


async def test_queued_message_for_nobody_is_counted(node: Node) -> None:
    full = node.spawn(sleep, capacity=0)
    await in_thread(lambda: [node.registry.send("nobody", "x"), node.registry.send(full, "x")])
    await settle()
    assert node.messages_lost == 2
    (info,) = node.snapshot()
    assert info.dropped == 1


async def test_full_mailbox_counts_what_threads_sent(node: Node) -> None:
    pid = node.spawn(sleep, capacity=1)
    await in_thread(lambda: [node.registry.send(pid, n) for n in range(3)])
    await settle()
    (info,) = node.snapshot()
    assert (info.mailbox, info.dropped) == (1, 2)
    assert node.messages_lost == 2


async def test_publish_from_a_thread_counts_the_members(node: Node) -> None:
    probes = [Probe(node, topics=["news"]) for _ in range(2)]
    assert await in_thread(lambda: node.registry.publish("news", "x")) == 2
    await settle()
    assert [probe.messages for probe in probes] == [["x"], ["x"]]


async def test_registry_functions_work_from_threads(node: Node, probe: Probe) -> None:
    registry = node.registry

    def use_everything() -> list[object]:
        registry.register("a", probe.pid)
        registry.subscribe("t", probe.pid)
        ref = registry.monitor("a", probe.pid)
        timer = registry.send_after(3600, "x", "a")
        return [
            registry.whereis("a"),
            registry.names(),
            registry.members("t"),
            registry.demonitor(ref),
            timer.cancel() is not None,
            registry.unregister("a"),
            registry.unsubscribe("t", probe.pid),
            len(node.snapshot()),
            node.counts().actors,
            node.actor(probe.pid) is not None,
        ]

    pid = probe.pid
    assert await in_thread(use_everything) == [pid, {"a": pid}, (pid,), True, True, True, True, 1, 1, True]


async def test_actor_can_be_spawned_and_stopped_from_a_thread(node: Node) -> None:
    reasons: list[object] = []

    def run() -> None:
        pid = node.spawn(sleep, name="threaded")
        node.on_exit(pid, reasons.append)
        node.registry.stop("threaded", Shutdown("thread"))

    assert await in_thread(run) is None
    await settle()
    assert reasons == [Shutdown("thread")]


async def test_error_reaches_the_calling_thread(node: Node) -> None:
    assert isinstance(await in_thread(lambda: node.registry.register("pid:x")), ValueError)
    assert isinstance(await in_thread(lambda: node.registry.send(3, "x")), TypeError)  # type: ignore[arg-type] # tested


async def test_current_actor_is_known_in_its_worker_threads(node: Node) -> None:
    seen: list[object] = []

    def blocking() -> None:
        current().registry.subscribe("from the thread")
        current().registry.register("me")
        seen.append(current().pid)

    async def body() -> None:
        await trio.to_thread.run_sync(blocking)
        await trio.sleep_forever()

    pid = node.spawn(body)
    await trio.to_thread.run_sync(lambda: None)
    while not node.registry.names():
        await trio.sleep(0.001)
    assert seen == [pid]
    assert node.registry.whereis("me") == pid
    assert node.registry.members("from the thread") == (pid,)


async def test_reply_may_come_from_a_thread(node: Node) -> None:
    async def callee() -> None:
        me = current()
        call = await me.receive(match=Call)
        await trio.to_thread.run_sync(me.registry.reply, call.from_, "threaded")

    assert await node.registry.call(node.spawn(callee), "x") == "threaded"


async def test_cancelled_actors_thread_can_still_tidy_up(node: Node, probe: Probe) -> None:
    started, gate = threading.Event(), threading.Event()

    def blocking() -> None:
        started.set()
        gate.wait(10)
        current().registry.subscribe("tidy", probe.pid)

    async def body() -> None:
        await trio.to_thread.run_sync(blocking)

    pid = node.spawn(body)
    await trio.to_thread.run_sync(started.wait)
    node.registry.stop(pid)
    gate.set()
    await node.wait(pid)
    assert node.registry.members("tidy") == (probe.pid,)


async def test_abandoned_thread_does_not_hold_its_actor(node: Node) -> None:
    gate = threading.Event()

    async def body() -> None:
        await trio.to_thread.run_sync(gate.wait, abandon_on_cancel=True)

    pid = node.spawn(body)
    await settle()
    node.registry.stop(pid, Shutdown("left"))
    assert await node.wait(pid) == Shutdown("left")
    gate.set()


async def test_actor_waits_for_a_thread_that_is_not_abandoned(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    started, gate = threading.Event(), threading.Event()

    def blocking() -> None:
        started.set()
        gate.wait(10)

    async def body() -> None:
        await trio.to_thread.run_sync(blocking)

    pid = node.spawn(body)
    await trio.to_thread.run_sync(started.wait)
    node.registry.kill(pid)
    await settle()
    assert node.actor(pid) is not None
    gate.set()
    assert await node.wait(pid) == Killed()


async def test_message_that_cannot_be_compared_ends_no_run(node: Node) -> None:
    class Odd:
        __hash__ = None  # type: ignore[assignment] # equality that fails, as of an array

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

    pid = node.spawn(sleep, capacity=1)
    node.registry.subscribe("news", pid)
    await settle()
    await in_thread(lambda: [node.registry.publish("news", Odd()) for _ in range(3)])
    assert await node.wait(pid) in (Shutdown("overloaded"), NoProcess())


def test_thread_finds_nobody_when_the_run_is_over() -> None:
    nodes: list[Node] = []

    async def main() -> None:
        async with running_node() as node:
            nodes.append(node)
            nodes[0].registry.subscribe("t", node.spawn(sleep))

    trio.run(main)
    registry = nodes[0].registry
    outcomes: list[object] = []

    def run() -> None:
        outcomes.append(registry.send("x", "y"))
        outcomes.append(registry.publish("t", "y"))
        try:
            registry.whereis("x")
        except StoppedError as error:
            outcomes.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert outcomes == [Delivery.GONE, 0, "node 'test' is not running: its trio run is over"]


def test_node_that_never_ran_has_nobody() -> None:
    registry = Node("idle").registry
    assert registry.send("x", "y") is Delivery.GONE
    assert registry.publish("t", "y") == 0
    with pytest.raises(StoppedError, match="never started"):
        registry.whereis("x")
