"""Elicitation: asking the person at the client, by a form or by a page in the browser.

`ElicitRequest` exists inside `inputRequests` only, so it has neither `jsonrpc` nor `id`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from msgspec import field

from genmcp.mcp.model import Model, either
from genmcp.mcp.v2607.base import JSONObject


def _url() -> Literal["url"]:
    return "url"


class ElicitRequestFormParams(Model, frozen=True, kw_only=True):
    """Asks for a few values by a form.

    Attributes:
        message: what the person is told.
        requested_schema: a flat object schema whose properties are the `…Schema` structs below, or their JSON.
        mode: None and `"form"` mean the same.
    """

    message: str
    requested_schema: JSONObject
    mode: Literal["form"] | None = None


class ElicitRequestURLParams(Model, frozen=True, kw_only=True):
    """Asks the person to open a page: for everything that must not pass through the client."""

    message: str
    url: str
    mode: Literal["url"] = field(default_factory=_url)


def _choose(raw: dict[str, Any]) -> type[Model]:
    return ElicitRequestURLParams if raw.get("mode") == "url" else ElicitRequestFormParams


if TYPE_CHECKING:
    _AnyElicitParams: TypeAlias = ElicitRequestFormParams | ElicitRequestURLParams
else:
    _AnyElicitParams = either(_choose, ElicitRequestFormParams, ElicitRequestURLParams)

ElicitRequestParams: TypeAlias = ElicitRequestFormParams | ElicitRequestURLParams


class ElicitRequest(Model, frozen=True, tag_field="method", tag="elicitation/create"):
    """A question for the person at the client."""

    method: ClassVar[str] = "elicitation/create"
    params: _AnyElicitParams


class ElicitResult(Model, frozen=True):
    """The answer. `content` is there only when a form was accepted; accepting a URL says nothing of what followed."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, str | int | float | bool | Sequence[str]] | None = None


class StringSchema(Model, frozen=True, kw_only=True, tag_field="type", tag="string"):
    """A form field for text."""

    title: str | None = None
    description: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    format: Literal["email", "uri", "date", "date-time"] | None = None
    default: str | None = None


class NumberSchema(Model, frozen=True, kw_only=True):
    """A form field for a number, whole or not."""

    type: Literal["number", "integer"]
    title: str | None = None
    description: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    default: float | None = None


class BooleanSchema(Model, frozen=True, kw_only=True, tag_field="type", tag="boolean"):
    """A form field for yes or no."""

    title: str | None = None
    description: str | None = None
    default: bool | None = None


class TitledOption(Model, frozen=True):
    """One option of a choice: the value and what the person reads. Inline in the schema of the protocol."""

    const: str
    title: str


class UntitledSingleSelectEnumSchema(Model, frozen=True, kw_only=True, tag_field="type", tag="string"):
    """A choice of one value; the values are what the person reads."""

    enum: Sequence[str]
    title: str | None = None
    description: str | None = None
    default: str | None = None


class TitledSingleSelectEnumSchema(Model, frozen=True, kw_only=True, tag_field="type", tag="string"):
    """A choice of one value, with titles."""

    one_of: Sequence[TitledOption]
    title: str | None = None
    description: str | None = None
    default: str | None = None


class UntitledItems(Model, frozen=True, tag_field="type", tag="string"):
    """The options of `UntitledMultiSelectEnumSchema`. Inline in the schema of the protocol."""

    enum: Sequence[str]


class TitledItems(Model, frozen=True):
    """The options of `TitledMultiSelectEnumSchema`. Inline in the schema of the protocol."""

    any_of: Sequence[TitledOption]


class UntitledMultiSelectEnumSchema(Model, frozen=True, kw_only=True, tag_field="type", tag="array"):
    """A choice of several values."""

    items: UntitledItems
    title: str | None = None
    description: str | None = None
    min_items: int | None = None
    max_items: int | None = None
    default: Sequence[str] | None = None


class TitledMultiSelectEnumSchema(Model, frozen=True, kw_only=True, tag_field="type", tag="array"):
    """A choice of several values, with titles."""

    items: TitledItems
    title: str | None = None
    description: str | None = None
    min_items: int | None = None
    max_items: int | None = None
    default: Sequence[str] | None = None


class LegacyTitledEnumSchema(Model, frozen=True, kw_only=True, tag_field="type", tag="string"):
    """A choice of one value in the manner of older revisions; `TitledSingleSelectEnumSchema` replaces it."""

    enum: Sequence[str]
    enum_names: Sequence[str] | None = None
    title: str | None = None
    description: str | None = None
    default: str | None = None


SingleSelectEnumSchema: TypeAlias = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema
MultiSelectEnumSchema: TypeAlias = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema
EnumSchema: TypeAlias = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema
PrimitiveSchemaDefinition: TypeAlias = StringSchema | NumberSchema | BooleanSchema | EnumSchema
