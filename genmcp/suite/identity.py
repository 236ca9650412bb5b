"""Who a Suite is, and how it says so: `server/discover` and the `serverInfo` of every result (D-02, D-03, M-11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from genmcp.errors import ConfigurationError
from genmcp.mcp import supported_protocol_versions
from genmcp.mcp import v2607 as mcp

ResultT = TypeVar("ResultT")


class Identity:
    """The identity of a Suite, checked when it is made."""

    def __init__(
        self,
        *,
        name: str,
        version: str,
        title: str | None = None,
        description: str | None = None,
        url: str | None = None,
        icons: Sequence[mcp.Icon] = (),
        instructions: str | None = None,
        send_server_info: bool = True,
        protocol_extensions: Mapping[str, Mapping[str, Any]] | None = None,
        experimental: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        for option, value in (("server_name", name), ("server_version", version)):
            if not value or type(value) is not str:
                raise ConfigurationError(f"{option}: expected a text that is not empty, got {value!r}")
        self.name = name
        self.version = version
        self.instructions = instructions
        self.info = mcp.Implementation(
            name=name, version=version, title=title, description=description, website_url=url, icons=list(icons) or None
        )
        self._stamp = {mcp.SERVER_INFO_KEY: mcp.to_dict(self.info)} if send_server_info else None
        self._advertised = advertised(protocol_extensions, experimental)

    def discover(self, capabilities: Mapping[str, Any]) -> mcp.DiscoverResult:
        """Answer `server/discover` with the capabilities of the configured providers."""
        return mcp.DiscoverResult(
            supported_versions=supported_protocol_versions(),
            capabilities=mcp.capabilities({"logging": {}, **capabilities, **self._advertised}),
            instructions=self.instructions,
        )

    def stamp(self, result: ResultT) -> ResultT:
        """Return the result with the identity in its `_meta`, unless that is switched off or there already."""
        if self._stamp is None:
            return result
        meta = result.meta  # type: ignore[attr-defined]  # every result has one
        stamped = self._stamp if not meta else {**self._stamp, **meta}
        return msgspec.structs.replace(result, meta=stamped)  # type: ignore[type-var]  # every result is a Struct


def advertised(
    protocol_extensions: Mapping[str, Mapping[str, Any]] | None, experimental: Mapping[str, Mapping[str, Any]] | None
) -> dict[str, Any]:
    """Return the capabilities that an author advertises as they are.

    Raises:
        ConfigurationError: An extension's identifier has no prefix or breaks the grammar (V-04).
    """
    found: dict[str, Any] = {}
    for identifier in protocol_extensions or {}:
        try:
            mcp.check_meta_key(identifier)
        except ValueError as error:
            raise ConfigurationError(f"protocol_extensions: {error}") from None
        if "/" not in identifier:
            raise ConfigurationError(f"protocol_extensions: expected an identifier as vendor/name, got {identifier!r}")
    if protocol_extensions:
        found["extensions"] = {key: dict(value) for key, value in protocol_extensions.items()}
    if experimental:
        found["experimental"] = {key: dict(value) for key, value in experimental.items()}
    return found
