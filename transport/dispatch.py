"""From a typed message to a worker, and from the worker to the answer.

The ASGI task of a request runs its relay; that of a notification waits for its worker, so that 202 means that the
handler has returned. Both wait in `receive()`, so the client is seen to leave: a request's worker is told, a
notification's works on, for nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import trio

from actors import Node, Pid, StoppedError
from genmcp.mcp import ExpiredRequestState, InternalError, InvalidRequestState, McpError
from genmcp.mcp import v2607 as mcp
from genmcp.server import Server
from genmcp.worker import RequestContext, WorkerSettings, start_notification, start_request
from transport import refusal
from transport.asgi import Scope
from transport.codec import ModernCodec
from transport.exchange import Exchange
from transport.mirror import check_param_headers
from transport.relay import Relay


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds a request once it is dispatched.

    Attributes:
        keep_alive: Seconds of quiet after which a stream gets a comment.
        write_deadline: Seconds without progress after which a client that does not read is dropped.
        max_workers: Workers of this endpoint that may live at once.
        outbox: Events that may wait before a stream is open.
        retry_after: Seconds that a refused client is asked to wait.
    """

    keep_alive: float = 15.0
    write_deadline: float = 30.0
    max_workers: int = 10_000
    outbox: int = 64
    retry_after: int = 1


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """What the mount says of whoever calls, for `transport.serve` and `run`; `endpoint` takes the same as options.

    Attributes:
        assigns: Values for every request.
        copy_assigns: Keys of `scope["state"]` that are copied over them when they are there.
        principal: A function of the ASGI scope; None reads `scope["state"]["principal"]`.
    """

    assigns: Mapping[str, Any] = {}
    copy_assigns: Sequence[str] = ()
    principal: Callable[[Scope], str | None] | None = None

    def context(self, exchange: Exchange) -> RequestContext:
        """Say what is known of one request's caller, and give the worker a look at its headers."""
        scope = exchange.scope
        state: Mapping[str, Any] = scope.get("state") or {}
        principal = state.get("principal") if self.principal is None else self.principal(scope)
        assigns = self.assigns
        if self.copy_assigns:
            assigns = {**assigns, **{key: state[key] for key in self.copy_assigns if key in state}}
        check = partial(check_param_headers, exchange.headers)
        return RequestContext(assigns=assigns, principal=principal, check_headers=check)


class Dispatcher:
    """Starts the workers of one server and delivers what they answer.

    Attributes:
        caller: What the mount says of whoever calls.
        limits: What bounds a request.
        worker: Limits of each worker.
    """

    def __init__(self, server: Server[Any], caller: Caller, limits: Limits, worker: WorkerSettings) -> None:
        self._server = server
        self.caller = caller
        self.limits = limits
        self.worker = worker
        self._live: set[Pid] = set()

    @property
    def live(self) -> int:
        """How many workers of this endpoint live."""
        return len(self._live)

    async def request(self, exchange: Exchange, node: Node, request: mcp.Request) -> None:
        """Answer one request.

        Raises:
            McpError: Before a worker exists: from `principal`, or of a `requestState` that is refused.
            Refusal: 503.
        """
        context = self.caller.context(exchange)  # authorization: whoever calls is known from here on
        self.require_room()
        accepted = exchange.accepted
        relay = Relay(
            ModernCodec(request.id),
            keep_alive=self.limits.keep_alive,
            write_deadline=self.limits.write_deadline,
            may_stream=accepted.stream,
            may_answer_json=accepted.json,
            capacity=self.limits.outbox,
        )
        try:
            worker = start_request(node, self._server, request, relay, context, self.worker)
        except StoppedError:
            raise refusal.stopping(self.limits.retry_after) from None
        except (InvalidRequestState, ExpiredRequestState) as error:
            error.status = error.status_after_dispatch  # a state is for handlers to judge, whoever opens it for them
            raise
        self.count(node, worker.pid)
        relay.on_leaving(worker.client_gone)
        exchange.started = True
        await relay.run(exchange.scope, exchange.receive, exchange.send, exchange.extra_headers)

    async def notification(self, exchange: Exchange, node: Node, notification: mcp.ClientNotification) -> None:
        """Hand over one notification; 202 once its handler has returned (H-10).

        Raises:
            McpError: The handler refused it.
            InternalError: The handler crashed; 500.
            Refusal: 503.
        """
        context = self.caller.context(exchange)
        self.require_room()
        outcome: list[BaseException | None] = []
        with trio.CancelScope() as waiting:

            def done(error: BaseException | None) -> None:
                outcome.append(error)
                waiting.cancel()

            try:
                pid = start_notification(node, self._server, notification, context, done, self.worker)
            except StoppedError:
                raise refusal.stopping(self.limits.retry_after) from None
            self.count(node, pid)
            while (await exchange.receive())["type"] != "http.disconnect":
                pass
            return
        error = outcome[0]
        if error is not None:
            raise error if isinstance(error, McpError) else InternalError(status=500)
        await exchange.answer(202)

    def require_room(self) -> None:
        """Raise a `Refusal` (503) when as many workers live as may."""
        if len(self._live) >= self.limits.max_workers:
            raise refusal.overloaded(self.limits.max_workers, self.limits.retry_after)

    def count(self, node: Node, pid: Pid) -> None:
        """Count a worker of this endpoint as living until it has ended."""
        if pid not in self._live:  # a retry may have been given to the worker that waits for it
            self._live.add(pid)
            node.on_exit(pid, lambda _: self._live.discard(pid))
