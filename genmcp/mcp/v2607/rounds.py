"""Multi-round-trip requests: a result that asks, and the next request that answers.

A server never sends requests. It ends a request with an `InputRequiredResult`, and the client sends the request
again with the answers, under a new id. Only tools/call, prompts/get and resources/read may be answered so.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import field

from genmcp.mcp.model import Model, either
from genmcp.mcp.v2607.base import RequestParams, Result, ResultType
from genmcp.mcp.v2607.elicitation import ElicitRequest, ElicitResult
from genmcp.mcp.v2607.roots import ListRootsRequest, ListRootsResult
from genmcp.mcp.v2607.sampling import CreateMessageRequest, CreateMessageResult

InputRequest: TypeAlias = ElicitRequest | CreateMessageRequest | ListRootsRequest
InputRequests: TypeAlias = dict[str, InputRequest]
InputResponse: TypeAlias = ElicitResult | CreateMessageResult | ListRootsResult


def _choose(raw: dict[str, Any]) -> type[Model]:
    if "roots" in raw:
        return ListRootsResult
    return CreateMessageResult if "model" in raw or "role" in raw else ElicitResult


if TYPE_CHECKING:
    InputResponses: TypeAlias = dict[str, InputResponse]
else:
    InputResponses = dict[str, either(_choose, ElicitResult, CreateMessageResult, ListRootsResult)]


def _input_required() -> ResultType:
    return "input_required"


class InputRequiredResult(Result, frozen=True, kw_only=True):
    """The end of a round: what the client must find out before it sends the request again.

    Attributes:
        input_requests: the questions, by a key that the answer repeats.
        request_state: what the client sends back unread. Alone, it means "ask again later".
    """

    result_type: ResultType = field(default_factory=_input_required)
    input_requests: InputRequests | None = None
    request_state: str | None = None


class InputResponseRequestParams(RequestParams, frozen=True, kw_only=True):
    """The parameters of a request that may be a retry."""

    input_responses: InputResponses | None = None
    request_state: str | None = None
