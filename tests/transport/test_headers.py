from __future__ import annotations

import base64

import pytest

from genmcp.mcp import HeaderMismatch
from transport.headers import METHOD, NAME, VERSION, Headers, decode_sentinel, spelled


def sentinel(text: str) -> bytes:
    return b"=?base64?" + base64.b64encode(text.encode()) + b"?="


def test_optional_white_space_is_trimmed() -> None:
    assert Headers([(METHOD, b" \ttools/list \t")]).routing(METHOD) == "tools/list"


def test_an_absent_header_is_none() -> None:
    headers = Headers([])
    assert (headers.get(METHOD), headers.routing(METHOD), headers.routing_decoded(NAME)) == (None, None, None)


def test_an_empty_header_is_not_an_absent_one() -> None:
    assert Headers([(NAME, b"")]).routing_decoded(NAME) == ""


def test_headers_nobody_asks_for_are_not_kept() -> None:
    assert Headers([(b"cookie", b"a=1")]).get(b"cookie") is None


def test_ordinary_headers_that_repeat_are_joined() -> None:
    assert Headers([(b"accept", b"a/b"), (b"accept", b"c/d")]).get(b"accept") == b"a/b, c/d"


@pytest.mark.parametrize("name", [VERSION, METHOD, NAME, b"mcp-param-region"])
def test_a_routing_header_that_repeats_is_refused(name: bytes) -> None:
    headers = Headers([(name, b"same"), (b"x", b"y"), (name, b"same")])
    with pytest.raises(HeaderMismatch, match="more than once"):
        headers.routing(name)
    with pytest.raises(HeaderMismatch, match="more than once"):
        headers.routing_decoded(name)


@pytest.mark.parametrize("value", [b"caf\xc3\xa9", b"\x7f", b"a\x00b", b"a\x1fb", b"\xff"])
def test_bytes_outside_printable_ascii_are_refused(value: bytes) -> None:
    with pytest.raises(HeaderMismatch, match="printable ASCII"):
        Headers([(NAME, value)]).routing_decoded(NAME)


def test_inner_spaces_and_tabs_are_legal() -> None:
    assert Headers([(NAME, b"us\t west 1")]).routing_decoded(NAME) == "us\t west 1"


def test_version_and_method_are_never_decoded() -> None:
    assert Headers([(METHOD, sentinel("tools/list"))]).routing(METHOD) == sentinel("tools/list").decode()


@pytest.mark.parametrize("text", ["Hello, 世界", " padded ", "=?base64?literal?=", "", "line\nbreak", "a"])
def test_what_an_encoder_writes_is_decoded(text: str) -> None:
    assert Headers([(NAME, sentinel(text))]).routing_decoded(NAME) == text


@pytest.mark.parametrize(
    "value", [b"us-west1", b"SGVsbG8=", b"=?base64?SGVsbG8=", b"=?BASE64?SGVsbG8=?=", b"=?base64?=", b"SGVsbG8=?="]
)
def test_a_value_without_both_markers_is_literal(value: bytes) -> None:
    assert decode_sentinel(value) == value.decode()


@pytest.mark.parametrize(
    "payload",
    [
        b"SGVsbG8",
        b"SGVs!!!bG8=",
        b"SGVsbG8==",
        b"SGVs bG8=",
        b"SGVsbG9=",
        b"SGVsbG8=SGVs",
        b"_w==",
        b"=",
        b"/w==",
        b"7aCA",
    ],
)
def test_a_malformed_sentinel_is_refused(payload: bytes) -> None:
    with pytest.raises(HeaderMismatch, match=r"Mcp-Name holds a Base64 sentinel"):
        Headers([(NAME, b"=?base64?" + payload + b"?=")]).routing_decoded(NAME)


def test_size_counts_every_header_as_http_writes_it() -> None:
    assert Headers([(b"host", b"a"), (b"cookie", b"bc")]).size == len(b"host: a\r\ncookie: bc\r\n")


def test_names_are_shown_as_the_protocol_writes_them() -> None:
    assert [spelled(VERSION), spelled(NAME), spelled(b"mcp-param-region")] == [
        "MCP-Protocol-Version",
        "Mcp-Name",
        "Mcp-Param-Region",
    ]
