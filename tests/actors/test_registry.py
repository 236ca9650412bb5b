import trio

from actors import Down, Killed, Node, NoProcess, Normal, Pid, Shutdown, current
from actors.testing import Probe, settle


async def sleep() -> None:
    await trio.sleep_forever()


async def test_monitor_gives_exactly_one_down(node: Node, probe: Probe) -> None:
    pid = node.spawn(sleep)
    ref = probe.watch(pid)
    await settle()
    node.registry.stop(pid, Shutdown("over"))
    await node.wait(pid)
    await settle()
    assert probe.messages == [Down(ref, pid, Shutdown("over"))]


async def test_several_monitors_are_independent(node: Node, probe: Probe) -> None:
    pid = node.spawn(sleep)
    refs = [probe.watch(pid), probe.watch(str(pid))]
    node.registry.kill(pid)
    await node.wait(pid)
    await settle()
    assert probe.messages == [Down(ref, pid, Killed()) for ref in refs]


async def test_down_carries_no_process_for_a_dead_pid(node: Node, probe: Probe) -> None:
    pid = node.spawn(trio.lowlevel.checkpoint)
    await node.wait(pid)
    refs = [probe.watch(pid), probe.watch(str(pid)), probe.watch("nobody")]
    other = Pid(pid.node, "zzzzzz", 1)
    refs.append(probe.watch(other))
    await settle()
    expected: list[Pid | str] = [pid, pid, "nobody", other]
    assert probe.messages == [Down(ref, to, NoProcess()) for ref, to in zip(refs, expected, strict=True)]


async def test_monitored_name_reports_the_pid_it_had(node: Node, probe: Probe) -> None:
    pid = node.spawn(sleep, name="named")
    ref = probe.watch("named")
    node.registry.kill("named")
    await node.wait(pid)
    assert await probe.next() == Down(ref, pid, Killed())


async def test_monitor_is_for_the_current_actor_by_default(node: Node) -> None:
    downs: list[Down] = []

    async def watcher() -> None:
        ref = current().registry.monitor(pid)
        downs.append(await current().receive(match=Down))
        assert downs[0].ref is ref

    pid = node.spawn(trio.lowlevel.checkpoint)
    assert await node.wait(node.spawn(watcher)) == Normal()
    assert downs[0].pid == pid


async def test_demonitor_keeps_the_down_from_coming(node: Node, probe: Probe) -> None:
    pid = node.spawn(sleep)
    assert node.registry.demonitor(probe.watch(pid))
    node.registry.kill(pid)
    await node.wait(pid)
    await settle()
    assert probe.messages == []


async def test_demonitor_flushes_a_queued_down(node: Node) -> None:
    async def watcher() -> None:
        me = current()
        kept, flushed = me.registry.monitor("nobody"), me.registry.monitor("nobody")
        me.registry.send(me.pid, "text")
        assert not me.registry.demonitor(flushed)
        assert (await me.receive()).ref is kept
        assert await me.receive() == "text"
        assert me.mailbox is not None
        assert me.mailbox.size == 0

    assert await node.wait(node.spawn(watcher)) == Normal()


async def test_demonitor_of_something_long_gone_is_nothing(node: Node, probe: Probe) -> None:
    watcher = node.spawn(sleep)
    target = node.spawn(sleep)
    ref = node.registry.monitor(target, watcher)
    assert node.registry.demonitor(ref)
    assert not node.registry.demonitor(ref)  # no mailbox was ever opened
    await settle()
    node.registry.kill(watcher)
    await node.wait(watcher)
    assert not node.registry.demonitor(ref)


async def test_ended_watcher_is_told_nothing(node: Node) -> None:
    watcher, target = node.spawn(sleep), node.spawn(sleep)
    node.registry.monitor(target, watcher)
    await settle()
    node.registry.kill(watcher)
    await node.wait(watcher)
    assert node.counts().monitors == 0
    node.registry.kill(target)
    assert await node.wait(target) == Killed()


async def test_actor_may_watch_itself(node: Node) -> None:
    pid = node.spawn(sleep)
    node.registry.monitor(pid, pid)
    await settle()
    node.registry.kill(pid)
    assert await node.wait(pid) == Killed()
    assert node.counts().monitors == 0


async def test_down_comes_even_to_a_full_mailbox(node: Node) -> None:
    watcher = node.spawn(sleep, capacity=0)
    node.registry.monitor("nobody", watcher)
    (info,) = node.snapshot()
    assert info.mailbox == 1


async def test_stopping_nobody_says_so(node: Node) -> None:
    assert not node.registry.stop("nobody")
    assert not node.registry.kill("nobody")
