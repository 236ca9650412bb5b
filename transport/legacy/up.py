"""A legacy request as the request of 2026-07-28 that it stands for."""

from __future__ import annotations

from typing import Any, cast

from genmcp.mcp import InvalidParams, MethodNotFound
from genmcp.mcp import v2607 as mcp
from transport.legacy.client import Client

SHARED_METHODS = frozenset(mcp.REQUESTS) - {"server/discover", "subscriptions/listen"}
"""The methods that both eras have; their params are the same but for `_meta`."""

ROUND_MEMBERS = ("inputResponses", "requestState")
"""What only a retry of 2026-07-28 brings; a legacy client answers questions otherwise."""


def params_of(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message's params, an empty object if it has none.

    Raises:
        InvalidParams: They are not an object.
    """
    params = message.get("params")
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise InvalidParams("params: expected an object")
    return params


def request_up(message: dict[str, Any], client: Client, level: str) -> mcp.ClientRequest:
    """Return the request that a 2026 client would have sent.

    What is malformed under `_meta` is left out: these revisions do not say that it matters.

    Raises:
        MethodNotFound: Legacy clients have no such method, or it is not answered by a worker.
        InvalidParams: The params do not fit the method.
    """
    if message["method"] not in SHARED_METHODS:
        raise MethodNotFound(message["method"])
    params = {key: value for key, value in params_of(message).items() if key not in ROUND_MEMBERS}
    params["_meta"] = _own_meta(params.get("_meta")) | client.meta(level)
    return cast("mcp.ClientRequest", mcp.decode({**message, "params": params}))  # it has an id


def listen_request(request_id: str, client: Client, level: str, uris: list[str]) -> mcp.SubscriptionsListenRequest:
    """Return the subscription that a 2026 client would open to hear what this one hears unasked."""
    wanted = mcp.SubscriptionFilter(
        tools_list_changed=True,
        prompts_list_changed=True,
        resources_list_changed=True,
        resource_subscriptions=uris or None,
    )
    params = mcp.SubscriptionsListenRequestParams(meta=client.meta(level), notifications=wanted)
    return mcp.SubscriptionsListenRequest(id=request_id, params=params)


def discover_request(client: Client, level: str) -> mcp.DiscoverRequest:
    """Return the question behind `initialize`: what the server is and can do."""
    return mcp.DiscoverRequest(id="initialize", params=mcp.RequestParams(meta=client.meta(level)))


def _own_meta(meta: Any) -> dict[str, Any]:
    if not isinstance(meta, dict):
        return {}
    found = {key: value for key, value in meta.items() if not mcp.is_reserved(key)}
    if type(found.get(mcp.PROGRESS_TOKEN_KEY)) not in (str, int):
        found.pop(mcp.PROGRESS_TOKEN_KEY, None)
    return found
