"""Serving one client over a pair of streams, inside trio, to its end (Q-08, Q-09).

What begins the end:

* the client closes our input: calls may finish for a moment, the rest is cancelled, for the client is gone;
* it closes our output, or does not read: everything is cancelled;
* `stop()`: subscriptions end with their result, calls may finish within the grace period, the rest are stopped and
  answered with an error.

How it goes on:

    0          no new requests
    ≤ grace    calls may finish; 0.2 s if the client has closed our input
    + 0.3 s    the rest are stopped, and clean up
    + 0.2 s    what was answered is written
    + 0.2 s    children and the node end
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

import trio

from actors import Node, watch_steps
from genmcp import tokens
from genmcp.server import Server
from genmcp.settings import Settings
from genmcp.worker import RequestContext
from transport.serving import take_keys, worker_settings
from transport.stdio.lines import Line, Lines
from transport.stdio.peer import Peer, Rules
from transport.stdio.writer import Writer
from transport.stopping import BOUND, NOTICE, POLL, end_node

Ending = Literal["input", "output", "stop"]

EOF_GRACE = 0.2
"""Seconds in which calls may finish after the client has closed our input: `echo … | python -m genmcp stdio` works."""
FLUSH = 0.2
"""Seconds in which the last answers are written."""
AHEAD = 8
"""Lines that are read before those in front of them are taken, so that the end of the input is seen in time."""


class StdioServing:
    """A server that talks to its one client.

    Attributes:
        settings: What it runs with.
        node: Where its workers live.
        ending: What ends it, once something does: the client closed our `input`, our `output`, or a `stop`.
    """

    def __init__(self, settings: Settings, node: Node, peer: Peer, writer: Writer) -> None:
        self.settings = settings
        self.node = node
        self.ending: Ending | None = None
        self._peer = peer
        self._writer = writer
        self._untaken = 0
        self._ends = trio.Event()
        self._ahead, self._behind = trio.open_memory_channel[Line](AHEAD)

    def stop(self) -> None:
        """Stop in order; `serve_stdio` returns when it is done. Call it in the trio loop; again does nothing."""
        self._end("stop")

    async def run(self, receive: trio.abc.ReceiveStream, ends: Callable[[float], None]) -> None:
        """Talk to the client until something ends that, and end in order. Used by `serve_stdio`."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write)
            nursery.start_soon(self._read, receive)
            nursery.start_soon(self._take)
            await self._ends.wait()
            ends(self._grace + BOUND)
            await self._finish()
            nursery.cancel_scope.cancel()

    def _end(self, what: Ending) -> None:
        # the client may still leave while a stop waits for its calls
        if self.ending is None or (self.ending == "stop" and what != "stop"):
            self.ending = what
        self._ends.set()

    @property
    def _grace(self) -> float:
        grace = self.settings.grace
        return grace if self.ending == "stop" else min(grace, EOF_GRACE) if self.ending == "input" else 0.0

    # -- the three tasks

    async def _read(self, receive: trio.abc.ReceiveStream) -> None:
        lines = Lines(self.settings.max_body)
        async with self._ahead:
            try:
                async for data in receive:
                    for line in lines.feed(bytes(data)):
                        await self._writer.low()
                        await self._hand_over(line)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # a terminal or socket that goes away is an end as well
            for line in lines.end():
                await self._hand_over(line)
            self._end("input")

    async def _hand_over(self, line: Line) -> None:
        self._untaken += 1  # a line may have left the channel although its taker has not run yet
        await self._ahead.send(line)

    async def _take(self) -> None:
        async for line in self._behind:
            await self._peer.take(line)
            self._untaken -= 1

    async def _write(self) -> None:
        if not await self._writer.run():
            self._end("output")

    # -- the end

    async def _finish(self) -> None:
        if self.ending == "stop":
            self._peer.refuse()
            await self._until_quiet(lambda: self.ending != "stop")
        if self.ending == "input":
            self._peer.leave_subscriptions()
            await self._until_quiet(lambda: self.ending == "output")
        if self.ending == "stop":
            self._peer.running.stop()
        else:
            self._peer.leave("stalled" if self._writer.stalled else "client_gone")
        with trio.move_on_after(NOTICE):
            await _until(lambda: self._peer.running.ended)
        self._peer.running.stop()
        await self._flush()

    async def _until_quiet(self, unless: Callable[[], bool]) -> None:
        with trio.move_on_after(self._grace):
            await _until(lambda: unless() or self._quiet)

    @property
    def _quiet(self) -> bool:
        return not self._untaken and self._peer.running.quiet

    async def _flush(self) -> None:
        self._writer.close()
        with trio.move_on_after(FLUSH):
            await _until(lambda: self._writer.done)


