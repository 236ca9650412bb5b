import pytest
import trio

from actors import Down, NoProcess
from actors.testing import Probe, running_node, settle


async def test_probe_keeps_messages_in_order() -> None:
    async with running_node() as node:
        probe = Probe(node, topics=["news"], name="probe")
        node.registry.send("probe", 1)
        node.registry.publish("news", 2)
        await settle()
        assert probe.messages == [1, 2]
        assert await probe.next() == 1
        assert probe.messages == [2]


async def test_probe_waits_for_the_next_message() -> None:
    async with running_node() as node:
        probe = Probe(node)
        async with trio.open_nursery() as nursery:

            async def later() -> None:
                await settle()
                node.registry.send(probe.pid, "late")

            nursery.start_soon(later)
            assert await probe.next() == "late"


async def test_probe_gives_up_in_time(autojump_clock: trio.testing.MockClock) -> None:
    async with running_node() as node:
        with pytest.raises(trio.TooSlowError):
            await Probe(node).next(timeout=1)


async def test_probe_watches_others() -> None:
    async with running_node() as node:
        probe = Probe(node)
        ref = probe.watch("nobody")
        assert await probe.next() == Down(ref, "nobody", NoProcess())


async def test_running_node_finds_what_leaked() -> None:
    with pytest.raises(AssertionError, match="left over"):
        async with running_node() as node:
            node.registry.timers.active += 1
