import asyncio

import pytest
import trio

from actors import Crashed, ExitReason, Killed, Node, NoProcess, Normal, Shutdown
from actors.exits import ends_all, lone_leaf


@pytest.mark.parametrize(
    ("reason", "clean"),
    [
        (Normal(), True),
        (Shutdown(), True),
        (Shutdown("reply"), True),
        (Killed(), False),
        (NoProcess(), False),
        (Crashed(ValueError()), False),
        (ExitReason(), False),
    ],
)
def test_only_normal_and_shutdown_are_clean(reason: ExitReason, clean: bool) -> None:
    assert reason.is_clean is clean


def test_reasons_are_compared_by_value() -> None:
    different: list[ExitReason] = [Shutdown("a"), Shutdown("b"), Shutdown(), Normal()]
    assert [different.index(reason) for reason in different] == [0, 1, 2, 3]
    assert Shutdown("a") == Shutdown("a")


def test_nested_groups_of_one_are_unwrapped() -> None:
    error = ValueError()
    assert lone_leaf(ExceptionGroup("a", [ExceptionGroup("b", [error])])) is error


def test_groups_of_two_stay_groups() -> None:
    group = ExceptionGroup("a", [ValueError(), KeyError()])
    assert lone_leaf(group) is group


def test_only_interrupts_and_exits_end_the_whole_program() -> None:
    assert ends_all(KeyboardInterrupt())
    assert ends_all(BaseExceptionGroup("g", [ValueError(), BaseExceptionGroup("h", [SystemExit()])]))
    assert not ends_all(asyncio.CancelledError())
    assert not ends_all(BaseExceptionGroup("g", [asyncio.CancelledError(), ValueError()]))


async def test_foreign_base_exception_is_a_crash_of_its_actor_only() -> None:
    async def fail() -> None:
        raise asyncio.CancelledError

    async with Node() as node:
        other = node.spawn(trio.sleep_forever)
        reason = await node.wait(node.spawn(fail))
        assert isinstance(reason, Crashed)
        assert isinstance(reason.error, asyncio.CancelledError)
        assert node.actor(other) is not None
