"""A small kit for tests of actors: a running node, `settle`, and a probe that collects what it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import trio
import trio.testing

from actors.address import Pid, Ref
from actors.node import Node, current


@asynccontextmanager
async def running_node(
    name: str = "test", *, mailbox_capacity: float = 1000, grace: float = 10.0
) -> AsyncIterator[Node]:
    """Run a node for the length of a block, and see that nothing is left when it ends.

    Args:
        name: The node's name.
        mailbox_capacity: As for `Node`.
        grace: As for `Node`.

    Yields:
        The node.

    Raises:
        AssertionError: An ended actor left a name, topic, monitor or timer.
    """
    async with Node(name, mailbox_capacity=mailbox_capacity, grace=grace) as node:
        yield node
    left = node.registry.counts()
    assert not any((left.actors, left.names, left.topics, left.monitors, left.timers)), f"left over: {left}"


async def settle() -> None:
    """Wait until every task waits for something that only the test, or time, can bring."""
    await trio.testing.wait_all_tasks_blocked()


class Probe:
    """An actor that keeps every message it gets.

    Args:
        node: Where it runs.
        topics: What it is subscribed to.
        name: Its registered name.

    Attributes:
        pid: Its address.
        messages: What it got, in order, without what `next` took.
    """

    def __init__(self, node: Node, *, topics: Iterable[str] = (), name: str | None = None) -> None:
        self._node = node
        self.messages: list[Any] = []
        self._more = trio.Event()
        self.pid: Pid = node.spawn(self._run, name=name, label="probe")
        for topic in topics:
            node.registry.subscribe(topic, self.pid)

    async def _run(self) -> None:
        while True:
            self.messages.append(await current().receive())
            self._more.set()

    def watch(self, to: Pid | str) -> Ref:
        """Monitor an actor; its `Down` comes as a message.

        Args:
            to: A pid, its string, or a registered name.

        Returns:
            The monitor's ref.
        """
        return self._node.registry.monitor(to, self.pid)

    async def next(self, timeout: float = 1.0) -> Any:
        """Take the oldest message, or wait for one.

        Args:
            timeout: Seconds to wait.

        Returns:
            The message.

        Raises:
            trio.TooSlowError: None came in time.
        """
        with trio.fail_after(timeout):
            while not self.messages:
                self._more = trio.Event()
                await self._more.wait()
        return self.messages.pop(0)