def _rules(settings: Settings, *, announce_end: bool) -> Rules:
    return Rules(
        line_limit=settings.max_body,
        max_workers=settings.live_workers,
        legacy=settings.legacy,
        announce_end=announce_end,
    )


def _take_keys(settings: Settings) -> None:
    """As `transport.serving.take_keys`; but one process has all of this client, so a key may be made up in silence."""
    if os.environ.get("GENMCP_SECRET_KEY"):
        take_keys(settings)
    else:
        tokens.use(tokens.use(None) or tokens.KeyRing([os.urandom(32)], max_age=settings.token_age))


async def _until(true: Callable[[], bool]) -> None:
    # A stop is rare; an event instead would be paid for by every request.
    await trio.lowlevel.checkpoint()
    while not true():  # noqa: ASYNC110  (see above)
        await trio.sleep(POLL)


async def serve_stdio(
    server: Server[Any],
    receive: trio.abc.ReceiveStream,
    send: trio.abc.SendStream,
    *,
    settings: Settings | None = None,
    assigns: Mapping[str, Any] | None = None,
    principal: str | None = None,
    announce_end: bool = False,
    ends: Callable[[float], None] = lambda seconds: None,
    task_status: trio.TaskStatus[StdioServing] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve one client over a pair of streams until it is gone, or until `StdioServing.stop` is called.

    Args:
        server: A `genmcp.Server`, usually a `genmcp.Suite`.
        receive: Where messages come from, one a line: any reliable stream of bytes (Q-13).
        send: Where messages go.
        settings: Limits and times; what is about HTTP is not used. Default: the defaults.
        assigns: Values for `channel.meta.assigns` of every request.
        principal: Who the client is, if that is known.
        announce_end: Whether `notifications/cancelled` goes before the result of a subscription that the server ends,
            as one page of the specification asks; clients do well without it (DIS-01).
        ends: Called when the end begins, with the seconds after which it is over if nothing hangs.
        task_status: Gets the `StdioServing` before messages are read; its `ending` says in the end what ended it.

    Cancellation ends it at once: workers get their clean-up. The streams are not closed.

    Raises:
        ConfigurationError: GENMCP_SECRET_KEY does not hold keys, or a callback is the wrong kind of function.
        actors.StartError: A child of a Suite could not be started.
    """
    settings = settings or Settings()
    _take_keys(settings)
    writer = Writer(send, capacity=settings.outbox, deadline=settings.write_deadline)
    rules = _rules(settings, announce_end=announce_end)
    context = RequestContext(assigns=assigns or {}, principal=principal)
    async with Node(mailbox_capacity=settings.mailbox, grace=settings.grace) as node:
        with trio.CancelScope() as ending, watch_steps(settings.slow_step):
            async with server.attach(node), trio.open_nursery() as nursery:
                peer = Peer(server, writer, rules, context, worker_settings(settings), nursery)
                serving = StdioServing(settings, node, peer, writer)

                def ending_in(seconds: float) -> None:
                    ending.deadline = trio.current_time() + seconds
                    ends(seconds)

                task_status.started(serving)
                await serving.run(receive, ending_in)
                server.conversations.expire_all("shutdown")
                nursery.cancel_scope.cancel()
                await end_node(node, ending.deadline)
