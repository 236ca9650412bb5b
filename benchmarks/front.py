"""Requests a second of a real server, beside a stock Hypercorn that only echoes and beside a peer."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks.measure import Comparison, Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
APPLICATION = ROOT / "benchmarks" / "app.py"
CONNECTIONS = 16
OURS, ECHO, PEER = "genmcp serve", "a stock Hypercorn that only echoes", "the official Python SDK on uvicorn"
SERVERS = {
    OURS: ("-m", "genmcp", "serve", f"{APPLICATION}:suite", "--port", "0"),
    ECHO: ("-m", "benchmarks.echo"),
    PEER: ("-m", "benchmarks.peer"),
}
AIMS = {ECHO: 1.3, PEER: 1.0}  # what the machine serves is noisy: a missed aim is printed and fails nothing
_URL = re.compile(r"http://127\.0\.0\.1:\d+/mcp")


def measure(*, quick: bool) -> list[Figure]:
    """Load all servers in turn, with the same bytes on as many connections."""
    rounds, seconds = (1, 0.2) if quick else (5, 3.0)
    taken: dict[str, list[float]] = {name: [] for name in SERVERS}
    with contextlib.ExitStack() as stack:
        urls = {name: stack.enter_context(_server(module)) for name, module in SERVERS.items()}
        for url in urls.values():
            requests_per_second(url, seconds / 3)
        for turn in range(rounds):
            for name in list(urls)[:: 1 if turn % 2 else -1]:
                taken[name].append(requests_per_second(urls[name], seconds))
    call = f"tools/call on {CONNECTIONS} connections"
    return [
        Comparison(call, OURS, base, "requests/s", taken[OURS], taken[base], limit, direction="at least", binding=False)
        for base, limit in AIMS.items()
    ]


def tool_call(host: str) -> bytes:
    """One `tools/call` of the released revision, as it goes over the wire."""
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "echo",
                "arguments": {"text": "the quick brown fox jumps over the lazy dog"},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        }
    ).encode()
    head = [
        "POST /mcp HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        "Mcp-Name: echo",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


def requests_per_second(url: str, seconds: float) -> float:
    """Load one server from a process of its own."""
    parts = urlsplit(url)
    command = [sys.executable, "-m", "benchmarks.load", str(parts.hostname), str(parts.port), str(CONNECTIONS)]
    done = subprocess.run([*command, str(seconds)], cwd=ROOT, input=tool_call(parts.netloc), capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"the load on {url} failed:\n{done.stderr.decode()}")
    counted = json.loads(done.stdout)
    return float(counted["answered"] / counted["seconds"])


@contextlib.contextmanager
def _server(arguments: tuple[str, ...]) -> Iterator[str]:
    """Run a server in a process of its own until the block ends, and yield its URL once it has said it."""
    with subprocess.Popen(
        [sys.executable, "-u", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        printed = []
        try:
            assert process.stdout is not None
            for line in process.stdout:
                printed.append(line)
                if found := _URL.search(line):
                    threading.Thread(target=process.stdout.read, daemon=True).start()  # or its log would fill the pipe
                    yield found.group()
                    return
            raise RuntimeError("a server did not start; it printed:\n" + "".join(printed))
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=15)
            process.kill()
