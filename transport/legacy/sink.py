"""Where the messages of one legacy request go: a response over HTTP, or lines."""

from __future__ import annotations

from typing import Protocol


class Sink(Protocol):
    """Where the messages of one request go. All but `room` are synchronous and never wait."""

    def start(self) -> None:
        """Show that the request is being worked on, where there is a way."""
        ...

    def write(self, message: bytes) -> bool:
        """Send a message that is not the answer. False: not now (await `room`), or never again."""
        ...

    def ask(self, message: bytes) -> bool:
        """Send a request to the client; as `write`.

        Raises:
            McpError: There is no way to the client.
        """
        ...

    async def room(self) -> None:
        """Wait until `write` may succeed; return at once if it never will."""
        ...

    def finish(self, message: bytes | None, status: int) -> None:
        """Send the answer, or end without one. Nothing follows."""
        ...

    def pause(self, retry: float) -> bool:
        """Close the connection although there is no answer yet; the client comes back for it. False: impossible."""
        ...
