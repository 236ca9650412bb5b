"""The files of a directory as resources: `DirectoryResources`.

    suite = Suite(…, resources=[DirectoryResources("/srv/docs", prefix="docs:///")])

Nothing leads outside the root: a path is decoded once and walked one name at a time, each opened relative to the one
before and never through a symbolic link. So `..`, absolute paths, double encodings and links, also ones that appear
between a check and its use, end at -32602 like any file that is not there. Links are not listed either, nor are hidden
files and what is no regular file. (R-16, R-17, R-19)
"""

from __future__ import annotations

import contextlib
import mimetypes
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias
from urllib.parse import quote

import trio

from genmcp.channel import Channel
from genmcp.errors import ConfigurationError, InvalidParams, ResourceNotFound
from genmcp.mcp import v2607 as mcp
from genmcp.suite.contract import CacheHint
from genmcp.suite.page import Page
from genmcp.suite.resource import Readable, ResourceRepo

Parts: TypeAlias = tuple[str, ...]

DEEPEST = 64
"""Levels of directories below the root; deeper ones are not listed."""

AT_ONCE = hasattr(os, "O_NOFOLLOW") and os.open in os.supports_dir_fd
"""True where the system can open a name relative to a directory and refuse links in the same step."""

FOLLOW_NOTHING = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | FOLLOW_NOTHING
# A pipe must not hold the thread until somebody writes to it, nor a terminal become ours.
FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | FOLLOW_NOTHING


