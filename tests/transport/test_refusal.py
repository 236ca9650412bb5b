from __future__ import annotations

import pytest

from transport import refusal
from transport.refusal import Refusal


@pytest.mark.parametrize(
    ("refused", "status", "code", "setting"),
    [
        (refusal.foreign_host(b"x"), 421, -32600, "--allow-host"),
        (refusal.foreign_origin(b"x"), 403, -32600, "--allow-origin"),
        (refusal.no_such_path("/x", "/mcp"), 404, -32600, "--path"),
        (refusal.wrong_method("PUT", b"POST"), 405, -32600, "POST"),
        (refusal.not_acceptable(b"x", "application/json"), 406, -32600, "application/json"),
        (refusal.body_too_slow(5), 408, -32600, "--body-deadline"),
        (refusal.body_too_large(5), 413, -32600, "--max-body"),
        (refusal.not_json(None), 415, -32600, "application/json"),
        (refusal.headers_too_large(5), 431, -32600, "--max-header"),
        (refusal.overloaded(5, 1), 503, -32603, "--live-workers"),
        (refusal.stopping(1), 503, -32603, "shutting down"),
    ],
)
def test_every_refusal_says_what_to_change(refused: Refusal, status: int, code: int, setting: str) -> None:
    assert (refused.status, refused.error.code) == (status, code)
    assert setting in refused.error.message


def test_405_names_what_is_served() -> None:
    assert list(refusal.wrong_method("PUT", b"POST").headers) == [(b"allow", b"POST")]


@pytest.mark.parametrize("refused", [refusal.overloaded(5, 3), refusal.stopping(3)])
def test_503_says_when_to_come_back(refused: Refusal) -> None:
    assert list(refused.headers) == [(b"retry-after", b"3")]


def test_values_of_the_client_are_cut_and_quoted() -> None:
    message = refusal.foreign_host(b"\x1b[31m\xff" + b"x" * 5000).error.message
    assert "\x1b" not in message
    assert len(message) < 300
