"""Requests of the released revision as a client writes them, and the ways to spoil one."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping

REVISION = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SERVER = "io.modelcontextprotocol/serverInfo"
META: Mapping[str, Any] = {VERSION: REVISION, CLIENT: {"name": "wire", "version": "1"}, CAPABILITIES: {}}
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

Json = dict[str, Any]


def request(method: str, params: Json | None = None, *, meta: Mapping[str, Any] = META, id: object = 1) -> Json:
    """Write a request with its `_meta`."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": dict(meta)}}


def call(tool: str, arguments: Json | None = None, **options: Any) -> Json:
    """Write a `tools/call`."""
    return request("tools/call", {"name": tool, "arguments": arguments or {}}, **options)


def headers_for(body: Json) -> dict[str, str]:
    """The headers that a client sends with a request, taken from its body."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": body["method"],
    }
    if name := NAMED_BY.get(body["method"]):
        headers["Mcp-Name"] = body["params"][name]
    return headers


def post(
    url: str, body: Json, *, set: Mapping[str, str] | None = None, drop: str = "", content: bytes | None = None
) -> httpx.Response:
    """Post a request with its headers and read the whole answer.

    Args:
        url: The MCP endpoint.
        body: The request.
        set: Headers to add or to replace.
        drop: A header to leave out.
        content: Bytes to send instead of the body.
    """
    headers = {name: value for name, value in headers_for(body).items() if name != drop} | dict(set or {})
    sent = json.dumps(body).encode() if content is None else content
    return httpx.post(url, content=sent, headers=headers, timeout=10)


def post_bytes(url: str, body: Json, spoilt: bytes) -> tuple[int, bytes]:
    """Post a request with one more header line, as it stands; return the status and the body of the answer."""
    target = urlsplit(url)
    content = json.dumps(body).encode()
    own = spoilt.partition(b":")[0].decode()
    lines = [f"{name}: {value}".encode() for name, value in headers_for(body).items() if name != own]
    head = [f"POST {target.path} HTTP/1.1", f"Host: {target.netloc}", f"Content-Length: {len(content)}"]
    sent = b"\r\n".join([*(line.encode() for line in head), b"Connection: close", *lines, spoilt, b"", content])
    with socket.create_connection((str(target.hostname), target.port or 80), timeout=10) as connection:
        connection.sendall(sent)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    status, _, rest = answer.partition(b"\r\n")
    return int(status.split()[1]), rest.partition(b"\r\n\r\n")[2]


def result_of(response: httpx.Response) -> Json:
    """The result of an answer that is one JSON object."""
    assert response.status_code == 200, response.text
    result: Json = response.json()["result"]
    return result


def events_of(response: httpx.Response) -> list[Json]:
    """The messages of an answer that is a stream of events."""
    assert response.headers["Content-Type"].startswith("text/event-stream"), response.text
    return [json.loads(line.removeprefix("data:")) for line in response.text.splitlines() if line.startswith("data:")]
