"""The names that ASGI has for its parts, for annotations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

Scope = dict[str, Any]
"""What a connection is, from the server."""

Receive = Callable[[], Awaitable[Any]]
"""Waits for the next incoming event."""

Send = Callable[[Any], Awaitable[None]]
"""Hands over an outgoing event."""

App = Callable[[Any, Any, Any], Awaitable[None]]
"""An application, of whatever framework: scopes are typed differently by each."""

Pairs = Sequence[tuple[bytes, bytes]]
"""Header fields: names in lower case, and values."""
