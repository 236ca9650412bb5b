from __future__ import annotations

import logging
from typing import Any

import pytest

from transport.policy import HostPolicy, OriginPolicy, hostname, is_loopback


@pytest.mark.parametrize(
    "host",
    [
        b"localhost",
        b"LOCALHOST:8000",
        b"localhost.",
        b"127.0.0.1:1",
        b"[::1]",
        b"[::1]:8000",
        b"10.1.2.3",
        b"[fe80::1]:9",
        None,
    ],
)
def test_loopback_and_addresses_pass_by_default(host: bytes | None) -> None:
    assert HostPolicy().allows(host)


@pytest.mark.parametrize(
    "host",
    [
        b"evil.example",
        b"localhost.evil.example",
        b"127.0.0.1.evil.example",
        b"",
        b"[::1",
        b"localhost:80x",
        b"a@localhost",
        b"\xff",
    ],
)
def test_other_hosts_are_refused_by_default(host: bytes) -> None:
    assert not HostPolicy().allows(host)


@pytest.mark.parametrize("host", [b"mcp.example.com", b"MCP.example.com:443", b"mcp.example.com."])
def test_a_named_host_passes_with_any_port_and_case(host: bytes) -> None:
    assert HostPolicy(["mcp.Example.com:8000"]).allows(host)


def test_a_star_lets_every_host_pass() -> None:
    assert HostPolicy(["*"]).allows(b"evil.example")


def test_a_refused_host_is_logged_once_with_the_option(caplog: pytest.LogCaptureFixture) -> None:
    policy = HostPolicy()
    with caplog.at_level(logging.WARNING, "genmcp"):
        assert not policy.allows(b"mcp.example.com")
        assert not policy.allows(b"mcp.example.com")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "mcp.example.com" in caplog.text
    assert "GENMCP_ALLOW_HOSTS" in caplog.text


def test_memory_and_log_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    policy = HostPolicy()
    for number in range(300):
        assert not policy.allows(b"host-%d.example" % number)
    assert len(policy._decided) == 256
    assert len(caplog.records) == 256


@pytest.mark.parametrize("entry", ["https://mcp.example.com", "", "a b/c", "[::1", "*.example.com", " a.example"])
def test_an_entry_that_is_no_host_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="is not a host name"):
        HostPolicy([entry])


def test_a_single_string_is_not_a_list_of_hosts() -> None:
    with pytest.raises(ValueError, match="list of strings"):
        HostPolicy("mcp.example.com")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, b"mcp.example.com"),
        (b"http://localhost:6274", b"127.0.0.1:8000"),
        (b"http://[::1]:6274", b"localhost"),
        (b"https://mcp.example.com", b"mcp.example.com"),
        (b"https://mcp.example.com", b"MCP.example.com:443"),
        (b"http://192.168.0.7:8000", b"192.168.0.7:8000"),
    ],
)
def test_own_and_loopback_origins_pass_by_default(origin: bytes | None, host: bytes) -> None:
    assert OriginPolicy().allows(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (b"https://evil.example", b"localhost:8000"),
        (b"http://localhost:6274", b"mcp.example.com"),
        (b"http://localhost.evil.example", b"localhost"),
        (b"null", b"localhost"),
        (b"", b"localhost"),
        (b"file://localhost", b"localhost"),
        (b"http://192.168.0.7:9000", b"192.168.0.7:8000"),
        (b"http://localhost", None),
        (b"http://localhost, http://localhost", b"localhost"),
    ],
)
def test_other_origins_are_refused_by_default(origin: bytes, host: bytes | None) -> None:
    assert not OriginPolicy().allows(origin, host)


@pytest.mark.parametrize("entry", ["https://app.example.com", "HTTPS://App.Example.com:443"])
def test_a_listed_origin_passes_as_browsers_write_it(entry: str) -> None:
    policy = OriginPolicy([entry])
    assert policy.allows(b"https://app.example.com", b"mcp.example.com")
    assert not policy.allows(b"http://app.example.com", b"mcp.example.com")
    assert not policy.allows(b"https://app.example.com:8443", b"mcp.example.com")


def test_a_star_lets_every_origin_pass() -> None:
    assert OriginPolicy(["*"]).allows(b"null", b"mcp.example.com")


def test_null_passes_only_when_listed() -> None:
    assert OriginPolicy(["null"]).allows(b"null", b"mcp.example.com")


@pytest.mark.parametrize(
    "entry", ["app.example.com", "https://app.example.com/", "https://*.example.com", "https://", "://x", ""]
)
def test_an_entry_that_is_no_origin_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        OriginPolicy([entry])


@pytest.mark.parametrize("policy", [HostPolicy, OriginPolicy])
def test_an_entry_that_is_no_text_is_refused(policy: Any) -> None:
    with pytest.raises(ValueError, match="5 is not a string"):
        policy([5])


def test_origin_memory_is_bounded() -> None:
    policy = OriginPolicy()
    for number in range(300):
        policy.allows(b"https://%d.example" % number, b"localhost")
    assert len(policy._decided) == 256


@pytest.mark.parametrize(
    ("authority", "name"),
    [("A.example:80", "a.example"), ("[::1]:80", "::1"), ("a:", "a"), (":80", None), ("a:b", None), ("[::1]x", None)],
)
def test_a_host_name_is_read_from_an_authority(authority: str, name: str | None) -> None:
    assert hostname(authority) == name


def test_loopback_is_a_name_or_an_address() -> None:
    assert [is_loopback(name) for name in ("localhost", "127.8.9.1", "::1", "10.0.0.1", "x.example", None)] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
