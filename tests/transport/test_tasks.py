"""Application calls: what they are given, and what becomes of their faults."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from hypercorn.config import Config

from transport.tasks import STREAM_KEY, AppTasks, contain

SCOPE: dict[str, Any] = {"type": "http", "path": "/here", "state": {}}


class Sends:
    """Hypercorn's side of an application call."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.ended = trio.Event()

    async def __call__(self, message: Any) -> None:
        self.told.append(message)
        if message is None:
            self.ended.set()


async def run(app: Any, scope: dict[str, Any] = SCOPE) -> Sends:
    """Run one application call to its end, with one body in its inbox."""
    sends = Sends()
    async with trio.open_nursery() as nursery:
        tasks = AppTasks(nursery)
        put = await tasks.spawn_app(app, Config(), scope, sends)
        assert tasks.running == 1
        await put({"type": "http.request", "body": b"body", "more_body": False})
        await sends.ended.wait()
        assert tasks.running == 0
    return sends


async def test_an_application_receives_and_sends() -> None:
    async def echo(scope: Any, receive: Any, send: Any, *threads: Any) -> None:
        await send((scope["path"], (await receive())["body"]))

    assert (await run(echo)).told == [("/here", b"body"), None]


async def test_the_end_is_told_after_a_fault_too(caplog: pytest.LogCaptureFixture) -> None:
    async def fault(scope: Any, receive: Any, send: Any, *threads: Any) -> None:
        raise ValueError("mine")

    assert (await run(fault)).told == [None]
    (record,) = caplog.records
    assert record.getMessage() == "The application failed at /here"


async def test_a_fault_in_a_nursery_of_the_application_is_contained(caplog: pytest.LogCaptureFixture) -> None:
    async def fault(scope: Any, receive: Any, send: Any, *threads: Any) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise ValueError("mine")

    assert (await run(fault)).told == [None]
    assert len(caplog.records) == 1


async def test_what_an_http2_application_takes_is_reported() -> None:
    class Stream:
        taken = 0

        def body_taken(self, size: int) -> None:
            self.taken += size

    async def read(scope: Any, receive: Any, send: Any, *threads: Any) -> None:
        await receive()

    stream = Stream()
    await run(read, {**SCOPE, "state": {STREAM_KEY: stream}})
    assert stream.taken == 4


async def test_cancelling_the_connection_cancels_its_applications() -> None:
    cancelled = []

    async def wait(scope: Any, receive: Any, send: Any, sync_spawn: Any, call_soon: Any) -> None:
        try:
            await trio.sleep_forever()
        finally:
            cancelled.append(True)

    sends = Sends()
    async with trio.open_nursery() as nursery:
        await AppTasks(nursery).spawn_app(wait, Config(), SCOPE, sends)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert cancelled == [True]
    assert sends.told == []


def test_only_ordinary_exceptions_are_contained(caplog: pytest.LogCaptureFixture) -> None:
    stop = KeyboardInterrupt()
    assert contain(ValueError(), "%s", 1) is None
    assert contain(stop, "%s", 2) is stop
    rest = contain(BaseExceptionGroup("both", [ValueError(), stop]), "%s", 3)
    assert isinstance(rest, BaseExceptionGroup)
    assert rest.exceptions == (stop,)
    assert [record.getMessage() for record in caplog.records] == ["1", "3"]
