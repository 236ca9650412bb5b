from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genmcp.mcp import HeaderMismatch
from genmcp.schema.headers import HeaderParam
from transport.headers import Headers
from transport.mirror import check_param_headers

DECLARED = {"Region": HeaderParam(("region",), "string"), "Depth": HeaderParam(("filter", "depth"), "integer")}


def passes(check: Callable[..., None], *arguments: Any) -> bool:
    """Checks refuse by raising."""
    check(*arguments)
    return True


def check(value: bytes | None, argument: Any) -> None:
    """Compare by the argument's type, as a schema would declare it."""
    headers = Headers([] if value is None else [(b"mcp-param-region", value)])
    number = isinstance(argument, int | float) and not isinstance(argument, bool)
    declared = HeaderParam(("region",), "integer" if number else "string")
    check_param_headers(headers, {"Region": declared}, {"region": argument})


@pytest.mark.parametrize(
    ("value", "argument"),
    [
        (b"us-west1", "us-west1"),
        (b"=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
        (b"", ""),
        (b"true", True),
        (b"false", False),
        (b"42", 42),
        (b"42.0", 42),
        (b"4.2e1", 42),
        (b"42", 42.0),
        (b"-9007199254740991", -(2**53 - 1)),
        (None, None),
    ],
)
def test_an_equal_header_passes(value: bytes | None, argument: Any) -> None:
    assert passes(check, value, argument)


@pytest.mark.parametrize(
    ("value", "argument"),
    [
        (b"US-WEST1", "us-west1"),
        (b"True", True),
        (b"1", True),
        (b"0", False),
        (b"43", 42),
        (b"4_2", 42),
        (b"0x2a", 42),
        (b"NaN", 42),
        (b"", 42),
        (b"42" + b"0" * 60, 42),
        (b"9007199254740992", 2**53),
        (b"us-west1", ["us-west1"]),
        (b"{}", {}),
        (b"=?base64?2aQy?=", 42),
    ],
)
def test_a_different_header_is_refused(value: bytes, argument: Any) -> None:
    with pytest.raises(HeaderMismatch, match="Mcp-Param-Region differs from the argument 'region'"):
        check(value, argument)


@pytest.mark.parametrize("argument", ["x", "", 0, False, [], {}])
def test_a_missing_header_is_refused(argument: Any) -> None:
    with pytest.raises(HeaderMismatch, match="is required"):
        check(None, argument)


def test_a_header_without_its_argument_is_refused() -> None:
    with pytest.raises(HeaderMismatch, match="'region' is absent"):
        check(b"x", None)


def test_a_malformed_header_is_refused() -> None:
    with pytest.raises(HeaderMismatch, match="sentinel"):
        check(b"=?base64?SGVs!!!bG8=?=", "Hello")


def test_a_parameter_inside_an_object_is_found() -> None:
    headers = Headers([(b"mcp-param-depth", b"3")])
    assert passes(check_param_headers, headers, DECLARED, {"filter": {"depth": 3}})
    with pytest.raises(HeaderMismatch, match=r"'filter\.depth'"):
        check_param_headers(headers, DECLARED, {"filter": {"depth": 4}})


@pytest.mark.parametrize("arguments", [{}, {"filter": 3}, {"filter": None}])
def test_arguments_without_the_path_expect_no_header(arguments: Any) -> None:
    assert passes(check_param_headers, Headers([]), DECLARED, arguments)


def test_headers_nobody_declared_are_ignored() -> None:
    assert passes(check_param_headers, Headers([(b"mcp-param-other", b"\xff")]), DECLARED, {})
