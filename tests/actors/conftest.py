"""What the tests of the actor runtime share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from actors import Node
from actors.testing import Probe, running_node


@pytest.fixture
async def node() -> AsyncIterator[Node]:
    """A running node that must not leak anything."""
    async with running_node() as running:
        yield running


@pytest.fixture
async def probe(node: Node) -> Probe:
    """An actor of that node which keeps what it is sent."""
    return Probe(node)
