"""Real sockets for the tests of the connection: an application that tells what became of its requests, and clients."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import h2.config
import h2.connection
import h2.events
import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.utils import wrap_app

from transport.connection import CONNECTION_KEY, Connection
from transport.wire import PeerGone, client_stalled, open_wire

PIECE = b"x" * 2**16
DEADLINE = 0.3  # write deadline of the hosts whose clients do not read

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class LeftError(Exception):
    """The client left before its body was there."""


class Visit:
    """What became of one request."""

    def __init__(self) -> None:
        self.begun = trio.Event()  # its body was read
        self.left = trio.Event()  # its client was reported gone
        self.ended = trio.Event()  # its application call is over
        self.release = trio.Event()  # set by a test: answer now
        self.wire_stalled: bool | None = None
        self.sent = 0
        self.most_pending = 0


class Guestbook:
    """An ASGI application whose path says how it answers and whose query names the visit."""

    def __init__(self) -> None:
        self.visits: dict[str, Visit] = {}

    def visit(self, name: str) -> Visit:
        return self.visits.setdefault(name, Visit())

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        visit = self.visit(scope["query_string"].decode())
        try:
            await getattr(self, "_" + scope["path"].strip("/"))(scope, receive, send, visit)
        except LeftError:
            pass
        finally:
            visit.ended.set()

    async def _echo(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        size = await read_body(receive, visit)
        await answer(send, 200, b"got %d" % size)

    async def _accepted(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await read_body(receive, visit)
        await answer(send, 202, b"")

    async def _nothing(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await read_body(receive, visit)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def _refuse(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await answer(send, 413, b"too large")

    async def _never_read(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await visit.release.wait()
        await answer(send, 413, b"too large")

    async def _crash(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        raise ValueError("a fault of the application")

    async def _crash_in_body(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await read_body(receive, visit)
        await start_stream(send)
        raise ValueError("a fault of the application")

    async def _too_little(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await send({"type": "http.response.body", "body": b"short"})

    async def _impatient(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        """Refuse a body that is not there in 0.1 s; ask in tiny turns, each of which may lose nothing."""
        size = 0
        ends = trio.current_time() + 0.1
        while trio.current_time() < ends:
            with trio.move_on_after(0.005):
                size += len((await receive())["body"])
        await answer(send, 408, b"%d of 10" % size)

    async def _download(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await read_body(receive, visit)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await visit.release.wait()
        await send({"type": "http.response.body", "body": b"last"})

    async def _wait(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await read_body(receive, visit)
        if await until_released(receive, visit):
            await answer(send, 200, b"answer")

    async def _stream(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await read_body(receive, visit)
        await start_stream(send)
        if await until_released(receive, visit):
            await send({"type": "http.response.body", "body": b"data: answer\n\n"})

    async def _flood(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        await read_body(receive, visit)
        await start_stream(send)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._pour, scope, send, visit)
            await until_left(receive)
            visit.left.set()
            nursery.cancel_scope.cancel()

    async def _pour(self, scope: Any, send: Send, visit: Visit) -> None:
        while True:
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
            visit.sent += len(PIECE)
            visit.most_pending = max(visit.most_pending, scope["state"][CONNECTION_KEY].pending)

    async def _wire(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        """Write as many numbered frames as the path's last part says, past the application."""
        await read_body(receive, visit)
        await start_stream(send)
        async with open_wire(scope, send, DEADLINE) as wire:
            try:
                for number in range(3000):
                    frame = b"data: %d %s\n\n" % (number, b"y" * 1000)
                    while not wire.write(frame):
                        await wire.room()
                    visit.sent += 1
                    if number % 100 == 0:
                        await send({"type": "http.response.body", "body": b": mixed\n\n", "more_body": True})
            except PeerGone:
                visit.left.set()
            visit.wire_stalled = wire.stalled
            assert client_stalled(scope) == wire.stalled
        await send({"type": "http.response.body", "body": b"data: end\n\n"})

    async def _socket(self, scope: Any, receive: Receive, send: Send, visit: Visit) -> None:
        """Echo WebSocket messages, once the test lets it accept."""
        assert (await receive())["type"] == "websocket.connect"
        visit.begun.set()
        await visit.release.wait()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
        visit.left.set()


