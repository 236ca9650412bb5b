"""HTTP/2 on one connection: Hypercorn's protocol, corrected so that one client harms only itself.

* Sending. A stream holds its sender while the client's window is shut (in Hypercorn 0.18 all of 50 MB is
  buffered), and is reset when the window stays shut for the write deadline; its neighbours live.
* Receiving. The window of a request's body is reopened when the application has taken the body, not
  before, so the reader never waits for one application and no body is buffered beyond its window.
* Late events. DATA after an early answer is dropped (Hypercorn: KeyError, which ends its server).
* Floods. Applications that still run after a reset count towards the stream limit; priorities, which
  HTTP/2 has given up (RFC 9113 §5.3), are ignored; long reads are handled in slices.
* Endings. What runs is finished when the client says GOAWAY. We say it with the end of the connection, not
  before: h2's own clients take nothing after it, so there is no limit of requests for a connection either
  (Hypercorn's drops the answers that are still to come). An application that fails in the middle of its
  answer resets the stream.
"""

from contextlib import suppress

import h2.connection
import h2.events
import h2.exceptions
import trio
from h2.errors import ErrorCodes
from hypercorn.events import Closed, RawData, Updated
from hypercorn.events import Event as ConnectionEvent
from hypercorn.protocol.events import Body, EndBody, Event, Request, StreamClosed
from hypercorn.protocol.h2 import H2Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.protocol.ws_stream import WSStream
from hypercorn.typing import ConnectionState
from hypercorn.utils import filter_pseudo_headers

from transport.http2_stream import Http2Stream, Turns
from transport.line import Line, Parts
from transport.tasks import STREAM_KEY

__all__ = ["Http2"]

SLICE = 2**14  # bytes handled before other tasks have a turn: 64 KiB may be thousands of frames
FRAME_HEAD = 9  # bytes
WINDOW = 2**24  # of the connection, in bytes: the streams' own windows bound what is buffered


