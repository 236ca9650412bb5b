"""A tool as it is described to clients: apart from `tools`, because sampling describes tools as well."""

from collections.abc import Sequence

from msgspec import field

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import Icon, JSONObject, MetaObject


def _any_object() -> JSONObject:
    return {"type": "object"}


class ToolAnnotations(Model, frozen=True, kw_only=True):
    """Hints for the client; it will not rely on them unless it trusts the server.

    Attributes:
        title: for people.
        read_only_hint: changes nothing (default false).
        destructive_hint: may destroy something (default true).
        idempotent_hint: called again with the same arguments, nothing more happens (default false).
        open_world_hint: deals with the world outside the server (default true).
    """

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class Tool(Model, frozen=True):
    """The description of a tool.

    Attributes:
        name: what `tools/call` names.
        description: for the model.
        input_schema: the JSON Schema of the arguments; its root is `type: object`.
        output_schema: the JSON Schema of `structured_content`.
    """

    name: str
    description: str | None = None
    input_schema: JSONObject = field(default_factory=_any_object)
    output_schema: JSONObject | None = None
    title: str | None = None
    icons: Sequence[Icon] | None = None
    annotations: ToolAnnotations | None = None
    meta: MetaObject | None = field(default=None, name="_meta")
