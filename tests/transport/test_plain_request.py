"""What is read without h11 means what h11 says that it means; all else is left to h11."""

from __future__ import annotations

import random

import h11
import pytest

from transport.plain_request import PlainRequest, plain_request

BODY = b'{"id":1}'
LINES = [b"POST /mcp?a=b HTTP/1.1", b"Host: x:80", b"Accept: application/json, text/event-stream", b"Content-Length: 8"]


def spelled(lines: list[bytes], body: bytes = BODY) -> bytes:
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def read_by_h11(data: bytes) -> PlainRequest | None:
    """What h11 makes of it, if it is one whole request with nothing behind it."""
    parser = h11.Connection(h11.SERVER)
    parser.receive_data(data)
    body = b""
    try:
        request = parser.next_event()
        if not isinstance(request, h11.Request):
            return None
        while isinstance(event := parser.next_event(), h11.Data):
            body += event.data
    except h11.RemoteProtocolError:
        return None
    if not isinstance(event, h11.EndOfMessage) or parser.trailing_data[0] or parser.their_state is not h11.DONE:
        return None
    return PlainRequest(request.target, list(request.headers), body)


@pytest.mark.parametrize(
    "more",
    [
        [],
        [b"Connection: keep-alive"],
        [b"connection: Keep-Alive"],
        [b"X-Empty:"],
        [b"X-Spaces: \t a \t b\t "],
        [b"X-Twice: a", b"X-Twice: b"],
        [b"!#$%&'*+-.^_`|~0Aa: :"],
    ],
)
def test_plain_request_is_read_as_h11_reads_it(more: list[bytes]) -> None:
    data = spelled([*LINES, *more])
    assert plain_request(data) == read_by_h11(data) is not None


@pytest.mark.parametrize(
    "data",
    [
        spelled(LINES)[:-1],
        spelled(LINES) + b"P",
        spelled([b"GET /mcp HTTP/1.1", *LINES[1:]]),
        spelled([b"POST /mcp HTTP/1.0", *LINES[1:]]),
        spelled([b"POST http://x/mcp HTTP/1.1", *LINES[1:]]),
        spelled([LINES[0], *LINES[2:]]),
        spelled([*LINES, b"Host: y"]),
        spelled(LINES[:3], b""),
        spelled([*LINES, b"content-length: 8"]),
        spelled([*LINES[:3], b"Content-Length: +8"]),
        spelled([*LINES[:3], b"Content-Length: 8, 8"]),
        spelled([*LINES[:3], b"Content-Length: " + b"0" * 5000 + b"8"]),
        spelled([*LINES, b"Transfer-Encoding: chunked"]),
        spelled([*LINES, b"Connection: close"]),
        spelled([*LINES, b"Connection: keep-alive, close"]),
        spelled([*LINES, b"Upgrade: h2c"]),
        spelled([*LINES, b"Expect: 100-continue"]),
        spelled([*LINES, b" folded"]),
        spelled([*LINES, b"X-A : b"]),
        spelled([*LINES, b"X-A: \xe4"]),
        spelled([*LINES, b"X-A: a\x00"]),
        spelled([*LINES, b"X-A: a\rb"]),
        spelled(LINES).replace(b"\r\n", b"\n"),
        b"",
    ],
)
def test_anything_else_is_left_to_h11(data: bytes) -> None:
    assert plain_request(data) is None


def test_no_mutation_is_read_in_another_way_than_by_h11() -> None:
    chance = random.Random(1)
    pieces = [
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b"\t",
        b":",
        b"0",
        b"8",
        b"\0",
        b"\xff",
        b"Host: y\r\n",
        b"Content-Length: 7\r\n",
    ]
    pieces += [b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n", b"POST", b"/", b"HTTP/1.1", b",", b"\x0b"]
    plain = 0
    for _ in range(20_000):
        data = spelled([*LINES, b"Connection: keep-alive"])
        for _ in range(chance.randint(1, 3)):
            at, gone = chance.randrange(len(data) + 1), chance.choice((0, 0, 1, 2))
            data = data[:at] + chance.choice([*pieces, b""]) + data[at + gone :]
        found = plain_request(data)
        plain += found is not None
        assert found is None or found == read_by_h11(data), data
    assert plain > 500  # or the test tests nothing


@pytest.mark.parametrize("line", [b"X-A: " + b"a " * 30_000, b"x" * 60_000, b"a:\r\n" * 15_000, b"a: \t" * 15_000])
def test_no_head_takes_long_to_be_refused(line: bytes) -> None:
    assert plain_request(spelled([*LINES, line, b"\0"])) is None
