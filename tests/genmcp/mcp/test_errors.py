"""Codes, texts, data and statuses of the errors that reach a client."""

import pickle

import pytest

from genmcp.mcp import (
    Code,
    ExpiredCursor,
    ExpiredRequestState,
    HeaderMismatch,
    InternalError,
    InvalidCursor,
    InvalidParams,
    InvalidRequest,
    InvalidRequestState,
    McpError,
    MethodNotFound,
    MissingCapability,
    ParseError,
    PromptNotFound,
    ResourceNotFound,
    UnknownTool,
    UnsupportedProtocolVersion,
    as_error,
    check_own_code,
)
from genmcp.mcp import v2607 as mcp

ALL = [
    (ParseError(), -32700, 400, 200),
    (InvalidRequest("no"), -32600, 400, 200),
    (MethodNotFound("x/y"), -32601, 404, 404),
    (InvalidParams("no"), -32602, 400, 200),
    (UnknownTool("t"), -32602, 400, 200),
    (ResourceNotFound("a:b"), -32602, 400, 200),
    (PromptNotFound("p"), -32602, 400, 200),
    (InvalidCursor(), -32602, 400, 200),
    (ExpiredCursor(), -32602, 400, 200),
    (InvalidRequestState(), -32602, 400, 200),
    (ExpiredRequestState(), -32602, 400, 200),
    (InternalError(), -32603, 500, 200),
    (HeaderMismatch("no"), -32020, 400, 400),
    (MissingCapability({"sampling": {}}), -32021, 400, 400),
    (UnsupportedProtocolVersion("1", ["2"]), -32022, 400, 400),
    (McpError(7, "mine"), 7, 400, 200),
    (McpError(7, "mine", status=418), 7, 418, 418),
    (InvalidRequest("no", status=403), -32600, 403, 403),
]


@pytest.mark.parametrize(("error", "code", "before", "after"), ALL, ids=lambda value: type(value).__name__)
def test_error_has_its_code_and_statuses(error: McpError, code: int, before: int, after: int) -> None:
    assert (error.code, error.status_before_dispatch, error.status_after_dispatch) == (code, before, after)


@pytest.mark.parametrize("error", [row[0] for row in ALL], ids=lambda error: type(error).__name__)
def test_error_survives_pickling_as_its_class(error: McpError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.to_dict(), copy.status) == (type(error), error.to_dict(), error.status)


def test_error_is_raised_with_its_message() -> None:
    with pytest.raises(InvalidParams, match=r"^Unknown tool: hammer$"):
        raise UnknownTool("hammer")


def test_data_is_left_out_when_there_is_none() -> None:
    assert MethodNotFound("x").to_dict() == {"code": -32601, "message": "Method not found: x"}


def test_missing_resource_carries_its_uri_as_data() -> None:
    assert ResourceNotFound("file:///x").to_dict()["data"] == {"uri": "file:///x"}


def test_unsupported_version_lists_requested_and_supported() -> None:
    error = UnsupportedProtocolVersion("1900-01-01", ["2026-07-28"])
    assert error.to_dict()["data"] == {"requested": "1900-01-01", "supported": ["2026-07-28"]}


def test_missing_capability_takes_a_struct_and_names_the_leaves() -> None:
    needed = mcp.ClientCapabilities(sampling=mcp.SamplingCapability(tools={}), roots={})
    error = MissingCapability(needed)
    assert error.data == {"requiredCapabilities": {"sampling": {"tools": {}}, "roots": {}}}
    assert error.message.endswith("sampling.tools, roots")


def test_long_names_are_shortened_before_they_are_repeated() -> None:
    assert len(MethodNotFound("m" * 100_000).message) < 300


def test_text_as_a_reason_is_an_internal_error_with_that_text() -> None:
    assert as_error("out of ink").to_dict() == {"code": -32603, "message": "out of ink"}


def test_error_as_a_reason_is_returned_itself() -> None:
    error = UnknownTool("x")
    assert as_error(error) is error


@pytest.mark.parametrize("code", [-32768, -32000, -32019, -32023, -32099, -32604, -32002, -32042])
def test_reserved_codes_are_refused_to_authors(code: int) -> None:
    with pytest.raises(ValueError, match=r"use one outside -32768\.\.-32000"):
        check_own_code(code)


@pytest.mark.parametrize("code", [*Code, -32769, -31999, 0, 1, 1001])
def test_defined_and_unreserved_codes_are_allowed(code: int) -> None:
    assert check_own_code(code) == code
