"""Events for whoever operates a server: what happened to requests, by name, with metadata.

| event | level of the default logger | metadata |
|---|---|---|
| `server.init` | debug | server, method, pid |
| `server.start_error` | error | server, method, reason |
| `transport.server_crashed` | error | method, reference |
| `transport.version_rejected` | debug | requested |
| `transport.request_rejected` | debug | code, status, message |

`server` is the name of the server's class. Handlers run in the turn of whoever emits, so they must be quick and must
not block. A handler that raises is logged and detached. Nothing is computed when nobody listens.
(GenMCP: `GenMCP.TelemetryLogger`, `:telemetry`.)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Any

Handler = Callable[[str, dict[str, Any]], None]

LOG = logging.getLogger("genmcp")
LEVELS = {
    "server.init": logging.DEBUG,
    "server.start_error": logging.ERROR,
    "transport.server_crashed": logging.ERROR,
    "transport.version_rejected": logging.DEBUG,
    "transport.request_rejected": logging.DEBUG,
}

_handlers: list[Handler] = []


def attach(handler: Handler) -> Callable[[], None]:
    """Call `handler(event, metadata)` for every event. Returns a function that detaches it (more than once is fine)."""
    _handlers.append(handler)

    def detach() -> None:
        if handler in _handlers:
            _handlers.remove(handler)

    return detach


def emit(event: str, **metadata: Any) -> None:
    """Tell every handler. Never raises."""
    for handler in tuple(_handlers):
        try:
            handler(event, metadata)
        except Exception:
            LOG.exception("The telemetry handler %r failed on %s and is detached", handler, event)
            if handler in _handlers:
                _handlers.remove(handler)


def attach_default_logger(
    *, min_log_level: int = logging.DEBUG, prefixes: Collection[str] = ("server.", "transport.")
) -> Callable[[], None]:
    """Log every event with the logger `genmcp`, at the level of the module's table.

    Args:
        min_log_level: Events below this level are left out.
        prefixes: Only events whose names begin with one of these.

    Returns:
        A function that detaches the logger.
    """
    wanted = tuple(prefixes)

    def log(event: str, metadata: dict[str, Any]) -> None:
        level = LEVELS.get(event, logging.INFO)
        if level >= min_log_level and event.startswith(wanted):
            LOG.log(level, "%s %s", event, " ".join(f"{key}={value}" for key, value in metadata.items()))

    return attach(log)
