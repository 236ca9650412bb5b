"""Who holds the loop is named, once, and nobody else is."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
import trio

from actors import Node, slow_steps, watch_steps

LIMIT = 0.02


async def block(seconds: float) -> None:
    time.sleep(seconds)  # noqa: ASYNC251  (this fault is what is tested)


async def run(body: Callable[..., Any], *args: Any, times: int = 1, limit: float = LIMIT) -> None:
    with watch_steps(limit):
        async with Node() as node:
            for _ in range(times):
                await node.wait(node.spawn(body, *args, label="tools/call block"))


def named(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "held the loop" in record.getMessage()]


async def test_actor_that_blocks_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    await run(block, 2 * LIMIT, times=3)
    (message,) = named(caplog)
    assert "(tools/call block) held the loop for 0.0" in message
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


async def test_task_of_an_actor_counts_as_the_actor(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(block, 2 * LIMIT)

    await run(body)
    (message,) = named(caplog)
    assert "tools/call block" in message


async def test_task_without_an_actor_is_named_too(caplog: pytest.LogCaptureFixture) -> None:
    with watch_steps(LIMIT):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(block, 2 * LIMIT)
    (message,) = named(caplog)
    assert message.startswith("task ")
    assert "block" in message


async def test_waiting_and_short_steps_are_not_named(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        await trio.sleep(3 * LIMIT)
        await trio.to_thread.run_sync(time.sleep, 3 * LIMIT)
        for _ in range(20):
            await block(LIMIT / 10)
            await trio.lowlevel.checkpoint()

    await run(body)
    assert named(caplog) == []


async def test_same_label_is_named_again_after_a_while(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_steps, "AGAIN_AFTER", 0.0)
    await run(block, 2 * LIMIT, times=2)
    assert len(named(caplog)) == 2


async def test_zero_watches_nothing(caplog: pytest.LogCaptureFixture) -> None:
    await run(block, 2 * LIMIT, limit=0)
    assert named(caplog) == []


async def test_memory_of_labels_is_bounded() -> None:
    watch = slow_steps.SlowSteps(0)
    for number in range(3 * slow_steps.REMEMBERED):
        trio.lowlevel.current_task().name = f"task {number}"
        watch.before_task_step(trio.lowlevel.current_task())
        watch.before_io_wait(0)
    assert len(watch._named) <= slow_steps.REMEMBERED
