import pytest
import trio
from trio.testing import MockClock

from actors import Node, Timer, current
from actors.testing import Probe, settle


async def sleep() -> None:
    await trio.sleep_forever()


async def test_message_comes_after_its_delay(node: Node, probe: Probe, autojump_clock: MockClock) -> None:
    node.registry.send_after(3600, "late", probe.pid)
    node.registry.send_after(60, "early", probe.pid)
    started = trio.current_time()
    assert await probe.next(timeout=4000) == "early"
    assert trio.current_time() - started == pytest.approx(60)
    assert await probe.next(timeout=4000) == "late"
    assert trio.current_time() - started == pytest.approx(3600)


async def test_equal_deadlines_fire_in_order(node: Node, probe: Probe, autojump_clock: MockClock) -> None:
    clock = trio.current_time()
    for n in range(5):
        node.registry.send_after(1, n, probe.pid)
    await trio.sleep(2)
    assert probe.messages == [0, 1, 2, 3, 4]
    assert trio.current_time() == pytest.approx(clock + 2)


async def test_periodic_message_comes_until_cancelled(node: Node, probe: Probe, autojump_clock: MockClock) -> None:
    timer = node.registry.send_every(10, "tick", probe.pid)
    await trio.sleep(35)
    assert probe.messages == ["tick"] * 3
    assert timer.cancel() == pytest.approx(5)
    await trio.sleep(100)
    assert len(probe.messages) == 3


async def test_missed_ticks_are_left_out(node: Node, probe: Probe, mock_clock: MockClock) -> None:
    node.registry.send_every(10, "tick", probe.pid)
    await settle()
    mock_clock.jump(45)
    await settle()
    assert probe.messages == ["tick"]
    mock_clock.jump(9)
    await settle()
    assert probe.messages == ["tick"]
    mock_clock.jump(1)
    await settle()
    assert probe.messages == ["tick"] * 2


async def test_cancel_gives_the_seconds_left_once(node: Node, probe: Probe, autojump_clock: MockClock) -> None:
    timer = node.registry.send_after(10, "x", probe.pid)
    await trio.sleep(4)
    assert timer.active
    assert [timer.cancel(), timer.cancel()] == [pytest.approx(6), None]
    assert node.counts().timers == 0
    await trio.sleep(10)
    assert probe.messages == []


async def test_fired_timer_has_nothing_to_cancel(node: Node, probe: Probe, autojump_clock: MockClock) -> None:
    timer = node.registry.send_after(0, "x", probe.pid)
    assert await probe.next() == "x"
    assert timer.cancel() is None
    assert node.counts().timers == 0


async def test_timer_is_for_the_current_actor_by_default(node: Node, autojump_clock: MockClock) -> None:
    got: list[object] = []

    async def body() -> None:
        current().registry.send_after(5, "wake up")
        got.append(await current().receive())

    await node.wait(node.spawn(body))
    assert got == ["wake up"]


async def test_timer_ends_with_its_receiver(node: Node) -> None:
    pid = node.spawn(sleep)
    timer = node.registry.send_after(3600, "x", pid)
    ticks = node.registry.send_every(3600, "x", str(pid))
    await settle()
    node.registry.kill(pid)
    await node.wait(pid)
    assert not timer.active
    assert not ticks.active
    assert node.counts().timers == 0


async def test_timer_ends_with_the_actor_that_set_it(node: Node, probe: Probe) -> None:
    async def body() -> None:
        current().registry.send_after(3600, "x", probe.pid)
        current().registry.send_every(3600, "x", "some name")
        assert current().node.counts().timers == 2

    await node.wait(node.spawn(body))
    assert node.counts().timers == 0


async def test_name_is_looked_up_when_the_timer_fires(node: Node, autojump_clock: MockClock) -> None:
    node.registry.send_after(5, "hello", "later")
    node.registry.send_after(5, "nobody", "never")
    probe = Probe(node, name="later")
    assert await probe.next(timeout=10) == "hello"
    await settle()
    assert node.messages_lost == 1


async def test_timer_for_a_dead_pid_is_not_active(node: Node) -> None:
    pid = node.spawn(trio.lowlevel.checkpoint)
    await node.wait(pid)
    assert not node.registry.send_after(5, "x", pid).active
    assert node.counts().timers == 0


async def test_one_shot_timer_gets_into_a_full_mailbox(node: Node, autojump_clock: MockClock) -> None:
    pid = node.spawn(sleep, capacity=1)
    node.registry.send(pid, "full")
    node.registry.send_after(1, "must come", pid)
    node.registry.send_every(1, "may be left out", pid)
    await trio.sleep(3.5)
    (info,) = node.snapshot()
    assert (info.mailbox, info.dropped) == (2, 3)


@pytest.mark.parametrize("delay", [-1, float("nan")])
async def test_impossible_delay_is_refused(node: Node, probe: Probe, delay: float) -> None:
    with pytest.raises(ValueError, match="delay"):
        node.registry.send_after(delay, "x", probe.pid)
    with pytest.raises(ValueError, match="period"):
        node.registry.send_every(0, "x", probe.pid)


async def test_cancelled_timers_do_not_pile_up(node: Node, probe: Probe, autojump_clock: MockClock) -> None:
    kept = node.registry.send_after(1, "kept", probe.pid)
    for _ in range(10_000):
        node.registry.send_after(3600, "x", probe.pid).cancel()
    assert len(node.registry.timers._heap) < 200
    assert await probe.next(timeout=5) == "kept"
    assert not kept.active


async def test_timer_set_after_the_end_never_fires() -> None:
    async with Node("over") as node:
        pass
    assert not node.registry.send_after(1, "x", "name").active


async def test_pending_timers_end_with_the_node() -> None:
    async with Node("over") as node:
        timers: list[Timer] = [node.registry.send_after(3600, "x", "name") for _ in range(200)]
    assert not any(timer.active for timer in timers)
    assert node.registry.counts().timers == 0


async def test_actor_can_be_stopped_later(node: Node, autojump_clock: MockClock) -> None:
    pid = node.spawn(sleep)
    timer = node.registry.stop_after(5, pid)
    started = trio.current_time()
    await node.wait(pid)
    assert trio.current_time() - started == pytest.approx(5)
    assert not timer.active
    assert not node.registry.stop_after(0, "nobody").cancel()
