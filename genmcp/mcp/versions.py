"""The protocol revisions that are spoken per request. The 2025 revisions are negotiated by `initialize` only."""

PROTOCOL_VERSION = "2026-07-28"


def protocol_version() -> str:
    """Return the newest protocol version that is served."""
    return PROTOCOL_VERSION


def supported_protocol_versions() -> list[str]:
    """Return every version that `server/discover` and -32022 list, newest first."""
    return [PROTOCOL_VERSION]
