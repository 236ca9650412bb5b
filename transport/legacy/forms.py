"""Forms of 2026-07-28 as clients of 2025-06-18 know them: one choice a field, defaults for yes and no only (O-37)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genmcp.mcp import McpError
from genmcp.mcp.errors import Code

_SCALARS = ("string", "number", "integer", "boolean")


def plain_form(schema: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return a form's schema with what an older client can show.

    Args:
        schema: The form.
        version: The client's revision, for the error.

    Raises:
        McpError: It asks for a choice of several values.
    """
    fields = {name: _plain_field(name, field, version) for name, field in schema.get("properties", {}).items()}
    plain: dict[str, Any] = {"type": "object", "properties": fields}
    if "required" in schema:
        plain["required"] = list(schema["required"])
    return plain


def _plain_field(name: str, field: Mapping[str, Any], version: str) -> dict[str, Any]:
    kind = field.get("type")
    if kind not in _SCALARS:
        raise McpError(
            Code.INTERNAL_ERROR,
            f"The form cannot be shown: its field {name!r} is a choice of several values, which clients of {version} "
            "do not have",
        )
    plain = {key: value for key, value in field.items() if key not in ("oneOf", "default")}
    if kind == "boolean" and "default" in field:
        plain["default"] = field["default"]
    if "oneOf" in field:
        plain["enum"] = [option["const"] for option in field["oneOf"]]
        plain["enumNames"] = [option.get("title", option["const"]) for option in field["oneOf"]]
    return plain
