"""The GET stream: what a 2026 client gets by a subscription, bare and by one publish for both eras."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from actors import Node
from genmcp import Channel, Stream, SubscriptionHandler, Suite, tool
from genmcp.mcp import v2607 as mcp
from genmcp.server import Stop
from genmcp.suite import SubscriptionCapabilities
from genmcp.worker import WorkerSettings
from tests.transport.calls import Call, request
from tests.transport.legacy.talk import ALL, NOVEMBER, Client, Place, Reply, open_place, rpc, text_of
from transport.endpoint import endpoint

TOOLS, UPDATED = "notifications/tools/list_changed", "notifications/resources/updated"


async def opened(reply: Reply) -> None:
    await reply.until(lambda reply: reply.body)
    assert (reply.status, reply.is_stream) == (200, True)


@pytest.mark.parametrize("version", ALL)
async def test_every_list_that_changes_is_told(place: Place, version: str) -> None:
    client = await place.client(version)
    async with client.listening() as changes:
        await opened(changes)
        place.shop.suite.tools_changed()
        place.shop.suite.prompts_changed()
        place.shop.suite.resources_changed()
        await changes.until(lambda reply: len(reply.messages) == 3)
    assert {(each["method"], "params" in each) for each in changes.messages} == {
        (TOOLS, False),
        ("notifications/prompts/list_changed", False),
        ("notifications/resources/list_changed", False),
    }


async def test_one_publish_reaches_both_eras(place: Place) -> None:
    client = await place.client()
    await client.request("resources/subscribe", uri="file:///a")
    modern = Reply()
    filter_ = {"resourceSubscriptions": ["file:///a"]}
    message = request("subscriptions/listen", "m", notifications=filter_)
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.call, Call(message=message, headers=headers), modern)
        await modern.message("notifications/subscriptions/acknowledged")
        async with client.listening() as changes:
            await opened(changes)
            assert place.shop.suite.resource_updated("file:///a/b") == 2
            old, new = await changes.message(UPDATED), await modern.message(UPDATED)
        modern.leave()
    assert old == {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": "file:///a/b"}}
    assert new["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "m"}


async def test_only_watched_resources_are_told_of(place: Place) -> None:
    client = await place.client()
    async with client.listening() as changes:
        await opened(changes)
        for uri in ("file:///a", "file:///b"):
            assert (await client.request("resources/subscribe", uri=uri))["result"] == {}
        assert (await client.request("resources/unsubscribe", uri="file:///b"))["result"] == {}
        for uri in ("file:///c", "file:///b", "file:///a"):
            place.shop.suite.resource_updated(uri)
        place.shop.suite.tools_changed()
        await changes.message(TOOLS)
    assert [each["params"]["uri"] for each in changes.messages if each["method"] == UPDATED] == ["file:///a"]


async def test_a_subscription_made_before_counts(place: Place) -> None:
    client = await place.client()
    await client.request("resources/subscribe", uri="file:///a")
    async with client.listening() as changes:
        await opened(changes)
        place.shop.suite.resource_updated("file:///a")
        assert (await changes.message(UPDATED))["params"]["uri"] == "file:///a"


async def test_nothing_is_missed_while_subscriptions_grow(place: Place) -> None:
    client = await place.client()
    await client.request("resources/subscribe", uri="file:///0")
    told = 0
    async with client.listening() as changes:
        await opened(changes)
        for number in range(1, 21):
            place.shop.suite.resource_updated("file:///0")
            await client.request("resources/subscribe", uri=f"file:///{number}")
            told += 1
        place.shop.suite.resource_updated("file:///20")
        await changes.until(lambda reply: "file:///20" in str(reply.messages))
        assert len([info for info in place.node.snapshot() if info.label == "subscriptions/listen"]) == 1
    assert str(changes.messages).count("file:///0'") >= 1


async def test_each_session_hears_of_its_own(place: Place) -> None:
    first, second = await place.client(), await place.client()
    async with first.listening() as one, second.listening() as two:
        await opened(one)
        await opened(two)
        await first.request("resources/subscribe", uri="file:///a")
        await second.request("resources/subscribe", uri="file:///b")
        place.shop.suite.resource_updated("file:///a")
        place.shop.suite.resource_updated("file:///b")
        place.shop.suite.tools_changed()
        await one.message(TOOLS)
        await two.message(TOOLS)
    assert [m["params"]["uri"] for m in one.messages if m["method"] == UPDATED] == ["file:///a"]
    assert [m["params"]["uri"] for m in two.messages if m["method"] == UPDATED] == ["file:///b"]


async def test_the_newest_get_takes_the_place_of_the_old(place: Place) -> None:
    client = await place.client()
    async with client.listening() as old:
        await opened(old)
        async with client.listening() as new:
            await opened(new)
            await old.until(lambda reply: reply.complete)
            place.shop.suite.tools_changed()
            await new.message(TOOLS)
    assert old.messages == []


async def test_what_was_missed_comes_after_a_break(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.listening() as before:
        await opened(before)
    place.shop.suite.tools_changed()
    await trio.sleep(5)
    async with client.listening(last_event_id=before.last_id()) as after:
        assert await after.message(TOOLS)
        place.shop.suite.prompts_changed()
        assert await after.message("notifications/prompts/list_changed")


async def test_a_lost_stream_of_changes_is_opened_again(place: Place, autojump_clock: MockClock) -> None:
    client = await place.client()
    async with client.listening(last_event_id="changes-0123456789abcdef.7") as changes:
        await opened(changes)
        place.shop.suite.tools_changed()
        assert await changes.message(TOOLS)


async def test_a_stream_of_changes_that_is_over_is_opened_again(place: Place) -> None:
    client = await place.client()
    async with client.listening() as old:
        await opened(old)
        async with client.listening():
            await old.until(lambda reply: reply.complete)
    async with client.listening(last_event_id=old.last_id()) as new:
        await opened(new)
        place.shop.suite.tools_changed()
        assert await new.message(TOOLS)


async def test_a_listener_that_stays_away_is_gone(autojump_clock: MockClock) -> None:
    async with open_place(worker=WorkerSettings(conversation_ttl=60)) as place:
        client = await place.client()
        async with client.listening() as changes:
            await opened(changes)
        await trio.sleep(59)
        assert len(place.node.snapshot()) == 1
        await trio.sleep(2)
        await place.quiet()
        assert place.kept[0] == 0
        await trio.sleep(61)
        await client.post(rpc("tools/call", 1, name="work", arguments={"steps": 1}))  # sweeps
        assert place.kept == (0, 1)


async def test_quiet_streams_get_comments(autojump_clock: MockClock) -> None:
    async with open_place(keep_alive=1) as place:
        client = await place.client()
        async with client.listening() as changes:
            await trio.sleep(3.5)
        assert changes.body.count(b":\n\n") == 4


class Closing(SubscriptionHandler[None]):
    """Ends every stream at the first message, and takes no stream for a resource called no."""

    async def subscribe(self, requested: mcp.SubscriptionFilter, channel: Channel, /) -> Stream[None] | Stop:
        if "file:///no" in (requested.resource_subscriptions or ()):
            return Stop("not that one")
        channel.registry.register("closing")
        return Stream(None)

    async def handle_message(self, message: object, channel: Channel, state: None, /) -> Stream[None] | Stop:
        return Stop("enough")

    def subscription_capabilities(self, channel: Channel, /) -> SubscriptionCapabilities:
        return {"tools_list_changed": True, "resources_updated": True}


@tool
async def nothing() -> str:
    """Nothing."""
    return "nothing"


async def test_a_stream_that_the_server_ends_is_over() -> None:
    suite = Suite(server_name="a", server_version="1", tools=[nothing], subscription_handler=Closing)
    async with Node() as node, suite.attach(node):
        client = await Client(endpoint(suite, node=node)).open()
        async with client.listening() as changes:
            await opened(changes)
            node.registry.send("closing", "stop")
            await changes.until(lambda reply: reply.complete)
        assert changes.messages == []
        assert node.snapshot() == ()


async def test_a_server_without_subscriptions_has_no_get() -> None:
    suite = Suite(server_name="a", server_version="1", tools=[nothing], subscription_handler=None)
    async with Node() as node, suite.attach(node):
        client = await Client(endpoint(suite, node=node)).open()
        async with client.listening() as changes:
            await changes.until(lambda reply: reply.complete)
        assert (changes.status, changes.headers["allow"]) == (405, "POST, DELETE")
        refused = await client.request("resources/subscribe", uri="file:///a")
        assert refused["error"]["code"] == -32601
        assert text_of(await client.tool("nothing")) == "nothing"


async def test_a_refused_subscription_is_not_kept() -> None:
    suite = Suite(server_name="a", server_version="1", tools=[nothing], subscription_handler=Closing)
    async with Node() as node, suite.attach(node):
        client = await Client(endpoint(suite, node=node), NOVEMBER).open()
        refused = await client.request("resources/subscribe", uri="file:///no")
        assert refused["error"]["code"] == -32601  # this Suite has no resources to watch
