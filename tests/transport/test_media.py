from __future__ import annotations

import pytest

from transport.media import accepted, is_json


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, (True, True)),
        (b"", (True, True)),
        (b"*/*", (True, True)),
        (b"application/json, text/event-stream", (True, True)),
        (b"Application/JSON;q=0.5,TEXT/event-stream ; q=1", (True, True)),
        (b"application/json", (True, False)),
        (b"application/*", (True, False)),
        (b"text/event-stream", (False, True)),
        (b"text/*;q=0.1, application/json;q=0", (False, True)),
        (b"text/event-stream;q=0.000, */*", (True, False)),
        (b"text/html", (False, False)),
        (b"*/*;q=0", (False, False)),
        (b";;;,,=", (False, False)),
        (b"\xff", (False, False)),
        (b"application/json;q=", (True, False)),
    ],
)
def test_the_most_specific_range_decides(accept: bytes | None, expected: tuple[bool, bool]) -> None:
    assert accepted(accept) == expected


@pytest.mark.parametrize("value", [b"application/json", b"Application/JSON; charset=utf-8", b" application/json "])
def test_json_is_json_with_any_parameters(value: bytes) -> None:
    assert is_json(value)


@pytest.mark.parametrize("value", [None, b"", b"text/plain", b"application/json-rpc", b"application/jsonp", b"\xff"])
def test_other_types_are_not_json(value: bytes | None) -> None:
    assert not is_json(value)
