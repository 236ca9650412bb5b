"""Requests a second of a real server, beside a stock Hypercorn that only echoes and beside a peer."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import dataclass
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
AIMS = {ECHO: 1.3, PEER: 1.0}  # how many times their requests/s; what a machine serves is noisy, so none is binding
_URL = re.compile(r"http://127\.0\.0\.1:\d+/mcp")


@dataclass(frozen=True)
class Server:
    """A server that runs in a process of its own."""

    url: str
    pid: int

    def cpu_seconds(self) -> float:
        """The processor time that the process has used so far, as Linux counts it, in steps of 10 ms."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Load:
    """What one server did under load: the rate depends on what else the machine does, the processor time less so."""

    requests_per_second: float
    cpu_microseconds: float


def measure(*, quick: bool) -> list[Figure]:
    """Load all servers in turn, with the same bytes on as many connections."""
    rounds, seconds = (1, 0.2) if quick else (5, 3.0)
    loads: dict[str, list[Load]] = {name: [] for name in SERVERS}
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(_server(module)) for name, module in SERVERS.items()}
        for server in servers.values():
            load(server, seconds / 3)
        for turn in range(rounds):
            for name in list(servers)[:: 1 if turn % 2 else -1]:
                loads[name].append(load(servers[name], seconds))
    return [figure for base, aim in AIMS.items() for figure in _compared(loads[OURS], loads[base], base, aim)]


def _compared(ours: list[Load], theirs: list[Load], base: str, aim: float) -> list[Figure]:
    call = f"tools/call on {CONNECTIONS} connections"
    rates, their_rates = ([load.requests_per_second for load in loads] for loads in (ours, theirs))
    times, their_times = ([load.cpu_microseconds for load in loads] for loads in (ours, theirs))
    return [
        Comparison(call, OURS, base, "requests/s", rates, their_rates, aim, direction="at least", binding=False),
        Comparison(f"processor time of {call}", OURS, base, "µs", times, their_times, round(1 / aim, 2), binding=False),
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


def load(server: Server, seconds: float) -> Load:
    """Load one server from a process of its own."""
    parts = urlsplit(server.url)
    command = [sys.executable, "-m", "benchmarks.load", str(parts.hostname), str(parts.port), str(CONNECTIONS)]
    before = server.cpu_seconds()
    done = subprocess.run([*command, str(seconds)], cwd=ROOT, input=tool_call(parts.netloc), capture_output=True)
    used = server.cpu_seconds() - before
    if done.returncode != 0:
        raise RuntimeError(f"the load on {server.url} failed:\n{done.stderr.decode()}")
    counted = json.loads(done.stdout)
    answered = counted["answered"]
    return Load(answered / counted["seconds"], max(used, 0.01) / answered * 1e6)


@contextlib.contextmanager
def _server(arguments: tuple[str, ...]) -> Iterator[Server]:
    """Run a server in a process of its own until the block ends, and yield it once it has said its URL."""
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
                    yield Server(found.group(), process.pid)
                    return
            raise RuntimeError("a server did not start; it printed:\n" + "".join(printed))
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=15)
            process.kill()
