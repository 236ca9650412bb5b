"""Which answers are plain, and what stands in their heads."""

from __future__ import annotations

import h11
import pytest

from transport.http1_stream import plain_head

DATE = [(b"date", b"Tue, 01 Dec 2026 01:32:49 GMT")]


def written_by_h11(status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    connection.next_event()
    connection.next_event()
    events: list[h11.Event] = [h11.Response(status_code=status, headers=headers), h11.Data(data=body)]
    return b"".join(connection.send(event) or b"" for event in [*events, h11.EndOfMessage()])


@pytest.mark.parametrize("status", [200, 202, 404, 500])
def test_plain_answer_is_what_h11_would_write(status: int) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"2"), (b"x-a", b"b"), (b"x-a", b"c")]
    head = plain_head(status, headers, DATE)
    assert head is not None
    assert head[0] + b"{}" == written_by_h11(status, headers + DATE, b"{}")


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, []),
        (204, [(b"content-length", b"0")]),
        (304, [(b"content-length", b"2")]),
        (103, [(b"content-length", b"2")]),
        (200, [(b"content-length", b"2"), (b"content-length", b"2")]),
        (200, [(b"content-length", b"2"), (b"Content-Length", b"3")]),
        (200, [(b"content-length", b"+2")]),
        (200, [(b"content-length", b"2"), (b"Transfer-Encoding", b"chunked")]),
        (200, [(b"content-length", b"2"), (b"connection", b"close")]),
    ],
    ids=["no length", "204", "304", "103", "twice", "two values", "no number", "chunked", "close"],
)
def test_answer_that_h11_must_frame_is_not_plain(status: int, headers: list[tuple[bytes, bytes]]) -> None:
    assert plain_head(status, headers, DATE) is None


@pytest.mark.parametrize(
    "header",
    [(b"x-a", b"b\r\nset-cookie: c"), (b"x-a\r\nb", b"c"), (b"x-a", b"b\0"), (b"x a", b"b"), (b"", b"b")],
    ids=["line break", "line break in the name", "null", "space in the name", "no name"],
)
def test_header_that_would_split_an_answer_is_refused(header: tuple[bytes, bytes]) -> None:
    for _ in range(2):  # what was refused once is not remembered as good
        with pytest.raises(h11.LocalProtocolError):
            plain_head(200, [(b"content-length", b"0"), header], DATE)