class DirectoryResources(ResourceRepo):
    """A repository of files: text where a file is UTF-8 without NUL, else bytes.

    Args:
        root: The directory; what is below it may be read by every client.
        prefix: What the URIs begin with, ending in `/`; the rest is the path, percent-encoded.
        hidden: Serve names that begin with a dot as well.
        page_size: How many files make a page of the list.
        max_bytes: The largest file that can be read.
        cache: Cache hint for lists and files.

    Raises:
        ConfigurationError: The root is no directory, or the prefix does not end in `/`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        prefix: str = "files:///",
        hidden: bool = False,
        page_size: int = 100,
        max_bytes: int = 16 * 1024 * 1024,
        cache: CacheHint = ("private", 0),
    ) -> None:
        self._root = os.path.realpath(root)
        if not os.path.isdir(self._root):
            raise ConfigurationError(f"DirectoryResources: root: {os.fspath(root)!r} is no directory")
        if not prefix.endswith("/"):
            raise ConfigurationError(f"DirectoryResources: prefix: expected one that ends in '/', got {prefix!r}")
        self.prefix = prefix
        self.template = mcp.ResourceTemplate(f"{prefix}{{+path}}", os.path.basename(self._root) or "files")
        self.cache = cache
        self._hidden = hidden
        self._page_size = page_size
        self._max_bytes = max_bytes

    @property
    def label(self) -> str:
        """What the log and start-up errors call it."""
        return f"DirectoryResources({self._root!r})"

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        """Return a page of files, sorted by path. A directory that changes meanwhile shifts nothing."""
        del channel
        after = () if cursor is None else tuple(cursor.split("/"))
        return await trio.to_thread.run_sync(self._page, after)

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> Readable:
        """Return a file.

        Raises:
            ResourceNotFound: There is no such file below the root, or it may not be read.
            InvalidParams: It is larger than `max_bytes`.
        """
        del channel
        parts = self._parts(variables["path"])
        found = None if parts is None else await trio.to_thread.run_sync(self._load, parts)
        if parts is None or found is None:
            raise ResourceNotFound(uri)
        if len(found) > self._max_bytes:
            raise InvalidParams(f"The resource is larger than {self._max_bytes} bytes: {uri}", {"uri": uri})
        guessed = mimetypes.guess_type(parts[-1])[0]
        text = as_text(found)
        if text is not None:
            return mcp.resource_contents(uri, text=text, mime_type=guessed or "text/plain")
        return mcp.resource_contents(uri, blob=found, mime_type=guessed or "application/octet-stream")

    async def may_subscribe(self, uri: str, channel: Channel, /) -> bool:
        """Allow what could be read, and the directories above it."""
        del channel
        path = self.parse_uri(uri.rstrip("/"))["path"] if len(uri) > len(self.prefix) else ""
        return not path or self._parts(path) is not None

    def _parts(self, path: str) -> Parts | None:
        """Return the names along a path; None if one of them is none that may be asked for."""
        parts = tuple(path.split("/"))
        return parts if all(self._serves(part) for part in parts) else None

    def _serves(self, name: str) -> bool:
        if name in ("", ".", "..") or "\0" in name or (name.startswith(".") and not self._hidden):
            return False
        foreign = os.sep != "/" and (os.sep in name or ":" in name)  # C:, streams and \ of Windows
        return not foreign and name.isprintable() and is_text(name)

    # -- in a thread

    def _load(self, parts: Parts) -> bytes | None:
        """Return a file's bytes, at most one more than `max_bytes`; None if there is no such file."""
        try:
            with contextlib.ExitStack() as stack:
                number = self._open(parts, stack)
                if not stat.S_ISREG(os.fstat(number).st_mode):
                    return None
                with os.fdopen(os.dup(number), "rb") as file:
                    return file.read(self._max_bytes + 1)
        except OSError:
            return None  # missing, a link, not ours to read: all the same to the client

    def _open(self, parts: Parts, stack: contextlib.ExitStack) -> int:
        if not AT_ONCE:
            return self._open_checked(parts, stack)
        number = opened(self._root, DIRECTORY, stack)
        for part in parts[:-1]:
            number = opened(part, DIRECTORY, stack, number)
        return opened(parts[-1], FILE, stack, number)

    def _open_checked(self, parts: Parts, stack: contextlib.ExitStack) -> int:
        """Open where names cannot be opened one by one: refuse a path that is another one once links are followed."""
        path = os.path.join(self._root, *parts)
        if os.path.realpath(path) != path:
            raise FileNotFoundError(path)
        return opened(path, FILE | getattr(os, "O_BINARY", 0), stack)

    def _page(self, after: Parts) -> Page[mcp.Resource]:
        found: list[tuple[Parts, os.stat_result]] = []
        for item in self._files((), after):
            found.append(item)
            if len(found) > self._page_size:
                break
        kept = found[: self._page_size]
        following = "/".join(kept[-1][0]) if len(found) > len(kept) else None
        return Page([self._described(parts, about) for parts, about in kept], following)

    def _files(self, base: Parts, after: Parts) -> Iterator[tuple[Parts, os.stat_result]]:
        """Yield the files below a directory that come after a path, in order."""
        for entry in self._entries(base):
            parts = (*base, entry.name)
            if parts < after[: len(parts)]:
                continue  # it and what is below it came before
            try:
                if entry.is_dir(follow_symlinks=False):
                    if len(parts) < DEEPEST:
                        yield from self._files(parts, after)
                elif entry.is_file(follow_symlinks=False) and parts > after:
                    yield parts, entry.stat(follow_symlinks=False)
            except OSError:
                continue  # it went away

    def _entries(self, base: Parts) -> Sequence[os.DirEntry[str]]:
        path = os.path.join(self._root, *base)
        try:
            if os.path.realpath(path) != path:
                return []
            with os.scandir(path) as entries:
                return sorted((entry for entry in entries if self._serves(entry.name)), key=lambda entry: entry.name)
        except OSError:
            return []

    def _described(self, parts: Parts, about: os.stat_result) -> mcp.Resource:
        changed = datetime.fromtimestamp(about.st_mtime, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return mcp.Resource(
            self.prefix + "/".join(quote(part, safe="") for part in parts),
            "/".join(parts),
            mime_type=mimetypes.guess_type(parts[-1])[0],
            size=about.st_size,
            annotations=mcp.Annotations(last_modified=changed),
        )


def opened(path: str, flags: int, stack: contextlib.ExitStack, directory: int | None = None) -> int:
    """Open a descriptor that the stack closes."""
    number = os.open(path, flags, dir_fd=directory)
    stack.callback(os.close, number)
    return number


def is_text(name: str) -> bool:
    """Tell whether a file's name is UTF-8, as names in URIs are."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_text(data: bytes) -> str | None:
    """Return the text that bytes are: UTF-8 without NUL; None if they are none."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
