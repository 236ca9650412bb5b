import pytest
import trio

from actors import Node, NoProcessError, Shutdown, current
from actors.testing import Probe, settle


async def sleep() -> None:
    await trio.sleep_forever()


async def test_every_member_gets_what_is_published(node: Node) -> None:
    probes = [Probe(node, topics=["news"]) for _ in range(3)]
    assert node.registry.publish("news", "hello") == 3
    assert node.registry.publish("other", "hello") == 0
    await settle()
    assert [probe.messages for probe in probes] == [["hello"]] * 3


async def test_members_are_listed_in_the_order_they_came(node: Node) -> None:
    probes = [Probe(node, topics=["news"]) for _ in range(3)]
    assert node.registry.members("news") == tuple(probe.pid for probe in probes)
    assert node.registry.members("other") == ()


async def test_subscribing_twice_is_subscribing_once(node: Node, probe: Probe) -> None:
    node.registry.subscribe("news", probe.pid)
    node.registry.subscribe("news", probe.pid)
    assert node.registry.publish("news", "once") == 1
    assert node.registry.unsubscribe("news", probe.pid)
    assert node.registry.publish("news", "nobody") == 0


async def test_unsubscribe_says_whether_it_was_a_member(node: Node, probe: Probe) -> None:
    assert not node.registry.unsubscribe("news", probe.pid)
    node.registry.subscribe("a", probe.pid)
    node.registry.subscribe("b", probe.pid)
    assert not node.registry.unsubscribe("news", probe.pid)
    assert node.registry.unsubscribe("a", probe.pid)
    assert node.counts().topics == 1


async def test_subscribe_is_for_the_current_actor_by_default(node: Node) -> None:
    async def body() -> None:
        current().registry.subscribe("news")
        await trio.sleep_forever()

    pid = node.spawn(body)
    await settle()
    assert node.registry.members("news") == (pid,)


async def test_dead_actor_cannot_subscribe(node: Node) -> None:
    pid = node.spawn(trio.lowlevel.checkpoint)
    await node.wait(pid)
    with pytest.raises(NoProcessError):
        node.registry.subscribe("news", pid)


async def test_equal_messages_are_folded_in_a_full_mailbox(node: Node) -> None:
    pid = node.spawn(sleep, capacity=2)
    node.registry.subscribe("news", pid)
    assert [node.registry.publish("news", "changed") for _ in range(10)] == [1] * 10
    (info,) = node.snapshot()
    assert (info.mailbox, info.folded, info.dropped) == (2, 8, 0)


async def test_member_that_falls_behind_is_stopped(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    slow, quick = node.spawn(sleep, capacity=2), Probe(node, topics=["news"])
    node.registry.subscribe("news", slow)
    reasons: list[object] = []
    node.on_exit(slow, reasons.append)
    await settle()
    assert [node.registry.publish("news", n) for n in range(4)] == [2, 2, 1, 1]
    (info,) = [info for info in node.snapshot() if info.pid == slow]
    assert info.dropped == 2
    await settle()
    assert reasons == [Shutdown("overloaded")]
    assert quick.messages == [0, 1, 2, 3]
    assert caplog.text.count("overloaded by topic news") == 1


async def test_topic_without_members_does_not_exist(node: Node) -> None:
    pid = node.spawn(sleep)
    node.registry.subscribe("news", pid)
    await settle()
    node.registry.kill(pid)
    await node.wait(pid)
    assert node.registry._topics == {}


async def test_publisher_may_be_a_member(node: Node) -> None:
    got: list[object] = []

    async def body() -> None:
        me = current()
        me.registry.subscribe("news")
        me.registry.publish("news", "to all")
        got.append(await me.receive())

    await node.wait(node.spawn(body))
    assert got == ["to all"]
