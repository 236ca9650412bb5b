"""Reading a request's body, within a size and a time.

A server that waits for a body holds a task for it, and nothing below limits how slowly it may come; so the endpoint
does. A body whose declared length is over the limit is refused before a byte of it is read; one of unknown length is
cut at the limit, so memory stays flat (user demand I2). `Expect: 100-continue` is the server's affair: it answers when
the first piece is asked for, so a refusal before that spares the client the upload.
"""

from __future__ import annotations

import trio

from transport.asgi import Receive
from transport.inbox import Inbox
from transport.refusal import body_too_large, body_too_slow


class ClientLeftError(Exception):
    """The client left while its request was being read; there is nobody to answer."""


def check_declared_length(content_length: bytes | None, limit: int) -> None:
    """Refuse a body by its `Content-Length`, before it is read.

    Raises:
        Refusal: 413. A length that is not a number is left to the reading, which finds out by itself.
    """
    if (
        content_length is not None
        and content_length.isdigit()
        and (len(content_length) > 18 or int(content_length) > limit)
    ):
        raise body_too_large(limit)


async def read_body(receive: Receive, *, limit: int, deadline: float) -> bytes:
    """Read the whole body.

    Args:
        receive: The ASGI channel of the request.
        limit: Bytes.
        deadline: Seconds for the whole body; a client that trickles gains nothing.

    Raises:
        Refusal: 413 or 408.
        ClientLeftError: The client left before the body was complete.
    """
    whole = _already_there(receive)
    if whole is not None:
        if len(whole) > limit:
            raise body_too_large(limit)
        return whole
    with trio.move_on_after(deadline):
        return await _read_pieces(receive, limit)
    raise body_too_slow(deadline)


def _already_there(receive: Receive) -> bytes | None:
    """Return the body if our own server has all of it, as it nearly always has. A deadline would cost 10 µs.

    A `receive` that a middleware has wrapped is not asked: the body has to go through its hands.
    """
    inbox = getattr(receive, "__self__", None)
    return inbox.take_whole() if isinstance(inbox, Inbox) else None


async def _read_pieces(receive: Receive, limit: int) -> bytes:
    pieces, size = [], 0
    while (message := await receive())["type"] == "http.request":
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise body_too_large(limit)
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)
    raise ClientLeftError


async def discard_body(receive: Receive, seconds: float) -> None:
    """Take what is left of a refused body for a while, so that a server that queues it is not blocked by it."""
    with trio.move_on_after(seconds):
        message = await receive()
        while message["type"] == "http.request" and message.get("more_body", False):
            message = await receive()
