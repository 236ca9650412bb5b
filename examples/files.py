"""A directory as resources; clients that listen are told when a file changes, comes or goes.

FILES=/srv/docs python -m genmcp serve examples/files.py
"""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import trio

from genmcp import Channel, Page, ResourceNotFound, ResourceRepo, Suite
from genmcp.mcp import v2607 as mcp

ROOT = Path(os.environ.get("FILES", ".")).resolve()
EVERY = 1.0
PAGE = 50


def uri_of(path: Path) -> str:
    return "files:///" + quote(path.relative_to(ROOT).as_posix())


def scan() -> dict[Path, int]:
    """Return the visible files with the time of their last change."""
    found = {}
    for directory, below, names in os.walk(ROOT):
        below[:] = [name for name in below if not name.startswith(".")]
        for name in names:
            path = Path(directory, name)
            if not name.startswith(".") and path.is_file():
                found[path] = path.stat().st_mtime_ns
    return found


class Files(ResourceRepo):
    """The files of a directory."""

    template = "files:///{+path}"

    async def list(self, cursor: str | None, channel: Channel) -> Page[mcp.Resource]:
        uris = sorted(map(uri_of, await trio.to_thread.run_sync(scan)))
        rest = [uri for uri in uris if cursor is None or uri > cursor]
        items = [mcp.Resource(uri, uri.rpartition("/")[2]) for uri in rest[:PAGE]]
        return Page(items, items[-1].uri if len(rest) > PAGE else None)

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel) -> str | bytes:
        # The client chooses the path, "../" included: only what lies in the directory is there.
        path = await trio.Path(ROOT, variables["path"]).resolve()
        if not path.is_relative_to(ROOT) or any(part.startswith(".") for part in path.relative_to(ROOT).parts):
            raise ResourceNotFound(uri)
        try:
            content = await path.read_bytes()
        except OSError:
            raise ResourceNotFound(uri) from None
        try:
            return content.decode()
        except UnicodeDecodeError:
            return content


async def watch() -> None:
    """Tell who listens of every change."""
    before = await trio.to_thread.run_sync(scan)
    while True:
        await trio.sleep(EVERY)
        now = await trio.to_thread.run_sync(scan)
        if before.keys() != now.keys():
            suite.resources_changed()
        for path in before.keys() | now.keys():
            if before.get(path) != now.get(path):
                suite.resource_updated(uri_of(path))
        before = now


suite = Suite(server_name="Files", server_version="1", resources=[Files], children=[watch])
