import pytest

from actors import Crashed, ExitReason, Killed, NoProcess, Normal, Shutdown
from actors.exits import lone_leaf


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
