"""Whether `Mcp-Param-…` headers say what the tool's arguments say (H-43 to H-47; -32020).

A tool may declare, by `x-mcp-header` in its schema, that an argument is mirrored into a header so that gateways can
route by it. Only declared headers are looked at: those of unknown tools or unknown suffixes are ignored (AMB-12).

| argument | header | verdict |
|---|---|---|
| absent or null | absent | fine |
| absent or null | there | refused: somebody would route by a value that the tool never sees (AMB-09) |
| there | absent | refused |
| there | there | compared as `genmcp.schema.headers.matches` does |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genmcp.mcp import HeaderMismatch
from genmcp.schema.headers import HeaderParam, matches
from transport.headers import PARAM_PREFIX, Headers, spelled


def check_param_headers(headers: Headers, declared: Mapping[str, HeaderParam], arguments: Mapping[str, Any]) -> None:
    """Require each declared header to equal its argument.

    Args:
        headers: Of the request.
        declared: By header suffix, in any case.
        arguments: The arguments of the call, not yet checked against the schema.

    Raises:
        HeaderMismatch: A header is missing, unexpected, malformed or differs; the text names header and argument.
    """
    for suffix, parameter in declared.items():
        name = PARAM_PREFIX + suffix.lower().encode("latin-1")
        value = headers.routing_decoded(name)
        argument = parameter.value_in(arguments)
        if argument is None and value is None:
            continue
        where = ".".join(parameter.path)
        if value is None:
            raise HeaderMismatch(f"The header {spelled(name)} is required: it mirrors the argument {where!r}")
        if argument is None:
            raise HeaderMismatch(f"The header {spelled(name)} was sent but the argument {where!r} is absent")
        if not matches(value, argument, parameter.type):
            raise HeaderMismatch(f"The header {spelled(name)} differs from the argument {where!r}")
