from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.transport.calls import Site, open_site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """An endpoint with default options."""
    async with open_site() as opened:
        yield opened
