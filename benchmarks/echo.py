"""What the server is held against: a bare ASGI application that echoes a POST, on a stock Hypercorn with trio.

    python -m benchmarks.echo

prints the address that it listens on and serves until it is terminated.
"""

from __future__ import annotations

import functools
import socket
from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.trio import serve


async def echo(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer a POST with its own body."""
    if scope["type"] != "http":
        raise ValueError(scope["type"])  # how an application tells a server that it has no lifespan
    body = b""
    more = True
    while more:
        event = await receive()
        body += event.get("body", b"")
        more = event.get("more_body", False)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> None:
    """Serve on a free port of the loopback address."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    application: Any = echo  # Hypercorn's own event types would be half of this file
    trio.run(functools.partial(serve, application, config))


if __name__ == "__main__":
    main()
