import pytest
import trio
from trio.testing import MockClock, assert_checkpoints

from actors import (
    ActorError,
    Call,
    CallExitError,
    CallTimeoutError,
    Cast,
    Crashed,
    From,
    Node,
    NoProcess,
    Shutdown,
    current,
)
from actors.testing import Probe, settle


async def doubler() -> None:
    me = current()
    while True:
        call = await me.receive(match=Call)
        me.registry.reply(call.from_, call.request * 2)


async def sleep() -> None:
    await trio.sleep_forever()


async def test_call_returns_the_reply(node: Node) -> None:
    pid = node.spawn(doubler, name="doubler")
    with assert_checkpoints():
        assert await node.registry.call(pid, 21) == 42
    assert await node.registry.call("doubler", "ab", timeout=None) == "abab"
    assert node.counts().monitors == 0


async def test_callee_learns_who_calls(node: Node) -> None:
    seen: list[object] = []

    async def callee() -> None:
        for _ in range(2):
            call = await current().receive(match=Call)
            seen.append(call.from_.pid)
            current().registry.reply(call.from_, None)

    async def caller() -> None:
        await current().registry.call(pid, "x")

    pid = node.spawn(callee)
    calling = node.spawn(caller)
    await node.wait(calling)
    await node.registry.call(pid, "x")
    assert seen == [calling, None]


async def test_no_reply_in_time_is_a_timeout(node: Node, autojump_clock: MockClock) -> None:
    pid = node.spawn(sleep)
    started = trio.current_time()
    with pytest.raises(CallTimeoutError, match="within 5 s"):
        await node.registry.call(pid, "x")
    assert trio.current_time() - started == pytest.approx(5)
    assert node.counts().monitors == 0


async def test_late_reply_is_dropped(node: Node, autojump_clock: MockClock) -> None:
    replied: list[bool] = []

    async def callee() -> None:
        call = await current().receive(match=Call)
        await trio.sleep(10)
        replied.append(current().registry.reply(call.from_, "late"))

    pid = node.spawn(callee)
    with pytest.raises(CallTimeoutError):
        await node.registry.call(pid, "x", timeout=1)
    await node.wait(pid)
    assert replied == [False]


async def test_reply_counts_once(node: Node) -> None:
    replied: list[bool] = []

    async def callee() -> None:
        call = await current().receive(match=Call)
        replied.extend(current().registry.reply(call.from_, n) for n in range(2))

    assert await node.registry.call(node.spawn(callee), "x") == 0
    assert replied == [True, False]


async def test_reply_may_come_from_another_actor(node: Node) -> None:
    async def front() -> None:
        me = current()
        call = await me.receive(match=Call)
        me.registry.send("back", call.from_)
        await trio.sleep_forever()  # the caller watches this one: if it ended, so would the call

    async def back() -> None:
        from_ = await current().receive(match=From)
        current().registry.reply(from_, "from the back")

    node.spawn(back, name="back")
    assert await node.registry.call(node.spawn(front), "x", timeout=1) == "from the back"


async def test_crash_of_the_callee_reaches_the_caller(node: Node) -> None:
    async def callee() -> None:
        await current().receive()
        raise ValueError("broken")

    with pytest.raises(CallExitError) as caught:
        await node.registry.call(node.spawn(callee), "x")
    assert isinstance(caught.value.reason, Crashed)
    assert isinstance(caught.value.__cause__, ValueError)


async def test_callee_that_leaves_is_an_exit(node: Node) -> None:
    async def callee() -> None:
        await current().receive()
        current().registry.stop(current().pid, Shutdown("left"))
        await trio.sleep_forever()

    with pytest.raises(CallExitError) as caught:
        await node.registry.call(node.spawn(callee), "x")
    assert caught.value.reason == Shutdown("left")


async def test_absent_callee_is_no_process(node: Node) -> None:
    with pytest.raises(CallExitError) as caught:
        await node.registry.call("nobody", "x")
    assert caught.value.reason == NoProcess()


async def test_calling_oneself_raises_at_once(node: Node) -> None:
    async def body() -> None:
        with pytest.raises(ActorError, match="called itself"):
            await current().registry.call(current().pid, "x")
        passed.append(1)

    passed: list[int] = []
    await node.wait(node.spawn(body))
    assert passed == [1]


async def test_call_waits_for_room_within_its_timeout(node: Node, autojump_clock: MockClock) -> None:
    pid = node.spawn(sleep, capacity=0)
    with pytest.raises(CallTimeoutError):
        await node.registry.call(pid, "x", timeout=2)

    async def late() -> None:
        await trio.sleep(1)
        await current().receive(match=str)
        await doubler()

    busy = node.spawn(late, capacity=1)
    node.registry.send(busy, "first")
    assert await node.registry.call(busy, 4) == 8


async def test_callee_that_ends_while_full_is_an_exit(node: Node) -> None:
    pid = node.spawn(sleep, capacity=0)
    caught: list[CallExitError] = []

    async def call() -> None:
        try:
            await node.registry.call(pid, "x")
        except CallExitError as error:
            caught.append(error)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
        await settle()
        node.registry.stop(pid, Shutdown("full"))
    assert caught[0].reason == Shutdown("full")


async def test_cancelled_call_leaves_nothing_behind(node: Node) -> None:
    pid = node.spawn(sleep)
    with trio.move_on_after(0.001):
        await node.registry.call(pid, "x")
    assert node.counts().monitors == 0


async def test_cast_sends_in_an_envelope(node: Node, probe: Probe) -> None:
    node.registry.cast(probe.pid, "work")
    assert await probe.next() == Cast("work")
