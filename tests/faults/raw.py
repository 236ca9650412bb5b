"""Clients that speak to a server byte by byte, so that they can break off, stall or lie at any point."""

from __future__ import annotations

import json
import socket
import ssl
import struct
from collections.abc import Callable, Mapping
from typing import Any, Self
from urllib.parse import urlsplit

import h2.config
import h2.connection
import h2.events
import trio

from tests.interop.wire import call, headers_for

PATIENCE = 5.0
"""Seconds that a test waits for what should come at once."""


class Raw:
    """One socket to a server.

    Attributes:
        stream: What bytes go through, TLS or not.
        received: What has come and was not taken yet.
    """

    def __init__(self, stream: trio.abc.Stream, plain: trio.socket.SocketType, target: str) -> None:
        self.stream = stream
        self.received = b""
        self._socket = plain
        self._target = urlsplit(target)

    @classmethod
    async def connect(
        cls, url: str, *, tls: ssl.SSLContext | None = None, receive_buffer: int | None = None, alpn: str = "http/1.1"
    ) -> Self:
        target = urlsplit(url)
        plain = trio.socket.socket()
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await plain.connect((target.hostname, target.port))
        stream: trio.abc.Stream = trio.SocketStream(plain)
        if tls is not None:
            tls.set_alpn_protocols([alpn])
            secure = trio.SSLStream(stream, tls, server_hostname=target.hostname, https_compatible=True)
            await secure.do_handshake()
            stream = secure
        return cls(stream, plain, url)

    def spelled(self, body: dict[str, Any] | bytes, headers: Mapping[str, str] | None = None) -> bytes:
        """Spell a POST of a JSON-RPC message."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {} if isinstance(body, bytes) else headers_for(body)
        fields = {"Host": self._target.netloc, **fields, "Content-Length": str(len(content)), **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"POST {self._target.path} HTTP/1.1\r\n{head}\r\n".encode() + content

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def post(self, body: dict[str, Any] | bytes, **headers: str) -> None:
        await self.send(self.spelled(body, {name.replace("_", "-"): value for name, value in headers.items()}))

    async def until(self, mark: bytes, seconds: float = PATIENCE) -> bytes:
        """Read until `mark` has come, and take everything up to its end."""
        with trio.fail_after(seconds):
            while mark not in self.received:
                data = await self.stream.receive_some()
                assert data, f"the end came before {mark!r}: {self.received[-300:]!r}"
                self.received += data
        end = self.received.index(mark) + len(mark)
        taken, self.received = self.received[:end], self.received[end:]
        return taken

    async def rest(self, seconds: float = PATIENCE) -> bytes:
        """Read to the end of file, or to a reset."""
        try:
            with trio.fail_after(seconds):
                while data := await self.stream.receive_some():
                    self.received += data
        except trio.BrokenResourceError:
            pass
        return self.received

    async def answer(self, seconds: float = PATIENCE) -> tuple[int, dict[str, str], bytes]:
        """Read one whole response: its status, its headers in lower case, its body with chunks joined."""
        head = (await self.until(b"\r\n\r\n", seconds)).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = b""
        if "content-length" in headers:
            body = await self._exactly(int(headers["content-length"]), seconds)
        elif headers.get("transfer-encoding") == "chunked":
            while size := int(await self.until(b"\r\n", seconds), 16):
                body += (await self._exactly(size + 2, seconds))[:-2]
            await self._exactly(2, seconds)
        return int(head[0].split()[1]), headers, body

    async def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """Post a message and return the JSON object it is answered with."""
        await self.post(body)
        found: dict[str, Any] = json.loads((await self.answer())[2])
        return found

    async def tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a tool and return its structured content, or else its text."""
        result = (await self.ask(call(name, arguments)))["result"]
        return result["structuredContent"] if "structuredContent" in result else result["content"][0]["text"]

    async def _exactly(self, size: int, seconds: float) -> bytes:
        with trio.fail_after(seconds):
            while len(self.received) < size:
                data = await self.stream.receive_some()
                assert data, "the end came within a body"
                self.received += data
        taken, self.received = self.received[:size], self.received[size:]
        return taken

    async def close(self) -> None:
        await trio.aclose_forcefully(self.stream)

    async def reset(self) -> None:
        """Close with a reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.close()

    def shut_writing(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)


class Http2(Raw):
    """HTTP/2 to a server, by prior knowledge or TLS.

    Attributes:
        h2: The state machine; tests may also send frames that it would not.
        bodies: What has come on each stream.
        statuses: The status of each stream.
        ended: Streams that ended.
        resets: The error code of each stream that was reset.
        acknowledges: Whether windows are reopened.
    """

    def __init__(self, stream: trio.abc.Stream, plain: trio.socket.SocketType, target: str) -> None:
        super().__init__(stream, plain, target)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.bodies: dict[int, bytes] = {}
        self.statuses: dict[int, int] = {}
        self.ended: set[int] = set()
        self.resets: dict[int, int] = {}
        self.acknowledges = True

    @classmethod
    async def greet(cls, url: str, **options: Any) -> Self:
        """Connect and send the preface."""
        made = await cls.connect(url, alpn="h2", **options)
        made.h2.initiate_connection()
        await made.flush()
        return made

    async def flush(self) -> None:
        await self.send(self.h2.data_to_send())

    def fields(self, body: dict[str, Any], size: int, **pseudo: str) -> list[tuple[str, str]]:
        """The header fields of a POST."""
        found = {
            ":method": "POST",
            ":path": self._target.path,
            ":scheme": "http",
            ":authority": self._target.netloc,
            **{f":{name}": value for name, value in pseudo.items()},
        }
        fields = {**headers_for(body), "Content-Length": str(size)}
        return [*found.items(), *((name.lower(), value) for name, value in fields.items())]

    async def begin(self, body: dict[str, Any]) -> int:
        """Post a message on a stream of its own; returns its number."""
        content = json.dumps(body).encode()
        number = self.h2.get_next_available_stream_id()
        self.h2.send_headers(number, self.fields(body, len(content)))
        self.h2.send_data(number, content, end_stream=True)
        await self.flush()
        return number

    async def pump(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Take what comes until `condition` holds."""
        with trio.fail_after(seconds):
            while not condition():
                data = await self.stream.receive_some()
                if not data:
                    raise EOFError("the connection ended")
                for event in self.h2.receive_data(data):
                    self._note(event)
                await self.flush()

    async def json(self, number: int) -> dict[str, Any]:
        """Wait for the answer of a stream, one JSON object."""
        await self.pump(lambda: number in self.ended)
        found: dict[str, Any] = json.loads(self.bodies[number])
        return found

    def _note(self, event: h2.events.Event) -> None:
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
