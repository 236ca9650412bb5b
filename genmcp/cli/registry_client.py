"""A client of the registry API on the standard library alone, so that a shell gets its prompt back soon."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from typing import Any

from genmcp.address import Address

__all__ = ["RegistryClient", "RegistryError"]

TIMEOUT = 10.0

TEXTS = {
    "gone": "there is no such actor: it has ended, or never was",
    "full": "the actor's mailbox is full; try again later",
    "unauthorized": "the server does not take this token (is it an older server's? set GENMCP_ADMIN_TOKEN)",
}


class RegistryError(Exception):
    """The registry API did not do it; the text is for the person at the shell."""


class RegistryClient:
    """Speaks to one registry API; every request has its own connection.

    Args:
        address: Where it listens.
        token: Its bearer token.
        certfile: The server's own certificate if it speaks TLS; nothing else is trusted then.
    """

    def __init__(self, address: Address, token: str, *, certfile: str | None = None) -> None:
        self._address = address
        self._token = token
        self._certfile = certfile

    def post(self, action: str, body: object) -> dict[str, Any]:
        """Post `body` to ``/registry/ACTION`` and return the answer.

        Raises:
            RegistryError: Nobody is there, or the answer is not that it was delivered.
        """
        connection = self._connect()
        try:
            connection.request("POST", f"/registry/{action}", json.dumps(body).encode(), self._headers())
            response = connection.getresponse()
            status, text = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise RegistryError(f"nobody answers at {self._address}: {error}") from error
        finally:
            connection.close()
        return self._judge(status, text)

    def _judge(self, status: int, text: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or "status" not in answer:
            raise RegistryError(f"{self._address} answers {status}, but not as a registry API does")
        if status >= 300:
            outcome = answer["status"]
            raise RegistryError(f"{outcome}: {TEXTS.get(outcome) or answer.get('error', status)}")
        return answer

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", "Host": "localhost"}

    def _connect(self) -> http.client.HTTPConnection:
        address = self._address
        if address.path:
            return _UnixConnection(address.path)
        # A server that listens everywhere is reached on loopback: that is where its token file was found.
        host = ("127.0.0.1" if "." in address.host else "::1") if address.is_any else address.host
        if self._certfile is None:
            return http.client.HTTPConnection(host, address.port, timeout=TIMEOUT)
        trusted = ssl.create_default_context(cafile=self._certfile)
        trusted.check_hostname = False  # the certificate itself is what is trusted, whatever name it bears
        return http.client.HTTPSConnection(host, address.port, timeout=TIMEOUT, context=trusted)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(self._path)
