"""What a server says of itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from genmcp.mcp.errors import InvalidParams
from genmcp.mcp.model import decode_as, to_dict
from genmcp.mcp.v2607.base import CacheScope, Icon, Implementation
from genmcp.mcp.v2607.discovery import DiscoverResult, ServerCapabilities
from genmcp.mcp.v2607.meta import SERVER_INFO_KEY
from genmcp.mcp.versions import supported_protocol_versions


def server_info(
    *,
    name: str,
    version: str,
    title: str | None = None,
    description: str | None = None,
    website_url: str | None = None,
    icons: Sequence[Icon] | None = None,
) -> Implementation:
    """Return who the server is, for people: programs must not decide anything by it."""
    return Implementation(name, version, title, description, website_url, icons)


def capabilities(source: Mapping[str, Any] | ServerCapabilities | None = None, /, **more: Any) -> ServerCapabilities:
    """Return capabilities from a mapping or keywords.

    Args:
        source: capabilities by name; True means offered, without more to say (`{}`); False and None, not offered.
            The settings of one, such as `{"list_changed": True}`, may be spelled as attributes or as on the wire.
        more: the same, as keywords.

    Raises:
        ValueError: a setting has the wrong type; says which and what was expected.
    """
    given = dict(to_dict(source) if isinstance(source, ServerCapabilities) else source or {}) | more
    wire = {name: _setting(name, value) for name, value in given.items() if value is not None and value is not False}
    try:
        return decode_as(ServerCapabilities, wire, where="capabilities")
    except InvalidParams as error:
        raise ValueError(error.message) from None


_FREE = frozenset({"extensions", "experimental"})


def _setting(name: str, value: Any) -> Any:
    if value is True:
        return {}
    if isinstance(value, Mapping) and name not in _FREE:
        return {_camel(key): inner for key, inner in value.items()}
    if isinstance(value, Mapping):
        return {key: {} if inner is True else inner for key, inner in value.items()}
    return value if not hasattr(value, "__struct_fields__") else to_dict(value)


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def discover_result(
    *,
    name: str,
    version: str,
    title: str | None = None,
    description: str | None = None,
    website_url: str | None = None,
    icons: Sequence[Icon] | None = None,
    capabilities: Mapping[str, Any] | ServerCapabilities | None = None,
    supported_versions: Sequence[str] | None = None,
    instructions: str | None = None,
    cache_scope: CacheScope = "private",
    ttl_ms: int = 0,
    meta: Mapping[str, Any] | None = None,
) -> DiscoverResult:
    """Return the answer to `server/discover`, with the server's name in `_meta` as this revision wants it.

    Args:
        name: of the server, for programs.
        version: of the server.
        title: of the server, for people.
        description: what it is for.
        website_url: where to read more.
        icons: for the client to show.
        capabilities: as `capabilities` takes them, e.g. `{"tools": True}`.
        supported_versions: the protocol versions; by default those of this library.
        instructions: for the model: how to use the server as a whole.
        cache_scope: who may keep the result.
        ttl_ms: for how many milliseconds.
        meta: more of the result's `_meta`.

    Raises:
        ValueError: a capability's setting has the wrong type.
    """
    info = server_info(
        name=name, version=version, title=title, description=description, website_url=website_url, icons=icons
    )
    return DiscoverResult(
        supported_versions=list(supported_protocol_versions() if supported_versions is None else supported_versions),
        capabilities=_capabilities(capabilities),
        instructions=instructions,
        cache_scope=cache_scope,
        ttl_ms=ttl_ms,
        meta={SERVER_INFO_KEY: to_dict(info), **(meta or {})},
    )


_capabilities = capabilities  # `discover_result` has a parameter of that name
