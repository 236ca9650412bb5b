"""The built-in subscription handler: what the Suite itself knows to have changed, told to who asked for it.

A change is published on a topic of the node's registry; the worker of each stream that asked for it has joined that
topic. A stream whose client has fallen behind folds equal changes into one, and ends when its mailbox is full; the
publisher never waits.

A changed resource is published on its own topic and on those of its parents, so that a subscription to
`file:///a` hears of `file:///a/b` and a change costs as many look-ups as its URI has segments, however many streams
are open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import trio

from actors import Registry
from genmcp.channel import Channel
from genmcp.mcp import v2607 as mcp
from genmcp.server import Stop, Stream
from genmcp.suite.listen import MayRead, covers, narrowed
from genmcp.suite.subscription import SubscriptionCapabilities, SubscriptionHandler

TOOLS_CHANGED = "genmcp.tools_changed"
PROMPTS_CHANGED = "genmcp.prompts_changed"
RESOURCES_CHANGED = "genmcp.resources_changed"
RESOURCE_UPDATED = "genmcp.resource_updated"


class Changes(SubscriptionHandler[Sequence[str]]):
    """The built-in handler.

    Args:
        max_streams: Streams that may be open at the same time; one more is refused.
        max_streams_per_principal: The same for one caller; None: no limit of its own. Callers without a principal
            count as one.
    """

    def __init__(self, *, max_streams: int = 10_000, max_streams_per_principal: int | None = None) -> None:
        self._max_streams = max_streams
        self._max_each = max_streams_per_principal
        self._open: dict[str | None, int] = {}
        self._offered: Callable[[], SubscriptionCapabilities] = SubscriptionCapabilities
        self._may_read: MayRead = nobody

    def offer(self, capabilities: Callable[[], SubscriptionCapabilities], may_read: MayRead) -> None:
        """Say what the Suite has providers for, and who may watch a URI; called by the Suite it belongs to."""
        self._offered = capabilities
        self._may_read = may_read

    def subscription_capabilities(self, channel: Channel, /) -> SubscriptionCapabilities:
        """Advertise a kind only if the Suite has providers of that kind."""
        del channel
        return self._offered()

    async def subscribe(self, requested: mcp.SubscriptionFilter, channel: Channel, /) -> Stream[Sequence[str]] | Stop:
        """Join the topics of what will be acknowledged, within the limits; the state holds the URIs among it."""
        acknowledged = await narrowed(requested, requested, self._offered(), channel, self._may_read)
        principal = channel.meta.principal
        mine = self._open.get(principal, 0)
        if sum(self._open.values()) >= self._max_streams or (self._max_each is not None and mine >= self._max_each):
            return Stop("too many subscription streams are open; close one, or try again later")
        self._open[principal] = mine + 1
        channel.backstage.on_exit(lambda: self._closed(principal))
        for topic in topics_of(acknowledged):
            channel.registry.subscribe(topic)
            if principal is not None:
                channel.registry.subscribe(for_principal(topic, principal))
        return Stream(acknowledged.resource_subscriptions or (), honored=acknowledged)

    def _closed(self, principal: str | None) -> None:
        left = self._open[principal] - 1
        if left:
            self._open[principal] = left
        else:
            del self._open[principal]

    async def handle_message(
        self, message: object, channel: Channel, state: Sequence[str], /
    ) -> Stream[Sequence[str]] | Stop:
        """Send the change on, once for all equal ones that wait behind it."""
        if isinstance(message, CHANGES) and _asked_for(message, state):
            fold(message, channel)
            await channel.backstage.pass_on(message)
        return Stream(state)


def _asked_for(message: mcp.ServerNotification, uris: Sequence[str]) -> bool:
    """Tell whether a stream shall hear of a change: those of `file:///a` and `file:///a/` share a topic."""
    return not isinstance(message, mcp.ResourceUpdatedNotification) or covers(uris, message.params.uri)


async def nobody(uri: str, channel: Channel) -> bool:
    """Let nobody watch any URI: the answer of a handler that belongs to no Suite."""
    del uri, channel
    return False


CHANGES = (
    mcp.ToolListChangedNotification,
    mcp.PromptListChangedNotification,
    mcp.ResourceListChangedNotification,
    mcp.ResourceUpdatedNotification,
)


def fold(message: object, channel: Channel) -> int:
    """Take every message of the mailbox that equals this one. Returns how many there were."""
    worker, folded = channel.backstage.worker, 0
    while worker.mailbox is not None and worker.mailbox.unread:
        try:
            worker.receive_nowait(match=lambda other: other == message)
        except trio.WouldBlock:
            break
        folded += 1
    return folded


def topics_of(requested: mcp.SubscriptionFilter) -> list[str]:
    """Return the topics that a filter asks for; a URI below another one of the filter needs none of its own."""
    found = []
    if requested.tools_list_changed:
        found.append(TOOLS_CHANGED)
    if requested.prompts_list_changed:
        found.append(PROMPTS_CHANGED)
    if requested.resources_list_changed:
        found.append(RESOURCES_CHANGED)
    found.extend(of_resource(uri) for uri in _outermost(requested.resource_subscriptions or ()))
    return found


def _outermost(uris: Iterable[str]) -> list[str]:
    """Return the URIs that continue no other one, each once, in their order."""
    kept: set[str] = set()
    last = None
    for folder in sorted({uri.rstrip("/") + "/" for uri in uris}):  # what continues a URI comes right behind it
        if last is None or not folder.startswith(last):
            kept.add(folder)
            last = folder
    folders = dict.fromkeys(uri.rstrip("/") + "/" for uri in uris)
    return [folder for folder in folders if folder in kept]


def of_resource(uri: str) -> str:
    """Return the topic of changes to one resource and what lies below it."""
    return f"{RESOURCE_UPDATED} {uri.rstrip('/')}"


def for_principal(topic: str, principal: str) -> str:
    """Return the topic of a change that only one caller shall hear of; no URI or other principal makes the same."""
    return f"@{principal!r} {topic}"


def publish(registry: Registry, topic: str, notification: mcp.ServerNotification, principal: str | None) -> int:
    """Publish a change to every stream that asked for it, or to those of one caller. Returns the receivers."""
    return registry.publish(topic if principal is None else for_principal(topic, principal), notification)


def publish_updated(registry: Registry, uri: str, principal: str | None) -> int:
    """Publish that a resource has changed, to streams that asked for it or for one of its parents."""
    notification = mcp.ResourceUpdatedNotification(params=mcp.ResourceUpdatedNotificationParams(uri=uri))
    topics = dict.fromkeys(of_resource(base) for base in lineage(uri))  # of file:/// and file: there is one
    return sum(publish(registry, topic, notification, principal) for topic in topics)


def lineage(uri: str) -> list[str]:
    """Return the URI and its parents: what it continues after a `/`."""
    base = uri.rstrip("/")
    found = [base]
    while "/" in base:
        base = base.rpartition("/")[0]
        found.append(base)
    return list(dict.fromkeys(found))
