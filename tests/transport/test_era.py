from __future__ import annotations

from typing import Any

import pytest

from transport.era import VERSION_KEY, is_modern, legacy_version
from transport.headers import VERSION, Headers


def headers(version: bytes | None) -> Headers:
    return Headers([] if version is None else [(VERSION, version)])


@pytest.mark.parametrize(
    ("version", "params", "modern"),
    [
        (b"2026-07-28", {}, True),
        (b"2026-07-28", None, True),
        (b"2099-01-01", {}, True),
        (b"", {}, True),
        (b"2025-11-25, 2025-11-25", {}, True),
        (None, {"_meta": {VERSION_KEY: "2026-07-28"}}, True),
        (b"2025-11-25", {"_meta": {VERSION_KEY: "2026-07-28"}}, True),
        (b"2025-11-25", {"_meta": {VERSION_KEY: 5}}, True),
        (b"2025-11-25", {}, False),
        (b"2025-06-18", {"_meta": {"progressToken": 1}}, False),
        (b"2025-03-26", None, False),
        (b"2024-11-05", [], False),
        (None, {"_meta": "x"}, False),
        (None, None, False),
    ],
)
def test_header_and_meta_decide_the_era(version: bytes | None, params: Any, modern: bool) -> None:
    assert is_modern(headers(version), params) is modern


@pytest.mark.parametrize("name", [b"mcp-method", b"mcp-session-id", b"last-event-id"])
def test_other_headers_decide_nothing(name: bytes) -> None:
    assert not is_modern(Headers([(name, b"tools/list")]), {})


@pytest.mark.parametrize(
    ("version", "message", "asked"),
    [
        (b"2025-11-25", {"method": "tools/list"}, "2025-11-25"),
        (None, {"method": "tools/list"}, "2025-03-26"),
        (b"2025-11-25", {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}}, "2025-06-18"),
        (b"2025-11-25", {"method": "initialize", "params": {"protocolVersion": 5}}, "2025-11-25"),
        (None, {"method": "initialize", "params": []}, "2025-03-26"),
    ],
)
def test_a_legacy_message_says_its_revision(version: bytes | None, message: dict[str, Any], asked: str) -> None:
    assert legacy_version(headers(version), message) == asked
