"""Where a server listens: a host and port, or the path of a socket file."""

import ipaddress

import msgspec

__all__ = ["Address"]


class Address(msgspec.Struct, frozen=True):
    """A place to listen at or to connect to.

    Attributes:
        host: Host name or IP address; empty for a socket file.
        port: The port; 0 to listen takes a free one.
        path: Path of a socket file, else empty.
    """

    host: str = ""
    port: int = 0
    path: str = ""

    @classmethod
    def of(cls, host: str, port: int) -> "Address":
        """Make the address of the settings ``host`` and ``port``; ``unix:PATH`` as host needs no port.

        Raises:
            ValueError: The path after ``unix:`` is empty.
        """
        if host.startswith("unix:"):
            if not host.removeprefix("unix:"):
                raise ValueError("the path of the socket file is missing after unix:")
            return cls(path=host.removeprefix("unix:"))
        return cls(host=host.removeprefix("[").removesuffix("]"), port=port)

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read ``HOST:PORT``, ``[IPV6]:PORT`` or ``unix:PATH``.

        Raises:
            ValueError: It is none of these.
        """
        if text.startswith("unix:"):
            return cls.of(text, 0)
        host, colon, port = text.rpartition(":")
        if not (host and colon and port.isascii() and port.isdigit() and int(port) <= 65535):
            raise ValueError(f"{text!r} is not HOST:PORT, [IPV6]:PORT or unix:PATH")
        return cls.of(host, int(port))

    @property
    def is_any(self) -> bool:
        """True if it stands for all addresses of the machine (``0.0.0.0``, ``::``)."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    @property
    def is_loopback(self) -> bool:
        """True if only this machine reaches it."""
        try:
            return self.host.lower() == "localhost" or bool(self.path) or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def url(self, path: str = "", *, tls: bool = False) -> str:
        """Return what a client on this machine would call, for people to read and to copy."""
        if self.path:
            return f"{self}{path and ' ' + path}"
        reachable = self
        if self.is_any:
            reachable = Address("127.0.0.1" if "." in self.host else "::1", self.port)
        return f"{'https' if tls else 'http'}://{reachable}{path}"

    def __str__(self) -> str:
        if self.path:
            return f"unix:{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
