"""How a `subscriptions/listen` runs: ask the handler, acknowledge first, keep to what was acknowledged.

The acknowledged filter is what was requested, of what the handler honours, of what its capabilities declare, without
flags that are false and lists that are empty. A URI stays in it only if the caller may subscribe to it, which is asked
again before each delivery, since the timing of an update would tell.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, cast

from actors import Exit
from genmcp.callbacks import named
from genmcp.channel import Channel
from genmcp.errors import CallbackReturnError, InvalidParams
from genmcp.mcp import v2607 as mcp
from genmcp.server import Result, Stop, Stream, exit_reason, refusal
from genmcp.suite.subscription import SubscriptionCapabilities, SubscriptionHandler

LOG = logging.getLogger("genmcp")

MAX_URIS = 1000
"""Resources that one stream may be told of."""
MAX_URI = 2048
"""Characters of one such URI."""

MayRead = Callable[[str, Channel], Awaitable[bool]]


class ListenStream:
    """An open subscription: the owner of its worker's messages, and the gate of its channel."""

    __slots__ = ("_acknowledged", "_channel", "_handler", "_honored", "_may_read", "_requested", "_state", "_warned")

    def __init__(
        self,
        handler: SubscriptionHandler[Any],
        accepted: Stream[Any],
        requested: mcp.SubscriptionFilter,
        channel: Channel,
        may_read: MayRead,
    ) -> None:
        self._handler = handler
        self._state = accepted.state
        self._requested = requested
        self._honored = accepted.honored or requested
        self._acknowledged = mcp.SubscriptionFilter()
        self._channel = channel
        self._may_read = may_read
        self._warned = False

    async def acknowledge(self) -> None:
        """Say what is honoured; the first notification of the stream (S-03)."""
        declared = capabilities_of(self._handler, self._channel)
        self._acknowledged = await narrowed(self._requested, self._honored, declared, self._channel, self._may_read)
        params = mcp.SubscriptionsAcknowledgedNotificationParams(notifications=self._acknowledged)
        await self._channel.backstage.release(
            mcp.SubscriptionsAcknowledgedNotification(params=params), gate=self.allows
        )

    async def handle_message(self, message: object, channel: Channel) -> Result | Stream[Any]:
        """Give the handler one message; a `Stop` ends the stream with its result."""
        with _calling(self._handler, "handle_message") as name:
            outcome: object = await self._handler.handle_message(message, channel, self._state)
        match outcome:
            case Stream(state=state):
                self._state = state
                return Stream(self)
            case Stop(reason=reason):
                return Result(channel.backstage.listen_result(), exit_reason(reason))
        raise CallbackReturnError(name, outcome, "Stream or Stop")

    async def handle_close(self, channel: Channel) -> None:
        """Let the handler leave its source of events."""
        await self._handler.handle_close(channel, self._state)

    async def allows(self, notification: mcp.ServerNotification) -> bool:
        """Tell whether a notification is within the acknowledged filter, and still may be read by the caller."""
        match notification:
            case mcp.ToolListChangedNotification():
                allowed = bool(self._acknowledged.tools_list_changed)
            case mcp.PromptListChangedNotification():
                allowed = bool(self._acknowledged.prompts_list_changed)
            case mcp.ResourceListChangedNotification():
                allowed = bool(self._acknowledged.resources_list_changed)
            case mcp.ResourceUpdatedNotification(params=params):
                allowed = covers(self._acknowledged.resource_subscriptions or (), params.uri)
                if allowed and not await self._may_read(params.uri, self._channel):
                    return False
            case mcp.ProgressNotification() | mcp.LoggingMessageNotification():
                return False
            case _:
                return True
        if not allowed and not self._warned:
            self._warned = True
            LOG.warning(
                "%s sent %s, which the acknowledged filter does not hold; it is dropped",
                type(self._handler).__name__,
                notification.method,
            )
        return allowed


async def listen(
    handler: SubscriptionHandler[Any], request: mcp.SubscriptionsListenRequest, channel: Channel, may_read: MayRead
) -> ListenStream:
    """Open a subscription: the handler decides, the Suite acknowledges.

    Raises:
        Exit: The handler rejected it; the client has its error.
        InvalidParams: It names more resources than a stream may be told of.
        CallbackReturnError: `subscribe` returned something else than `Stream` or `Stop`.
    """
    requested = request.params.notifications
    _require_few(requested.resource_subscriptions or ())
    channel.backstage.hold()
    with _calling(handler, "subscribe") as name:
        outcome: object = await handler.subscribe(requested, channel)
    if isinstance(outcome, Stop):
        channel.backstage.end(refusal(outcome.reason))
        raise Exit(exit_reason(outcome.reason))
    if not isinstance(outcome, Stream) or not isinstance(outcome.honored, mcp.SubscriptionFilter | None):
        raise CallbackReturnError(name, outcome, "Stream or Stop; what a Stream honours is a SubscriptionFilter")
    stream = ListenStream(handler, outcome, requested, channel, may_read)
    # not here: a client that leaves during it must find the handler's state where `handle_close` gets it
    channel.backstage.when_open(stream.acknowledge)
    return stream


def capabilities_of(handler: SubscriptionHandler[Any], channel: Channel) -> SubscriptionCapabilities:
    """Return what a handler declares.

    Raises:
        CallbackReturnError: It is no mapping.
    """
    with _calling(handler, "subscription_capabilities") as name:
        declared: object = handler.subscription_capabilities(channel)
    if not isinstance(declared, Mapping):
        raise CallbackReturnError(name, declared, "a dict of SubscriptionCapabilities")
    return cast("SubscriptionCapabilities", declared)


def _calling(handler: SubscriptionHandler[Any], callback: str) -> AbstractContextManager[str]:
    return named(f"{type(handler).__name__}.{callback}")


def _require_few(uris: Sequence[str]) -> None:
    """Refuse a filter that would cost this process more than a client may ask for: a body can hold 250,000 URIs."""
    if len(uris) > MAX_URIS or any(len(uri) > MAX_URI for uri in uris):
        raise InvalidParams(
            f"resourceSubscriptions: a stream takes at most {MAX_URIS} URIs of {MAX_URI} characters; subscribe to what "
            "they continue (file:///a covers file:///a/b), or open several streams"
        )


async def narrowed(
    requested: mcp.SubscriptionFilter,
    honored: mcp.SubscriptionFilter,
    declared: SubscriptionCapabilities,
    channel: Channel,
    may_read: MayRead,
) -> mcp.SubscriptionFilter:
    """Return the filter to acknowledge (S-03, S-05)."""

    def both(kind: str) -> bool | None:
        return bool(getattr(requested, kind) and getattr(honored, kind) and declared.get(kind)) or None

    uris: list[str] = []
    if declared.get("resources_updated"):
        wanted = set(honored.resource_subscriptions or ())
        uris = [uri for uri in dict.fromkeys(requested.resource_subscriptions or ()) if uri in wanted]
        uris = [uri for uri in uris if await may_read(uri, channel)]
    return mcp.SubscriptionFilter(
        tools_list_changed=both("tools_list_changed"),
        prompts_list_changed=both("prompts_list_changed"),
        resources_list_changed=both("resources_list_changed"),
        resource_subscriptions=uris or None,
    )


def covers(subscribed: Sequence[str], uri: str) -> bool:
    """Tell whether a URI is one of those, or continues one of them after `/` (R-12)."""
    return any(uri == base or uri.startswith(base if base.endswith("/") else f"{base}/") for base in subscribed)
