"""A client of the 2025 revisions on this process's streams: what `initialize` opens lasts as long as the process.

`transport.legacy` answers; what is of stdio is here. There is one channel for everything, so questions to the client
and changes that it hears unasked go out beside the answers, and nothing can be resumed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import trio

from actors import StoppedError
from genmcp.mcp import McpError, jsonrpc
from genmcp.worker import RequestContext
from transport.codec import no_answer
from transport.legacy.desk import Desk
from transport.legacy.listening import Listening
from transport.legacy.session import Session
from transport.stdio.running import How
from transport.stdio.writer import Writer

LOG = logging.getLogger("genmcp")

PING = "ping"
INITIALIZED = "notifications/initialized"
SUBSCRIBE = "resources/subscribe"
LISTEN_AGAIN_AFTER = 1.0
"""Seconds until a stream of changes that ended by itself is opened anew: nobody else could."""


class LineSink:
    """Where the messages of one legacy request go: `transport.legacy.sink.Sink` over lines.

    Args:
        writer: The way to the client.
        request_id: Of the request that must be answered; None if there is none.
    """

    def __init__(self, writer: Writer, request_id: int | str | None = None) -> None:
        self._writer = writer
        self._id = request_id
        self._over = False

    def drop(self) -> None:
        """Send nothing more: the client has cancelled, or is gone."""
        self._over = True

    def start(self) -> None:
        """See `Sink.start`: there is no way to show it."""

    def write(self, message: bytes) -> bool:
        """See `Sink.write`."""
        return self._writer.write(message)

    def ask(self, message: bytes) -> bool:
        """See `Sink.ask`."""
        return self._writer.write(message)

    async def room(self) -> None:
        """See `Sink.room`."""
        await self._writer.room()

    def finish(self, message: bytes | None, status: int) -> None:
        """See `Sink.finish`; a request that ends without an answer gets an error."""
        del status
        if self._over:
            return
        self._over = True
        if message is None and self._id is not None:
            message = jsonrpc.error_bytes(self._id, no_answer())
        if message is not None:
            self._writer.answer(message)

    def pause(self, retry: float) -> bool:
        """See `Sink.pause`: a client could not come back."""
        del retry
        return False


class LegacyRequest:
    """One request of the session that is being answered."""

    subscription = False
    worker_pid = None  # several, one after another

    def __init__(self, session: Session, sink: LineSink, request_id: int | str) -> None:
        self._session = session
        self._sink = sink
        self._id = request_id

    def leave(self, how: How = "client_gone") -> None:
        """See `Ongoing.leave`."""
        del how
        self._sink.drop()
        self._session.cancel(self._id)


class OlderClient:
    """The client of the process, if it is one of 2025.

    Args:
        desk: Answers the messages.
        writer: The way to the client.
        context: What is known of it.
        nursery: Where streams of changes are opened again.

    Attributes:
        session: What `initialize` has opened; None before.
    """

    def __init__(self, desk: Desk, writer: Writer, context: RequestContext, nursery: trio.Nursery) -> None:
        self.session: Session | None = None
        self._desk = desk
        self._writer = writer
        self._context = context
        self._nursery = nursery

    @property
    def null_ids(self) -> bool:
        """Whether the id of a message that could not be read is null in errors."""
        return self.session is not None and self.session.client.revision.null_ids

    async def initialize(self, message: dict[str, Any]) -> None:
        """Open the session, in the place of one that is open: the client has begun again.

        Raises:
            McpError: The params are malformed, or the server refuses.
        """
        client, result = await self._desk.open(message, self._context)
        self.end()
        self.session = Session(client)
        LOG.info("The client %s speaks %s", client.info.get("name"), client.version)
        self._writer.answer(jsonrpc.response_bytes(message["id"], result))

    async def request(
        self, session: Session, message: dict[str, Any], sink: LineSink, over: Callable[[], None]
    ) -> None:
        """Answer one request, now or when its worker has ended; `over` is called before that."""
        await self._desk.request(session, message, sink, self._context, over)
        if message["method"] == SUBSCRIBE and session.watched and session.ear is None:
            await self._listen(session)

    async def notification(self, session: Session, message: dict[str, Any]) -> None:
        """Take one notification; after the handshake the client hears of changes (O-31)."""
        if message["method"] == INITIALIZED and session.ear is None:
            await self._listen(session)
        else:
            self._desk.notification(session, message)

    def response(self, session: Session, message: dict[str, Any]) -> bool:
        """Take one response. Returns False if nobody waits for it."""
        return self._desk.response(session, message)

    def deafen(self) -> None:
        """End the stream of changes."""
        if self.session is not None:
            self.session.ended = True  # so that it is not opened again
            if self.session.ear is not None:
                self.session.ear.leave()

    def end(self) -> None:
        """End the session."""
        if self.session is not None:
            self.session.end()

    async def _listen(self, session: Session) -> None:
        begun = False

        def over() -> None:
            if begun and session.ear is None and not session.ended:
                self._nursery.start_soon(self._listen_again, session)

        listening = Listening(self._desk, session, LineSink(self._writer), self._context, over)
        try:
            await listening.begin()
            begun = True
        except (McpError, StoppedError) as error:
            LOG.debug("There are no changes to hear of: %s", error)

    async def _listen_again(self, session: Session) -> None:
        await trio.sleep(LISTEN_AGAIN_AFTER)
        if session.ear is None and not session.ended:
            await self._listen(session)
