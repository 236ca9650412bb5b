from __future__ import annotations

from transport import cors
from transport.headers import Headers


def preflight(*names: str) -> str:
    answered = dict(cors.preflight_headers(b"https://app.example.com", ",".join(names).encode()))
    return answered[b"access-control-allow-headers"].decode()


def test_every_header_of_the_protocol_is_allowed() -> None:
    names = "authorization, accept, content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-param-region"
    assert preflight(*names.split(","), "Last-Event-ID") == names + ", last-event-id"


def test_other_headers_are_not_allowed() -> None:
    assert preflight("cookie", "x-anything", "mcp-a b", "mcp-ü") == ""


def test_a_preflight_without_a_list_of_headers_is_answered() -> None:
    answered = dict(cors.preflight_headers(b"https://app.example.com", None))
    assert answered[b"access-control-allow-methods"] == b"POST, GET, DELETE, OPTIONS"


def test_answers_expose_what_clients_must_read() -> None:
    answered = dict(cors.response_headers(b"https://app.example.com"))
    assert answered[b"access-control-allow-origin"] == b"https://app.example.com"
    assert {b"mcp-session-id", b"www-authenticate"} <= set(answered[b"access-control-expose-headers"].split(b", "))
    assert answered[b"vary"] == b"origin"


def test_only_a_browsers_question_is_a_preflight() -> None:
    asked = Headers([(b"origin", b"https://a.example"), (b"access-control-request-method", b"POST")])
    assert cors.is_preflight("OPTIONS", asked)
    assert not cors.is_preflight("POST", asked)
    assert not cors.is_preflight("OPTIONS", Headers([(b"origin", b"https://a.example")]))