class Http2(H2Protocol):
    """HTTP/2 on a `Line`.

    Args:
        line: The connection.
        parts: What Hypercorn's class takes.
        write_deadline: Seconds for which a stream's window may stay shut before the stream is reset.
    """

    unread = True  # a client that broke the protocol may go on sending

    def __init__(self, line: Line, parts: Parts, *, write_deadline: float) -> None:
        super().__init__(*parts)
        self.priority = Turns()
        self._line = line
        self._parts = parts
        self._write_deadline = write_deadline
        self._leaving = False  # the client said GOAWAY: the connection ends with the last answer

    def probe(self) -> None:
        """There is no way to ask a client that shut its sending side: end of file is a disconnect."""
        return

    async def initiate(self, headers: list[tuple[bytes, bytes]] | None = None, settings: bytes | None = None) -> None:
        """Send the settings, and take the request of an upgrade (`headers`, `settings`) as stream 1."""
        if settings is None:
            self.connection.initiate_connection()
        else:
            self.connection.initiate_upgrade_connection(settings)
        self.connection.increment_flow_control_window(WINDOW)
        await self._flush()
        self.task_group.spawn(self.send_task)
        if headers is not None:
            await self._create_stream(h2.events.RequestReceived(stream_id=1, headers=headers))
            await self._body_ended(1)

    # -- what the connection says

    async def handle(self, event: ConnectionEvent) -> None:
        """Take bytes from the client, or the end of the connection."""
        if isinstance(event, RawData):
            await self._take_bytes(event.data)
        elif isinstance(event, Closed) and not self.closed:
            await super().handle(event)
            for stream in list(self.stream_buffers.values()):
                await stream.close()
            if self.connection.state_machine.state is not h2.connection.ConnectionState.CLOSED:
                self.connection.close_connection()
            self._line.write(self.connection.data_to_send())

    async def _take_bytes(self, data: bytes) -> None:
        for start in range(0, len(data), SLICE):
            if self.closed:
                return
            if start:
                await trio.lowlevel.checkpoint()
            await super().handle(RawData(data=data[start : start + SLICE]))
            if len(self.connection.incoming_buffer._data) > FRAME_HEAD + self.connection.max_inbound_frame_size:
                # h2 looks at a frame's length when the whole frame is there; it may say 16 MiB.
                self.connection.close_connection(ErrorCodes.FRAME_SIZE_ERROR)
                await self.send(Closed())

    # -- what the client says

    async def _handle_events(self, events: list[h2.events.Event]) -> None:
        for event in events:
            match event:
                case h2.events.RequestReceived():
                    await self._request(event)
                case h2.events.DataReceived():
                    await self._data(event)
                case h2.events.StreamEnded():
                    await self._body_ended(event.stream_id)
                case h2.events.StreamReset():
                    await self.end_stream(event.stream_id, None)
                case h2.events.WindowUpdated():
                    await self._window_updated(event.stream_id)
                case h2.events.RemoteSettingsChanged():
                    await self._window_updated(None)
                case h2.events.ConnectionTerminated():
                    await self._client_leaves(event)
        await self._flush()

    async def _request(self, event: h2.events.RequestReceived) -> None:
        if self._leaving or self.context.terminated.is_set() or self._is_full():
            self._send_reset(event.stream_id, ErrorCodes.REFUSED_STREAM)
        elif not _is_well_formed(event):
            self._send_reset(event.stream_id, ErrorCodes.PROTOCOL_ERROR)
        else:
            await self._create_stream(event)
            await self.send(Updated(idle=self.idle))

    def _is_full(self) -> bool:
        """Whether too many applications run, those of streams that the client has reset included."""
        return self._parts.task_group.running >= 2 * self.config.h2_max_concurrent_streams

    async def _data(self, event: h2.events.DataReceived) -> None:
        stream = self.streams.get(event.stream_id)
        unheld = event.flow_controlled_length
        if isinstance(stream, HTTPStream):
            unheld -= len(event.data)  # the padding; the inbox tells when the rest was taken
            await stream.handle(Body(stream_id=event.stream_id, data=event.data))
        elif isinstance(stream, WSStream):
            if stream.handshake.accepted:
                await stream.handle(Body(stream_id=event.stream_id, data=event.data))
            else:
                await self.end_stream(event.stream_id, ErrorCodes.PROTOCOL_ERROR)
        self._acknowledge(event.stream_id, unheld)

    async def _body_ended(self, stream_id: int) -> None:
        if (stream := self.streams.get(stream_id)) is not None:
            await stream.handle(EndBody(stream_id=stream_id))

    async def _client_leaves(self, event: h2.events.ConnectionTerminated) -> None:
        """GOAWAY: what runs may be finished if the client left in peace, and h2 is told so."""
        if event.error_code or not self.streams:
            await self.send(Closed())
        else:
            self._leaving = True
            self.connection.state_machine.state = h2.connection.ConnectionState.SERVER_OPEN

    # -- the window of bodies

    def body_taken(self, stream_id: int, size: int) -> None:
        """Reopen the client's window: the application took `size` bytes, or they were dropped."""
        self._acknowledge(stream_id, size)
        if not self.closed:
            self._line.write(self.connection.data_to_send())

    def _acknowledge(self, stream_id: int, size: int) -> None:
        if size:
            with suppress(h2.exceptions.ProtocolError):  # the connection is over
                self.connection.acknowledge_received_data(size, stream_id)

    # -- what the application says

    async def stream_send(self, event: Event) -> None:
        """Send one event of a response; an application whose client is gone is not let spin."""
        if isinstance(event, StreamClosed):
            await self._answered(event.stream_id)
            return
        await super().stream_send(event)
        if event.stream_id not in self.streams:
            await trio.lowlevel.checkpoint()

    async def _answered(self, stream_id: int) -> None:
        """The application has ended. In the middle of its answer, only a reset can say so."""
        stream = self.stream_buffers.get(stream_id)
        failed = isinstance(stream, Http2Stream) and not stream.ended
        await self.end_stream(stream_id, ErrorCodes.INTERNAL_ERROR if failed else None, forget=failed)

    # -- streams

    async def _create_stream(self, request: h2.events.RequestReceived) -> None:
        stream_id = request.stream_id
        fields = {bytes(name): bytes(value) for name, value in request.headers if name in (b":method", b":path")}
        method = fields[b":method"].decode().upper()
        made = WSStream if method == "CONNECT" else HTTPStream
        stream = made(*self._parts[:4], *self._parts[5:8], self.stream_send, stream_id)
        outgoing = Http2Stream(self, stream_id, event_class=self.context.event_class, deadline=self._write_deadline)
        self.streams[stream_id] = stream
        self.stream_buffers[stream_id] = outgoing
        self.priority.insert_stream(stream_id)
        await stream.handle(
            Request(
                stream_id=stream_id,
                headers=filter_pseudo_headers(request.headers),
                http_version="2",
                method=method,
                raw_path=fields[b":path"],
                state=ConnectionState({**self.connection_state, STREAM_KEY: outgoing}),
            )
        )
        self.keep_alive_requests += 1
        await self.context.mark_request()
        if stream.closed:  # refused without asking the application
            await self._close_stream(stream_id)

    async def end_stream(self, stream_id: int, code: ErrorCodes | None, *, forget: bool = True) -> None:
        """Tell the application that its client is gone, and the client `code` if there is one.

        Args:
            stream_id: The stream.
            code: Sent to the client in a reset.
            forget: Drop what is still to be sent.
        """
        if forget:
            await self._forget(stream_id)
        if code is not None:
            self._send_reset(stream_id, code)
            await self._flush()
        await self._close_stream(stream_id)
        if self.idle and (self._leaving or self.context.terminated.is_set()):
            await self.send(Closed())
        else:
            await self.send(Updated(idle=self.idle))

    def _send_reset(self, stream_id: int, code: ErrorCodes) -> None:
        with suppress(h2.exceptions.ProtocolError):  # the client was faster
            self.connection.reset_stream(stream_id, error_code=code)

    async def _forget(self, stream_id: int) -> None:
        self.priority.remove_stream(stream_id)
        stream = self.stream_buffers.pop(stream_id, None)
        if stream is not None:
            await stream.close()

    async def _send_data(self, stream_id: int) -> None:
        """One turn of a stream: as much of what it has to send as the client's window and a frame take."""
        stream = self.stream_buffers.get(stream_id)
        if not isinstance(stream, Http2Stream):
            self.priority.remove_stream(stream_id)
            return
        try:
            window = self.connection.local_flow_control_window(stream_id)
            data = await stream.pop(max(0, min(window, self.connection.max_outbound_frame_size)))
            if stream.complete:
                self.connection.send_data(stream_id, data, end_stream=True)
                await self._forget(stream_id)
            elif data:
                self.connection.send_data(stream_id, data)
            else:
                self.priority.block(stream_id)
        except h2.exceptions.ProtocolError:  # reset, or the connection ended, meanwhile
            await self._forget(stream_id)
        await self._flush()


def _is_well_formed(event: h2.events.RequestReceived) -> bool:
    """Whether a scope can be made of it: h2 lets a CONNECT without a path pass, and a path of any bytes."""
    found = {bytes(name): bytes(value) for name, value in event.headers if name in (b":method", b":path")}
    return len(found) == 2 and all(value.isascii() for value in found.values()) and found[b":path"][:1] in (b"/", b"*")
