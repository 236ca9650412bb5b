"""transport: MCP over HTTP and over standard input and output, for whoever embeds a server.

    transport.run(suite)                                  # blocking, until a signal
    await transport.serve(suite, port=8000)               # inside trio
    app = transport.endpoint(suite, node=node)            # an ASGI application, to mount anywhere on trio
    transport.mount(quart_app, "/mcp", endpoint)          # in somebody's Quart-Trio application
    app = transport.with_node(app, suite)                 # around the outermost application: its node
    transport.run_stdio(suite)                            # blocking, for the client that started the process

Authors of handlers need only `genmcp`.
"""

from genmcp.settings import Settings, SettingsError
from transport.endpoint import Endpoint, endpoint
from transport.http import mount
from transport.legacy.client import Client as SessionClient
from transport.legacy.controller import MemorySessions, SealedSessions, SessionController
from transport.lifespan import with_node
from transport.listeners import ListenError
from transport.run import run
from transport.serve import serve
from transport.serving import Caller, Serving
from transport.stdio import StdioError, StdioServing, run_stdio, serve_stdio

__all__ = [
    "Caller",
    "Endpoint",
    "ListenError",
    "MemorySessions",
    "SealedSessions",
    "Serving",
    "SessionClient",
    "SessionController",
    "Settings",
    "SettingsError",
    "StdioError",
    "StdioServing",
    "endpoint",
    "mount",
    "run",
    "run_stdio",
    "serve",
    "serve_stdio",
    "with_node",
]
