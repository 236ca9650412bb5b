"""One HTTP/1.1 request and its answer.

Nearly every answer is plain: a head that says how long the body is, and the whole body behind it. A plain answer is
written as it is, in one piece, past h11, whose events, checks and states for it cost more than all of the handler's
work. What may stand in a head is still h11's to say: it checks each header the first time that it is seen.

All else goes through h11, which knows how it is framed: streams, answers without a body, to HTTP/1.0 or to `HEAD`,
those that end the connection, and those that say one length and have another.
"""

from functools import lru_cache
from time import time
from typing import Any, Protocol

import h11
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream

from transport.asgi import Pairs
from transport.line import Parts

__all__ = ["STREAM_ID", "Http1Stream", "PlainAnswers", "plain_head"]

STREAM_ID = 1
BODILESS = frozenset({204, 304})
FRAMING = frozenset({b"transfer-encoding", b"connection", b"upgrade"})
"""Headers that an answer is not plain with."""


class PlainAnswers(Protocol):
    """The protocol that a stream belongs to."""

    @property
    def takes_plain_answer(self) -> bool:
        """Whether the whole request has come, and the connection is to go on after the answer."""
        ...

    async def send_plain_answer(self, data: bytes) -> None:
        """Send a whole answer and be ready for the next request."""
        ...


class Http1Stream(HTTPStream):
    """Hypercorn's, with a shorter way for plain answers."""

    def __init__(self, protocol: PlainAnswers, parts: Parts, send: Any) -> None:
        super().__init__(*parts[:4], *parts[5:8], send, STREAM_ID)
        self._protocol = protocol
        self._plain: tuple[bytes, int] | None = None  # the head and the body's length, until the body comes

    async def app_send(self, message: Any) -> None:
        """Take one ASGI event from the application, or None at its end."""
        if message is None:
            await super().app_send(None)
        elif self._plain is not None:
            await self._send_body(message, *self._plain)
        elif self.state is ASGIHTTPState.REQUEST and self._may_be_plain(message):
            head = plain_head(message["status"], message["headers"], self.config.response_headers("h11"))
            if head is None:
                await super().app_send(message)
            else:
                self._plain, self.response, self.state = head, message, ASGIHTTPState.RESPONSE
        else:
            await super().app_send(message)

    def _may_be_plain(self, message: Any) -> bool:
        return (
            message["type"] == "http.response.start"
            and "headers" in message
            and not message.get("trailers")
            and self.scope["method"] != "HEAD"
            and self._protocol.takes_plain_answer
        )

    async def _send_body(self, message: Any, head: bytes, length: int) -> None:
        self._plain = None
        body = message.get("body", b"")
        if message["type"] == "http.response.body" and len(body) == length and not message.get("more_body"):
            self.state = ASGIHTTPState.CLOSED
            await self.config.log.access(self.scope, self.response, time() - self.start_time)
            await self._protocol.send_plain_answer(head + body)
        else:
            self.state = ASGIHTTPState.REQUEST
            await super().app_send(self.response)
            await super().app_send(message)


def plain_head(status: int, headers: Pairs, added: Pairs) -> tuple[bytes, int] | None:
    """Write the head of a plain answer.

    Args:
        status: The status.
        headers: The application's headers.
        added: The server's own.

    Returns:
        The head, and the length that it says the body has; None if the answer is not plain.

    Raises:
        h11.LocalProtocolError: A header is not one.
    """
    length: int | None = None
    lines = [b"HTTP/1.1 %d \r\n" % status]
    for name, value in (*headers, *added):
        if name == b"content-length" and length is None and value.isdigit():
            length = int(value)
            lines.append(b"content-length: %d\r\n" % length)
        elif name.lower() in FRAMING or name.lower() == b"content-length":
            return None
        else:
            lines.append(header_line(name, value))
    if length is None or status < 200 or status in BODILESS:
        return None
    lines.append(b"\r\n")
    return b"".join(lines), length


@lru_cache(maxsize=512)
def header_line(name: bytes, value: bytes) -> bytes:
    """Write one header of a response. Raises h11.LocalProtocolError if it is none."""
    checked = h11.Response(status_code=200, headers=[(name.strip(), value.strip())]).headers.raw_items()
    return b"%b: %b\r\n" % checked[0]
