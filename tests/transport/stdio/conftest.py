from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.transport.stdio.shop import Shop
from tests.transport.stdio.talk import Talk, talking


@pytest.fixture
def shop() -> Shop:
    """A suite that notes what happens."""
    return Shop()


@pytest.fixture
async def talk(shop: Shop) -> AsyncIterator[Talk]:
    """A client of the shop."""
    async with talking(shop.suite) as opened:
        yield opened
