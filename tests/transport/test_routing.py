from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genmcp.mcp import HeaderMismatch
from transport.headers import METHOD, NAME, VERSION, Headers
from transport.routing import check_method_header, check_name_header, check_version_header


def passes(check: Callable[..., None], *arguments: Any) -> bool:
    """Checks refuse by raising."""
    check(*arguments)
    return True


def test_an_equal_method_passes() -> None:
    assert passes(check_method_header, Headers([(METHOD, b"tools/list")]), "tools/list")


@pytest.mark.parametrize("value", [b"TOOLS/LIST", b"tools/call", b"=?base64?dG9vbHMvbGlzdA==?=", b""])
def test_a_different_method_is_refused(value: bytes) -> None:
    with pytest.raises(HeaderMismatch, match="Mcp-Method is"):
        check_method_header(Headers([(METHOD, value)]), "tools/list")


def test_a_missing_method_is_refused() -> None:
    with pytest.raises(HeaderMismatch, match="Mcp-Method is required"):
        check_method_header(Headers([]), "tools/list")


@pytest.mark.parametrize(
    ("method", "params"),
    [("tools/call", {"name": "é"}), ("prompts/get", {"name": "é"}), ("resources/read", {"uri": "é"})],
)
def test_three_methods_have_a_name(method: str, params: dict[str, Any]) -> None:
    assert passes(check_name_header, Headers([(NAME, b"=?base64?w6k=?=")]), method, params)
    with pytest.raises(HeaderMismatch, match="Mcp-Name is required"):
        check_name_header(Headers([]), method, params)
    with pytest.raises(HeaderMismatch, match="Mcp-Name is 'e' but"):
        check_name_header(Headers([(NAME, b"e")]), method, params)


def test_other_methods_have_no_name() -> None:
    assert passes(check_name_header, Headers([(NAME, b"x")]), "tools/list", {"name": "y"})


def test_an_empty_name_is_a_name() -> None:
    assert passes(check_name_header, Headers([(NAME, b"")]), "tools/call", {"name": ""})
    with pytest.raises(HeaderMismatch, match="required"):
        check_name_header(Headers([]), "tools/call", {"name": ""})


@pytest.mark.parametrize("params", [None, [], {}, {"name": None}, {"name": 5}])
def test_a_body_without_a_name_is_left_to_its_own_check(params: Any) -> None:
    assert passes(check_name_header, Headers([]), "tools/call", params)
    with pytest.raises(HeaderMismatch):
        check_name_header(Headers([(NAME, b"add")]), "tools/call", params)


@pytest.mark.parametrize("value", [None, b"2025-11-25", b"2026-07-28, 2026-07-28", b"\xff"])
def test_a_version_that_differs_is_refused(value: bytes | None) -> None:
    headers = Headers([] if value is None else [(VERSION, value)])
    with pytest.raises(HeaderMismatch, match="MCP-Protocol-Version"):
        check_version_header(headers, "2026-07-28")


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(HeaderMismatch) as refused:
        check_method_header(Headers([(METHOD, b"x" * 5000)]), "y" * 5000)
    assert len(refused.value.message) < 400
