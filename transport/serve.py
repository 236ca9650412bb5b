"""Serving: a node, the servers on it, and the front, inside trio.

    async with trio.open_nursery() as nursery:
        serving = await nursery.start(transport.serve, suite)
        ...
        serving.stop()

The node is outside and the front inside: when something in the runtime itself fails, the server ends with that error,
which is what whoever supervises it wants to see. `transport.run` is the blocking form.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import msgspec
import trio

from actors import Node, watch_steps
from genmcp.address import Address
from genmcp.server import Server
from genmcp.settings import Settings
from transport.listeners import Listeners, open_listeners, raise_descriptor_limit, tls_context
from transport.serving import Caller, Serving, check_settings, furnish, take_keys
from transport.stopping import BOUND, Rooms, end_node, stop_in_order

__all__ = ["Served", "overridden", "serve"]

Served = Server[Any] | tuple[str, Server[Any]]

USER_TIMEOUT_SLACK = 2.0
"""Seconds by which the kernel's limit for a peer that takes nothing is longer than ours, which tells the worker why."""
FLUSH = 0.2
"""Seconds in which connections end that were told to."""


async def serve(
    *servers: Served,
    host: str | None = None,
    port: int | None = None,
    settings: Settings | None = None,
    caller: Caller | None = None,
    task_status: trio.TaskStatus[Serving] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until `Serving.stop` is called, then stop in order within the grace period.

    Args:
        servers: One server, served at the settings' path, or several as ``(path, server)``.
        host: Overrides the settings' host.
        port: Overrides the settings' port; 0 takes a free one.
        settings: Everything else; default: the defaults.
        caller: What endpoints know of whoever calls.
        task_status: Gets the `Serving` once clients are let in.

    Cancellation ends it at once: connections are reset, workers get their clean-up.

    Raises:
        ListenError: It cannot listen where it was told to, or not with that certificate.
        SettingsError: An address, allowed host or allowed origin is not one.
        ConfigurationError: GENMCP_SECRET_KEY does not hold keys.
        ValueError: Two servers have one path.
        actors.StartError: A child of a Suite could not be started.
    """
    settings = overridden(settings or Settings(), host, port)
    check_settings(settings)
    if caller is not None and not isinstance(caller, Caller):
        raise TypeError(f"caller: expected transport.Caller(principal=…, assigns=…), got {caller!r}")
    take_keys(settings)
    mounts = _by_path(servers, settings.path)
    descriptors = raise_descriptor_limit()
    async with AsyncExitStack() as open_sockets:
        public, private = await _listen(settings, open_sockets)
        async with Node(mailbox_capacity=settings.mailbox, grace=settings.grace) as node:
            serving = Serving(settings, node, public, mounts, descriptors)
            with trio.CancelScope() as ending:
                async with AsyncExitStack() as running:
                    running.enter_context(watch_steps(settings.slow_step))
                    for server in mounts.values():
                        await running.enter_async_context(server.attach(node))
                    house = furnish(serving, public, private, caller or Caller(), running)
                    await _keep_open(serving, house, ending, task_status)


def overridden(settings: Settings, host: str | None, port: int | None) -> Settings:
    """Return the settings with another host or port, where one is given."""
    changes = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return msgspec.structs.replace(settings, **changes) if changes else settings


def _by_path(servers: Sequence[Served], path: str) -> dict[str, Server[Any]]:
    pairs = [served if isinstance(served, tuple) else (path, served) for served in servers]
    if not pairs:
        raise ValueError("serve: there is no server to serve")
    mounts = dict(pairs)
    if len(mounts) < len(pairs):
        raise ValueError("serve: two servers at one path; give each its own: serve(('/a', a), ('/b', b))")
    return mounts


async def _listen(settings: Settings, stack: AsyncExitStack) -> tuple[Listeners, Listeners | None]:
    """Open the public listeners, and those of the registry API if it has its own."""
    tls = tls_context(settings.certfile, settings.keyfile) if settings.certfile else None
    timeout = settings.write_deadline + USER_TIMEOUT_SLACK
    listen = partial(open_listeners, backlog=settings.backlog, user_timeout=timeout, tls=tls)
    public = await listen(Address.of(settings.host, settings.port))
    stack.push_async_callback(public.close)
    if settings.admin in ("public", "off"):
        return public, None
    private = await listen(Address.parse(settings.admin), private=True)
    stack.push_async_callback(private.close)
    return public, private


async def _keep_open(
    serving: Serving, rooms: Rooms, ending: trio.CancelScope, task_status: trio.TaskStatus[Serving]
) -> None:
    """Let clients in until the server is stopped, then stop in order.

    The deadline of `ending` becomes the time by which all must be over.
    """
    async with trio.open_nursery() as connections:
        for door in (rooms.door, rooms.admin):
            if door is not None:
                connections.start_soon(door.accept, connections)
        task_status.started(serving)
        await serving.stopping()
        ending.deadline = trio.current_time() + serving.settings.grace + BOUND
        await stop_in_order(rooms, serving.settings.grace)
        connections.cancel_scope.deadline = trio.current_time() + FLUSH
    await end_node(serving.node, ending.deadline)
