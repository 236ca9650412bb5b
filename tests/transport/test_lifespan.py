"""Endpoints mounted in other people's applications, in process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from quart_trio import QuartTrio
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from actors import Node, current
from genmcp import Suite
from tests.transport.calls import Call, Probe, Site, request
from transport.endpoint import endpoint
from transport.http import mount
from transport.lifespan import with_node


@asynccontextmanager
async def alive(app: Callable[..., Any], log: list[str]) -> AsyncIterator[None]:
    """Run an application's lifespan as an ASGI server does."""
    to_app, app_receives = trio.open_memory_channel[Any](2)
    app_sends, from_app = trio.open_memory_channel[Any](2)

    async def send(message: Any) -> None:
        log.append(message["type"])
        await app_sends.send(message)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            app, {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, app_receives.receive, send
        )
        await to_app.send({"type": "lifespan.startup"})
        await from_app.receive()
        yield
        await to_app.send({"type": "lifespan.shutdown"})
        await from_app.receive()


async def status(app: Any, path: str) -> int:
    site = Site(app, Probe(), Node())
    return (
        await site.call(Call(message=request("tools/list"), path=path, scope={"client": None, "query_string": b""}))
    ).status


async def test_a_starlette_application_needs_one_line() -> None:
    first, second = Probe(), Probe()
    inner = Starlette(
        routes=[Mount("/under/here", app=endpoint(first)), Route("/mcp", endpoint(second), methods=["POST", "OPTIONS"])]
    )
    app = with_node(inner, first, second)
    log: list[str] = []
    async with alive(app, log):
        assert await status(app, "/mcp") == 200
        assert await status(app, "/under/here/") == 200
        assert await status(app, "/under/here/mcp") == 200
        assert await status(app, "/under/here/other") == 404
        assert (len(first.channels), len(second.channels)) == (2, 1)
    assert log == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_a_quart_application_needs_one_line_more() -> None:
    server = Probe()
    quart = QuartTrio(__name__)

    @quart.get("/page")
    async def page() -> str:
        return "a page"

    mount(quart, "/mcp", endpoint(server))
    app = with_node(quart, server)
    async with alive(app, []):
        assert await status(app, "/mcp") == 200
        assert await status(app, "/mcp/") == 200
        site = Site(app, server, Node())
        answer = await site.call(Call(method="GET", path="/page", scope={"client": None, "query_string": b""}))
        assert (answer.status, answer.body) == (200, b"a page")


async def test_a_bare_endpoint_needs_only_a_node() -> None:
    server = Probe()
    app = with_node(endpoint(server), server)
    async with alive(app, []):
        assert await status(app, "/mcp") == 200
        assert await status(app, "/other") == 404


async def test_an_application_without_a_lifespan_is_given_one() -> None:
    server = Probe()
    served = endpoint(server)

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError("no lifespan here")
        await served(scope, receive, send)

    log: list[str] = []
    app = with_node(inner, server)
    async with alive(app, log):
        assert await status(app, "/mcp") == 200
    assert log == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_workers_end_before_what_they_live_on() -> None:
    order: list[str] = []

    @asynccontextmanager
    async def lifespan(suite: Suite) -> AsyncIterator[dict[str, Any]]:
        yield {"database": "open"}
        order.append("lifespan")

    async def work() -> None:
        try:
            await trio.sleep_forever()
        finally:
            order.append("worker")

    suite = Suite(server_name="x", server_version="1", lifespan=lifespan)
    async with alive(with_node(endpoint(suite), suite), []):
        suite.node.spawn(work)
        await trio.testing.wait_all_tasks_blocked()
    assert order == ["worker", "lifespan"]


async def test_a_failing_shutdown_is_not_hidden() -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        raise ValueError("broken")

    async def nothing(*_: Any) -> Any:
        await trio.lowlevel.checkpoint()

    with pytest.raises(ValueError, match="broken"):
        await with_node(inner)({"type": "lifespan"}, nothing, nothing)


async def test_the_node_has_stopped_before_the_shutdown_is_said() -> None:
    log: list[str] = []
    nodes: list[Node] = []

    @asynccontextmanager
    async def make_node() -> AsyncIterator[Node]:
        async with Node() as node:
            nodes.append(node)
            yield node

    async def slow_to_end() -> None:
        log.append("actor runs")
        try:
            await trio.sleep_forever()
        finally:
            with current().clean_up():
                await trio.sleep(0.01)
                log.append("actor ended")

    app = with_node(Starlette(), node=make_node)
    async with alive(app, log):
        nodes[0].spawn(slow_to_end)
        await trio.testing.wait_all_tasks_blocked()
    assert log == ["lifespan.startup.complete", "actor runs", "actor ended", "lifespan.shutdown.complete"]


async def test_a_server_that_cannot_start_fails_the_startup() -> None:
    server = Probe()
    log: list[str] = []
    async with Node() as other, server.attach(other), trio.open_nursery() as nursery:

        async def receive() -> Any:
            return {"type": "lifespan.startup"}

        async def send(message: Any) -> None:
            log.append(f"{message['type']} {message['message']}")

        nursery.start_soon(with_node(Starlette(), server), {"type": "lifespan"}, receive, send)
    assert len(log) == 1
    assert log[0].startswith("lifespan.startup.failed RuntimeError: Probe runs on")


async def test_a_call_after_the_shutdown_says_what_is_missing() -> None:
    server = Probe()
    app = with_node(endpoint(server), server)
    async with alive(app, []):
        pass
    scope, _ = Call(message=request("tools/list")).scope_and_body()
    with pytest.raises(RuntimeError, match="no running node"):
        await app(scope, trio.sleep_forever, trio.sleep)
