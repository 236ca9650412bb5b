"""What the connection relies on in Hypercorn 0.18, h11 and h2 that is not their public interface.

When one of these fails after an upgrade, read what changed there before the pin in pyproject.toml is moved.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import h2.connection
import h2.events
import h11
import hypercorn
import pytest
from hypercorn.config import Config
from hypercorn.events import Closed, RawData, Updated
from hypercorn.protocol import events
from hypercorn.protocol.h2 import BUFFER_HIGH_WATER, BUFFER_LOW_WATER, BufferCompleteError, H2Protocol, StreamBuffer
from hypercorn.protocol.h11 import H2CProtocolRequiredError, H2ProtocolAssumedError, H11Protocol, H11WSConnection
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.protocol.ws_stream import Handshake, WSStream
from hypercorn.trio.worker_context import EventWrapper, WorkerContext
from hypercorn.typing import TaskGroup
from hypercorn.utils import filter_pseudo_headers, parse_socket_addr, wrap_app
from priority.priority import DeadlockError, PriorityTree

from transport.http1 import Http1, ReadGate
from transport.http1_stream import Http1Stream
from transport.http2 import Http2
from transport.http2_stream import Http2Stream, Turns
from transport.line import Parts
from transport.tasks import AppTasks


def names(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def made(kind: type[Any]) -> Any:
    """One of Hypercorn's protocols, with nothing behind it."""
    return kind(None, Config(), WorkerContext(None), None, {}, False, None, None, None)


def test_the_pinned_version_is_installed() -> None:
    assert hypercorn.__file__
    assert Config().h11_max_incomplete_size == 16 * 1024
    assert Config().h2_max_concurrent_streams == 100


@pytest.mark.parametrize("protocol", [H11Protocol, H2Protocol])
def test_protocols_take_the_parts_in_order(protocol: type) -> None:
    assert names(protocol) == list(Parts._fields)


@pytest.mark.parametrize("stream", [HTTPStream, WSStream])
def test_streams_take_the_parts_without_state_and_send(stream: type) -> None:
    assert names(stream) == [*Parts._fields[:4], *Parts._fields[5:8], "send", "stream_id"]


@pytest.mark.parametrize(
    ("ours", "theirs", "methods"),
    [
        (Http1, H11Protocol, "handle initiate stream_send _create_stream _send_error_response _send_h11_event"),
        (Http1, H11Protocol, "_handle_events _check_protocol _maybe_recycle _close_stream"),
        (Http1Stream, HTTPStream, "handle app_send"),
        (Http2, H2Protocol, "handle initiate stream_send send_task _handle_events _create_stream _send_data"),
        (Http2, H2Protocol, "_close_stream _flush _window_updated"),
        (Http2Stream, StreamBuffer, "push pop drain close set_complete"),
        (Turns, PriorityTree, "insert_stream remove_stream block unblock"),
        (AppTasks, TaskGroup, "spawn_app spawn __aenter__ __aexit__"),
        (ReadGate, EventWrapper, "clear set wait is_set"),
    ],
)
def test_overridden_and_used_methods_have_the_same_parameters(ours: type, theirs: type, methods: str) -> None:
    for method in methods.split():
        mine, original = getattr(ours, method), getattr(theirs, method)
        assert names(mine) == names(original), method
        assert inspect.iscoroutinefunction(mine) == inspect.iscoroutinefunction(original), method


def test_h11_protocols_have_the_attributes_that_are_replaced() -> None:
    protocol = made(H11Protocol)
    assert isinstance(protocol.connection, h11.Connection)
    assert isinstance(protocol.can_read, EventWrapper)
    assert protocol.stream is None


def test_h2_protocols_have_the_attributes_that_are_replaced() -> None:
    protocol = made(H2Protocol)
    assert isinstance(protocol.connection, h2.connection.H2Connection)
    assert isinstance(protocol.priority, PriorityTree)
    assert protocol.streams == protocol.stream_buffers == {}
    assert protocol.closed is False
    assert protocol.idle is True
    assert protocol.keep_alive_requests == 0
    assert hasattr(protocol, "has_data")


def test_stream_buffers_have_the_attributes_that_are_used() -> None:
    buffer = StreamBuffer(EventWrapper)
    assert buffer.buffer == b""
    assert buffer._complete is False
    assert isinstance(buffer._paused, EventWrapper)
    assert isinstance(buffer._is_empty, EventWrapper)
    assert buffer.complete is False
    assert BUFFER_LOW_WATER < BUFFER_HIGH_WATER
    assert issubclass(BufferCompleteError, Exception)
    assert issubclass(DeadlockError, Exception)


def test_websocket_streams_say_what_was_accepted() -> None:
    assert Handshake([], "1.1").accepted is False
    stand_in = H11WSConnection(h11.Connection(h11.SERVER))
    assert stand_in.buffer == b""
    assert stand_in.their_state is None
    assert stand_in.trailing_data == (b"", False)


def test_the_switch_to_http2_is_an_exception_with_its_bytes() -> None:
    request = h11.Request(method="GET", target="/", headers=[("Host", "x"), ("HTTP2-Settings", "abc")])
    upgrade = H2CProtocolRequiredError(b"rest", request)
    assert upgrade.data == b"rest"
    assert upgrade.settings == b"abc"
    assert (b":path", b"/") in upgrade.headers
    assert H2ProtocolAssumedError(b"rest").data == b"rest"


def test_events_have_the_fields_that_are_read() -> None:
    assert RawData(b"x").data == b"x"
    assert Updated(idle=True).idle
    assert Closed() == Closed()
    assert events.Body(stream_id=1, data=b"x").data == b"x"
    assert events.EndBody(stream_id=1).stream_id == events.StreamClosed(stream_id=1).stream_id == 1
    assert events.Response(stream_id=1, headers=[], status_code=101).status_code == 101
    assert names(events.Request) == ["stream_id", "headers", "http_version", "method", "raw_path", "state"]


async def test_the_end_of_an_application_is_told_with_none() -> None:
    told: list[Any] = []

    async def send(event: Any) -> None:
        told.append(type(event))

    async def app_put(message: Any) -> None:
        told.append(message["type"])

    stream = HTTPStream(None, Config(), WorkerContext(None), None, False, None, None, send, 1)  # type: ignore[arg-type]  # nothing behind it
    stream.app_put = app_put
    stream.start_time = 0.0
    stream.scope = {"method": "POST"}  # type: ignore[typeddict-item]  # all that is read
    await stream.app_send(None)
    assert told == [events.Response, events.EndBody, events.StreamClosed]


def test_helpers_have_the_parameters_that_are_given() -> None:
    assert names(wrap_app) == ["app", "wsgi_max_body_size", "mode"]
    assert names(filter_pseudo_headers) == ["headers"]
    assert names(parse_socket_addr) == ["family", "address"]
    assert parse_socket_addr(1, ("",)) is None


def test_h2_has_the_internals_that_are_used() -> None:
    connection = h2.connection.H2Connection()
    assert connection.state_machine.state is h2.connection.ConnectionState.IDLE
    assert len(connection.incoming_buffer._data) == 0
    assert connection.max_inbound_frame_size == 16384
    assert h2.events.RequestReceived(stream_id=1, headers=[]).stream_id == 1


def test_h11_has_the_attributes_that_are_read() -> None:
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=100)
    assert parser.their_http_version is None
    assert parser.trailing_data == (b"", False)
    assert parser.our_state is h11.IDLE
