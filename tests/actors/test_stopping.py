import pytest
import trio
from trio.testing import MockClock

from actors import Child, ExitReason, Killed, Node, Shutdown, current
from actors.testing import settle


class Ends:
    """Writes down who ended, in order."""

    def __init__(self) -> None:
        self.events: list[str] = []

    async def body(self, name: str, stopping: float = 0.0) -> None:
        try:
            await trio.sleep_forever()
        finally:
            with current().clean_up():
                await trio.sleep(stopping)
            self.events.append(name)


async def test_workers_stop_first_then_children_then_system_actors() -> None:
    ends = Ends()
    async with Node() as node:
        node.spawn(ends.body, "system", system=True)
        await node.supervise([Child(ends.body, "first"), Child(ends.body, "second")])
        await node.supervise([Child(ends.body, "third")])
        node.spawn(ends.body, "worker")
        await settle()
        await node.stop()
        assert ends.events == ["worker", "third", "second", "first", "system"]
        assert node.counts().actors == 0


async def test_workers_stop_all_at_once(autojump_clock: MockClock) -> None:
    ends = Ends()
    async with Node() as node:
        for n in range(10):
            node.spawn(ends.body, str(n), 5.0)
        await settle()
        started = trio.current_time()
        await node.stop()
        assert trio.current_time() - started == pytest.approx(5)
    assert len(ends.events) == 10


async def test_workers_are_killed_when_the_grace_is_over(autojump_clock: MockClock) -> None:
    reasons: list[ExitReason] = []
    ends = Ends()
    async with Node() as node:
        node.on_exit(node.spawn(ends.body, "slow", 100.0), reasons.append)
        node.on_exit(node.spawn(ends.body, "quick", 1.0), reasons.append)
        await settle()
        started = trio.current_time()
        await node.stop(grace=3)
        assert trio.current_time() - started == pytest.approx(3)
    assert reasons == [Shutdown(), Killed()]


async def test_grace_bounds_supervised_children_too(autojump_clock: MockClock) -> None:
    ends = Ends()
    async with Node() as node:
        await node.supervise([Child(ends.body, "slow", 100.0, shutdown=50)])
        started = trio.current_time()
        await node.stop(grace=2)
        assert trio.current_time() - started == pytest.approx(2)


async def test_stop_goes_on_past_an_unkillable_actor(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def stubborn() -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(100)

    ends = Ends()
    async with Node(grace=1) as node:
        node.spawn(stubborn, label="stubborn")
        await node.supervise([Child(ends.body, "child")])
        started = trio.current_time()
        await node.stop()
        assert trio.current_time() - started == pytest.approx(2)
        assert ends.events == ["child"]
        assert caplog.text.count("(stubborn) is unkillable") == 1
        (info,) = node.snapshot()
        assert info.status == "stopping"
    assert node.registry.counts().actors == 0


async def test_actor_may_stop_the_node_it_runs_on() -> None:
    reasons: list[ExitReason] = []

    async def body() -> None:
        await current().node.stop()

    async with Node() as node:
        node.on_exit(node.spawn(body), reasons.append)
        await trio.lowlevel.checkpoint()
        with trio.fail_after(1):
            while not reasons:
                await trio.lowlevel.checkpoint()
        await node.stop()
    assert reasons == [Shutdown()]


async def test_second_stop_waits_for_the_first(autojump_clock: MockClock) -> None:
    ends = Ends()
    async with Node() as node, trio.open_nursery() as nursery:
        node.spawn(ends.body, "slow", 3.0)
        await settle()
        nursery.start_soon(node.stop)
        await settle()
        started = trio.current_time()
        await node.stop()
        assert trio.current_time() - started == pytest.approx(3)


async def test_cancelled_stop_goes_on_without_its_caller(autojump_clock: MockClock) -> None:
    ends = Ends()
    async with Node() as node:
        node.spawn(ends.body, "slow", 3.0)
        await settle()
        with trio.move_on_after(1):
            await node.stop()
        assert ends.events == []
        await trio.sleep(3)
        assert ends.events == ["slow"]


async def test_cancelled_node_still_bounds_its_clean_ups(autojump_clock: MockClock) -> None:
    reasons: list[ExitReason] = []
    ends = Ends()
    started = trio.current_time()
    with trio.move_on_after(1):
        async with Node(grace=2) as node:
            node.on_exit(node.spawn(ends.body, "never ends", 100.0, grace=1000), reasons.append)
            await node.supervise([Child(ends.body, "child", 1.0)])
            await trio.sleep_forever()
    assert trio.current_time() - started == pytest.approx(3)
    assert reasons == [Killed()]
    assert "child" in ends.events
