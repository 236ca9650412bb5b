"""`initialize`: which revision is spoken, who the server is and what it can do (O-01, O-02)."""

from __future__ import annotations

from typing import Any

import trio

from genmcp.mcp import InternalError, McpError
from genmcp.mcp import v2607 as mcp
from genmcp.suite import Suite
from genmcp.worker import RequestContext, start_request
from transport.legacy.client import Client
from transport.legacy.down import capabilities_down, implementation_down
from transport.legacy.session import DEFAULT_LEVEL
from transport.legacy.turn import House
from transport.legacy.up import discover_request


async def initialize_result(house: House, client: Client, context: RequestContext) -> dict[str, Any]:
    """Return the result of `initialize`, from the server's own answer to `server/discover`.

    Raises:
        McpError: The server has no answer to that.
        actors.StoppedError: The node is stopping.
    """
    found = await discover(house, client, context)
    result: dict[str, Any] = {
        "protocolVersion": client.version,
        "capabilities": capabilities_down(mcp.to_dict(found.capabilities)),
        "serverInfo": implementation_down(_server_info(house, found), client.revision),
    }
    if found.instructions is not None:
        result["instructions"] = found.instructions
    return result


async def discover(house: House, client: Client, context: RequestContext) -> mcp.DiscoverResult:
    """Ask the server what it can do, on a client's behalf; see `initialize_result` for what is raised."""
    outbox = _FinalOnly()
    request = discover_request(client, DEFAULT_LEVEL)
    worker = start_request(house.node, house.server, request, outbox, context, house.settings)
    house.count(worker.pid)
    try:
        await outbox.over.wait()
    except trio.Cancelled:
        worker.client_gone()
        raise
    if isinstance(outbox.final, McpError):
        raise outbox.final
    if not isinstance(outbox.final, mcp.DiscoverResult):
        raise InternalError("The server did not say what it can do")
    return outbox.final


def _server_info(house: House, found: mcp.DiscoverResult) -> dict[str, Any]:
    """Return who the server is: these revisions require it, also of one that does not tell every client."""
    told = (found.meta or {}).get(mcp.SERVER_INFO_KEY)
    if isinstance(told, dict):
        return told
    if isinstance(house.server, Suite):
        return mcp.to_dict(house.server.identity.info)
    return {"name": type(house.server).__name__, "version": "0"}


class _FinalOnly:
    """An outbox that keeps the answer and drops everything else."""

    def __init__(self) -> None:
        self.over = trio.Event()
        self.final: mcp.ServerResult | McpError | None = None

    @property
    def closed(self) -> bool:
        return self.over.is_set()

    def start(self) -> None:
        pass

    def put(self, notification: mcp.ServerNotification) -> bool:
        del notification
        return True

    async def room(self) -> None:
        pass

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        self.final = final
        self.over.set()
