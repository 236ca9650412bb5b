"""A peer: the same tool on the official Python SDK, as its documentation serves it (Starlette on uvicorn).

    python -m benchmarks.peer

prints the address that it listens on and serves until it is terminated.
"""

from __future__ import annotations

import socket

import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("benchmark")


@server.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


def main() -> None:
    """Serve on a free port of the loopback address, with answers as plain JSON and without an access log."""
    # With the protocol named: asyncio sets TCP_NODELAY on nothing else, and each answer would wait 40 ms for an ACK.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    application = server.streamable_http_app(json_response=True)
    uvicorn.Server(uvicorn.Config(application, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
