import logging
from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock

from actors import (
    AlreadyRegisteredError,
    Child,
    Crashed,
    Exit,
    ExitReason,
    Killed,
    Node,
    Normal,
    Shutdown,
    StartError,
    StoppedError,
    Supervisor,
    current,
)
from actors.testing import Probe, running_node, settle


class Boom(Exception):
    pass


class Log:
    """Bodies that write down what happens to them."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def child(self, name: str, *, stopping: float = 0.0) -> Callable[[], Awaitable[None]]:
        async def body() -> None:
            self.events.append(f"start {name}")
            try:
                await trio.sleep_forever()
            finally:
                with current().clean_up():
                    await trio.sleep(stopping)
                    self.events.append(f"stop {name}")

        body.__qualname__ = name
        return body


@pytest.fixture
def log() -> Log:
    return Log()


async def end_with(reason: ExitReason | Exception) -> None:
    me = current()
    me.registry.publish("starts", me.pid)
    await me.receive()
    if isinstance(reason, Exception):
        raise reason
    raise Exit(reason)


@pytest.mark.parametrize(
    ("restart", "reason", "comes_back"),
    [
        ("permanent", Normal(), True),
        ("permanent", Shutdown("x"), True),
        ("permanent", Boom(), True),
        ("permanent", Killed(), True),
        ("transient", Normal(), False),
        ("transient", Shutdown("x"), False),
        ("transient", Boom(), True),
        ("transient", Killed(), True),
        ("temporary", Normal(), False),
        ("temporary", Boom(), False),
        ("temporary", Killed(), False),
    ],
)
async def test_restart_depends_on_kind_and_reason(
    node: Node, restart: str, reason: ExitReason | Exception, comes_back: bool
) -> None:
    starts = Probe(node, topics=["starts"])
    await node.supervise([Child(end_with, reason, restart=restart)])  # type: ignore[arg-type] # one of the three literals
    pid = await starts.next()
    node.registry.send(pid, "end")
    await settle()
    assert len(starts.messages) == (1 if comes_back else 0)
    assert pid not in starts.messages


async def test_children_start_in_order_and_stop_in_reverse(node: Node, log: Log) -> None:
    supervisor = await node.supervise([log.child(name) for name in ("a", "b", "c")])
    assert log.events == ["start a", "start b", "start c"]
    assert [label for label, _ in supervisor.running()] == ["a", "b", "c"]
    await supervisor.stop()
    assert log.events[3:] == ["stop c", "stop b", "stop a"]
    assert node.actor(supervisor.pid) is None


async def test_restarted_child_keeps_its_name_and_gets_a_new_pid(node: Node) -> None:
    await node.supervise([Child(trio.sleep_forever, name="db")])
    pid = node.registry.whereis("db")
    assert pid is not None
    node.registry.kill(pid)
    await settle()
    assert node.registry.whereis("db") not in (None, pid)


async def test_restart_leaves_siblings_alone(node: Node, log: Log) -> None:
    supervisor = await node.supervise([Child(trio.sleep_forever, name="weak"), log.child("strong")])
    before = dict(supervisor.running())
    node.registry.kill("weak")
    await settle()
    after = dict(supervisor.running())
    assert before["strong"] == after["strong"]
    assert before["weak"] != after["weak"]


async def test_next_child_starts_after_an_acknowledgement(node: Node) -> None:
    events: list[str] = []

    async def database() -> None:
        await settle()
        events.append("database is ready")
        current().started()
        current().started()  # once is enough
        await trio.sleep_forever()

    async def worker() -> None:
        events.append("worker")
        await trio.sleep_forever()

    await node.supervise([Child(database, acknowledge=True), worker])
    assert events == ["database is ready", "worker"]


async def test_child_that_ends_before_its_acknowledgement_did_not_start(node: Node, log: Log) -> None:
    with pytest.raises(StartError) as caught:
        await node.supervise([log.child("a"), Child(trio.lowlevel.checkpoint, name="b", acknowledge=True)])
    assert (caught.value.child, caught.value.reason) == ("b", Normal())
    assert log.events == ["start a", "stop a"]


async def test_failing_first_step_is_a_start_error(node: Node, log: Log) -> None:
    async def broken() -> None:
        raise Boom("no database")

    before = node.counts()
    with pytest.raises(StartError, match="no database") as caught:
        await node.supervise([log.child("a"), broken, log.child("c")])
    assert isinstance(caught.value.reason, Crashed)
    assert isinstance(caught.value.__cause__, Boom)
    assert log.events == ["start a", "stop a"]
    assert node.counts() == before


async def test_taken_name_is_a_start_error(node: Node, probe: Probe) -> None:
    node.registry.register("db", probe.pid)
    with pytest.raises(StartError) as caught:
        await node.supervise([Child(trio.sleep_forever, name="db")])
    assert isinstance(caught.value.__cause__, AlreadyRegisteredError)


async def test_name_taken_meanwhile_counts_as_failed_restarts(node: Node, probe: Probe) -> None:
    supervisor = await node.supervise([Child(trio.sleep_forever, name="db")])
    pid = node.registry.whereis("db")
    assert pid is not None
    node.on_exit(pid, lambda _: node.registry.register("db", probe.pid))
    node.registry.kill(pid)
    assert await node.wait(supervisor.pid) == Shutdown("max_restarts")


async def test_permanent_child_that_returns_at_once_is_given_up(node: Node) -> None:
    async def nothing() -> None:
        pass

    supervisor = await node.supervise([nothing], max_restarts=4)
    assert await node.wait(supervisor.pid) == Shutdown("max_restarts")


async def test_too_many_restarts_stop_everything(node: Node, log: Log, caplog: pytest.LogCaptureFixture) -> None:
    supervisor = await node.supervise([log.child("a"), Child(trio.sleep_forever, name="b")], max_restarts=2)
    for _ in range(3):
        node.registry.kill("b")
        await settle()
    assert node.actor(supervisor.pid) is None
    assert log.events == ["start a", "stop a"]
    assert "more than 2 restarts in 5 s" in caplog.text
    assert supervisor.running() == ()


async def test_restarts_of_long_ago_do_not_count(node: Node, autojump_clock: MockClock) -> None:
    supervisor = await node.supervise([Child(trio.sleep_forever, name="b")], max_restarts=1, period=5)
    for _ in range(4):
        node.registry.kill("b")
        await trio.sleep(5)
    assert node.actor(supervisor.pid) is not None


async def test_slow_child_is_killed_after_its_shutdown_time(node: Node, log: Log, autojump_clock: MockClock) -> None:
    supervisor = await node.supervise([Child(log.child("slow", stopping=60), shutdown=2)])
    started = trio.current_time()
    await supervisor.stop()
    assert trio.current_time() - started == pytest.approx(2)
    assert log.events == ["start slow"]


async def test_unkillable_child_is_left_behind(
    node: Node, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def stubborn() -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(100)

    supervisor = await node.supervise([Child(stubborn, shutdown=1)])
    started = trio.current_time()
    await supervisor.stop()
    assert trio.current_time() - started == pytest.approx(2)
    await trio.sleep(1)
    assert "unkillable" in caplog.text


async def test_killed_supervisor_takes_its_children_along(node: Node, log: Log, autojump_clock: MockClock) -> None:
    supervisor = await node.supervise([log.child("a", stopping=60), log.child("b", stopping=60)])
    node.registry.kill(supervisor.pid)
    await node.wait(supervisor.pid)
    await settle()
    assert node.counts().actors == 0


async def test_cancelled_start_stops_what_has_started(node: Node, log: Log) -> None:
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            async def supervise() -> None:
                await node.supervise([log.child("a"), Child(trio.sleep_forever, acknowledge=True)])

            nursery.start_soon(supervise)
            await settle()
            assert log.events == ["start a"]
            scope.cancel()
    await settle()
    assert log.events == ["start a", "stop a"]
    assert node.counts().actors == 0


async def test_supervisor_killed_while_starting_is_a_start_error(node: Node) -> None:
    async def killer() -> None:
        node.registry.kill(next(iter(node._supervisors)).pid)
        await trio.sleep_forever()

    with pytest.raises(StartError, match="supervisor"):
        await node.supervise([killer, Child(trio.sleep_forever, acknowledge=True)])
    await settle()
    assert node.counts().actors == 0


async def test_supervisor_ignores_what_strangers_send(node: Node) -> None:
    supervisor = await node.supervise([trio.sleep_forever])
    node.registry.send(supervisor.pid, "hello")
    node.registry.monitor("nobody", supervisor.pid)
    await settle()
    assert len(supervisor.running()) == 1


async def test_started_without_a_supervisor_is_nothing(node: Node) -> None:
    async def body() -> None:
        current().started()

    assert await node.wait(node.spawn(body)) == Normal()


async def test_nothing_is_restarted_while_the_node_stops(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[object] = []
    async with running_node() as node:

        async def last_words() -> None:
            try:
                await trio.sleep_forever()
            finally:
                with current().clean_up():
                    node.registry.kill("child")
                    await settle()
                    seen.append(node.registry.whereis("child"))

        node.spawn(last_words)
        await node.supervise([Child(trio.sleep_forever, name="child")])
        await settle()
    assert seen == [None]
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_children_cannot_start_on_a_stopped_node() -> None:
    async with Node() as node:
        await node.stop()
        with pytest.raises(StoppedError):
            await node.supervise([trio.sleep_forever])


def test_child_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="'permanent', 'transient' or 'temporary'"):
        Child(trio.sleep_forever, restart="always")  # type: ignore[arg-type] # what it tests
    with pytest.raises(ValueError, match="seconds"):
        Child(trio.sleep_forever, shutdown=-1)


async def test_handle_knows_its_pid(node: Node) -> None:
    supervisor = await node.supervise([])
    assert isinstance(supervisor, Supervisor)
    assert node.snapshot() == ()
    assert node.counts().actors == 1
