"""The grammar of `_meta` keys, and what the protocol's own keys say."""

from typing import Any

import pytest

from genmcp.mcp import InvalidParams
from genmcp.mcp import v2607 as mcp

VALID = [
    "",
    "name",
    "a",
    "a.b-c_d",
    "progressToken",
    "1",
    "com.example/key",
    "com.example/",
    "a/b",
    "x-1.y2z/a_b",
    "A/B",
]
INVALID = [
    "-a",
    "a-",
    ".a",
    "_a",
    "a b",
    "é",
    "/a",
    "a//b",
    "a/b/c",
    "1com/a",
    "com./a",
    ".com/a",
    "com-/a",
    "com..x/a",
    "a_b/c",
    "a\n",
    "a/b\n",
]


@pytest.mark.parametrize("key", VALID)
def test_keys_of_the_grammar_are_accepted(key: str) -> None:
    assert mcp.check_meta_key(key) == key


@pytest.mark.parametrize("key", INVALID)
def test_keys_outside_the_grammar_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="expected a name, or prefix/name"):
        mcp.check_meta_key(key)


@pytest.mark.parametrize(
    ("key", "reserved"),
    [
        ("io.modelcontextprotocol/x", True),
        ("dev.mcp/x", True),
        ("com.mcp.tools/x", True),
        ("IO.MCP/x", True),
        ("com.example.mcp/x", False),
        ("mcp/x", False),
        ("com.mcpx/x", False),
        ("com.mcp", False),
        ("x", False),
    ],
)
def test_second_label_of_the_prefix_decides_what_is_reserved(key: str, reserved: bool) -> None:
    assert mcp.is_reserved(key) is reserved


VERSION = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
CAPABILITIES: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {}}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({}, "params is required"),
        ({"params": []}, "params: expected an object"),
        ({"params": {}}, "params._meta is required"),
        ({"params": {"_meta": None}}, "params._meta: expected an object"),
        ({"params": {"_meta": {}}}, "params._meta.io.modelcontextprotocol/protocolVersion is required"),
        ({"params": {"_meta": CAPABILITIES}}, "protocolVersion is required"),
        ({"params": {"_meta": VERSION}}, "params._meta.io.modelcontextprotocol/clientCapabilities is required"),
        ({"params": {"_meta": {**CAPABILITIES, next(iter(VERSION)): 2}}}, "protocolVersion: expected a string"),
        ({"params": {"_meta": {**VERSION, next(iter(CAPABILITIES)): []}}}, "clientCapabilities: expected an object"),
    ],
)
def test_missing_required_meta_is_named(message: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParams, match=said) as caught:
        mcp.require_meta(message)
    assert caught.value.code == -32602


def test_required_meta_is_returned_whole() -> None:
    meta = {**VERSION, **CAPABILITIES, "more": 1}
    assert mcp.require_meta({"params": {"_meta": meta}}) is meta


def test_readers_return_what_the_client_said() -> None:
    meta = {
        **VERSION,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}, "com.example/x": {"y": 1}},
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/logLevel": "warning",
        "progressToken": 7,
    }
    capabilities = mcp.ClientCapabilities(
        elicitation=mcp.ElicitationCapability(url={}), extra={"com.example/x": {"y": 1}}
    )
    assert mcp.meta_protocol_version(meta) == "2026-07-28"
    assert mcp.meta_client_capabilities(meta) == capabilities
    assert mcp.meta_client_info(meta) == mcp.Implementation("c", "1")
    assert mcp.meta_log_level(meta) == "warning"
    assert mcp.meta_progress_token(meta) == 7
    assert mcp.decode_as(mcp.RequestMetaObject, meta).client_capabilities == capabilities


def test_readers_return_none_for_what_is_absent() -> None:
    readers = (
        mcp.meta_protocol_version,
        mcp.meta_client_capabilities,
        mcp.meta_client_info,
        mcp.meta_log_level,
        mcp.meta_progress_token,
    )
    assert [read({}) for read in readers] == [None] * 5


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("protocolVersion", 1, "protocolVersion: expected a string, got an integer."),
        ("clientCapabilities", [], "clientCapabilities: expected an object, got an array."),
        ("clientCapabilities", {"sampling": 1}, r"clientCapabilities\.sampling: expected an object or null"),
        ("clientInfo", {"name": "x"}, r"clientInfo\.version is required."),
        ("logLevel", "loud", "logLevel: expected one of debug, info, notice"),
        ("logLevel", ["info"], "logLevel: expected one of"),
    ],
)
def test_readers_name_the_key_whose_value_is_wrong(key: str, value: Any, said: str) -> None:
    meta = {f"io.modelcontextprotocol/{key}": value}
    read = {
        "protocolVersion": mcp.meta_protocol_version,
        "clientCapabilities": mcp.meta_client_capabilities,
        "clientInfo": mcp.meta_client_info,
        "logLevel": mcp.meta_log_level,
    }[key]
    with pytest.raises(InvalidParams, match=rf"^params\._meta\.io\.modelcontextprotocol/{said}"):
        read(meta)


@pytest.mark.parametrize("token", [1.5, True, [], {}])
def test_progress_token_is_a_string_or_an_integer(token: Any) -> None:
    with pytest.raises(InvalidParams, match="progressToken: expected a string or an integer"):
        mcp.meta_progress_token({"progressToken": token})
