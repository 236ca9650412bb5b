import gc
import weakref

import pytest

from actors import Node, Pid, Ref, current
from actors.address import as_address, check_node_name, check_registered_name, new_incarnation
from actors.testing import settle


@pytest.mark.parametrize("name", ["main", "a-b_c", "host.example.com", "user@10.0.0.7"])
def test_pid_string_reads_back_as_equal_pid(name: str) -> None:
    pid = Pid(name, "k3f9a2", 42)
    assert str(pid) == f"pid:{name}.k3f9a2.42"
    assert Pid.parse(str(pid)) == pid
    assert hash(Pid.parse(str(pid))) == hash(pid)


@pytest.mark.parametrize(
    "text", ["", "pid:", "main.k3f9a2.1", "pid:main.1", "pid:a.b.0", "pid:a.b.-1", "pid:a.b.1\n", "pid:ä.b.1"]
)
def test_other_text_is_not_a_pid(text: str) -> None:
    with pytest.raises(ValueError, match="not a pid"):
        Pid.parse(text)


def test_pids_differ_by_node_incarnation_and_serial() -> None:
    pid = Pid("a", "b", 1)
    assert len({pid, Pid("a", "b", 2), Pid("a", "c", 1), Pid("d", "b", 1)}) == 4
    assert pid != "pid:a.b.1"
    assert repr(pid) == "<pid:a.b.1>"


def test_address_is_read_where_it_can_be() -> None:
    assert as_address("pid:a.b.1") == Pid("a", "b", 1)
    assert as_address("pid:nonsense") == "pid:nonsense"
    assert as_address("worker") == "worker"


@pytest.mark.parametrize("name", ["", "two words", "a:b", ".a", "ä"])
def test_node_name_unfit_for_pids_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="node name"):
        check_node_name(name)


@pytest.mark.parametrize("name", ["", "pid:x"])
def test_registered_name_like_a_pid_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="registered name"):
        check_registered_name(name)


def test_incarnations_differ() -> None:
    assert len({new_incarnation() for _ in range(50)}) == 50


def test_ref_shows_what_it_watches() -> None:
    assert "to pid:a.b.1" in repr(Ref(Pid("a", "b", 2), Pid("a", "b", 1)))


async def test_held_pid_keeps_no_state_alive(node: Node) -> None:
    actors: list[weakref.ref[object]] = []

    class Big:
        def __init__(self) -> None:
            self.actor = current()

    async def body(tag: object) -> None:
        big = Big()
        actors.append(weakref.ref(big))

    pid = node.spawn(body, object())
    await settle()
    gc.collect()
    assert actors[0]() is None
    assert node.actor(pid) is None
