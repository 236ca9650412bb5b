import pytest
import trio
from trio.testing import MockClock

from actors import AlreadyRegisteredError, ExitReason, Killed, Node, NoProcess, Shutdown, StoppedError, current
from actors.testing import settle


async def sleep() -> None:
    await trio.sleep_forever()


async def test_spawn_returns_before_the_first_step(node: Node) -> None:
    steps: list[int] = []

    async def body(n: int) -> None:
        steps.append(n)

    pid = node.spawn(body, 7)
    assert steps == []
    await node.wait(pid)
    assert steps == [7]


async def test_serials_are_never_used_again(node: Node) -> None:
    pids = []
    for _ in range(20):
        pids.append(node.spawn(trio.lowlevel.checkpoint))
        await node.wait(pids[-1])
    assert len({pid.serial for pid in pids}) == 20


async def test_taken_name_means_nothing_was_spawned(node: Node) -> None:
    node.spawn(sleep, name="one")
    before = node.counts()
    with pytest.raises(AlreadyRegisteredError):
        node.spawn(sleep, name="one")
    with pytest.raises(ValueError, match="registered name"):
        node.spawn(sleep, name="pid:one")
    assert node.counts() == before


async def test_current_is_the_running_actor(node: Node) -> None:
    seen: list[object] = []

    async def body() -> None:
        me = current()
        seen.extend([me.pid, me.label, me.node, me.registry, me.exit_asked])

    pid = node.spawn(body, label="me")
    await node.wait(pid)
    assert seen == [pid, "me", node, node.registry, None]


def test_current_outside_of_actors_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match=r"node\.spawn"):
        current()


async def test_label_is_the_functions_name_by_default(node: Node) -> None:
    actor = node.actor(node.spawn(sleep))
    assert actor is not None
    assert actor.label == "sleep"


async def test_actor_is_found_while_it_lives(node: Node) -> None:
    pid = node.spawn(sleep, name="x")
    assert node.actor(pid) is node.actor("x") is node.actor(str(pid))
    assert node.actor("y") is None


async def test_exit_function_for_nobody_is_called_at_once(node: Node) -> None:
    reasons: list[ExitReason] = []
    forget = node.on_exit("nobody", reasons.append)
    forget()
    assert reasons == [NoProcess()]
    assert await node.wait("nobody") == NoProcess()


async def test_exit_function_taken_off_is_not_called(node: Node) -> None:
    reasons: list[ExitReason] = []
    pid = node.spawn(sleep)
    forget = node.on_exit(pid, reasons.append)
    forget()
    forget()
    node.registry.kill(pid)
    await node.wait(pid)
    assert reasons == []


async def test_cancelled_wait_leaves_nothing_behind(node: Node) -> None:
    pid = node.spawn(sleep)
    with trio.move_on_after(0.001):
        await node.wait(pid)
    assert node.counts().monitors == 0


async def test_spawn_after_the_stop_began_is_refused() -> None:
    errors: list[Exception] = []

    async def late() -> None:
        try:
            await trio.sleep_forever()
        finally:
            try:
                current().node.spawn(sleep)
            except StoppedError as error:
                errors.append(error)

    async with Node("late") as node:
        node.spawn(late)
        await settle()
    assert "no actor can be spawned" in str(errors[0])
    with pytest.raises(StoppedError):
        node.spawn(sleep)


async def test_node_runs_once() -> None:
    async with Node() as node:
        pass
    with pytest.raises(RuntimeError, match="runs once"):
        await node.__aenter__()


async def test_exception_in_the_block_leaves_it_as_it_is() -> None:
    reasons: list[ExitReason] = []

    async def block() -> None:
        async with Node() as node:
            node.on_exit(node.spawn(sleep), reasons.append)
            await settle()
            raise ValueError("as it is")

    with pytest.raises(ValueError, match="as it is"):
        await block()
    assert reasons == [Shutdown()]


async def test_group_in_the_block_stays_a_group() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with Node():
            raise ExceptionGroup("two", [ValueError(), KeyError()])
    assert caught.value.message == "two"


async def test_interrupt_and_error_come_out_together() -> None:
    async def interrupt() -> None:
        raise KeyboardInterrupt

    async def block() -> None:
        async with Node() as node:
            node.spawn(interrupt)
            try:
                await trio.sleep_forever()
            finally:
                raise ValueError

    with pytest.raises(BaseExceptionGroup) as caught:
        await block()
    assert caught.value.split(KeyboardInterrupt)[0] is not None
    assert caught.value.split(ValueError)[0] is not None


async def test_stop_before_the_start_is_nothing() -> None:
    node = Node()
    await node.stop()
    assert not node.stopping
    assert repr(node) == f"<Node genmcp.{node.incarnation}>"


async def test_grace_of_one_actor_overrules_the_nodes(node: Node, autojump_clock: MockClock) -> None:
    async def slow() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with current().clean_up():
                await trio.sleep_forever()

    pid = node.spawn(slow, grace=1)
    await settle()
    started = trio.current_time()
    node.registry.stop(pid)
    reason = await node.wait(pid)
    assert trio.current_time() - started == pytest.approx(1)
    assert reason in (Shutdown(), Killed())
