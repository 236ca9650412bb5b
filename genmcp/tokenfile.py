"""The file in which the registry API's token lies, for other programs of the same user to find.

A server that is not given a token makes one and writes it here; the file is named after where the registry API
listens. Only the user can read it: the directory is private, the file has mode 0600, and neither is followed
through a link that somebody else may have put there (api.md §5).

The server holds a lock on its file as long as it lives, so a file that a killed server left is told from a good one.
"""

import contextlib
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from genmcp.address import Address

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
    """A token on disk while a server runs."""

    def __init__(self, address: Address, token: str, environ: Mapping[str, str] = os.environ) -> None:
        """Write the token; a file that an earlier server left at this address is replaced.

        Raises:
            TokenFileError: The directory belongs to somebody else, others may read it, or it cannot be written.
        """
        self.token = token
        self.path = _path(runtime_dir(environ), address)
        _make_private(self.path.parent)
        try:
            self._descriptor = self._write()
        except OSError as error:
            raise TokenFileError(f"cannot write the registry API's token to {self.path}: {error.strerror}") from error

    def remove(self) -> None:
        """Remove the file, unless another server has written its own there since. Calling it again does nothing."""
        with contextlib.suppress(OSError):
            if self.path.read_text().strip() == self.token:
                self.path.unlink()
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _write(self) -> int:
        # It gets its name when it is locked and complete, so that nobody finds half of it.
        unnamed = self.path.with_name(f"{secrets.token_hex(8)}.part")
        descriptor = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, self.token.encode() + b"\n")
            _lock(descriptor)
            os.replace(unnamed, self.path)
        except BaseException:
            os.close(descriptor)
            unnamed.unlink()
            raise
        return descriptor


def find_token(address: Address, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the token of the server whose registry API listens at this address, or None if there is no file.

    A loopback address also finds a server that listens on all addresses, or under another name of loopback.
    """
    directory = runtime_dir(environ)
    addresses = [address]
    if address.is_loopback and not address.path:
        addresses += [Address(host, address.port) for host in LOOPBACK if host != address.host]
    return next((token for token in (_read(_path(directory, one)) for one in addresses) if token is not None), None)


def written_tokens(environ: Mapping[str, str] = os.environ) -> list[Address]:
    """Return the addresses at which servers of this user have their registry API now."""
    found = []
    for path in sorted(runtime_dir(environ).glob("*" + SUFFIX)):
        if _read(path) is None:
            continue
        host, _, rest = path.name.removesuffix(SUFFIX).rpartition("-")
        if host == "unix":
            found.append(Address(path=unquote(rest)))
        elif rest.isdigit():
            found.append(Address(unquote(host), int(rest)))
    return found


def _read(path: Path) -> str | None:
    """Return the token of a server that lives; what a killed one left is removed."""
    try:
        with path.open() as file:
            if _is_locked(file.fileno()):
                return file.read().strip()
            path.unlink()
    except OSError:
        pass
    return None


if sys.platform == "win32":  # without locks, files of killed servers stay until the next one at that address

    def _lock(descriptor: int) -> None:
        del descriptor

    def _is_locked(descriptor: int) -> bool:
        del descriptor
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _is_locked(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


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
