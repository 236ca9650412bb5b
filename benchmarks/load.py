"""A client that costs as little as it can: raw sockets, one prepared request, one process.

    python -m benchmarks.load HOST PORT CONNECTIONS SECONDS < request

sends the request again and again on every connection, each time after the whole answer to the last one has come,
and prints how many were answered with status 200 and how many seconds it took, as JSON.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import sys
import time

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Connection:
    """One keep-alive connection that asks, waits for the whole answer, and asks again."""

    def __init__(self, address: tuple[str, int], request: bytes) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request = request
        self.answered = 0
        self._buffer = b""

    def ask(self) -> None:
        """Send the request once."""
        self.socket.sendall(self.request)

    def read(self) -> None:
        """Take what came; ask again when it completes an answer.

        Raises:
            ConnectionError: The server closed the connection.
            ValueError: It answered with another status than 200, or without a length.
        """
        received = self.socket.recv(65536)
        if not received:
            raise ConnectionError("the server closed a connection under load")
        self._buffer += received
        if self._is_complete():
            self._buffer = b""
            self.answered += 1
            self.ask()

    def _is_complete(self) -> bool:
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return False
        length = _LENGTH.search(head)
        if not head.startswith(b"HTTP/1.1 200") or length is None:
            raise ValueError(f"not an answer to measure: {self._buffer[:300]!r}")
        return len(body) >= int(length[1])


def load(address: tuple[str, int], request: bytes, connections: int, seconds: float) -> tuple[int, float]:
    """Keep every connection busy for a while, and return how many answers came in how many seconds."""
    selector = selectors.DefaultSelector()
    clients = [Connection(address, request) for _ in range(connections)]
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
    start = time.perf_counter()
    for client in clients:
        client.ask()
    while time.perf_counter() - start < seconds:
        for key, _ in selector.select(timeout=seconds):
            key.data.read()
    elapsed = time.perf_counter() - start
    for client in clients:
        client.socket.close()
    return sum(client.answered for client in clients), elapsed


def main() -> None:
    """Run the command line."""
    host, port, connections, seconds = sys.argv[1:]
    answered, elapsed = load((host, int(port)), sys.stdin.buffer.read(), int(connections), float(seconds))
    print(json.dumps({"answered": answered, "seconds": elapsed}))


if __name__ == "__main__":
    main()
