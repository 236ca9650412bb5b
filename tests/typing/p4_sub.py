from genmcp import Channel, Stop, Stream, SubscriptionCapabilities, SubscriptionHandler, Suite
from genmcp.mcp import v2607 as mcp


class ToolChanges(SubscriptionHandler):
    async def subscribe(self, requested: mcp.SubscriptionFilter, channel: Channel) -> Stream[None] | Stop:
        if not requested.tools_list_changed:
            return Stop("nothing to watch")
        channel.registry.subscribe("tools", channel.pid)
        return Stream(None, honored=mcp.SubscriptionFilter(tools_list_changed=True))

    async def handle_message(self, message: object, channel: Channel, state: None) -> Stream[None]:
        if message == "tools_changed":
            await channel.send_notification(mcp.ToolListChangedNotification())
        return Stream(state)

    def subscription_capabilities(self, channel: Channel) -> SubscriptionCapabilities:
        return {"tools_list_changed": True}


suite = Suite(server_name="R", server_version="1", subscription_handler=ToolChanges())
