"""An endpoint in somebody else's application, on somebody else's server: Starlette under Hypercorn's trio worker."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import httpx
import pytest
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.transport.calls import Probe, mirrored, request
from transport.endpoint import endpoint
from transport.lifespan import with_node

pytestmark = pytest.mark.slow


@asynccontextmanager
async def hypercorn(app: Any) -> AsyncIterator[str]:
    """Serve an application with Hypercorn as it comes; yields where."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.graceful_timeout = 1
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        urls = await nursery.start(partial(serve, app, config, shutdown_trigger=stop.wait))
        yield urls[0].replace("//:", "//127.0.0.1:")
        stop.set()


@asynccontextmanager
async def mounted(server: Probe) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    inner = Starlette(routes=[Mount("/under/here", app=endpoint(server, keep_alive=0.2, body_limit=100_000))])
    async with hypercorn(with_node(inner, server)) as url, httpx.AsyncClient(timeout=5) as client:
        yield client, f"{url}/under/here/mcp"


def posted(name: str, **arguments: Any) -> dict[str, Any]:
    message = request("tools/call", meta={"progressToken": 1}, name=name, arguments=arguments)
    return {"json": message, "headers": {**mirrored(message), "accept": "application/json, text/event-stream"}}


async def test_results_and_streams_arrive_from_a_foreign_server() -> None:
    server = Probe()
    async with mounted(server) as (client, url):
        answer = await client.post(url, **posted("add"))
        assert (answer.status_code, answer.json()["id"]) == (200, 7)
        stream = await client.post(url, **posted("progress", steps=3))
        events = [json.loads(line[6:]) for line in stream.text.split("\n") if line.startswith("data: ")]
        assert [event.get("id") for event in events] == [None, None, None, 7]
        slow = await client.post(url, **posted("sleep", seconds=0.5))
        assert slow.text.count(":\n\n") == 2


async def test_a_client_that_leaves_a_foreign_server_cancels_its_call() -> None:
    server = Probe()
    async with mounted(server) as (client, url):
        with pytest.raises(httpx.ReadTimeout):
            await client.post(url, timeout=0.1, **posted("sleep", seconds=30))
        with trio.fail_after(2):
            while server.notes != ["cancelled", "closed client_gone"]:
                await trio.sleep(0.01)


async def test_a_refused_body_leaves_a_foreign_server_alive() -> None:
    server = Probe()
    async with mounted(server) as (client, url):
        target = httpx.URL(url)
        assert target.port is not None
        async with await trio.open_tcp_stream(target.host, target.port) as stream:
            head = f"POST {target.path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            await stream.send_all(head.encode() + b"content-length: 1000000\r\n\r\n" + b"x" * 10_000)
            assert b" 413 " in (await stream.receive_some())
            with suppress(trio.BrokenResourceError):  # it may have closed by now
                for _ in range(20):  # more pieces than a server queues
                    await stream.send_all(b"x" * 10_000)
        assert (await client.post(url, **posted("add"))).status_code == 200
