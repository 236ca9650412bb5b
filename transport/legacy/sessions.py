"""What is kept of each session in this process: made by use, dropped when nothing is left of it, bounded.

Nothing is kept of a session that only calls tools, so `initialize` without an end costs nothing (B2). Beyond the bound
the session that was unused longest is ended rather than robbed of its subscriptions: its client is told by a 404, and
begins again.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import Any, NamedTuple

import trio

from transport.legacy.controller import SessionController
from transport.legacy.session import Session

LOOKED_AT = 16
"""Sessions that are looked at when one has to go; if something goes on in all of them, all may stay."""


class _Kept(NamedTuple):
    until: float
    principal: str | None
    session: Session


class Sessions:
    """The sessions of one endpoint.

    Args:
        controller: Who knows which ids are good.
        most: Sessions of which something is kept.
    """

    def __init__(self, controller: SessionController, *, most: int = 10_000) -> None:
        self.controller = controller
        self._most = most
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    async def find(self, session_id: str, principal: str | None, scope: Any) -> Session | None:
        """Return a session, kept from now on; None if its id is none, not this principal's, too old or ended.

        Whoever has it calls `settle` when done.
        """
        client = await self.controller.fetch(session_id, principal, scope)
        if client is None:
            return None
        now = trio.current_time()
        kept = self._kept.get(session_id)
        session = Session(client) if kept is None else kept.session
        self._kept[session_id] = _Kept(now + self.controller.max_age, principal, session)
        self._kept.move_to_end(session_id)
        if kept is None:
            await self._make_room(now, scope)
        return session

    def settle(self, session_id: str) -> None:
        """Drop a session of which there is nothing to keep."""
        kept = self._kept.get(session_id)
        if kept is not None and kept.session.blank:
            del self._kept[session_id]

    async def end(self, session_id: str, principal: str | None, scope: Any) -> None:
        """End a session for good."""
        await self.controller.delete(session_id, principal, scope)
        kept = self._kept.pop(session_id, None)
        if kept is not None:
            kept.session.end()

    async def _make_room(self, now: float, scope: Any) -> None:
        for session_id, kept in tuple(islice(self._kept.items(), LOOKED_AT)):
            if kept.until > now and len(self._kept) <= self._most:
                return
            if kept.until <= now:
                del self._kept[session_id]
                kept.session.end()
            elif not kept.session.busy:
                await self.end(session_id, kept.principal, scope)
