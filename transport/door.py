"""The door: accepts connections, knows those that are open, and closes in steps.

The task that accepts has a cancel scope of its own and the connections' nursery lies outside it: closing the door to
new clients must not cut the streams of those inside (nested the other way round, a stop cut every one of them).
"""

from __future__ import annotations

import logging
import sys
from math import inf
from time import time
from typing import Any

import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper
from hypercorn.utils import wrap_app

from genmcp.settings import Settings
from transport.connection import Connection
from transport.http import Front
from transport.listeners import Listeners

__all__ = ["Door", "hypercorn_config"]

COMPLAIN_EVERY = 60.0
"""Seconds between two log records that say that clients are turned away."""

LOG = logging.getLogger("genmcp")

Stream = trio.SocketStream | trio.SSLStream[trio.SocketStream]


class FrontConfig(Config):
    """Hypercorn's, but the date is written once a second and not for each answer, which took 5 of 150 µs."""

    _written = (-1, "")
    _headers: tuple[tuple[bytes, bytes], ...] = ()

    def response_headers(self, protocol: str) -> list[tuple[bytes, bytes]]:
        """Return the headers of the server's own on every answer."""
        now = (int(time()), protocol)
        if now != self._written:
            self._written, self._headers = now, tuple(super().response_headers(protocol))
        return list(self._headers)


def hypercorn_config(settings: Settings) -> Config:
    """Make the configuration that Hypercorn's protocol classes read. What is not set here they do not use."""
    config = FrontConfig()
    config.accesslog = None
    config.loglevel = settings.log_level.upper()
    config.include_server_header = False
    config.keep_alive_timeout = settings.idle_timeout
    config.read_timeout = None  # no limit: our connection has its own
    config.keep_alive_max_requests = sys.maxsize  # a close after 1,000 requests is a reset for a client that sends on
    config.ssl_handshake_timeout = settings.tls_handshake
    # The head of a request must fit before its size can be judged: the endpoint's 431 is better than h11's 400.
    config.h11_max_incomplete_size = 2 * settings.max_header
    config.h2_max_header_list_size = 2 * settings.max_header
    config.websocket_max_message_size = settings.max_body
    return config


class Door:
    """One place where clients come in, and the connections of those who did.

    Args:
        front: The application that answers.
        listeners: Where they come in.
        settings: Time-outs and limits of the connections.
        limit: Connections that may be open at once; None: any number. One more is closed at once.

    Attributes:
        connections: The open connections.
    """

    def __init__(self, front: Front, listeners: Listeners, settings: Settings, limit: int | None = None) -> None:
        self.connections: set[Connection] = set()
        self.listeners = listeners
        self._config = hypercorn_config(settings)
        self._app: AppWrapper = wrap_app(front, self._config.wsgi_max_body_size, "asgi")
        self._context = WorkerContext(None)
        self._accepting = trio.CancelScope()
        self._write_deadline = settings.write_deadline
        self._limit = inf if limit is None else limit
        self._complain_at = -inf

    @property
    def busy(self) -> bool:
        """True while a request of any connection is unanswered."""
        return any(connection.busy for connection in self.connections)

    async def accept(self, nursery: trio.Nursery) -> None:
        """Accept connections into `nursery` until `refuse` is called. The listeners are closed at the end."""
        with self._accepting:
            await trio.serve_listeners(self._serve, self.listeners.sockets, handler_nursery=nursery)

    async def refuse(self) -> None:
        """Accept no more; idle connections end now, the others with the answer that they wait for."""
        self._accepting.cancel()
        await self.listeners.close()
        await self._context.terminated.set()
        for connection in self.connections:
            connection.close_idle()

    def abort(self) -> None:
        """Reset every connection that is left."""
        for connection in tuple(self.connections):
            connection.abort()

    async def _serve(self, stream: Stream) -> None:
        if len(self.connections) >= self._limit:
            self._turn_away()
            await trio.aclose_forcefully(stream)
            return
        state: dict[str, Any] = {}
        connection = Connection(
            self._app, self._config, self._context, state, stream, write_deadline=self._write_deadline
        )
        self.connections.add(connection)
        try:
            await connection.run()
        except Exception:
            # One client's fault must not end the server: trio would cancel all the others.
            LOG.exception("A connection failed")
        finally:
            self.connections.discard(connection)

    def _turn_away(self) -> None:
        now = trio.current_time()
        if now >= self._complain_at:
            self._complain_at = now + COMPLAIN_EVERY
            LOG.error("Clients are turned away: %d connections are open (raise the limit of open files)", self._limit)
