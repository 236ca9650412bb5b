"""What a retry may do with the `requestState` that it brings: open it, and use its round once."""

from __future__ import annotations

from genmcp.conversation.state import Answerable, RoundState, unseal
from genmcp.conversation.table import Conversations, Waiting
from genmcp.errors import InvalidRequestState


def opened(request: Answerable, principal: str | None, *, required: bool) -> RoundState | None:
    """Open a retry's `requestState`; None if it was not sealed here, unless it is required to be.

    Raises:
        InvalidRequestState, ExpiredRequestState: It is refused.
    """
    try:
        return unseal(request.params.request_state or "", request, principal)
    except InvalidRequestState:
        if required:
            raise
        return None


def claim(conversations: Conversations, state: RoundState, incarnation: str, ttl: float) -> Waiting | None:
    """Use a round: return the worker that waits for it, or None if the handler shall run again.

    Raises:
        InvalidRequestState: It was used before, or must not be run again.
    """
    if not conversations.use(state.id, ttl):
        raise InvalidRequestState("This request state was used before")
    waiting = conversations.take(state.id)
    if waiting is None and (state.once or (state.single_use and state.incarnation != incarnation)):
        raise InvalidRequestState("The conversation cannot be continued; make the request again")
    return waiting
