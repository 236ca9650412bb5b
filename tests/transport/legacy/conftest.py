from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.transport.legacy.talk import Place, open_place


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    """The shop behind an endpoint with default options."""
    async with open_place() as opened:
        yield opened
