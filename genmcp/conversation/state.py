"""`requestState`: what a conversation hands to the client, sealed, to get it back with the answers (I-09 to I-13).

It is bound to the principal and the age (by the seal), and to the method, the name or URI, and the arguments (by a
digest inside). Nothing in it can be read or changed by the client.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal, TypeAlias

import msgspec

from genmcp import tokens
from genmcp.errors import ExpiredRequestState, InvalidRequestState
from genmcp.mcp import v2607 as mcp

PURPOSE = "request-state"

Answerable: TypeAlias = mcp.CallToolRequest | mcp.GetPromptRequest | mcp.ReadResourceRequest
"""The requests that may be answered with a question (I-02)."""


class RoundState(msgspec.Struct, frozen=True, array_like=True):
    """What one round seals.

    Attributes:
        kind: `live`: a worker waits; `again`: the handler is run again with `state`.
        id: Of the round; used once.
        incarnation: Of the node that made it.
        request: Digest of what the client asked for.
        answers: By key: the digest of the question and the answer, as on the wire.
        asked: `again` only: the requests, by key.
        state: `again` only: what the handler wants back.
        once: Refuse to run the handler again.
        single_use: Refuse wherever it cannot be known that this was not used before.
    """

    kind: Literal["live", "again"]
    id: str
    incarnation: str
    request: str
    answers: dict[str, tuple[str, dict[str, Any]]] = {}
    asked: dict[str, Any] = {}
    state: Any = None
    once: bool = False
    single_use: bool = False


def digest_of(request: Answerable) -> str:
    """Return a digest of the method, the name or URI, and the arguments of a request."""
    params = mcp.to_dict(request)["params"]
    salient = [request.method, params.get("name"), params.get("uri"), params.get("arguments")]
    return hashlib.sha256(msgspec.json.encode(salient, order="sorted")).hexdigest()[:32]


def seal(state: RoundState, principal: str | None, max_age: float) -> str:
    """Return the state as a token that only this server opens, for `max_age` seconds."""
    return tokens.seal(PURPOSE, msgspec.to_builtins(state), max_age=max_age, principal=principal)


def unseal(token: str, request: Answerable, principal: str | None) -> RoundState:
    """Open the state that came back with a request.

    Raises:
        ExpiredRequestState: It is too old.
        InvalidRequestState: It was changed, is another principal's, or was made for another request.
    """
    try:
        state = msgspec.convert(tokens.open(PURPOSE, token, principal=principal), RoundState)
    except tokens.TokenExpired:
        raise ExpiredRequestState from None
    except (tokens.TokenInvalid, tokens.TokenMissing, msgspec.ValidationError):
        raise InvalidRequestState from None
    if state.request != digest_of(request):
        raise InvalidRequestState
    return state
