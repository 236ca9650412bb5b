"""A server process under attack, and what its probes say of it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import trio

from tests.faults.raw import PATIENCE, Http2, Raw
from tests.interop.process import ServerProcess

APP = str(Path(__file__).with_name("probes.py"))
TOKEN = "a token of the registry API"
ENVIRON = {"GENMCP_ADMIN_TOKEN": TOKEN}

RawT = TypeVar("RawT", bound=Raw)

_keys = itertools.count(1)


def new_key() -> str:
    """A key for one call's notes."""
    return f"call {next(_keys)}"


class Watched:
    """A server whose probes are asked over a connection of their own.

    Attributes:
        process: The server.
    """

    def __init__(self, process: ServerProcess, **options: Any) -> None:
        self.process = process
        self._options = options
        self._opened: list[Raw] = []
        self._asking: Raw | None = None
        self._http = httpx.Client(verify=options.get("tls", True), timeout=10)

    async def dial(self, **options: Any) -> Raw:
        """Connect; closed at the end of the test."""
        return self._keep(await Raw.connect(self.process.url, **self._options, **options))

    async def dial_http2(self, **options: Any) -> Http2:
        """Connect and speak HTTP/2; closed at the end of the test."""
        return self._keep(await Http2.greet(self.process.url, **self._options, **options))

    def _keep(self, made: RawT) -> RawT:
        self._opened.append(made)
        return made

    async def tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a probe, over one connection."""
        if self._asking is None:
            self._asking = await self.dial()
        return await self._asking.tool(name, arguments)

    async def noted(self, key: str, what: str, seconds: float = PATIENCE) -> float:
        """Wait until a tool has noted something; returns when that was (time.monotonic)."""
        ends = time.monotonic() + seconds
        while True:
            notes = await self.tool("journal", {"key": key})
            for found, when in notes:
                if found == what:
                    return float(when)
            assert time.monotonic() < ends, f"{what!r} was not noted under {key!r}, only {notes}"
            await trio.sleep(0.005)

    async def census(self) -> dict[str, Any]:
        """Count what the server holds; memory apart, it is the same before and after if nothing leaked."""
        self.workers()  # so that this connection is counted before as well
        found: dict[str, Any] = await self.tool("census")
        return found

    async def settles_at(self, before: dict[str, Any], seconds: float = PATIENCE) -> None:
        """Wait until the server holds what it held before."""
        ends = time.monotonic() + seconds
        while True:
            after = await self.census()
            changed = {name: (before[name], after[name]) for name in before if name != "memory"}
            changed = {name: pair for name, pair in changed.items() if pair[0] != pair[1]}
            if not changed:
                return
            assert time.monotonic() < ends, f"left over: {changed}"
            await trio.sleep(0.05)

    def registry(self, method: str, path: str, *, token: str | None = TOKEN, **options: Any) -> httpx.Response:
        """Call the registry API."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return self._http.request(method, f"{self.process.origin}/registry{path}", headers=headers, **options)

    def workers(self) -> list[str]:
        """The pids of the workers that live."""
        return [found["pid"] for found in self.registry("GET", "/actors").json()["actors"]]

    async def only_worker(self) -> str:
        """Wait until one worker lives, and return its pid: those of the test before may be ending."""
        with trio.fail_after(PATIENCE):
            while len(found := self.workers()) != 1:
                await trio.sleep(0.005)
        return found[0]

    def push(self, pid: str, message: object) -> int:
        """Send a message to a worker; returns the HTTP status."""
        return self.registry("POST", "/send", json={"to": pid, "message": message}).status_code

    async def close(self) -> None:
        """Close every client."""
        self._http.close()
        for client in self._opened:
            await client.close()


def log_of(server: ServerProcess, since: int, until: Callable[[str], bool]) -> list[str]:
    """Wait for a line of the server's log; return all lines since `since`."""
    ends = time.monotonic() + PATIENCE
    while not any(until(line) for line in server.lines[since:]):
        assert time.monotonic() < ends, "".join(server.lines[since:])
        time.sleep(0.01)
    return server.lines[since:]
