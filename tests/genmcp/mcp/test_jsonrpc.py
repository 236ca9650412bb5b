"""Strict JSON in, envelopes checked, bytes out."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from genmcp.mcp import InvalidRequest, McpError, MethodNotFound, ParseError
from genmcp.mcp import v2607 as mcp
from genmcp.mcp.jsonrpc import (
    MAX_DEPTH,
    check_message,
    dump,
    error_bytes,
    notification_bytes,
    parse,
    request_id_of,
    response_bytes,
)

NOT_JSON = {
    "empty": b"",
    "blank": b"  \n",
    "text": b"hello",
    "cut off": b'{"a":',
    "trailing comma": b'{"a":1,}',
    "trailing value": b"{} {}",
    "single quotes": b"{'a':1}",
    "comment": b"{} // x",
    "byte order mark": b"\xef\xbb\xbf{}",
    "utf-16": '{"a":1}'.encode("utf-16"),
    "invalid utf-8": b'{"a":"\xff"}',
    "invalid utf-8 in a name": b'{"\xff":1}',
    "encoded surrogate": b'{"a":"\xed\xa0\x80"}',
    "lone high surrogate": rb'{"a":"\ud800"}',
    "lone low surrogate": rb'{"a":"\udc00x"}',
    "lone surrogate as a name": rb'{"\ud800":1}',
    "raw control character": b'"\x01"',
    "nan": b'{"a":NaN}',
    "infinity": b'{"a":Infinity}',
    "too large": b'{"a":1e400}',
    "too small": b'{"a":-1e400}',
    "integer of 5000 digits": b'{"a":' + b"9" * 5000 + b"}",
    "the same one often": b"[" + b",".join([b"9" * 5000] * 50) + b"]",
    "leading zero": b"01",
    "nested too deep": b"[" * 65 + b"]" * 65,
    "objects nested too deep": b'{"a":' * 65 + b"1" + b"}" * 65,
    "nested without end": b"[" * 1_000_000,
    "nested far too deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_what_is_not_json_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        parse(body)
    assert caught.value.code == -32700
    assert "msgspec" not in caught.value.message.lower()
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 10**50])
def test_integers_beyond_64_bits_come_back_exactly(number: int) -> None:
    assert parse(dump({"a": number})) == {"a": number}


def test_deepest_allowed_nesting_is_accepted() -> None:
    body = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert dump(parse(body)) == body


def test_brackets_in_strings_are_no_nesting() -> None:
    body = json.dumps(["[{" * 100, '\\"[' * 100, "]}" * 100]).encode()
    assert parse(body) == json.loads(body)


def test_mixed_nesting_counts_each_level() -> None:
    body = b'[{"a":' * 33 + b"1" + b"}]" * 33
    with pytest.raises(ParseError, match="deeper than 64"):
        parse(body)


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b",".join([b"1e300"] * 600_000) + b"]",
        b"[" + b",".join([b"[]"] * 600_000) + b"]",
        b"[" + b",".join([b"9" * 4000] * 900) + b"]",
        b'["' + b"\\\\" * 1_500_000 + b'",' + b",".join([b"[]"] * 100) + b"]",
    ],
    ids=["large exponents", "empty lists", "long integers", "escapes"],
)
def test_no_body_of_megabytes_holds_the_loop_for_long(body: bytes) -> None:
    started = time.process_time()
    parse(body)
    assert time.process_time() - started < 1.5  # 0.2 s; before it was looked after, the first one took 6 s


def test_wide_messages_are_not_mistaken_for_deep_ones() -> None:
    assert len(parse(b"[" + b",".join([b'{"a":[]}'] * 1000) + b"]")) == 1000


def test_surrogate_pairs_are_one_character() -> None:
    assert parse(rb'"\ud83d\ude00"') == "😀"


def test_body_may_be_any_kind_of_bytes() -> None:
    assert parse(bytearray(b"[1]")) == parse(memoryview(b"[1]")) == [1]


@given(st.binary(max_size=200))
def test_any_bytes_either_parse_or_are_a_parse_error(body: bytes) -> None:
    try:
        value = parse(body)
    except ParseError:
        return
    assert parse(dump(value)) == value


ENVELOPES: list[tuple[str, Any, str]] = [
    ("a batch", [{"jsonrpc": "2.0", "id": 1, "method": "x"}], "Batches"),
    ("an empty batch", [], "one JSON object"),
    ("a text", "x", "one JSON object"),
    ("null", None, "one JSON object"),
    ("no version", {"id": 1, "method": "x"}, "jsonrpc"),
    ("another version", {"jsonrpc": "1.0", "id": 1, "method": "x"}, "jsonrpc"),
    ("a version as number", {"jsonrpc": 2.0, "id": 1, "method": "x"}, "jsonrpc"),
    ("no method", {"jsonrpc": "2.0", "id": 1}, "method"),
    ("a number as method", {"jsonrpc": "2.0", "id": 1, "method": 1}, "method"),
    ("a posted result", {"jsonrpc": "2.0", "id": 1, "result": {}}, "response"),
    ("a posted error", {"jsonrpc": "2.0", "id": 1, "error": {}}, "response"),
    ("id null", {"jsonrpc": "2.0", "id": None, "method": "x"}, "id must be"),
    ("id fractional", {"jsonrpc": "2.0", "id": 1.5, "method": "x"}, "id must be"),
    ("id fractional but whole", {"jsonrpc": "2.0", "id": 1.0, "method": "x"}, "id must be"),
    ("id boolean", {"jsonrpc": "2.0", "id": True, "method": "x"}, "id must be"),
    ("id an object", {"jsonrpc": "2.0", "id": {}, "method": "x"}, "id must be"),
]


@pytest.mark.parametrize(("message", "said"), [row[1:] for row in ENVELOPES], ids=[row[0] for row in ENVELOPES])
def test_what_is_not_a_single_message_is_an_invalid_request(message: Any, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said) as caught:
        check_message(message)
    assert caught.value.code == -32600


def test_method_of_a_valid_message_is_returned() -> None:
    assert check_message({"jsonrpc": "2.0", "method": "x/y"}) == "x/y"


@pytest.mark.parametrize("found", ["", "a", 0, -1, 2**70])
def test_readable_ids_keep_value_and_type(found: str | int) -> None:
    assert request_id_of({"id": found}) == found


@pytest.mark.parametrize("message", [{"id": None}, {"id": True}, {"id": 1.0}, {"id": []}, {}, [], "x", None, 3])
def test_unreadable_ids_are_unset(message: Any) -> None:
    assert request_id_of(message) is UNSET


def test_response_repeats_the_id_as_its_type() -> None:
    result = mcp.Result()
    assert json.loads(response_bytes("7", result)) == {
        "jsonrpc": "2.0",
        "id": "7",
        "result": {"resultType": "complete"},
    }
    assert json.loads(response_bytes(7, {"a": 1}))["id"] == 7


def test_response_keeps_unknown_members_of_its_result() -> None:
    result = mcp.ListToolsResult([mcp.Tool("a", extra={"x-new": None})], extra={"taskId": "1"})
    sent = json.loads(response_bytes(1, result))["result"]
    assert sent["taskId"] == "1"
    assert sent["tools"] == [{"name": "a", "inputSchema": {"type": "object"}, "x-new": None}]


def test_error_keeps_structs_with_unknown_members_in_its_data() -> None:
    error = McpError(1, "m", {"icon": mcp.Icon("a:b", extra={"glow": 1})})
    assert json.loads(error_bytes(1, error))["error"]["data"] == {"icon": {"src": "a:b", "glow": 1}}


def test_error_without_a_readable_id_has_none() -> None:
    assert json.loads(error_bytes(UNSET, ParseError("no"))) == {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "no"},
    }


def test_error_of_older_revisions_has_a_null_id() -> None:
    sent = json.loads(error_bytes(None, MethodNotFound("x")))
    assert "id" in sent
    assert sent["id"] is None


def test_notification_is_its_own_envelope() -> None:
    assert json.loads(notification_bytes(mcp.ToolListChangedNotification())) == {
        "jsonrpc": "2.0",
        "method": "notifications/tools/list_changed",
    }


def test_bytes_never_contain_a_line_break() -> None:
    assert b"\n" not in dump({"text": "a\nb\r\nc"})
