"""Fixtures of the tests on real sockets."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator

import pytest
import trio
import trustme

from tests.transport.sockets.host import Host


@pytest.fixture
async def host(nursery: trio.Nursery) -> AsyncIterator[Host]:
    """A host that a test opens with the settings it needs; no fault may leave one of its connections."""
    made = Host(nursery)
    yield made
    made.close_clients()
    nursery.cancel_scope.cancel()
    assert made.faults == []


@pytest.fixture(scope="session")
def certificate() -> ssl.SSLContext:
    """A server's TLS context that offers HTTP/2."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("localhost").configure_cert(context)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context
