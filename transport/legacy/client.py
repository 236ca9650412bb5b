"""What a client said of itself in `initialize`: all that a session must know, and small enough for a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from genmcp.mcp import InvalidParams, jsonrpc
from genmcp.mcp import v2607 as mcp
from transport.legacy.revision import REVISIONS, Revision, negotiate

MOST_BYTES = 4096
"""How large all of it may be as JSON; beyond that, what no handler needs is left out."""

TASKS = "io.modelcontextprotocol/tasks"
LONGEST_NAME = 200


class Client(msgspec.Struct, frozen=True):
    """The client of one session.

    Attributes:
        version: The negotiated revision.
        info: Who it says it is: name, version and perhaps a title.
        capabilities: What it can do, of what its revision has, in the form of 2026-07-28.
    """

    version: str
    info: dict[str, Any]
    capabilities: dict[str, Any]

    @property
    def revision(self) -> Revision:
        """What its revision has."""
        return REVISIONS[self.version]

    def meta(self, level: str) -> dict[str, Any]:
        """Return what a 2026 client would say under `_meta` of every request."""
        return {
            mcp.PROTOCOL_VERSION_KEY: self.version,
            mcp.CLIENT_INFO_KEY: self.info,
            mcp.CLIENT_CAPABILITIES_KEY: self.capabilities,
            mcp.LOG_LEVEL_KEY: level,
        }


def read_client(params: Any) -> Client:
    """Read the params of `initialize` (O-01).

    Raises:
        InvalidParams: Something that they must have is missing, of the wrong type, or far too large.
    """
    if not isinstance(params, dict):
        raise InvalidParams("params: expected an object with protocolVersion, capabilities and clientInfo")
    requested, capabilities, info = (params.get(key) for key in ("protocolVersion", "capabilities", "clientInfo"))
    if not isinstance(requested, str):
        raise InvalidParams("params.protocolVersion: expected a string")
    if not isinstance(capabilities, dict):
        raise InvalidParams("params.capabilities: expected an object")
    if not isinstance(info, dict):
        raise InvalidParams("params.clientInfo: expected an object")
    mcp.decode_as(mcp.Implementation, info, where="params.clientInfo")
    revision = negotiate(requested)
    client = Client(revision.version, _short_info(info), _capabilities(capabilities, revision))
    mcp.decode_as(mcp.ClientCapabilities, client.capabilities, where="params.capabilities")
    return _bounded(client)


def _short_info(info: Mapping[str, Any]) -> dict[str, Any]:
    return {key: info[key][:LONGEST_NAME] for key in ("name", "version", "title") if isinstance(info.get(key), str)}


def _capabilities(given: Mapping[str, Any], revision: Revision) -> dict[str, Any]:
    """Return what may be used: only what the negotiated revision has (O-05). Tasks are not offered (O-41, O-42)."""
    found = {key: given[key] for key in ("roots", "sampling", "experimental", "extensions") if key in given}
    if isinstance(found.get("extensions"), dict):
        found["extensions"] = {key: value for key, value in found["extensions"].items() if key != TASKS}
    if revision.elicitation and "elicitation" in given:
        found["elicitation"] = given["elicitation"] if revision.rich_forms else {}
    if not revision.sampling_tools and "sampling" in found:
        found["sampling"] = {}
    return found


def _bounded(client: Client) -> Client:
    if _size(client) > MOST_BYTES:
        needed = {
            key: client.capabilities[key] for key in ("roots", "sampling", "elicitation") if key in client.capabilities
        }
        client = msgspec.structs.replace(client, capabilities=needed)
    if _size(client) > MOST_BYTES:
        raise InvalidParams(f"params.capabilities: larger than {MOST_BYTES} bytes")
    return client


def _size(client: Client) -> int:
    return len(jsonrpc.dump(msgspec.to_builtins(client)))
