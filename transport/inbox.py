"""What ASGI's `receive()` gives to one application call.

The reader of the socket puts, the application takes. Three rules make it safe against any client:

* Bounded. The pieces of a body are joined into one waiting piece, so a client that sends one byte a
  frame costs no more than its bytes. Above `LIMIT` unread bytes the reader waits (HTTP/1.1), or the
  client's flow-control window is not reopened (HTTP/2: `on_taken` reports what was taken).
* A disconnect never waits behind a full inbox, and is repeated for whoever asks again.
* When the application has ended the inbox is closed: a reader that waits for room goes on, and the
  rest of the body is dropped. (A plain queue wedges the connection when an answer is given before the
  body was read.)
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import trio

__all__ = ["LIMIT", "Inbox"]

LIMIT = 2**16
"""Unread bytes above which a reader has to wait."""

Message = dict[str, Any]


class Inbox:
    """The messages for one application call: its body, WebSocket frames, and the disconnect.

    Attributes:
        on_taken: Called with the number of body bytes that left the inbox, whether the application
            took them or they were dropped. When it is set, `put` never waits: whoever sends is held
            back by a flow-control window instead.
    """

    __slots__ = (
        "_arrived",
        "_body",
        "_closed",
        "_disconnect",
        "_frames",
        "_more",
        "_ready",
        "_room",
        "_taken",
        "on_taken",
    )

    def __init__(self, on_taken: Callable[[int], None] | None = None) -> None:
        self.on_taken = on_taken
        self._body = bytearray()
        self._more = True  # of the body, may still come
        self._ready = False  # a body message can be given
        self._taken = False  # some of the body was given
        self._frames: deque[Message] | None = None  # WebSocket messages
        self._disconnect: Message | None = None
        self._closed = False
        self._arrived: trio.Event | None = None
        self._room: trio.Event | None = None

    async def put(self, message: Message) -> None:
        """Add a message; wait while more than `LIMIT` bytes are unread, unless it is a disconnect.

        Cancellation: the message has been added, whatever happens to the wait.
        """
        if self._closed:
            self._report(len(message.get("body", b"")))
            return
        if message["type"] == "http.request":
            self._put_body(message)
        elif message["type"].endswith(".disconnect"):
            self._disconnect = message
        else:
            self._frames = self._frames or deque()
            self._frames.append(message)
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None
        if self._disconnect is None and self.on_taken is None:
            await self._wait_for_room()

    def _put_body(self, message: Message) -> None:
        self._body += message["body"]
        self._more = message["more_body"]
        # An empty piece says nothing: a client may send any number of them.
        self._ready = bool(self._body) or not self._more

    async def _wait_for_room(self) -> None:
        while self._unread() > LIMIT and not self._closed:
            if self._room is None:
                self._room = trio.Event()
            await self._room.wait()

    def _unread(self) -> int:
        if self._frames:
            return sum(len(frame.get("bytes") or frame.get("text") or b"") for frame in self._frames)
        return len(self._body)

    async def receive(self) -> Any:
        """Give the next message, waiting for it; after the disconnect, the disconnect again.

        Any number of tasks may wait. Cancellation: nothing is lost; whoever calls next gets it. So a
        deadline around `receive` is how a body that comes too slowly is refused.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        while not (self._ready or self._frames or self._disconnect):
            if self._arrived is None:
                self._arrived = trio.Event()
            await self._arrived.wait()
        if self._ready:
            return self._take_body()
        if self._frames:
            message = self._frames.popleft()
            self._make_room()
            return message
        await trio.lowlevel.checkpoint()  # an application that asks for ever must not starve the others
        return self._disconnect

    def take_whole(self) -> bytes | None:
        """Give the whole body if all of it has come and nothing was taken yet; never waits."""
        return None if self._more or not self._ready or self._taken else self._take()

    def _take_body(self) -> Message:
        return {"type": "http.request", "body": self._take(), "more_body": self._more}

    def _take(self) -> bytes:
        body, self._body, self._ready, self._taken = bytes(self._body), bytearray(), False, True
        self._make_room()
        self._report(len(body))
        return body

    def close(self) -> None:
        """Take no more: the application has ended. What is unread is dropped, a waiting `put` returns."""
        self._closed = True
        self._report(len(self._body))
        self._body.clear()
        self._make_room()

    def _make_room(self) -> None:
        if self._room is not None:
            self._room.set()
            self._room = None

    def _report(self, size: int) -> None:
        if size and self.on_taken is not None:
            self.on_taken(size)
