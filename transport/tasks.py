"""The tasks of one connection: an application call for each request, and the protocol's helpers.

This is Hypercorn's `TaskGroup` on the connection's nursery. An exception of the application is logged
here, once, with its traceback, and ends nothing but its own request.
"""

import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

import trio
from hypercorn.config import Config
from hypercorn.events import Event
from hypercorn.typing import AppWrapper, TaskGroup

from transport.inbox import Inbox

__all__ = ["STREAM_KEY", "AppTasks", "EventSink", "contain"]

STREAM_KEY = "genmcp.stream"
"""Where the state of an HTTP/2 request's scope holds its `http2.Http2Stream`."""

EventSink = Callable[[Event], Awaitable[None]]

LOG = logging.getLogger("genmcp.transport")


def contain(error: BaseException, what: str, *args: object) -> BaseException | None:
    """Log the ordinary exceptions in `error`, and return what must not be contained, if anything.

    Cancellation, KeyboardInterrupt and SystemExit have to be raised again by the caller, also when a
    nursery mixed them with ordinary exceptions in one group.
    """
    faults: BaseException | None
    others: BaseException | None
    if isinstance(error, BaseExceptionGroup):
        faults, others = error.split(Exception)
    else:
        faults, others = (error, None) if isinstance(error, Exception) else (None, error)
    if faults is not None:
        LOG.error(what, *args, exc_info=faults)
    return others


class AppTasks(TaskGroup):
    """Hypercorn's TaskGroup on a nursery that somebody else owns.

    Attributes:
        running: Application calls that have not ended yet, those whose client has gone included.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self.running = 0
        self._nursery = nursery

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Any,
        send: Callable[[Any], Awaitable[None]],
    ) -> Callable[[Any], Awaitable[None]]:
        """Start the application for one request; return where its incoming messages are to be put."""
        stream = scope["state"].get(STREAM_KEY) if scope["type"] == "http" else None
        inbox = Inbox(None if stream is None else stream.body_taken)
        self.running += 1
        self._nursery.start_soon(self._run, app, scope, inbox, send)
        return inbox.put

    async def __aenter__(self) -> Self:
        """Hypercorn's own servers enter a group; this one is as old as its nursery."""
        return self

    async def __aexit__(self, exc_type: type, exc_value: BaseException, tb: TracebackType) -> None:
        """See `__aenter__`."""

    def spawn(self, func: Callable[..., Awaitable[object]], *args: Any) -> None:
        """Start a helper task of the protocol."""
        self._nursery.start_soon(func, *args)

    async def _run(
        self,
        app: AppWrapper,
        scope: Any,
        inbox: Inbox,
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        try:
            await app(scope, inbox.receive, send, trio.to_thread.run_sync, trio.from_thread.run)
        except BaseException as error:
            others = contain(error, "The application failed at %s", scope.get("path"))
            if others is not None:
                raise others from None
        finally:
            self.running -= 1
            inbox.close()
        await send(None)  # Hypercorn's sign that nothing more will come
