"""Discovery: which versions and capabilities a server has, and which ones a client declares on each request."""

from collections.abc import Sequence
from typing import ClassVar

from genmcp.mcp.model import Model
from genmcp.mcp.v2607.base import CacheableResult, JSONObject, RequestMessage, RequestParams


class ElicitationCapability(Model, frozen=True, kw_only=True):
    """The modes of elicitation that a client has; with neither, it has forms. Inline in the schema."""

    form: JSONObject | None = None
    url: JSONObject | None = None


class SamplingCapability(Model, frozen=True, kw_only=True):
    """The parts of sampling that a client has beyond text. Inline in the schema."""

    context: JSONObject | None = None
    tools: JSONObject | None = None


class ClientCapabilities(Model, frozen=True, kw_only=True):
    """What a client can do, declared on every request; what is not declared must not be used."""

    elicitation: ElicitationCapability | None = None
    sampling: SamplingCapability | None = None
    roots: JSONObject | None = None
    extensions: dict[str, JSONObject] | None = None
    experimental: dict[str, JSONObject] | None = None


class PromptsCapability(Model, frozen=True, kw_only=True):
    """Prompts, and whether changes of their list are announced. Inline in the schema."""

    list_changed: bool | None = None


class ResourcesCapability(Model, frozen=True, kw_only=True):
    """Resources, and whether changes of their list or of each one are announced. Inline in the schema."""

    subscribe: bool | None = None
    list_changed: bool | None = None


class ToolsCapability(Model, frozen=True, kw_only=True):
    """Tools, and whether changes of their list are announced. Inline in the schema."""

    list_changed: bool | None = None


class ServerCapabilities(Model, frozen=True, kw_only=True):
    """What a server offers; a method whose capability is missing is answered with -32601."""

    tools: ToolsCapability | None = None
    resources: ResourcesCapability | None = None
    prompts: PromptsCapability | None = None
    completions: JSONObject | None = None
    logging: JSONObject | None = None
    extensions: dict[str, JSONObject] | None = None
    experimental: dict[str, JSONObject] | None = None


class DiscoverRequest(RequestMessage, frozen=True, kw_only=True, tag="server/discover"):
    """Asks what the server is and can do."""

    method: ClassVar[str] = "server/discover"
    params: RequestParams


class DiscoverResult(CacheableResult, frozen=True, kw_only=True):
    """What the server can do. Who it is stands in `_meta`, as in every other result.

    Attributes:
        supported_versions: the protocol versions that are served per request.
        capabilities: what it offers.
        instructions: for the model: how to use the server as a whole.
    """

    supported_versions: Sequence[str]
    capabilities: ServerCapabilities
    instructions: str | None = None
