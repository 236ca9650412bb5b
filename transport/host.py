"""What the program around an endpoint must provide: trio, and a running node. Both are missed with a sentence.

An endpoint that is mounted in somebody's application depends on that application's life cycle; when it was not run, the
first call says what to do (user demand L1).
"""

from __future__ import annotations

import asyncio
from typing import Any

import trio

from actors import Node
from genmcp.server import Server
from transport.asgi import Scope


def require_trio() -> None:
    """Make sure that the caller runs under trio.

    Raises:
        RuntimeError: It runs under something else.
    """
    if trio.lowlevel.in_trio_task():
        return
    try:
        asyncio.get_running_loop()
        found = "asyncio"
    except RuntimeError:
        found = "another async library"
    raise RuntimeError(
        f"genmcp runs on trio, but it was called under {found}: serve the application with `hypercorn -k trio`, with "
        "`python -m genmcp serve`, or with transport.serve inside trio.run"
    )


def node_of(server: Server[Any], expected: Node | None) -> Node:
    """Return the node that a server runs on.

    Args:
        server: Whose requests are to be answered.
        expected: The node that the endpoint was given, if it was.

    Raises:
        RuntimeError: The server runs on no node, or on another one; the text says what to do.
    """
    try:
        node = server.node
    except RuntimeError:
        raise RuntimeError(
            f"The MCP endpoint of {type(server).__name__} has no running node. Wrap the outermost application, app = "
            "transport.with_node(app, server), and serve it with a server that runs the lifespan protocol; or run the "
            "server yourself: async with Node() as node, server.attach(node)"
        ) from None
    if expected is not None and node is not expected:
        raise RuntimeError(
            f"The MCP endpoint of {type(server).__name__} was given {expected}, but the server is attached to {node}: "
            "leave node= out, or attach the server to that node"
        )
    return node


def local_path(scope: Scope) -> str:
    """Return the path below whatever mounted the endpoint, whichever way the host writes `root_path`."""
    path: str = scope["path"]
    root: str = scope.get("root_path") or ""
    root = root.removesuffix("/")
    if root and (path == root or path.startswith(root + "/")):
        return path[len(root) :]
    return path
