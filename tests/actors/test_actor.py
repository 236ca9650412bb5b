"""How an actor's end becomes an exit reason, each row of the table in `actors.actor`; and trio's traps around it."""

import contextvars
import logging
from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import assert_checkpoints

from actors import (
    Crashed,
    Down,
    Exit,
    ExitReason,
    Killed,
    Node,
    NoProcessError,
    Normal,
    ReceiveTimeoutError,
    Shutdown,
    current,
)
from actors.testing import Probe, running_node, settle


class Boom(Exception):
    pass


def crash_records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "actors" and record.levelno >= logging.ERROR]


async def raise_boom() -> None:
    raise Boom("it broke")


async def sleep() -> None:
    await trio.sleep_forever()


# -- the table -------------------------------------------------------------------------------------------


async def test_body_that_returns_is_normal(node: Node) -> None:
    assert await node.wait(node.spawn(trio.lowlevel.checkpoint)) == Normal()


async def test_body_that_returns_after_a_kill_is_killed(node: Node) -> None:
    async def body() -> None:
        with trio.CancelScope(shield=True):
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()

    pid = node.spawn(body)
    await trio.lowlevel.checkpoint()
    await trio.lowlevel.checkpoint()
    node.registry.kill(pid)
    assert await node.wait(pid) == Killed()


async def test_body_that_returns_by_itself_after_a_stop_is_normal(node: Node) -> None:
    async def body() -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(0.01)

    pid = node.spawn(body)
    await settle()
    node.registry.stop(pid)
    assert await node.wait(pid) == Normal()


