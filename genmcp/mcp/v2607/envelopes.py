"""JSON-RPC envelopes as structs: for tests, clients and tools. A server writes its answers with `jsonrpc`."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import field

from genmcp.mcp.model import Model, either
from genmcp.mcp.v2607.base import JSONObject, RequestId, Result
from genmcp.mcp.v2607.completion import CompleteResult
from genmcp.mcp.v2607.discovery import DiscoverResult
from genmcp.mcp.v2607.prompts import GetPromptResult, ListPromptsResult
from genmcp.mcp.v2607.resources import ListResourcesResult, ListResourceTemplatesResult, ReadResourceResult
from genmcp.mcp.v2607.rounds import InputRequiredResult
from genmcp.mcp.v2607.subscriptions import SubscriptionsListenResult
from genmcp.mcp.v2607.tools import CallToolResult, ListToolsResult


def _version() -> Literal["2.0"]:
    return "2.0"


class JSONRPCRequest(Model, frozen=True, kw_only=True):
    """A request of any method."""

    id: RequestId
    method: str
    params: JSONObject | None = None
    jsonrpc: Literal["2.0"] = field(default_factory=_version)


class Notification(Model, frozen=True, kw_only=True):
    """A notification of any method, without its envelope."""

    method: str
    params: JSONObject | None = None


class JSONRPCNotification(Notification, frozen=True, kw_only=True):
    """A notification of any method: for those of extensions, which have no struct here."""

    jsonrpc: Literal["2.0"] = field(default_factory=_version)


class _ResultResponse(Model, frozen=True, kw_only=True):
    id: RequestId
    jsonrpc: Literal["2.0"] = field(default_factory=_version)


class JSONRPCResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """A response with a result of any kind; what `Result` does not know is in its `extra`."""

    result: Result


if TYPE_CHECKING:
    _CallOutcome: TypeAlias = InputRequiredResult | CallToolResult
    _PromptOutcome: TypeAlias = InputRequiredResult | GetPromptResult
    _ReadOutcome: TypeAlias = InputRequiredResult | ReadResourceResult
else:

    def _or_input_required(kind):  # noqa: ANN001, ANN202 - type checkers are shown the branch above
        """Accept `kind`, or the result that asks for input: `resultType` says which."""

        def choose(raw):  # noqa: ANN001, ANN202 - type checkers are shown the branch above
            return InputRequiredResult if raw.get("resultType") == "input_required" else kind

        return either(choose, InputRequiredResult, kind)

    _CallOutcome = _or_input_required(CallToolResult)
    _PromptOutcome = _or_input_required(GetPromptResult)
    _ReadOutcome = _or_input_required(ReadResourceResult)


class DiscoverResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `server/discover`."""

    result: DiscoverResult


class ListToolsResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `tools/list`."""

    result: ListToolsResult


class CallToolResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `tools/call`."""

    result: _CallOutcome


class ListResourcesResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `resources/list`."""

    result: ListResourcesResult


class ListResourceTemplatesResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `resources/templates/list`."""

    result: ListResourceTemplatesResult


class ReadResourceResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `resources/read`."""

    result: _ReadOutcome


class ListPromptsResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `prompts/list`."""

    result: ListPromptsResult


class GetPromptResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `prompts/get`."""

    result: _PromptOutcome


class CompleteResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `completion/complete`."""

    result: CompleteResult


class SubscriptionsListenResultResponse(_ResultResponse, frozen=True, kw_only=True):
    """Answers `subscriptions/listen`, when the stream ends."""

    result: SubscriptionsListenResult
