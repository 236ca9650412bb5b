"""The node of a mounted endpoint: started and stopped with somebody else's application.

`transport.serve` runs a front inside a node. In an application that another server runs, the lifespan protocol is the
only sign of life: `with_node` starts the node before the application's own start-up is acknowledged, and stops it after
the application has shut down and before that is said, because a server may end the process as soon as it is told.

    suite = Suite(…)
    app = QuartTrio(__name__)
    transport.mount(app, "/mcp", transport.endpoint(suite))
    app.asgi_app = transport.with_node(app.asgi_app, suite)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from actors import Node
from genmcp.server import Server
from transport.asgi import App, Receive, Scope, Send
from transport.host import require_trio


class WithNode:
    """The ASGI application that `with_node` makes."""

    def __init__(
        self, app: App, servers: tuple[Server[Any], ...], make_node: Callable[[], AbstractAsyncContextManager[Node]]
    ) -> None:
        self._app = app
        self._servers = servers
        self._make_node = make_node

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection; that of the lifespan runs the node."""
        if scope["type"] == "lifespan":
            require_trio()
            await self._live(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        farewell: list[Any] = []
        async with AsyncExitStack() as running:
            try:
                node = await running.enter_async_context(self._make_node())
                for server in self._servers:
                    await running.enter_async_context(server.attach(node))
                running.push_async_callback(node.stop)  # workers end before the children and lifespans they live on
            except Exception as error:
                await receive()
                await send({"type": "lifespan.startup.failed", "message": f"{type(error).__name__}: {error}"})
                return
            await self._run_inner(scope, receive, send, farewell)
        for message in farewell:
            await send(message)

    async def _run_inner(self, scope: Scope, receive: Receive, send: Send, farewell: list[Any]) -> None:
        """Run the application's own lifespan; keep its last word back until the node has stopped.

        An application without one raises before it has answered (ASGI's way to say so): then it is done for it.
        """
        answered = False

        async def hold_back(message: Any) -> None:
            nonlocal answered
            answered = True
            if message["type"].startswith("lifespan.shutdown"):
                farewell.append(message)
            else:
                await send(message)

        try:
            await self._app(scope, receive, hold_back)
        except Exception:
            if answered:
                raise
        if not answered:
            await _agree(receive, hold_back)


async def _agree(receive: Receive, send: Send) -> None:
    """Say yes to everything, as an application does that has nothing to start or stop."""
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})


def with_node(
    app: App, *servers: Server[Any], node: Callable[[], AbstractAsyncContextManager[Node]] = Node
) -> WithNode:
    """Run a node, and servers on it, for the life of an ASGI application on trio.

    Args:
        app: The outermost application in which endpoints are mounted.
        servers: The servers of those endpoints.
        node: Makes the node: a function without arguments that returns an async context manager of one.

    Returns:
        The application to serve instead; endpoints in it need no `node=`.
    """
    return WithNode(app, servers, node)
