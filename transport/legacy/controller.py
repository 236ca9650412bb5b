"""Who keeps the sessions of legacy clients: the id itself, a table in memory, or whatever an author writes.

    endpoint(suite, session_controller=MemorySessions(max_age=3600))

By default the id is the session: a sealed token, so that any process with the same key serves it, and a client that
never comes back costs nothing. (`GenMCP.SessionController`.)
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from typing import Any

import msgspec
import trio

from genmcp import tokens
from transport.legacy.client import Client

PURPOSE = "session"
DAY = 86400.0


class SessionController:
    """Creates, finds and ends sessions. A session is written once: what the client told in `initialize`.

    Ids are visible ASCII (0x21 to 0x7E); nobody may be able to guess one. An id belongs to the principal that it was
    created for. Any of the methods may raise an `McpError`, which refuses the request.

    Attributes:
        max_age: Seconds for which what a client has changed (log level, subscriptions) is kept when it is not used.
    """

    max_age: float = DAY

    async def create(self, client: Client, principal: str | None, scope: Any, /) -> str:
        """Return the id of a new session.

        Args:
            client: What the client told.
            principal: Who it is, as the mount's `principal` function found out.
            scope: The ASGI scope of the request.
        """
        del client, principal, scope
        raise TypeError(f"{type(self).__name__} does not define create")

    async def fetch(self, session_id: str, principal: str | None, scope: Any, /) -> Client | None:
        """Return what the client told, or None: no such session, not this principal's, too old, or ended."""
        del session_id, principal, scope
        raise TypeError(f"{type(self).__name__} does not define fetch")

    async def delete(self, session_id: str, principal: str | None, scope: Any, /) -> None:
        """End a session that `fetch` has just found. The default does nothing: it lives on until it is too old."""


class SealedSessions(SessionController):
    """The id is a sealed token that holds the session.

    Args:
        max_age: Seconds after which a session expires.
        most_ended: How many ended ids are remembered until they would have expired anyway; beyond that the one that
            ended first is forgotten, and good again until it expires.
    """

    def __init__(self, *, max_age: float = DAY, most_ended: int = 50_000) -> None:
        self.max_age = max_age
        self._most_ended = most_ended
        self._ended: OrderedDict[bytes, float] = OrderedDict()

    def __len__(self) -> int:
        """How many ended ids are remembered."""
        return len(self._ended)

    async def create(self, client: Client, principal: str | None, scope: Any, /) -> str:
        """Seal the session."""
        del scope
        return tokens.seal(PURPOSE, msgspec.to_builtins(client), max_age=self.max_age, principal=principal)

    async def fetch(self, session_id: str, principal: str | None, scope: Any, /) -> Client | None:
        """Open the token, unless the session was ended."""
        del scope
        if _digest(session_id) in self._ended:
            return None
        try:
            return msgspec.convert(tokens.open(PURPOSE, session_id, principal=principal), Client)
        except (tokens.TokenError, msgspec.ValidationError):
            return None

    async def delete(self, session_id: str, principal: str | None, scope: Any, /) -> None:
        """Remember that the session was ended, until its token is too old anyway."""
        now = trio.current_time()
        while self._ended and (next(iter(self._ended.values())) <= now or len(self._ended) >= self._most_ended):
            self._ended.popitem(last=False)
        self._ended[_digest(session_id)] = now + self.max_age


class MemorySessions(SessionController):
    """The sessions are kept in this process: short ids, and none outlives the server.

    Args:
        max_age: Seconds without a request after which a session expires.
        most: Sessions that are kept; beyond that the one that was unused longest is ended.
    """

    def __init__(self, *, max_age: float = DAY, most: int = 10_000) -> None:
        self.max_age = max_age
        self._most = most
        self._sessions: OrderedDict[str, tuple[float, str | None, Client]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    async def create(self, client: Client, principal: str | None, scope: Any, /) -> str:
        """Keep the session under an id that nobody can guess."""
        del scope
        now = trio.current_time()
        while self._sessions and (next(iter(self._sessions.values()))[0] <= now or len(self._sessions) >= self._most):
            self._sessions.popitem(last=False)
        session_id = secrets.token_urlsafe(24)
        self._sessions[session_id] = (now + self.max_age, principal, client)
        return session_id

    async def fetch(self, session_id: str, principal: str | None, scope: Any, /) -> Client | None:
        """Find the session, which lives longer by that."""
        del scope
        until, owner, client = self._sessions.get(session_id) or (0.0, None, None)
        now = trio.current_time()
        if client is None or until <= now or owner != principal:
            return None
        self._sessions[session_id] = (now + self.max_age, owner, client)
        self._sessions.move_to_end(session_id)
        return client

    async def delete(self, session_id: str, principal: str | None, scope: Any, /) -> None:
        """Forget the session."""
        self._sessions.pop(session_id, None)


def _digest(session_id: str) -> bytes:
    return hashlib.blake2b(session_id.encode(), digest_size=16).digest()
