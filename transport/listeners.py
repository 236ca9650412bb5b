"""Sockets to listen on: TCP or a socket file, with TLS or without, ready for thousands of clients at once.

Three things differ from what a plain `trio.open_tcp_listeners` gives: the backlog is large enough that a thousand
clients that connect together do not wait for SYN retries (100, Hypercorn's, costs seconds); accepted sockets inherit
``TCP_USER_TIMEOUT``, which also drops hosts that died with bytes on the way, which no deadline of ours sees; and
the limit of open files is raised to what the system allows.
"""

import contextlib
import errno
import os
import socket
import ssl
import stat
import sys
from collections.abc import Sequence

import trio

from genmcp.address import Address

__all__ = ["ListenError", "Listeners", "connection_limit", "open_listeners", "raise_descriptor_limit", "tls_context"]

RESERVED_DESCRIPTORS = 128
"""Files that connections leave to logs, the loop and the application."""

AnyListener = trio.SocketListener | trio.SSLListener[trio.SocketStream]


class ListenError(OSError):
    """The server cannot listen where it was told to; the text says where, why and what to do."""


class Listeners:
    """Open listeners and where they are. `close` also removes the socket file.

    Attributes:
        sockets: What `trio.serve_listeners` takes.
        address: Where they listen, with the port that was chosen if 0 was asked for.
        tls: Whether clients speak TLS.
    """

    def __init__(self, sockets: Sequence[AnyListener], address: Address, *, tls: bool) -> None:
        self.sockets = list(sockets)
        self.address = address
        self.tls = tls

    async def close(self) -> None:
        """Close them. Does not wait; safe to call twice and when cancelled."""
        for listener in self.sockets:
            await trio.aclose_forcefully(listener)
        if self.address.path:
            with contextlib.suppress(OSError):
                os.unlink(self.address.path)


async def open_listeners(
    address: Address,
    *,
    backlog: int = 4096,
    user_timeout: float | None = None,
    tls: ssl.SSLContext | None = None,
    private: bool = False,
) -> Listeners:
    """Listen at an address; a host name with several IP addresses is listened at on all of them, on one port.

    Args:
        address: Where to listen.
        backlog: Connections that the kernel holds until they are accepted.
        user_timeout: Seconds after which the kernel drops a peer that acknowledges nothing, where it can.
        tls: The certificate, or None for plain text; a socket file is always plain.
        private: Whether only this user may connect to a socket file.

    Raises:
        ListenError: The address is taken, forbidden or unknown.
    """
    try:
        if address.path:
            return Listeners([_listen_unix(address.path, backlog, private)], address, tls=False)
        plain = await _listen_tcp(address, backlog)
        address = Address(address.host, plain[0].socket.getsockname()[1])
        for listener in plain:
            _set_user_timeout(listener.socket, user_timeout)
    except OSError as error:
        raise ListenError(_why(address, error)) from error
    if tls is None:
        return Listeners(plain, address, tls=False)
    return Listeners([trio.SSLListener(one, tls, https_compatible=True) for one in plain], address, tls=True)


def tls_context(certfile: str, keyfile: str | None) -> ssl.SSLContext:
    """Load a certificate for TLS 1.2 or later that offers HTTP/2 and HTTP/1.1.

    Raises:
        ListenError: A file cannot be read, or they do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2", "http/1.1"])
    try:
        context.load_cert_chain(certfile, keyfile)
    except OSError as error:  # ssl.SSLError is one
        files = f"{certfile} with {keyfile}" if keyfile else certfile
        raise ListenError(f"cannot use the certificate {files}: {error.strerror or error}") from error
    return context


def raise_descriptor_limit() -> int | None:
    """Let this process open as many files as the system allows; every connection needs one.

    Returns:
        The limit that holds now, or None where there is none or it is not known.
    """
    try:
        import resource  # not on Windows
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        # macOS refuses "unlimited" although it reports it: then the limit stays as it is.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def connection_limit(descriptors: int | None) -> int | None:
    """Return how many connections may be open, so that some descriptors are left for the application's own files.

    Args:
        descriptors: What `raise_descriptor_limit` returned.
    """
    return None if descriptors is None else descriptors - min(RESERVED_DESCRIPTORS, descriptors // 4)


async def _listen_tcp(address: Address, backlog: int) -> list[trio.SocketListener]:
    listeners = await trio.open_tcp_listeners(address.port, host=address.host, backlog=backlog)
    ports = {listener.socket.getsockname()[1] for listener in listeners}
    if len(ports) > 1:  # port 0 and several addresses: the others move to the port that the first one got
        for listener in listeners:
            await listener.aclose()
        return await trio.open_tcp_listeners(min(ports), host=address.host, backlog=backlog)
    return listeners


def _listen_unix(path: str, backlog: int, private: bool) -> trio.SocketListener:
    _remove_dead_socket(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(path)
        if private:
            os.chmod(path, 0o600)  # nobody can have connected yet
        made.listen(backlog)
    except BaseException:
        made.close()
        raise
    return trio.SocketListener(trio.socket.from_stdlib_socket(made))


def _remove_dead_socket(path: str) -> None:
    """Remove a socket file that nobody listens at any more; leave anything else for `bind` to refuse."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)


def _set_user_timeout(listening: trio.socket.SocketType, seconds: float | None) -> None:
    if seconds is not None and sys.platform == "linux":
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))


def _why(address: Address, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"{address} is taken by another program; choose another port, or 0 for any free one"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{address.host} is not an address of this machine"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"this user may not listen at {address}"
    if isinstance(error, socket.gaierror):
        return f"the host name {address.host!r} is not known"
    return f"cannot listen at {address}: {error.strerror or error}"
