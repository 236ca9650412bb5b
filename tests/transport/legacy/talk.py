"""A 2025 client in process: it opens a session, posts, listens, comes back, answers questions."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec
import trio

from actors import Node
from tests.transport.calls import Call
from tests.transport.legacy.shop import Shop
from transport.endpoint import Endpoint, endpoint

NOVEMBER, JUNE, MARCH = "2025-11-25", "2025-06-18", "2025-03-26"
ALL = (NOVEMBER, JUNE, MARCH)
EVERY_CAPABILITY: dict[str, Any] = {
    "sampling": {},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
}


class Event(msgspec.Struct):
    """One server-sent event."""

    id: str | None = None
    retry: int | None = None
    data: str | None = None

    @property
    def message(self) -> Any:
        return json.loads(self.data) if self.data else None


def events_of(body: bytes) -> list[Event]:
    """Parse a stream as far as it has come."""
    found = []
    for block in body.decode().split("\n\n")[:-1]:
        event = Event()
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            if name == "data":
                event.data = value
            elif name == "id":
                event.id = value
            elif name == "retry":
                event.retry = int(value)
        if event != Event():
            found.append(event)
    return found


class Reply:
    """One HTTP response, while it comes in."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.complete = False
        self.left = trio.Event()
        self.reading = trio.Event()
        self.reading.set()
        self._moved = trio.Event()

    async def take(self, message: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()
        await self.reading.wait()
        assert not self.complete, "an answer goes on after its end"
        if self.left.is_set():
            raise OSError("the client has left")
        if message["type"] == "http.response.start":
            assert self.status == 0, "two answers to one request"
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")
            self.complete = not message.get("more_body", False)
        self.moved()

    def moved(self) -> None:
        self._moved.set()
        self._moved = trio.Event()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> int | None:
        return self.json.get("error", {}).get("code") if self.body else None

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type") == "text/event-stream"

    @property
    def events(self) -> list[Event]:
        return events_of(self.body)

    @property
    def messages(self) -> list[Any]:
        if not self.is_stream:
            return [self.json] if self.body else []
        return [event.message for event in self.events if event.message is not None]

    def last_id(self) -> str:
        """The id of the newest event."""
        return [event.id for event in self.events if event.id is not None][-1]

    async def until(self, found: Callable[[Reply], Any]) -> Any:
        """Wait until a function of the reply is true, and return what it says."""
        with trio.fail_after(1000):
            while not (value := found(self)):
                await self._moved.wait()
        return value

    async def message(self, method: str) -> Any:
        """Wait for a message with this method."""

        def there(reply: Reply) -> Any:
            return [each for each in reply.messages if each.get("method") == method]

        return (await self.until(there))[0]

    def leave(self) -> None:
        """Let the client disconnect."""
        self.left.set()


class Client:
    """One client of one endpoint."""

    def __init__(self, app: Endpoint, version: str = NOVEMBER, state: Mapping[str, Any] | None = None) -> None:
        self.app = app
        self.version = version
        self.state = dict(state or {})
        self.session = ""
        self.opened: Any = None

    async def open(self, capabilities: Mapping[str, Any] = EVERY_CAPABILITY) -> Client:
        """Shake hands."""
        params = {
            "protocolVersion": self.version,
            "capabilities": dict(capabilities),
            "clientInfo": {"name": "tester", "version": "1"},
        }
        reply = await self.call(Call(message=rpc("initialize", 0, **params), headers={}))
        assert reply.status == 200, reply.body
        self.opened = reply.json["result"]
        self.session = reply.headers["mcp-session-id"]
        assert (await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})).status == 202
        return self

    async def call(self, call: Call, reply: Reply | None = None) -> Reply:
        """Make one HTTP request and wait for its whole answer."""
        reply = reply or Reply()
        headers = dict.fromkeys(("mcp-method", "mcp-name", "mcp-protocol-version"))
        call = msgspec.structs.replace(call, headers={**headers, **call.headers}, state={**self.state, **call.state})
        scope, body = call.scope_and_body()
        pieces = [body]

        async def receive() -> dict[str, Any]:
            await trio.lowlevel.checkpoint()
            if pieces:
                return {"type": "http.request", "body": pieces.pop(0), "more_body": False}
            await reply.left.wait()
            return {"type": "http.disconnect"}

        await self.app(scope, receive, reply.take)
        return reply

    def headers(self, **more: Any) -> dict[str, Any]:
        """What this client sends with every request of its session."""
        version = {"mcp-protocol-version": None if self.version == MARCH else self.version}
        return {"mcp-session-id": self.session, **version, **{k.replace("_", "-"): v for k, v in more.items()}}

    async def post(self, message: Any, **headers: Any) -> Reply:
        """Post a message."""
        return await self.call(Call(message=message, headers=self.headers(**headers)))

    async def request(self, method: str, request_id: Any = 1, **params: Any) -> Any:
        """Make a request and return its response, whatever else came."""
        reply = await self.post(rpc(method, request_id, **params))
        return reply.messages[-1]

    async def tool(self, name: str, request_id: Any = 1, **arguments: Any) -> Any:
        """Call a tool and return the response."""
        return await self.request("tools/call", request_id, name=name, arguments=arguments)

    async def answer(self, question: Any, result: Any) -> Reply:
        """Answer a question of the server."""
        return await self.post({"jsonrpc": "2.0", "id": question["id"], "result": result})

    async def cancel(self, request_id: Any) -> Reply:
        """Cancel a request."""
        params = {"requestId": request_id}
        return await self.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    async def delete(self) -> Reply:
        """End the session."""
        return await self.call(Call(method="DELETE", headers=self.headers()))

    @asynccontextmanager
    async def streaming(self, call: Call) -> AsyncIterator[Reply]:
        """Make a request in the background; the reply fills up. Leaving the block disconnects."""
        reply = Reply()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.call, call, reply)
            yield reply
            reply.leave()

    def posting(self, message: Any, **headers: Any) -> AbstractAsyncContextManager[Reply]:
        """As `streaming`, for a POST."""
        return self.streaming(Call(message=message, headers=self.headers(**headers)))

    def calling(self, name: str, request_id: Any = 1, **arguments: Any) -> AbstractAsyncContextManager[Reply]:
        """As `streaming`, for a tool call."""
        return self.posting(rpc("tools/call", request_id, name=name, arguments=arguments))

    def calling_as_json(self, name: str, request_id: Any = 1, **arguments: Any) -> AbstractAsyncContextManager[Reply]:
        """As `calling`, by a client that takes no stream."""
        message = rpc("tools/call", request_id, name=name, arguments=arguments)
        return self.posting(message, accept="application/json")

    def listening(self, **headers: Any) -> AbstractAsyncContextManager[Reply]:
        """As `streaming`, for a GET."""
        return self.streaming(Call(method="GET", headers=self.headers(accept="text/event-stream", **headers)))


