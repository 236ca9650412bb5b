"""Server-sent events with ids, which a client may come back to (O-21 to O-23). Pure."""

from __future__ import annotations

from transport import sse


def event_id(stream: str, number: int) -> str:
    """Return the id of one event: it says of which stream it is, and where in it."""
    return f"{stream}.{number}"


def place_of(text: str) -> tuple[str, int] | None:
    """Return stream and number of an event's id; None if it is not one of ours."""
    stream, dot, number = text.rpartition(".")
    if not dot or not number.isascii() or not number.isdigit() or len(number) > 12:
        return None
    return stream, int(number)


def numbered(message: bytes, name: str) -> bytes:
    """Frame a message as an event with an id."""
    return b"id: %b\n%b" % (name.encode(), sse.event(message))


def priming(name: str) -> bytes:
    """Frame the first event of a stream: an id to come back to, and no message."""
    return b"id: %b\ndata: \n\n" % name.encode()


def retry(seconds: float) -> bytes:
    """Frame the time after which a client shall come back."""
    return b"retry: %d\n\n" % round(seconds * 1000)
