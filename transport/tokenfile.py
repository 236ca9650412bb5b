"""The file in which the registry API's token lies, for other programs of the same user to find.

A server that is not given a token makes one and writes it here; the file is named after where the registry API
listens. Only the user can read it: the directory is private, the file has mode 0600, and neither is followed
through a link that somebody else may have put there (api.md §5).
"""

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from transport.address import Address

__all__ = ["TokenFile", "TokenFileError", "find_token", "make_token", "runtime_dir", "written_tokens"]

SUFFIX = ".token"
LOOPBACK = ("127.0.0.1", "localhost", "::1", "0.0.0.0", "::")


class TokenFileError(OSError):
    """The user's runtime directory cannot be trusted or written."""


def make_token() -> str:
    """Make a token of 32 random bytes."""
    return secrets.token_urlsafe(32)


def runtime_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of the token files: under ``$XDG_RUNTIME_DIR``, else private among the temporary files."""
    base = environ.get("XDG_RUNTIME_DIR")
    if base and os.path.isdir(base):
        return Path(base, "genmcp")
    user = os.getuid() if hasattr(os, "getuid") else environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir(), f"genmcp-{user}")


class TokenFile:
    """A token on disk while a server runs. A context manager would leave it too early: `remove` is explicit."""

    def __init__(self, address: Address, token: str, environ: Mapping[str, str] = os.environ) -> None:
        """Write the token; a file that an earlier server left at this address is replaced.

        Raises:
            TokenFileError: The directory belongs to somebody else, others may read it, or it cannot be written.
        """
        self.token = token
        self.path = _path(runtime_dir(environ), address)
        _make_private(self.path.parent)
        try:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
            # O_EXCL also refuses a link that somebody put here in between.
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise TokenFileError(f"cannot write the registry API's token to {self.path}: {error.strerror}") from error
        with open(descriptor, "w") as file:
            file.write(token + "\n")

    def remove(self) -> None:
        """Remove the file, unless another server has written its own there since."""
        with contextlib.suppress(OSError):
            if self.path.read_text().strip() == self.token:
                self.path.unlink()


def find_token(address: Address, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the token of the server whose registry API listens at this address, or None if there is no file.

    A loopback address also finds a server that listens on all addresses, or under another name of loopback.
    """
    directory = runtime_dir(environ)
    addresses = [address]
    if address.is_loopback and not address.path:
        addresses += [Address(host, address.port) for host in LOOPBACK if host != address.host]
    for candidate in addresses:
        with contextlib.suppress(OSError):
            return _path(directory, candidate).read_text().strip()
    return None


def written_tokens(environ: Mapping[str, str] = os.environ) -> list[Address]:
    """Return the addresses of all servers of this user that left a token file."""
    found = []
    for path in sorted(runtime_dir(environ).glob("*" + SUFFIX)):
        host, _, rest = path.name.removesuffix(SUFFIX).rpartition("-")
        if host == "unix":
            found.append(Address(path=unquote(rest)))
        elif rest.isdigit():
            found.append(Address(unquote(host), int(rest)))
    return found


def _path(directory: Path, address: Address) -> Path:
    # A minus sign inside a path is quoted too, so that the last one is always the separator.
    if address.path:
        absolute = os.path.abspath(address.path)
        return directory / f"unix-{quote(absolute, safe='').replace('-', '%2D')}{SUFFIX}"
    return directory / f"{quote(address.host, safe='')}-{address.port}{SUFFIX}"


def _make_private(directory: Path) -> None:
    """Make the directory with mode 0700, or make sure that the one that is there is the user's and private."""
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        found = directory.lstat()
    except OSError as error:
        raise TokenFileError(f"cannot make {directory} for the registry API's token: {error.strerror}") from error
    if not stat.S_ISDIR(found.st_mode):
        raise TokenFileError(f"{directory} is not a directory; the registry API's token would go there")
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        raise TokenFileError(
            f"{directory} is open to others (mode {stat.S_IMODE(found.st_mode):o}, owner {found.st_uid}); "
            "set GENMCP_ADMIN_TOKEN, or remove the directory"
        )
