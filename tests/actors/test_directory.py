import pytest
import trio
from trio.testing import assert_checkpoints

from actors import AlreadyRegisteredError, Delivery, Node, NoProcessError, Pid, Shutdown, current
from actors.testing import Probe, running_node, settle


async def sleep() -> None:
    await trio.sleep_forever()


async def test_message_reaches_pid_string_and_name(node: Node, probe: Probe) -> None:
    registry = node.registry
    registry.register("probe", probe.pid)
    for to in (probe.pid, str(probe.pid), "probe"):
        assert registry.send(to, to) is Delivery.DELIVERED
    await settle()
    assert probe.messages == [probe.pid, str(probe.pid), "probe"]


async def test_send_never_raises_for_absent_receivers(node: Node) -> None:
    pid = node.spawn(trio.lowlevel.checkpoint)
    await node.wait(pid)
    for to in (pid, str(pid), "nobody", "pid:nonsense", Pid("other", "abcdef", 1)):
        assert node.registry.send(to, "x") is Delivery.GONE


async def test_pid_of_another_incarnation_reaches_nobody(node: Node, probe: Probe) -> None:
    old = Pid(probe.pid.node, "zzzzzz", probe.pid.serial)
    assert node.registry.send(old, "x") is Delivery.GONE
    assert node.registry.send(Pid("elsewhere", probe.pid.incarnation, probe.pid.serial), "x") is Delivery.GONE


async def test_what_is_no_address_is_a_type_error(node: Node) -> None:
    with pytest.raises(TypeError, match="not int"):
        node.registry.send(3, "x")  # type: ignore[arg-type] # what it tests


async def test_full_mailbox_is_said_to_the_sender(node: Node) -> None:
    pid = node.spawn(sleep, capacity=2)
    assert [node.registry.send(pid, n) for n in range(3)] == [Delivery.DELIVERED, Delivery.DELIVERED, Delivery.FULL]


async def test_nodes_capacity_holds_by_default() -> None:
    async with running_node(mailbox_capacity=1) as node:
        pid = node.spawn(sleep)
        assert [node.registry.send(pid, n) for n in range(2)] == [Delivery.DELIVERED, Delivery.FULL]


async def test_messages_of_one_sender_keep_their_order(node: Node, probe: Probe) -> None:
    for n in range(500):
        node.registry.send(probe.pid, n)
        if n % 7 == 0:
            await trio.lowlevel.checkpoint()
    await settle()
    assert probe.messages == list(range(500))


async def test_system_actor_is_not_there_from_outside(node: Node) -> None:
    pid = node.spawn(sleep, system=True)
    registry = node.registry
    assert registry.send(pid, "x", external=True) is Delivery.GONE
    assert not registry.stop(pid, external=True)
    assert not registry.kill(pid, external=True)
    assert registry.send(pid, "x") is Delivery.DELIVERED


async def test_name_resolves_when_a_message_is_sent(node: Node) -> None:
    first, second = Probe(node, name="now"), Probe(node)
    node.registry.unregister("now")
    node.registry.register("now", second.pid)
    node.registry.send("now", "hello")
    await settle()
    assert (first.messages, second.messages) == ([], ["hello"])


async def test_name_is_taken_once(node: Node, probe: Probe) -> None:
    node.registry.register("db", probe.pid)
    with pytest.raises(AlreadyRegisteredError) as caught:
        node.registry.register("db", probe.pid)
    assert (caught.value.name, caught.value.pid) == ("db", probe.pid)


async def test_name_is_for_living_actors(node: Node) -> None:
    pid = node.spawn(trio.lowlevel.checkpoint)
    await node.wait(pid)
    with pytest.raises(NoProcessError):
        node.registry.register("late", pid)
    with pytest.raises(ValueError, match="registered name"):
        node.registry.register("pid:x", pid)


async def test_register_is_for_the_current_actor_by_default(node: Node) -> None:
    async def body() -> None:
        current().registry.register("me")
        await trio.sleep_forever()

    pid = node.spawn(body)
    await settle()
    assert node.registry.whereis("me") == pid
    assert node.registry.names() == {"me": pid}


async def test_register_outside_of_actors_needs_a_pid(node: Node) -> None:
    with pytest.raises(RuntimeError, match="runs in no actor"):
        node.registry.register("me")


async def test_name_is_freed_by_its_owner_or_by_anybody(node: Node, probe: Probe) -> None:
    registry = node.registry
    other = node.spawn(sleep)
    registry.register("a", probe.pid)
    assert not registry.unregister("a", other)
    assert registry.unregister("a", probe.pid)
    registry.register("a", probe.pid)
    assert registry.unregister("a")
    assert not registry.unregister("a")
    assert registry.whereis("a") is None


async def test_name_is_freed_when_its_owner_ends(node: Node) -> None:
    pid = node.spawn(sleep, name="short")
    await settle()
    node.registry.kill(pid)
    await node.wait(pid)
    assert node.registry.whereis("short") is None


async def test_send_wait_waits_for_room(node: Node) -> None:
    got: list[int] = []

    async def slow() -> None:
        await gate.wait()
        while True:
            got.append(await current().receive())

    gate = trio.Event()
    pid = node.spawn(slow, capacity=1)

    async def send(n: int) -> None:
        assert await node.registry.send_wait(pid, n) is Delivery.DELIVERED

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send, 1)
        await settle()
        nursery.start_soon(send, 2)
        await settle()
        nursery.start_soon(send, 3)
        await settle()
        gate.set()
    await settle()
    assert got == [1, 2, 3]


async def test_send_wait_ends_with_the_receiver(node: Node) -> None:
    pid = node.spawn(sleep, capacity=1)
    node.registry.send(pid, 1)
    outcome: list[Delivery] = []

    async def send() -> None:
        outcome.append(await node.registry.send_wait(pid, 2))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        await settle()
        node.registry.stop(pid, Shutdown())
    assert outcome == [Delivery.GONE]


async def test_send_wait_always_checkpoints(node: Node, probe: Probe) -> None:
    with assert_checkpoints():
        assert await node.registry.send_wait(probe.pid, 1) is Delivery.DELIVERED
    with assert_checkpoints():
        assert await node.registry.send_wait("nobody", 1) is Delivery.GONE


async def test_cancelled_send_wait_has_sent_nothing(node: Node, probe: Probe) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await node.registry.send_wait(probe.pid, 1)
    await settle()
    assert probe.messages == []