@pytest.mark.parametrize("reason", [Normal(), Shutdown("done")])
async def test_clean_exit_is_quiet(node: Node, reason: ExitReason, caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        raise Exit(reason)

    assert await node.wait(node.spawn(body)) == reason
    assert caplog.records == []


async def test_unclean_exit_is_logged(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        raise Exit(Killed())

    assert await node.wait(node.spawn(body)) == Killed()
    assert "exited: Killed" in crash_records(caplog)[0].getMessage()


async def test_stop_ends_with_its_reason(node: Node) -> None:
    pid = node.spawn(sleep)
    await settle()
    node.registry.stop(pid, Shutdown("timeout"))
    assert await node.wait(pid) == Shutdown("timeout")


async def test_kill_ends_with_killed(node: Node) -> None:
    pid = node.spawn(sleep)
    await settle()
    node.registry.kill(pid)
    assert await node.wait(pid) == Killed()


async def test_scope_says_who_cancelled_and_why(node: Node) -> None:
    texts: list[str] = []

    async def body() -> None:
        try:
            await trio.sleep_forever()
        except trio.Cancelled as cancelled:
            texts.append(str(cancelled))
            raise

    pid = node.spawn(body)
    await settle()
    node.registry.stop(pid, Shutdown("timeout"))
    await node.wait(pid)
    assert "stop: Shutdown(detail='timeout')" in texts[0]


async def test_cancellation_from_outside_is_shutdown_and_goes_on() -> None:
    reasons: list[ExitReason] = []
    asked: list[ExitReason | None] = []

    async def body() -> None:
        try:
            await trio.sleep_forever()
        finally:
            asked.append(current().exit_asked)

    with trio.CancelScope() as scope:
        async with running_node() as node:
            node.on_exit(node.spawn(body), reasons.append)
            await settle()
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert reasons == [Shutdown()]
    assert asked in ([None], [Shutdown()])


async def test_exception_is_a_crash_logged_once(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    pid = node.spawn(raise_boom, label="tools/call")
    reason = await node.wait(pid)
    assert isinstance(reason, Crashed)
    assert isinstance(reason.error, Boom)
    (record,) = crash_records(caplog)
    assert record.getMessage() == f"actor {pid} (tools/call) crashed: Boom: it broke"
    assert record.exc_info is not None
    assert record.exc_info[1] is reason.error


async def test_group_of_one_is_unwrapped(node: Node) -> None:
    async def body() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(raise_boom)

    reason = await node.wait(node.spawn(body))
    assert isinstance(reason, Crashed)
    assert isinstance(reason.error, Boom)


async def test_group_of_two_stays_a_group(node: Node) -> None:
    async def body() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(raise_boom)
            nursery.start_soon(raise_boom)

    reason = await node.wait(node.spawn(body))
    assert isinstance(reason, Crashed)
    assert isinstance(reason.error, ExceptionGroup)


async def test_exit_from_a_child_task_is_unwrapped(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    async def leave() -> None:
        raise Exit(Shutdown("enough"))

    async def body() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(leave)
            nursery.start_soon(trio.sleep_forever)

    assert await node.wait(node.spawn(body)) == Shutdown("enough")
    assert crash_records(caplog) == []


async def fail_when_cancelled() -> None:
    async def child() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise Boom

    async with trio.open_nursery() as nursery:
        nursery.start_soon(child)
        await trio.sleep_forever()


async def test_crash_during_a_stop_is_a_crash(node: Node) -> None:
    pid = node.spawn(fail_when_cancelled)
    await settle()
    node.registry.stop(pid)
    reason = await node.wait(pid)
    assert isinstance(reason, Crashed)
    assert isinstance(reason.error, Boom)


async def test_errors_mixed_with_outer_cancellation_are_a_crash(caplog: pytest.LogCaptureFixture) -> None:
    reasons: list[ExitReason] = []
    with trio.CancelScope() as scope:
        async with running_node() as node:
            node.on_exit(node.spawn(fail_when_cancelled), reasons.append)
            await settle()
            scope.cancel()
    assert scope.cancelled_caught
    assert isinstance(reasons[0], Crashed)
    assert len(crash_records(caplog)) == 1


@pytest.mark.parametrize("inner", [None, Boom()])
async def test_group_with_cancelled_lets_only_that_go_on(inner: Boom | None) -> None:
    reasons: list[ExitReason] = []

    async def body() -> None:
        try:
            await trio.sleep_forever()
        except trio.Cancelled as cancelled:
            raise BaseExceptionGroup("mixed", [cancelled, *([inner] if inner else [])]) from None

    with trio.CancelScope() as scope:
        async with running_node() as node:
            node.on_exit(node.spawn(body), reasons.append)
            await settle()
            scope.cancel()
    assert scope.cancelled_caught
    assert reasons == [Crashed(inner) if inner else Shutdown()]


async def run_until_cancelled(body: Callable[[], Awaitable[None]], reasons: list[ExitReason]) -> None:
    async with running_node() as node:
        node.on_exit(node.spawn(body), reasons.append)
        await trio.sleep_forever()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
async def test_interrupt_is_killed_and_ends_the_node(error: BaseException) -> None:
    reasons: list[ExitReason] = []

    async def body() -> None:
        raise error

    with pytest.raises(type(error)):
        await run_until_cancelled(body, reasons)
    assert reasons == [Killed()]


async def test_interrupt_in_a_group_goes_on_too() -> None:
    reasons: list[ExitReason] = []

    async def body() -> None:
        raise BaseExceptionGroup("both", [KeyboardInterrupt(), Boom()])

    with pytest.raises(BaseExceptionGroup):
        await run_until_cancelled(body, reasons)
    assert reasons == [Killed()]


# -- isolation and the first step ------------------------------------------------------------------------------


async def test_crash_leaves_siblings_and_node_alone(node: Node, probe: Probe) -> None:
    sibling = node.spawn(sleep)
    for _ in range(3):
        assert isinstance(await node.wait(node.spawn(raise_boom)), Crashed)
    assert node.actor(sibling) is not None
    node.registry.send(probe.pid, "still here")
    assert await probe.next() == "still here"


async def test_broken_log_handler_does_not_keep_an_actor_alive(node: Node) -> None:
    class Broken(logging.Filter):
        def filter(self, record: logging.LogRecord) -> bool:
            raise RuntimeError

    broken = Broken()
    logging.getLogger("actors").addFilter(broken)
    try:
        assert isinstance(await node.wait(node.spawn(raise_boom)), Crashed)
    finally:
        logging.getLogger("actors").removeFilter(broken)


@pytest.mark.parametrize("kill", [False, True])
async def test_stop_before_the_first_step_means_no_step(node: Node, kill: bool) -> None:
    steps: list[int] = []

    async def body() -> None:
        steps.append(1)

    pid = node.spawn(body)
    assert node.registry.kill(pid) if kill else node.registry.stop(pid, Shutdown("early"))
    assert await node.wait(pid) == (Killed() if kill else Shutdown("early"))
    assert steps == []


async def test_nothing_of_the_body_runs_in_a_cancelled_node() -> None:
    steps: list[int] = []

    async def body() -> None:
        steps.append(1)

    with trio.CancelScope() as scope:
        async with running_node() as node:
            scope.cancel()
            node.spawn(body)
    assert steps == []


async def test_actor_does_not_inherit_its_spawners_context(node: Node) -> None:
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request", default="none")
    request.set("the spawner's")
    seen: list[str] = []

    async def body() -> None:
        seen.append(request.get())

    await node.wait(node.spawn(body))
    assert seen == ["none"]


async def test_body_need_not_be_a_coroutine_function(node: Node) -> None:
    reason = await node.wait(node.spawn(lambda: None))  # type: ignore[arg-type, return-value] # what it tests
    assert isinstance(reason, Crashed)


# -- the crash record --------------------------------------------------------------------------------------------


async def test_annotations_are_in_text_and_record(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        current().annotate(reference="r-1", method="tools/call")
        current().annotate(name="shadows a logging field")
        raise Boom

    pid = node.spawn(body, label="worker")
    await node.wait(pid)
    (record,) = crash_records(caplog)
    assert "reference=r-1 method=tools/call name=shadows" in record.getMessage()
    fields = vars(record)
    assert (fields["reference"], fields["pid"], fields["label"], fields["name"]) == (
        "r-1",
        str(pid),
        "worker",
        "actors",
    )
    assert fields["annotations"]["name"] == "shadows a logging field"


# -- clean-up ------------------------------------------------------------------------------------------------------


async def test_clean_up_is_shielded_from_the_stop(node: Node, autojump_clock: trio.testing.MockClock) -> None:
    done: list[ExitReason | None] = []

    async def body() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with current().clean_up():
                await trio.sleep(9)
                done.append(current().exit_asked)

    pid = node.spawn(body)
    await settle()
    node.registry.stop(pid, Shutdown("bye"))
    assert await node.wait(pid) == Shutdown("bye")
    assert done == [Shutdown("bye")]


async def test_await_in_finally_without_clean_up_is_cancelled_again(node: Node) -> None:
    reached: list[int] = []

    async def body() -> None:
        try:
            await trio.sleep_forever()
        finally:
            await trio.lowlevel.checkpoint()
            reached.append(1)

    pid = node.spawn(body)
    await settle()
    node.registry.stop(pid)
    assert await node.wait(pid) == Shutdown()
    assert reached == []


async def test_clean_up_is_cut_at_its_own_deadline(
    node: Node, autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def body() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with current().clean_up(2):
                await trio.sleep_forever()

    pid = node.spawn(body)
    await settle()
    started = trio.current_time()
    node.registry.stop(pid, Shutdown("bye"))
    assert await node.wait(pid) == Shutdown("bye")
    assert trio.current_time() - started == pytest.approx(2)
    assert "cut short" in caplog.text


async def test_actor_is_killed_when_its_grace_is_over(node: Node, autojump_clock: trio.testing.MockClock) -> None:
    async def body() -> None:
        try:
            await trio.sleep_forever()
        finally:
            while current().exit_asked != Killed():  # each within its own deadline, all together not
                with current().clean_up(3):
                    await trio.sleep(2)

    pid = node.spawn(body, grace=5)
    await settle()
    started = trio.current_time()
    node.registry.stop(pid)
    assert await node.wait(pid) == Killed()
    assert trio.current_time() - started == pytest.approx(5)


async def test_kill_cancels_even_clean_up(node: Node, autojump_clock: trio.testing.MockClock) -> None:
    async def body() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with current().clean_up():
                await trio.sleep_forever()

    pid = node.spawn(body)
    await settle()
    node.registry.stop(pid)
    await settle()
    started = trio.current_time()
    node.registry.kill(pid)
    assert await node.wait(pid) == Killed()
    assert trio.current_time() == started


async def test_clean_up_after_a_kill_is_cancelled_at_once(node: Node) -> None:
    reached: list[str] = []

    async def body() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with current().clean_up():
                reached.append("in")
                await trio.sleep_forever()

    pid = node.spawn(body)
    await settle()
    node.registry.kill(pid)
    assert await node.wait(pid) == Killed()
    assert reached == ["in"]


async def test_body_in_its_own_shield_is_reported_unkillable(
    node: Node, autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def body() -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(60)

    pid = node.spawn(body, label="stubborn", grace=5)
    await settle()
    node.registry.stop(pid)
    await trio.sleep(5.5)
    assert "unkillable" not in caplog.text
    await trio.sleep(1)
    assert "(stubborn) is unkillable" in caplog.text
    assert await node.wait(pid) == Killed()


async def test_actor_may_stop_itself(node: Node) -> None:
    async def body() -> None:
        me = current()
        me.registry.stop(me.pid, Shutdown("self"))
        await trio.sleep_forever()

    assert await node.wait(node.spawn(body)) == Shutdown("self")


async def test_first_reason_to_stop_stays(node: Node) -> None:
    pid = node.spawn(sleep)
    await settle()
    assert node.registry.stop(pid, Shutdown("first"))
    assert node.registry.stop(pid, Shutdown("second"))
    assert await node.wait(pid) == Shutdown("first")


# -- receiving ---------------------------------------------------------------------------------------------------


async def run_in_actor(node: Node, body: object) -> None:
    """Run a test's body as an actor, and its failure as the test's."""
    reason = await node.wait(node.spawn(body))  # type: ignore[arg-type] # any async function of no arguments
    if isinstance(reason, Crashed):
        raise reason.error
    assert reason == Normal()


async def test_receive_gives_up_after_its_timeout(node: Node, autojump_clock: trio.testing.MockClock) -> None:
    async def body() -> None:
        me = current()
        started = trio.current_time()
        with pytest.raises(ReceiveTimeoutError):
            await me.receive(timeout=3)
        assert trio.current_time() - started == pytest.approx(3)

    await run_in_actor(node, body)


async def test_receive_with_timeout_zero_takes_what_is_there(node: Node) -> None:
    async def body() -> None:
        me = current()
        me.registry.send(me.pid, "a")
        with assert_checkpoints():
            assert await me.receive(timeout=0) == "a"
        me.registry.send(me.pid, "b")
        with pytest.raises(ReceiveTimeoutError):
            await me.receive(timeout=0, match=int)
        assert me.receive_nowait() == "b"

    await run_in_actor(node, body)


async def test_receive_matches_types_and_predicates(node: Node) -> None:
    async def body() -> None:
        me = current()
        for message in ("text", 7, b"bytes", 8):
            me.registry.send(me.pid, message)
        number: int = await me.receive(match=int)
        assert number == 7
        assert me.receive_nowait((float, bytes)) == b"bytes"
        assert await me.receive(match=lambda m: m == 8) == 8
        assert await me.receive(timeout=1) == "text"

    await run_in_actor(node, body)


async def test_receive_after_the_end_says_so(node: Node) -> None:
    actors = []

    async def body() -> None:
        actors.append(current())

    await node.wait(node.spawn(body))
    with pytest.raises(NoProcessError):
        await actors[0].receive()


async def test_receive_always_lets_others_run(node: Node) -> None:
    turns: list[str] = []

    async def drain() -> None:
        me = current()
        for _ in range(3):
            me.registry.send(me.pid, 1)
        for _ in range(3):
            await me.receive()
            turns.append("drain")

    async def other() -> None:
        for _ in range(3):
            turns.append("other")
            await trio.lowlevel.checkpoint()

    pids = [node.spawn(drain), node.spawn(other)]
    for pid in pids:
        await node.wait(pid)
    assert turns[:3].count("other") >= 1


async def test_two_tasks_of_an_actor_receive_what_each_wants(node: Node) -> None:
    got: dict[str, object] = {}

    async def take(key: str, kind: type) -> None:
        got[key] = await current().receive(match=kind)

    async def body() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(take, "number", int)
            nursery.start_soon(take, "down", Down)

    pid = node.spawn(body)
    await settle()
    node.registry.monitor("nobody", pid)
    node.registry.send(pid, 5)
    assert await node.wait(pid) == Normal()
    assert got["number"] == 5
    assert isinstance(got["down"], Down)


# -- the end -----------------------------------------------------------------------------------------------------


async def test_messages_left_at_the_end_are_counted(node: Node) -> None:
    pid = node.spawn(trio.lowlevel.checkpoint)
    for n in range(3):
        node.registry.send(pid, n)
    before = node.messages_lost
    await node.wait(pid)
    assert node.messages_lost - before == 3


async def test_names_and_topics_are_free_before_anybody_hears(node: Node) -> None:
    seen: list[tuple[object, ...]] = []
    registry = node.registry

    async def watcher() -> None:
        me = current()
        registry.monitor("named")
        assert isinstance(await me.receive(), Down)
        registry.register("named")
        seen.append(("down", registry.members("topic")))

    async def body() -> None:
        registry.subscribe("topic")
        await current().receive()

    pid = node.spawn(body, name="named")
    node.on_exit(pid, lambda _: seen.append(("hook", registry.whereis("named"), registry.members("topic"))))
    watching = node.spawn(watcher)
    await settle()
    registry.send(pid, "end")
    await node.wait(watching)
    assert seen == [("hook", None, ()), ("down", ())]


async def test_down_is_in_the_mailbox_before_exit_functions_run(node: Node, probe: Probe) -> None:
    pid = node.spawn(sleep)
    probe.watch(pid)
    watcher = node.actor(probe.pid)
    assert watcher is not None
    await settle()
    handed: list[bool] = []

    def hook(_: ExitReason) -> None:
        assert watcher.mailbox is not None
        handed.append(watcher.mailbox.waiting)

    node.on_exit(pid, hook)
    assert watcher.mailbox is not None
    assert watcher.mailbox.waiting
    node.registry.kill(pid)
    await node.wait(pid)
    assert handed == [False]


async def test_failing_exit_function_does_not_keep_others_from_running(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    reasons: list[ExitReason] = []

    def fail(_: ExitReason) -> None:
        raise Boom

    pid = node.spawn(sleep)
    node.on_exit(pid, fail)
    node.on_exit(pid, reasons.append)
    await settle()
    node.registry.kill(pid)
    await node.wait(pid)
    assert reasons == [Killed()]
    assert "on_exit function" in caplog.text


async def test_exit_function_may_take_another_off(node: Node) -> None:
    called: list[str] = []
    pid = node.spawn(sleep)

    def first(_: ExitReason) -> None:
        called.append("first")
        forget()

    node.on_exit(pid, first)
    forget = node.on_exit(pid, lambda _: called.append("second"))
    node.on_exit(pid, lambda _: called.append("third"))
    await settle()
    node.registry.kill(pid)
    await node.wait(pid)
    assert called[0] == "first"
    assert "third" in called


async def test_actor_shows_pid_and_label(node: Node) -> None:
    pid = node.spawn(sleep, label="sleeper")
    assert repr(node.actor(pid)) == f"<actor {pid} sleeper>"
