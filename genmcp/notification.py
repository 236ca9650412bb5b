"""The worker of a client's notification: `init`, then `handle_notification`, and word when it has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import actors
from actors import Exit, ExitReason, Node, Pid
from actors.exits import lone_leaf
from genmcp import telemetry
from genmcp.backstage import Backstage
from genmcp.channel import Channel
from genmcp.crashes import mask
from genmcp.errors import InternalError, McpError
from genmcp.limits import RequestContext, WorkerSettings
from genmcp.mcp import v2607 as mcp
from genmcp.meta import read_meta
from genmcp.outbox import ClosedOutbox
from genmcp.server import Server, Stop, exit_reason, refusal

DEFAULTS = WorkerSettings()


def start_notification(
    node: Node,
    server: Server[Any],
    notification: mcp.ClientNotification,
    context: RequestContext,
    done: Callable[[BaseException | None], None],
    settings: WorkerSettings = DEFAULTS,
) -> Pid:
    """Spawn the worker of a client's notification.

    `done` is called once when it has ended, even if it never ran: with None, or with what the client shall read.

    Raises:
        InvalidParams: A value under the notification's `_meta` has the wrong type.
        actors.StoppedError: The node is stopping.
    """
    given = getattr(notification.params, "meta", None) or {}
    found = read_meta(given, {**server.assigns, **context.assigns}, context.principal)
    stage = Backstage(ClosedOutbox(), found, settings)
    outcome: BaseException | None = InternalError()

    async def run() -> None:
        nonlocal outcome
        actor = stage.actor = actors.current()
        actor.annotate(method=notification.method)
        name = type(server).__name__
        telemetry.emit("server.init", server=name, method=notification.method, pid=actor.pid)
        try:
            state = await server.init()
            if isinstance(state, Stop):
                telemetry.emit("server.start_error", server=name, method=notification.method, reason=state.reason)
                outcome = refusal(state.reason)
                raise Exit(exit_reason(state.reason))
            await server.handle_notification(notification, Channel(stage), state)
            outcome = None
        except Exception as error:
            leaf = lone_leaf(error)
            if isinstance(leaf, McpError):
                outcome = leaf
                return
            if not isinstance(leaf, Exit):
                outcome = mask(error, actor, notification.method)
            raise

    def ended(reason: ExitReason) -> None:
        del reason
        done(outcome)
        for callback in stage.take_exit_callbacks():
            callback()

    pid = node.spawn(run, label=notification.method, capacity=settings.mailbox_capacity, grace=settings.grace)
    node.on_exit(pid, ended)
    return pid
