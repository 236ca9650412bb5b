"""What the program around an endpoint must provide: trio, and a running node. Both are missed with a sentence.

An endpoint that is mounted in somebody's application depends on that application's life cycle; when it was not run, the
first call says what to do (user demand L1).
"""

from __future__ import annotations

import asyncio

import trio

from actors import Node
from transport.asgi import Scope

NODE_KEY = "genmcp.node"
"""Where `transport.lifespan.with_node` leaves the node, in `scope["state"]`."""


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


def node_of(scope: Scope, given: Node | None) -> Node:
    """Return the node that requests of this scope run on.

    Raises:
        RuntimeError: There is none; the text says how to get one.
    """
    if given is not None:
        return given
    node = (scope.get("state") or {}).get(NODE_KEY)
    if isinstance(node, Node):
        return node
    raise RuntimeError(
        "This MCP endpoint has no running node. Wrap the outermost application: app = transport.with_node(app, "
        "server), and serve it with a server that runs the lifespan protocol; or give a node that runs: "
        "endpoint(server, node=node) inside `async with Node() as node, server.attach(node)`"
    )


def local_path(scope: Scope) -> str:
    """Return the path below whatever mounted the endpoint, whichever way the host writes `root_path`."""
    path: str = scope["path"]
    root: str = scope.get("root_path") or ""
    root = root.removesuffix("/")
    if root and (path == root or path.startswith(root + "/")):
        return path[len(root) :]
    return path
