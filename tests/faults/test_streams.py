"""Streams on the wire: kept alive, event by event, never backwards, never cut (C1-C4, C7)."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.faults.raw import Raw
from tests.faults.watch import APP, ENVIRON, Watched, new_key
from tests.interop.process import ServerProcess, serving
from tests.interop.wire import META, call, request

pytestmark = pytest.mark.slow

KEEP_ALIVE = 0.15
COMMENT = b":\n\n"


@pytest.fixture(scope="module")
def lively_process() -> Iterator[ServerProcess]:
    with serving(f"{APP}:suite", "--keep-alive", f"{KEEP_ALIVE}", env=ENVIRON) as server:
        yield server


@pytest.fixture
async def lively(lively_process: ServerProcess) -> AsyncIterator[Watched]:
    """A server that says something every 0.15 s."""
    watched = Watched(lively_process)
    yield watched
    await watched.close()


def reporting(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A call that wants progress."""
    return call(name, arguments, meta={**META, "progressToken": "p"})


async def next_event(client: Raw) -> Any:
    event = await client.until(b"\n\n")
    while b"data: " not in event:
        event = await client.until(b"\n\n")
    return json.loads(event.partition(b"data: ")[2])


def events_in(body: bytes) -> list[Any]:
    return [json.loads(line[6:]) for line in body.split(b"\n") if line.startswith(b"data: ")]


def progress_in(events: list[Any]) -> list[float]:
    return [event["params"]["progress"] for event in events if event.get("method") == "notifications/progress"]


async def test_quiet_call_is_kept_alive_before_its_first_event(lively: Watched) -> None:
    client = await lively.dial()
    await client.post(call("nap", {"seconds": 4 * KEEP_ALIVE}))
    status, headers, body = await client.answer()
    assert (status, headers["content-type"]) == (200, "text/event-stream")
    assert body.count(COMMENT) >= 3
    (event,) = events_in(body)
    assert event["result"]["content"][0]["text"] == "rested"


async def test_quiet_subscription_is_kept_alive(lively: Watched) -> None:
    client = await lively.dial()
    await client.post(request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
    assert (await next_event(client))["method"] == "notifications/subscriptions/acknowledged"
    for _ in range(3):
        assert COMMENT in await client.until(COMMENT, 2 * KEEP_ALIVE)


async def test_progress_arrives_when_it_is_sent(server: Watched) -> None:
    client = await server.dial()
    await client.post(reporting("steps", {"values": [1, 2, 3, 4, 5], "pause": 0.1}))
    arrivals = []
    for value in range(1, 6):
        assert (await next_event(client))["params"]["progress"] == value
        arrivals.append(time.monotonic())
    assert min(after - before for before, after in itertools.pairwise(arrivals)) > 0.05
    assert "result" in await next_event(client)


async def test_head_says_that_nothing_may_be_held_back(server: Watched) -> None:
    client = await server.dial()
    started = time.monotonic()
    await client.post(call("park", {"key": new_key()}), Accept_Encoding="gzip, br")
    head = (await client.until(b"\r\n\r\n")).lower()
    assert COMMENT in await client.until(COMMENT)
    assert time.monotonic() - started < 0.1
    assert b"content-type: text/event-stream\r\n" in head
    assert b"x-accel-buffering: no\r\n" in head
    assert b"cache-control: no-cache, no-transform\r\n" in head or b"cache-control: no-store, no-transform\r\n" in head
    assert b"content-encoding" not in head


async def test_progress_never_goes_back(server: Watched) -> None:
    client = await server.dial()
    await client.post(reporting("steps", {"values": [1, 3, 2, 3, 4]}))
    events = events_in((await client.answer())[2])
    assert progress_in(events) == [1, 3, 4]
    assert "result" in events[-1]


async def test_rush_of_progress_only_rises_and_ends_with_the_result(server: Watched) -> None:
    client = await server.dial()
    await client.post(reporting("rush", {"updates": 500, "tasks": 2}))
    events = events_in((await client.answer())[2])
    values = progress_in(events)
    assert all(before < after for before, after in itertools.pairwise(values))
    assert values[-1] == 999
    assert len(events) == len(values) + 1
    assert events[-1]["result"]["content"][0]["text"] == "done"


async def test_progress_without_a_token_is_not_sent(server: Watched) -> None:
    client = await server.dial()
    await client.post(call("steps", {"values": [1, 2, 3]}))
    _, headers, body = await client.answer()
    assert headers["content-type"] == "application/json"
    assert b"progress" not in body


async def test_nothing_follows_the_result(lively: Watched) -> None:
    client = await lively.dial()
    await client.post(reporting("steps", {"values": [1]}))
    await client.answer()
    await client.post(call("nap", {"seconds": 2.5 * KEEP_ALIVE}))
    assert client.received == b""
    assert b"rested" in (await client.answer())[2]
