from __future__ import annotations

import asyncio
from typing import Any

import pytest
import trio

from actors import Node
from tests.transport.calls import Call, Probe, request
from transport.endpoint import endpoint
from transport.host import local_path, node_of, require_trio


async def unused(*_: Any) -> Any:
    raise AssertionError("nothing may be received or sent")


async def test_a_call_without_a_node_says_what_to_do() -> None:
    scope, _ = Call(message=request("tools/list")).scope_and_body()
    with pytest.raises(RuntimeError, match=r"no running node.*transport\.with_node"):
        await endpoint(Probe())(scope, unused, unused)


def test_a_call_under_asyncio_says_what_to_do() -> None:
    scope, _ = Call(message=request("tools/list")).scope_and_body()
    with pytest.raises(RuntimeError, match=r"runs on trio, but it was called under asyncio.*hypercorn -k trio"):
        asyncio.run(endpoint(Probe())(scope, unused, unused))


def test_a_call_under_nothing_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match="under another async library"):
        require_trio()


async def test_trio_is_enough() -> None:
    await trio.lowlevel.checkpoint()
    require_trio()  # does not raise
    assert trio.lowlevel.in_trio_task()


async def test_an_endpoint_serves_only_on_the_node_it_was_given() -> None:
    server = Probe()
    async with Node() as node, server.attach(node):
        assert node_of(server, None) is node
        assert node_of(server, node) is node
        with pytest.raises(RuntimeError, match=r"was given .* but the server is attached to"):
            node_of(server, Node())


@pytest.mark.parametrize(
    ("path", "root_path", "local"),
    [
        ("/mcp", "", "/mcp"),
        ("/a/mcp", "/a", "/mcp"),
        ("/a/mcp", "/a/", "/mcp"),
        ("/a", "/a", ""),
        ("/ab/mcp", "/a", "/ab/mcp"),
        ("/mcp", "/a", "/mcp"),
    ],
)
def test_the_local_path_is_what_follows_the_root(path: str, root_path: str, local: str) -> None:
    assert local_path({"path": path, "root_path": root_path}) == local


async def test_lifespan_is_agreed_to_and_websockets_are_turned_away() -> None:
    incoming = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[str] = []

    async def receive() -> Any:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    app = endpoint(Probe())
    await app({"type": "lifespan"}, receive, send)
    incoming.append({"type": "websocket.connect"})
    await app({"type": "websocket"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete", "websocket.close"]
