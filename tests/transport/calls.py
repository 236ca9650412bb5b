"""Calling an MCP endpoint in process: ASGI messages in, one answer out, on a real node."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import trio
import trio.testing

from actors import Node
from genmcp import Channel, Error, MethodNotFound, Result, Server, Stream
from genmcp.mcp import McpError
from genmcp.mcp import v2607 as mcp
from genmcp.schema.headers import HeaderParam
from transport.endpoint import Endpoint, endpoint

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"


class Probe(Server[Any]):
    """Answers every tool call in the way its name says, and notes what happened."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.channels: list[Channel] = []

    opens_request_state = True

    async def init(self) -> None:
        return None

    async def handle_request(self, request: mcp.Request, channel: Channel, state: Any, /) -> Any:
        self.channels.append(channel)
        if not isinstance(request, mcp.CallToolRequest):
            if isinstance(request, mcp.ListToolsRequest):
                return Result(mcp.list_tools_result([]))
            if isinstance(request, mcp.SubscriptionsListenRequest):
                return Stream("listening")
            return Error(MethodNotFound(request.method))
        arguments = request.params.arguments
        match request.params.name:
            case "error":
                return Error(McpError(arguments["code"], "as asked", status=arguments.get("status")))
            case "crash":
                raise RuntimeError("secret")
            case "need":
                channel.require_capability("sampling")
            case "sleep":
                try:
                    await trio.sleep(arguments["seconds"])
                except trio.Cancelled:
                    self.notes.append("cancelled")
                    raise
                if "then" in arguments:
                    return Error(McpError(arguments["then"], "as asked"))
            case "ask":
                for _ in range(arguments["rounds"]):
                    await channel.elicit("Well?", {"type": "object", "properties": {"ok": {"type": "boolean"}}})
                await trio.sleep(arguments["seconds"])
            case "progress":
                for step in range(1, arguments["steps"] + 1):
                    await trio.sleep(0.1)
                    await channel.send_progress(step, arguments["steps"])
            case "stream":
                return Stream("streaming")
            case "routed":
                channel.check_headers({"Region": HeaderParam(("region",), "string")}, arguments)
            case "unserializable":
                return Result(mcp.call_tool_result(data={"value": object()}))
        return Result(mcp.call_tool_result(text=str(channel.meta.principal)))

    async def handle_message(self, message: object, channel: Channel, state: Any, /) -> Any:
        return Result(mcp.call_tool_result(text=str(message)))

    async def handle_notification(self, notification: Any, channel: Channel, state: Any, /) -> None:
        reason = notification.params.reason
        self.notes.append(f"notified {reason}")
        if reason == "crash":
            raise RuntimeError("secret")
        if reason == "refuse":
            raise McpError(-32602, "not now")
        if reason == "slow":
            await trio.sleep(5)
            self.notes.append("done")

    async def handle_close(self, channel: Channel, state: Any, /) -> None:
        self.notes.append(f"closed {channel.close_reason}")


class Answer:
    """What came back for one HTTP request."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[tuple[float, bytes]] = []
        self.complete = False
        self.began = trio.current_time()

    async def take(self, message: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()
        assert not self.complete, "an answer goes on after its end"
        if message["type"] == "http.response.start":
            assert self.status == 0, "two answers to one request"
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.pieces.append((trio.current_time() - self.began, message.get("body", b"")))
            self.complete = not message.get("more_body", False)

    @property
    def body(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> int | None:
        """The code of the JSON-RPC error, if it is one."""
        code: int | None = self.json.get("error", {}).get("code") if self.body else None
        return code

    @property
    def events(self) -> list[Any]:
        lines = self.body.decode().split("\n")
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


class Call(msgspec.Struct, kw_only=True):
    """One HTTP request to be made. `headers` override those that a well-behaved client sends; None leaves one out."""

    message: Any = None
    headers: dict[str, Any] = {}
    raw: bytes | None = None
    method: str = "POST"
    path: str = "/mcp"
    pieces: Sequence[bytes] | None = None
    state: dict[str, Any] = {}
    leave_after: float | None = None
    scope: dict[str, Any] = {}

    def scope_and_body(self) -> tuple[dict[str, Any], bytes]:
        body = json.dumps(self.message).encode() if self.raw is None else self.raw
        fields: dict[str, Any] = {
            "host": "localhost:8000",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "content-length": str(len(body)),
            **mirrored(self.message),
            **self.headers,
        }
        pairs = [
            (name.encode(), each if isinstance(each, bytes) else each.encode())
            for name, value in fields.items()
            if value is not None
            for each in (value if isinstance(value, list) else [value])
        ]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": self.path,
            "root_path": "",
            "headers": pairs,
            "state": dict(self.state),
            **self.scope,
        }
        return scope, body


def mirrored(message: Any) -> dict[str, str]:
    """The routing headers that a well-behaved client sends with a request."""
    if not isinstance(message, dict) or "id" not in message or not isinstance(message.get("method"), str):
        return {}
    headers = {"mcp-protocol-version": VERSION, "mcp-method": message["method"]}
    params = message.get("params")
    source = mcp.NAMED_BY.get(message["method"])
    if isinstance(params, dict) and isinstance(params.get(source), str):
        headers["mcp-name"] = params[source]
    return headers


class Site:
    """An endpoint and what is behind it."""

    def __init__(self, app: Any, server: Probe, node: Node) -> None:
        self.app = app
        self.server = server
        self.node = node

    async def call(self, call: Call) -> Answer:
        """Make one HTTP request and wait for its whole answer."""
        scope, body = call.scope_and_body()
        pieces = list(call.pieces) if call.pieces is not None else [body]
        left = trio.Event()

        async def receive() -> dict[str, Any]:
            await trio.lowlevel.checkpoint()
            if pieces:
                return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}
            await left.wait()
            return {"type": "http.disconnect"}

        answer = Answer()
        async with trio.open_nursery() as nursery:
            if call.leave_after is not None:
                nursery.start_soon(leave, left, call.leave_after)
            await self.app(scope, receive, answer.take)
            nursery.cancel_scope.cancel()
        return answer

    async def post(self, message: Any, **headers: Any) -> Answer:
        """Post one message; a header is given as `mcp_method=…`."""
        return await self.call(Call(message=message, headers={k.replace("_", "-"): v for k, v in headers.items()}))

    async def tool(self, name: str, arguments: Mapping[str, Any] | None = None, **headers: Any) -> Answer:
        """Call a tool."""
        return await self.post(request("tools/call", name=name, arguments=arguments or {}), **headers)


async def leave(left: trio.Event, after: float) -> None:
    await trio.sleep(after)
    left.set()


def request(method: str, message_id: Any = 7, meta: Mapping[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    """Build a request of the 2026-07-28 revision."""
    found = {f"{META}protocolVersion": VERSION, f"{META}clientCapabilities": {}, **(meta or {})}
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": {"_meta": found, **params}}


@asynccontextmanager
async def open_site(**options: Any) -> AsyncIterator[Site]:
    """Run an endpoint with these options."""
    server = Probe()
    async with Node() as node, server.attach(node):
        app: Endpoint = endpoint(server, node=node, **options)
        yield Site(app, server, node)
