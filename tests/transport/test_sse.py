from __future__ import annotations

from transport import sse


def test_an_event_is_one_data_line_and_a_blank_line() -> None:
    assert sse.event(b'{"a":1}') == b'event: message\ndata: {"a":1}\n\n'


def test_an_event_has_no_id() -> None:
    assert b"\nid:" not in sse.event(b"{}")


def test_line_breaks_in_a_payload_become_data_lines() -> None:
    assert sse.event(b'{\r\n"a":\n1}') == b'event: message\ndata: {\ndata: "a":\ndata: 1}\n\n'


def test_a_unicode_line_separator_is_no_line_break() -> None:
    payload = '"\u2028"'.encode()
    assert sse.event(payload) == b"event: message\ndata: " + payload + b"\n\n"


def test_a_comment_cannot_start_an_event() -> None:
    assert sse.comment("one\n\ndata: two") == b": one  data: two\n\n"


def test_the_shared_comment_is_a_comment() -> None:
    assert sse.COMMENT == b":\n\n"


def test_the_head_forbids_every_kind_of_buffering() -> None:
    assert dict(sse.HEADERS) == {
        b"content-type": b"text/event-stream",
        b"cache-control": b"no-cache, no-transform",
        b"x-accel-buffering": b"no",
    }
