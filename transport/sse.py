"""Server-sent events as bytes. Pure: no I/O, no clock, no HTTP.

Every event of this server has the type `message` and one JSON text as its data. No event has an id: streams of the
2026-07-28 revision are not resumable (H-22), and an id would invite a client to try. A comment is a line that every
parser skips; it keeps proxies from closing a quiet stream (H-21).
"""

from __future__ import annotations

MEDIA_TYPE = b"text/event-stream"

COMMENT = b":\n\n"
"""An empty comment. The blank line after it makes parsers that read block by block return at once."""

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-type", MEDIA_TYPE),
    (b"cache-control", b"no-cache, no-transform"),  # no-transform: a proxy that compresses also holds events back
    (b"x-accel-buffering", b"no"),  # nginx and those who follow it buffer whole responses otherwise (H-20)
)
"""The head of every stream."""


def event(payload: bytes) -> bytes:
    """Frame one JSON text as an event.

    Args:
        payload: UTF-8. JSON encoders write no line breaks; a payload that has some is split into several `data` lines,
            which a client joins again.
    """
    if b"\n" in payload or b"\r" in payload:
        payload = b"\ndata: ".join(payload.splitlines())
    return b"event: message\ndata: %b\n\n" % payload


def comment(text: str) -> bytes:
    """Frame a remark that clients skip; line breaks in it become spaces."""
    return b": %b\n\n" % " ".join(text.splitlines()).encode()