def rpc(method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
    """Build a request of the 2025 revisions."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return {**message, "params": params} if params else message


def text_of(response: Any) -> str:
    """The text of a tool's result."""
    text: str = response["result"]["content"][0]["text"]
    return text


class Place:
    """An endpoint with the shop behind it."""

    def __init__(self, app: Endpoint, shop: Shop, node: Node) -> None:
        self.app = app
        self.shop = shop
        self.node = node

    async def client(self, version: str = NOVEMBER, capabilities: Mapping[str, Any] = EVERY_CAPABILITY) -> Client:
        """Open a session."""
        return await Client(self.app, version).open(capabilities)

    async def quiet(self) -> None:
        """Wait until no worker lives."""
        with trio.fail_after(1000):
            while self.node.snapshot():
                await trio.sleep(0.01)

    @property
    def kept(self) -> tuple[int, int]:
        """How many sessions and streams something is kept of."""
        legacy = self.app.legacy
        assert legacy is not None
        return len(legacy.sessions), len(legacy.streams)


@asynccontextmanager
async def open_place(**options: Any) -> AsyncIterator[Place]:
    """Run an endpoint with these options."""
    shop = Shop()
    async with Node(grace=0.5) as node, shop.suite.attach(node):
        yield Place(endpoint(shop.suite, node=node, **options), shop, node)
