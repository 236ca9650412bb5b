"""How the messages of one legacy request are written."""

from __future__ import annotations

from genmcp.mcp import McpError, jsonrpc
from genmcp.mcp import v2607 as mcp
from transport.legacy.down import error_down, notification_down, result_down
from transport.legacy.revision import Revision


class LegacyCodec:
    """Writes for one revision.

    Args:
        revision: What the client speaks.
    """

    __slots__ = ("_revision",)

    def __init__(self, revision: Revision) -> None:
        self._revision = revision

    def notification(self, notification: mcp.ServerNotification) -> bytes | None:
        """Write a notification; None if the client knows none of this kind.

        Raises:
            TypeError: It holds a value that is not JSON.
        """
        plain = notification_down(notification)
        return None if plain is None else jsonrpc.dump(plain)

    def final(self, request_id: mcp.RequestId, final: mcp.ServerResult | McpError) -> tuple[int, bytes]:
        """Write an answer; return the HTTP status that it has by itself.

        That is 200 for errors, too: legacy clients drop the body of any other.

        Raises:
            TypeError: It holds a value that is not JSON.
        """
        if isinstance(final, McpError):
            return final.status or 200, jsonrpc.error_bytes(request_id, error_down(final))
        return 200, jsonrpc.response_bytes(request_id, result_down(final, self._revision))
