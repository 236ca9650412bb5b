"""A real server under 2025 clients: memory stays flat, and a stop ends what they hold open."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults.watch import ENVIRON, TOKEN
from tests.interop.conformance import EVERYTHING
from tests.interop.process import ServerProcess, serving

pytestmark = pytest.mark.slow

ACCEPT = {"Accept": "application/json, text/event-stream"}
PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": PARAMS}


@pytest.fixture
def server() -> Iterator[ServerProcess]:
    """A server of its own for one test."""
    with serving(EVERYTHING, env=ENVIRON) as process:
        yield process


def resident(server: ServerProcess) -> int:
    """The bytes of memory that a server's process holds."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * 4096


def call(name: str, request_id: int = 1, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def open_session(client: httpx.Client, url: str) -> dict[str, str]:
    """Shake hands; the headers of what follows."""
    opened = client.post(url, json=INITIALIZE, headers=ACCEPT)
    assert opened.status_code == 200
    return {**ACCEPT, "Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}


def actors(server: ServerProcess) -> list[Any]:
    listed = httpx.get(f"{server.origin}/registry/actors", headers={"Authorization": f"Bearer {TOKEN}"}).json()
    found: list[Any] = listed["actors"] if isinstance(listed, dict) else listed
    return found


def test_handshakes_without_an_end_leave_memory_flat(server: ServerProcess) -> None:
    with httpx.Client() as client:
        for _ in range(1_000):
            open_session(client, server.url)
        warm = resident(server)
        for _ in range(5_000):
            open_session(client, server.url)
        grown = resident(server) - warm
        assert grown < 2 * 2**20, f"{grown} bytes after 5,000 sessions"
        headers = open_session(client, server.url)
        assert client.post(server.url, json=call("test_simple_text"), headers=headers).status_code == 200
    assert actors(server) == []


def test_streams_of_sessions_leave_memory_bounded(server: ServerProcess) -> None:
    def round_of_calls(client: httpx.Client, number: int) -> None:
        headers = open_session(client, server.url)
        body = call("test_logging_tool", number)
        assert "result" in client.post(server.url, json=body, headers=headers).text
        client.delete(server.url, headers=headers)

    with httpx.Client() as client:
        for number in range(300):
            round_of_calls(client, number)
        warm = resident(server)
        for number in range(1_500):
            round_of_calls(client, number)
        assert resident(server) - warm < 2 * 2**20


def test_a_stop_ends_streams_of_both_kinds(server: ServerProcess) -> None:
    with httpx.Client(timeout=20) as client:
        headers = open_session(client, server.url)
        listening = client.stream("GET", server.url, headers={**headers, "Accept": "text/event-stream"})
        holding = client.stream("POST", server.url, headers=headers, json=call("test_reconnection"))
        with listening as changes, holding as held:
            assert (changes.status_code, held.status_code) == (200, 200)
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            assert "result" not in "".join(changes.iter_text())
            "".join(held.iter_text())
    assert server.process.wait(timeout=15) == 0
    assert time.monotonic() - began < 12


def test_any_process_with_the_key_serves_a_session() -> None:
    secret = subprocess.run([sys.executable, "-m", "genmcp", "secret"], capture_output=True, text=True, check=True)
    env = {"GENMCP_SECRET_KEY": secret.stdout.strip()}
    with serving(EVERYTHING, env=env) as first, serving(EVERYTHING, env=env) as second, httpx.Client() as client:
        headers = open_session(client, first.url)
        for server in (second, first, second):
            answer = client.post(server.url, json=call("test_simple_text"), headers=headers)
            assert (answer.status_code, "result" in answer.json()) == (200, True)


def test_another_key_makes_a_session_unknown() -> None:
    with serving(EVERYTHING) as first, serving(EVERYTHING) as second, httpx.Client() as client:
        headers = open_session(client, first.url)
        assert client.post(second.url, json=call("test_simple_text"), headers=headers).status_code == 404
