"""The behaviour behind `subscriptions/listen`: `SubscriptionHandler`.

Purpose: a client holds one stream open and is told of changes. The built-in handler (`genmcp.suite.changes`) serves
what the Suite itself knows; write your own when the events come from elsewhere, or when who may see what is yours to
decide.

Lifecycle: `subscribe` accepts or rejects and joins the source of events; the Suite then acknowledges, always first;
`handle_message` turns each message of the worker's mailbox into notifications; `handle_close` runs when the client
leaves or the server stops the stream.

    class ToolChanges(SubscriptionHandler):
        async def subscribe(self, requested, channel, /):
            if not requested.tools_list_changed:
                return Stop("nothing to watch")
            channel.registry.subscribe("tools")
            return Stream(None)

        async def handle_message(self, message, channel, state, /):
            await channel.send_notification(mcp.ToolListChangedNotification())
            return Stream(state)

        def subscription_capabilities(self, channel, /):
            return {"tools_list_changed": True}

| return | from | what it does |
|---|---|---|
| `Stream(state)` | subscribe | accepts all that was requested (of what the capabilities declare) |
| `Stream(state, honored=filter)` | subscribe | accepts a narrowed filter |
| `Stop(reason)` | subscribe | rejects: no stream, no acknowledgement, an error instead |
| `Stream(state)` | handle_message | goes on |
| `Stop(reason)` | handle_message | ends the stream with its result, whatever the reason, which is the exit reason |

Stricter than the original: the acknowledged filter is enforced. A notification outside it is dropped, with one warning
that names the handler; what `subscribe` sends is held until the acknowledgement is out.
(`GenMCP.Suite.SubscriptionHandler`; S-01 to S-14.)
"""

from __future__ import annotations

from typing import Generic, TypedDict

from genmcp.channel import Channel
from genmcp.mcp import v2607 as mcp
from genmcp.server import StateT, Stop, Stream


class SubscriptionCapabilities(TypedDict, total=False):
    """The kinds of notification that a handler can emit; what is absent or False is not advertised."""

    tools_list_changed: bool
    prompts_list_changed: bool
    resources_list_changed: bool
    resources_updated: bool


class SubscriptionHandler(Generic[StateT]):
    """Base class of subscription handlers; see the module. A Suite has one."""

    async def subscribe(self, requested: mcp.SubscriptionFilter, channel: Channel, /) -> Stream[StateT] | Stop:
        """Accept or reject a subscription and join the source of events. Every handler defines it.

        Runs in the worker that holds the stream open; `channel.meta` says who asks.
        """
        del requested, channel
        return Stop(f"{type(self).__name__} serves no subscriptions")

    async def handle_message(self, message: object, channel: Channel, state: StateT, /) -> Stream[StateT] | Stop:
        """Turn one message into notifications. The default ignores it."""
        del message, channel
        return Stream(state)

    async def handle_close(self, channel: Channel, state: StateT, /) -> None:
        """Leave the source of events: the client left, or the server stopped the stream. See `Server.handle_close`."""

    def subscription_capabilities(self, channel: Channel, /) -> SubscriptionCapabilities:
        """Declare what this handler can emit, for `server/discover`. The default declares nothing."""
        del channel
        return {}
