"""Who may call: the checks of `Host` and `Origin` that stop DNS rebinding (H-02, H-03; user demand I1, I5).

A page on an attacker's site can point its own name at 127.0.0.1 and then talk to a local server. The browser still
says the attacker's name in `Host` and `Origin`, so the server must look. An IP address in `Host` is safe: no name was
resolved. Both checks are on by default; ``*`` in a list switches the check off, and only an explicit ``*`` does.

Decisions are remembered, so that the usual request pays one look-up in a dict; the memory is bounded because clients
choose what is in it.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterable

LOG = logging.getLogger("genmcp")

ANY = "*"
_REMEMBERED = 256
_NOT_IN_NAMES = frozenset("/*?#@ \t")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class HostPolicy:
    """Which `Host` headers pass: loopback, IP addresses, the names given; any port, any case.

    A request without a `Host` passes: only clients older than HTTP/1.1 send none, and no browser is among them.

    Args:
        allowed: Host names, with or without a port, which is ignored; ``*`` lets every host pass.

    Raises:
        ValueError: An entry is not a host name.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        entries = _as_list(allowed, "allowed_hosts")
        self._any = ANY in entries
        self._names = {_required_hostname(entry) for entry in entries if entry != ANY}
        self._decided: dict[bytes, bool] = {}

    def allows(self, host: bytes | None) -> bool:
        """Decide on the value of `Host`; refused ones are logged once each, as long as the memory lasts."""
        if host is None or self._any:
            return True
        decided = self._decided.get(host)
        if decided is None:
            decided = self._decide(host)
            if len(self._decided) < _REMEMBERED:
                self._decided[host] = decided
                if not decided:
                    LOG.warning(
                        "Requests for the host %r are refused (421); if the name is yours, add it to allowed_hosts "
                        "(--allow-host, GENMCP_ALLOW_HOSTS)",
                        host[:100].decode("latin-1"),
                    )
        return decided

    def _decide(self, host: bytes) -> bool:
        name = hostname(host.decode("latin-1"))
        return name is not None and (name in self._names or name == "localhost" or _address(name) is not None)


class OriginPolicy:
    """Which `Origin` headers pass, and so which web pages get CORS headers: one list for both.

    An absent `Origin` passes: the caller is not a browser. So do the server's own origin and, on a loopback host,
    pages from loopback. The `Host` must have been checked before.

    Args:
        allowed: Origins as browsers write them (`https://app.example.com`); ``*`` lets every origin pass.

    Raises:
        ValueError: An entry is not an origin; the text says how to write it.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        entries = _as_list(allowed, "allowed_origins")
        self._any = ANY in entries
        self._origins = {_required_origin(entry) for entry in entries if entry != ANY}
        self._decided: dict[tuple[bytes, bytes | None], bool] = {}

    def allows(self, origin: bytes | None, host: bytes | None) -> bool:
        """Decide on the value of `Origin` in a request for `host`."""
        if origin is None or self._any:
            return True
        key = (origin, host)
        decided = self._decided.get(key)
        if decided is None:
            decided = self._decide(origin.decode("latin-1"), None if host is None else host.decode("latin-1"))
            if len(self._decided) < _REMEMBERED:
                self._decided[key] = decided
        return decided

    def _decide(self, origin: str, host: str | None) -> bool:
        origin = _normal_origin(origin)
        if origin in self._origins:
            return True
        scheme, separator, authority = origin.partition("://")
        if not separator or scheme not in _DEFAULT_PORTS or host is None:
            return False
        if authority == host.lower().removesuffix(_DEFAULT_PORTS[scheme]):
            return True
        return is_loopback(hostname(authority)) and is_loopback(hostname(host))


def hostname(authority: str) -> str | None:
    """Return the lower-case name or address in ``name:port``, without brackets; None if it is malformed."""
    if authority.startswith("["):
        name, bracket, port = authority[1:].partition("]")
        if not bracket or (port and not port.startswith(":")):
            return None
        port = port[1:]
    else:
        name, _, port = authority.partition(":")
    if not name or (port and not (port.isascii() and port.isdigit())):
        return None
    return name.lower().removesuffix(".")


def is_loopback(name: str | None) -> bool:
    """Say whether a host name or address means this very machine."""
    if name is None or name == "localhost":
        return name is not None
    address = _address(name)
    return address is not None and address.is_loopback


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _normal_origin(origin: str) -> str:
    """Write an origin as browsers do: lower case, without the port that its scheme implies."""
    origin = origin.lower()
    port = _DEFAULT_PORTS.get(origin.partition("://")[0])
    return origin if port is None else origin.removesuffix(port)


def _as_list(entries: Iterable[str], option: str) -> tuple[str, ...]:
    if isinstance(entries, str):
        raise ValueError(f"{option} is a list of strings, not one string: write [{entries!r}]")
    listed = tuple(entries)
    for entry in listed:
        if not isinstance(entry, str):
            raise ValueError(f"{option}: {entry!r} is not a string")
    return listed


def _required_hostname(entry: str) -> str:
    address = _address(entry)
    name = str(address) if address is not None else hostname(entry)
    if name is None or _NOT_IN_NAMES.intersection(name):
        raise ValueError(
            f"allowed_hosts: {entry!r} is not a host name; write it like mcp.example.com, each by itself, or * for any"
        )
    return name


def _required_origin(entry: str) -> str:
    scheme, separator, authority = entry.partition("://")
    if entry != "null" and (not separator or not scheme or not authority or _NOT_IN_NAMES.intersection(authority)):
        raise ValueError(
            f"allowed_origins: {entry!r} is not an origin; write it as browsers send it, like https://app.example.com "
            "(scheme, host and port, no path), each by itself, or * for any"
        )
    return _normal_origin(entry)
