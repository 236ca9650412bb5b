"""A server that is up, and what it is made of: a front with endpoints and the registry API, and the doors to it."""

from __future__ import annotations

import ipaddress
import logging
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import trio

from actors import Node
from genmcp import tokens
from genmcp.address import Address
from genmcp.server import Server
from genmcp.settings import Settings, SettingsError
from genmcp.threads import Threads
from genmcp.tokenfile import TokenFile, TokenFileError, make_token
from genmcp.worker import WorkerSettings
from transport.admin import registry_routes
from transport.dispatch import Caller
from transport.door import Door
from transport.endpoint import Endpoint, endpoint
from transport.http import Front
from transport.legacy.controller import SealedSessions
from transport.listeners import Listeners, connection_limit
from transport.policy import HostPolicy, OriginPolicy
from transport.stopping import Rooms

__all__ = ["Caller", "Serving", "check_settings", "furnish", "take_keys", "worker_settings"]

LOG = logging.getLogger("genmcp")


class Serving:
    """A server that is up: where it is, and how to stop it.

    Attributes:
        settings: What it runs with.
        node: The node that everything runs on.
        address: Where it listens, with the port that was chosen.
        mounts: The servers by path.
        urls: What clients call, in the order of `mounts`.
        admin: Where the registry API is, for people; None if it is off.
        token: The registry API's token; None if it is off.
        descriptors: How many files this process may have open; None: no limit.
        connections: How many of them clients may take; None: no limit.
    """

    def __init__(
        self,
        settings: Settings,
        node: Node,
        listeners: Listeners,
        mounts: Mapping[str, Server[Any]],
        descriptors: int | None,
    ) -> None:
        self.settings = settings
        self.node = node
        self.address = listeners.address
        self.mounts = mounts
        self.urls = [listeners.address.url(path, tls=listeners.tls) for path in mounts]
        self.admin: str | None = None
        self.token: str | None = None
        self.descriptors = descriptors
        self.connections = connection_limit(descriptors)
        self._stopped = trio.Event()

    def stop(self) -> None:
        """Stop in order; `serve` returns when it is done. Call it in the trio loop; calling it again does nothing."""
        self._stopped.set()

    async def stopping(self) -> None:
        """Wait until somebody called `stop`."""
        await self._stopped.wait()


def check_settings(settings: Settings) -> None:
    """Refuse addresses, hosts and origins that are not what they should be, before anything is opened.

    Raises:
        SettingsError: One of them is not; the text names it.
    """
    try:
        Address.of(settings.host, settings.port)
        if settings.admin not in ("public", "off"):
            Address.parse(settings.admin)
        HostPolicy(settings.allow_hosts)
        OriginPolicy(settings.allow_origins)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def take_keys(settings: Settings) -> None:
    """Make the key ring of sealed tokens now, so that a wrong key stops the start; one that is in use stays.

    Raises:
        ConfigurationError: A key in GENMCP_SECRET_KEY is not one.
    """
    in_use = tokens.use(None)
    tokens.use(in_use or tokens.KeyRing.from_environ(os.environ, max_age=settings.token_age))


def furnish(
    serving: Serving, public: Listeners, private: Listeners | None, caller: Caller, stack: AsyncExitStack
) -> Rooms:
    """Make the front with its endpoints and the registry API, and the doors to them."""
    settings = serving.settings
    front = _front(settings, public.address)
    for path, server in serving.mounts.items():
        front.mount(path, _endpoint(server, serving.node, path, settings, caller))
    door = Door(front, public, settings, serving.connections)
    own = None if private is None else _front(settings, private.address)
    token = None if settings.admin == "off" else _token((private or public).address, stack)
    if token is not None:
        (own or front).register_blueprint(registry_routes(serving.node, token))
        serving.token = token
        serving.admin = (private or public).address.url("/registry", tls=(private or public).tls)
    admin = None if own is None or private is None else Door(own, private, settings)
    return Rooms(door, admin, [front] if own is None else [front, own], serving.node, list(serving.mounts.values()))


def _endpoint(server: Server[Any], node: Node, path: str, settings: Settings, caller: Caller) -> Endpoint:
    return endpoint(
        server,
        node=node,
        path=path,
        assigns=caller.assigns,
        copy_assigns=caller.copy_assigns,
        principal=caller.principal,
        allowed_origins=settings.allow_origins,
        allowed_hosts=_hosts(settings, Address.of(settings.host, settings.port)),
        legacy=settings.legacy,
        keep_alive=settings.keep_alive,
        body_limit=settings.max_body,
        body_deadline=settings.body_deadline,
        header_limit=settings.max_header,
        max_workers=settings.live_workers,
        outbox=settings.outbox,
        write_deadline=settings.write_deadline,
        session_controller=SealedSessions(max_age=settings.session_age),
        worker=worker_settings(settings),
    )


def worker_settings(settings: Settings) -> WorkerSettings:
    """Return the limits of each worker."""
    return WorkerSettings(
        mailbox_capacity=settings.mailbox,
        grace=settings.grace,
        tool_timeout=settings.tool_timeout,
        conversation_ttl=settings.conversation_age,
        conversations=settings.conversations,
        threads=Threads(settings.threads, settings.thread_queue),
    )


def _front(settings: Settings, address: Address) -> Front:
    return Front(
        hosts=HostPolicy(_hosts(settings, address)),
        origins=OriginPolicy(settings.allow_origins),
        max_body=settings.max_body,
        body_deadline=settings.body_deadline,
    )


def _hosts(settings: Settings, address: Address) -> list[str]:
    """Return the names to accept: those allowed, and the name that the server listens at, if it is one."""
    names = list(settings.allow_hosts)
    try:
        ipaddress.ip_address(address.host)
    except ValueError:
        names += [address.host] if address.host else []
    return names


def _token(address: Address, stack: AsyncExitStack) -> str | None:
    """Return the registry API's token, and leave a new one where other programs of this user find it."""
    given = os.environ.get("GENMCP_ADMIN_TOKEN")
    if given:
        return given
    try:
        file = TokenFile(address, make_token())
    except TokenFileError as error:
        LOG.warning("The registry API is off: %s. Set GENMCP_ADMIN_TOKEN to have it", error)
        return None
    stack.callback(file.remove)
    return file.token