async def read_body(receive: Receive, visit: Visit) -> int:
    """Take the whole body; a client that leaves in the middle is noted."""
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            visit.left.set()
            raise LeftError
        size += len(message["body"])
        if not message["more_body"]:
            visit.begun.set()
            return size


async def until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def until_released(receive: Receive, visit: Visit) -> bool:
    """Wait for the test's word; False: the client left first."""

    async def watch(scope: trio.CancelScope) -> None:
        await until_left(receive)
        visit.left.set()
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch, nursery.cancel_scope)
        await visit.release.wait()
        nursery.cancel_scope.cancel()
    return not visit.left.is_set()


async def start_stream(send: Send) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b": hello\n\n", "more_body": True})


async def answer(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Host:
    """A listener on a port of its own, whose clients are served by our connection.

    Attributes:
        book: The application.
        connections: Every connection that was accepted, also those that ended.
        nursery: Where it accepts; cancelling it cuts every connection.
        faults: What left a connection's `run`; must stay empty.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self.book = Guestbook()
        self.connections: list[Connection] = []
        self.running = 0
        self.sockets: list[trio.socket.SocketType] = []  # of the clients
        self.faults: list[BaseException] = []
        self.config = Config()
        self.config.accesslog = None
        self.config.keep_alive_timeout = 5.0
        self.context = WorkerContext(None)
        self.tls: ssl.SSLContext | None = None
        self.port = 0
        self.nursery: trio.Nursery
        self._outside = nursery
        self._settings: dict[str, Any] = {}

    async def open(self, *, tls: ssl.SSLContext | None = None, unix: str | None = None, **settings: Any) -> Host:
        """Listen; `settings` go to every connection."""
        self._settings = settings
        self.tls = tls
        if unix is None:
            listeners: list[Any] = list(await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=512))
            self.port = listeners[0].socket.getsockname()[1]
        else:
            listening = trio.socket.socket(socket.AF_UNIX)
            await listening.bind(unix)
            listening.listen()
            listeners = [trio.SocketListener(listening)]
        if tls is not None:
            listeners = [trio.SSLListener(listener, tls, https_compatible=True) for listener in listeners]
        await self._outside.start(self._accept, listeners)
        return self

    async def _accept(
        self, listeners: list[Any], task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        async with trio.open_nursery() as self.nursery:
            await self.nursery.start(trio.serve_listeners, self._serve, listeners)
            task_status.started()

    async def _serve(self, stream: Any) -> None:
        app = wrap_app(self.book, 2**20, "asgi")
        connection = Connection(app, self.config, self.context, {}, stream, **self._settings)
        self.connections.append(connection)
        self.running += 1
        try:
            await connection.run()
        except Exception as error:
            self.faults.append(error)
        finally:
            self.running -= 1

    def close_clients(self) -> None:
        """Close what a test left open."""
        for raw in self.sockets:
            raw.close()

    @property
    def connection(self) -> Connection:
        """The newest connection."""
        return self.connections[-1]

    async def all_gone(self) -> None:
        """Wait until no connection is left."""
        await until(lambda: self.running == 0)

    async def client(self, *, receive_buffer: int | None = None, alpn: str = "http/1.1") -> Client:
        """Connect, and shake hands if the host speaks TLS."""
        raw = trio.socket.socket()
        if receive_buffer is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await raw.connect(("127.0.0.1", self.port))
        plain = trio.SocketStream(raw)
        self.sockets.append(raw)
        if self.tls is None:
            return Client(plain, raw)
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols([alpn])
        secure = trio.SSLStream(plain, context, server_hostname="localhost", https_compatible=True)
        await secure.do_handshake()
        return Client(secure, raw)

    async def h2_client(self, **options: Any) -> H2Client:
        """Connect and speak HTTP/2."""
        client = H2Client(await self.client(alpn="h2", **options))
        await client.flush()
        return client


class Client:
    """Bytes to and from a host."""

    def __init__(self, stream: trio.abc.Stream, raw: trio.socket.SocketType) -> None:
        self.stream = stream
        self.raw = raw
        self.got = b""

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def read(self, size: int = 65536) -> bytes:
        return bytes(await self.stream.receive_some(size))

    async def until(self, mark: bytes, times: int = 1) -> bytes:
        """Read until `mark` has come `times` times; what was read up to there is taken."""
        with trio.fail_after(3):
            while self.got.count(mark) < times:
                data = await self.read()
                if not data:
                    raise EOFError(f"the end came before {mark!r}: {self.got[-200:]!r}")
                self.got += data
        taken, self.got = self.got, b""
        return taken

    async def rest(self) -> bytes:
        """Read to the end of file."""
        with trio.fail_after(3):
            while data := await self.read():
                self.got += data
        return self.got

    async def close(self) -> None:
        await trio.aclose_forcefully(self.stream)

    async def reset(self) -> None:
        """Close with a reset."""
        self.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.close()


class H2Client:
    """HTTP/2 requests to a host."""

    def __init__(self, client: Client) -> None:
        self.wire = client
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.h2.initiate_connection()
        self.bodies: dict[int, bytes] = {}
        self.statuses: dict[int, int] = {}
        self.ended: set[int] = set()
        self.resets: dict[int, int] = {}
        self.goaway = False
        self.acknowledges = True

    async def flush(self) -> None:
        await self.wire.send(self.h2.data_to_send())

    async def request(self, path: str, body: bytes = b"{}", *, end: bool = True) -> int:
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, self.head(path))
        self.h2.send_data(stream, body, end_stream=end)
        await self.flush()
        return stream

    @staticmethod
    def head(path: str) -> list[tuple[str, str]]:
        return [(":method", "POST"), (":path", path), (":scheme", "http"), (":authority", "x")]

    async def pump(self, condition: Callable[[], bool], seconds: float = 3) -> None:
        """Take what comes until `condition` holds."""
        with trio.fail_after(seconds):
            while not condition():
                data = await self.wire.read()
                if not data:
                    raise EOFError("the connection ended")
                for event in self.h2.receive_data(data):
                    self.note(event)
                await self.flush()

    async def drain(self) -> None:
        """Take what comes to the end of file."""
        with suppress(EOFError):
            await self.pump(lambda: False)

    def note(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.ResponseReceived():
                self.statuses[event.stream_id] = int(dict(event.headers)[b":status"])
            case h2.events.DataReceived():
                self.bodies[event.stream_id] = self.bodies.get(event.stream_id, b"") + event.data
                if self.acknowledges:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                self.ended.add(event.stream_id)
            case h2.events.StreamReset():
                self.resets[event.stream_id] = event.error_code
            case h2.events.ConnectionTerminated():
                self.goaway = True


def request(path: str, body: bytes = b"{}", *headers: bytes, version: bytes = b"1.1") -> bytes:
    """Spell an HTTP/1 request."""
    lines = [
        b"POST %s HTTP/%s" % (path.encode(), version),
        b"Host: x",
        b"Content-Length: %d" % len(body),
        *headers,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


async def until(condition: Callable[[], bool], seconds: float = 3) -> None:
    """Wait for something that has no event of its own."""
    with trio.fail_after(seconds):
        while not condition():
            await trio.sleep(0.005)


async def in_time(event: trio.Event, seconds: float = 1) -> bool:
    """Whether it happens within the second that the connection promises."""
    with trio.move_on_after(seconds):
        await event.wait()
    return event.is_set()


@asynccontextmanager
async def no_task_left(host: Host) -> AsyncIterator[None]:
    """Assert that as many tasks live after the block as before it."""
    before = trio.lowlevel.current_statistics().tasks_living
    yield
    await host.all_gone()
    await until(lambda: trio.lowlevel.current_statistics().tasks_living == before)
