"""Subscriptions: who is told of what, and how a stream ends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest
import trio

import actors
from genmcp import (
    Changes,
    Channel,
    InvalidParams,
    McpError,
    Page,
    ResourceRepo,
    Sent,
    Stop,
    Stream,
    SubscriptionCapabilities,
    SubscriptionHandler,
    Suite,
    tool,
)
from genmcp.mcp import v2607 as mcp
from genmcp.suite.changes import lineage, topics_of
from genmcp.suite.listen import covers
from genmcp.testing import Call, Client, connect

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@tool
async def noop() -> None:
    """Does nothing."""


class Handler(SubscriptionHandler[int]):
    """Accepts all, counts messages, and says what it was told."""

    def __init__(self, honored: mcp.SubscriptionFilter | None = None) -> None:
        self.honored = honored
        self.closed: list[tuple[str | None, int]] = []
        self.sent: list[Sent] = []

    async def subscribe(self, requested: mcp.SubscriptionFilter, channel: Channel, /) -> Stream[int] | Stop:
        if requested.prompts_list_changed and not requested.tools_list_changed:
            return Stop("no prompts here")
        self.sent.append(await channel.send_notification(mcp.ToolListChangedNotification()))
        return Stream(0, honored=self.honored)

    async def handle_message(self, message: object, channel: Channel, state: int, /) -> Stream[int] | Stop:
        if message == "stop":
            return Stop(actors.Shutdown("enough"))
        if isinstance(message, mcp.ToolListChangedNotification | mcp.PromptListChangedNotification):
            self.sent.append(await channel.send_notification(message))
            self.sent.append(await channel.send_progress(1))
            self.sent.append(await channel.send_log("error", "x"))
        return Stream(state + 1)

    async def handle_close(self, channel: Channel, state: int, /) -> None:
        self.closed.append((channel.close_reason, state))

    def subscription_capabilities(self, channel: Channel, /) -> SubscriptionCapabilities:
        return {"tools_list_changed": True, "resources_updated": True}


class Notes(ResourceRepo):
    """Everything below a:///."""

    prefix = "a:///"

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        return Page([])

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> str:
        return uri


def suite(**options: Any) -> Suite:
    return Suite(server_name="Test", server_version="1", tools=[noop], **options)


def listen(client: Client, **wanted: Any) -> Call:
    return client.start("subscriptions/listen", {"notifications": wanted}, progress_token=1, log_level="debug")


def wire(notification: Any) -> dict[str, Any]:
    found: dict[str, Any] = mcp.to_dict(notification)
    return found


async def acknowledged(call: Call) -> dict[str, Any]:
    first = wire(await call.next_notification())
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["_meta"][SUBSCRIPTION] == call.request_id
    found: dict[str, Any] = first["params"]["notifications"]
    return found


async def test_acknowledgement_is_first_and_names_what_is_honoured(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite()) as client:
        call = listen(client, toolsListChanged=True, promptsListChanged=True, resourceSubscriptions=["x://y"])
        assert await acknowledged(call) == {"toolsListChanged": True}


async def test_change_reaches_who_asked_for_it_with_the_subscription_id(autojump_clock: trio.abc.Clock) -> None:
    made = suite()
    async with connect(made) as client:
        wanting, other = listen(client, toolsListChanged=True), listen(client, promptsListChanged=True)
        await acknowledged(wanting)
        await other.next_notification()
        assert made.tools_changed() == 1
        note = wire(await wanting.next_notification())
        assert note == {
            "jsonrpc": "2.0",
            "method": "notifications/tools/list_changed",
            "params": {"_meta": {SUBSCRIPTION: 1}},
        }
        await trio.sleep(1)
        assert len(other.notifications) == 1


async def test_change_can_be_told_to_one_principal(autojump_clock: trio.abc.Clock) -> None:
    made = suite()
    async with connect(made) as client:
        calls = {name: listen(client.as_principal(name), toolsListChanged=True) for name in ("ada", "bob")}
        for call in calls.values():
            await acknowledged(call)
        assert made.tools_changed(principal="ada") == 1
        await trio.sleep(1)
        assert [len(call.notifications) for call in calls.values()] == [2, 1]


async def test_change_can_be_published_from_a_thread() -> None:
    made = suite()
    async with connect(made) as client:
        call = listen(client, toolsListChanged=True)
        await acknowledged(call)
        await trio.to_thread.run_sync(made.tools_changed)
        with trio.fail_after(5):
            assert wire(await call.next_notification())["method"] == "notifications/tools/list_changed"


async def test_adding_a_tool_tells_the_streams(autojump_clock: trio.abc.Clock) -> None:
    made = suite()
    async with connect(made) as client:
        call = listen(client, toolsListChanged=True)
        await acknowledged(call)

        @made.tool
        @tool
        async def late() -> None:
            """Late."""

        assert wire(await call.next_notification())["method"] == "notifications/tools/list_changed"


async def test_reader_that_falls_behind_gets_equal_changes_once(autojump_clock: trio.abc.Clock) -> None:
    made = suite()
    async with connect(made) as client:
        call = listen(client, toolsListChanged=True)
        await acknowledged(call)
        for _ in range(1500):
            made.tools_changed()
        await trio.sleep(1)
        assert len(call.notifications) == 2
        assert not call.outbox.closed


async def test_filter_is_enforced_with_one_warning(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    handler = Handler()
    async with connect(suite(subscription_handler=handler)) as client:
        call = listen(client, toolsListChanged=True, promptsListChanged=True)
        assert await acknowledged(call) == {"toolsListChanged": True}
        for _ in range(2):
            call.push(mcp.PromptListChangedNotification())
        await trio.sleep(1)
        assert len(call.notifications) == 2  # the acknowledgement, and what `subscribe` sent
    assert handler.sent == [Sent.SENT, *([Sent.NOT_WANTED] * 6)]
    assert caplog.text.count("Handler sent notifications/prompts/list_changed") == 1


async def test_what_subscribe_sends_waits_for_the_acknowledgement(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite(subscription_handler=Handler())) as client:
        call = listen(client, toolsListChanged=True)
        await acknowledged(call)
        assert wire(await call.next_notification())["method"] == "notifications/tools/list_changed"


async def test_honoured_filter_narrows_and_never_widens(autojump_clock: trio.abc.Clock) -> None:
    honored = mcp.SubscriptionFilter(tools_list_changed=True, prompts_list_changed=True)
    async with connect(suite(subscription_handler=Handler(honored))) as client:
        call = listen(client, resourcesListChanged=True)
        assert await acknowledged(call) == {}


async def test_rejection_is_an_error_without_a_stream(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite(subscription_handler=Handler())) as client:
        call = listen(client, promptsListChanged=True)
        reasons: list[actors.ExitReason] = []
        client.node.on_exit(call.pid, reasons.append)
        with pytest.raises(McpError, match="no prompts here") as caught:
            await call.result()
        await trio.sleep(1)
    assert caught.value.code == -32602
    assert not call.outbox.streaming
    assert reasons == [actors.Shutdown("no prompts here")]


async def test_stop_ends_with_the_result_and_its_reason(autojump_clock: trio.abc.Clock) -> None:
    handler = Handler()
    async with connect(suite(subscription_handler=handler)) as client:
        call = listen(client, toolsListChanged=True)
        reasons: list[actors.ExitReason] = []
        client.node.on_exit(call.pid, reasons.append)
        await acknowledged(call)
        call.push("stop")
        result = wire(await call.result())
        await trio.sleep(1)
    assert result["resultType"] == "complete"
    assert result["_meta"][SUBSCRIPTION] == 1
    assert reasons == [actors.Shutdown("enough")]
    assert handler.closed == []


async def test_client_that_leaves_is_told_to_the_handler(autojump_clock: trio.abc.Clock) -> None:
    handler = Handler()
    async with connect(suite(subscription_handler=handler)) as client:
        call = listen(client, toolsListChanged=True)
        await acknowledged(call)
        call.push("anything")
        await trio.sleep(1)
        call.leave()
        await trio.sleep(1)
        assert client.node.snapshot() == ()
    assert handler.closed == [("client_gone", 1)]


async def test_shutdown_ends_streams_with_their_result(autojump_clock: trio.abc.Clock) -> None:
    handler = Handler()
    async with connect(suite(subscription_handler=handler)) as client:
        call = listen(client, toolsListChanged=True)
        await acknowledged(call)
        await client.node.stop()
        assert wire(await call.result())["_meta"][SUBSCRIPTION] == 1
    assert handler.closed == [("shutdown", 0)]


async def test_streams_beyond_the_limit_are_refused(autojump_clock: trio.abc.Clock) -> None:
    made = suite(subscription_handler=Changes(max_streams=3, max_streams_per_principal=2))
    async with connect(made) as client:
        ada, bob = client.as_principal("ada"), client.as_principal("bob")
        first = listen(ada, toolsListChanged=True)
        await acknowledged(first)
        await acknowledged(listen(ada, toolsListChanged=True))
        with pytest.raises(McpError, match="too many"):
            await listen(ada, toolsListChanged=True).result()
        await bob_listens(bob)
        with pytest.raises(McpError, match="too many"):
            await listen(bob, toolsListChanged=True).result()
        first.leave()
        await trio.sleep(1)
        await bob_listens(bob)


async def bob_listens(client: Client) -> None:
    call = listen(client, toolsListChanged=True)
    assert (await call.next_notification()).method == "notifications/subscriptions/acknowledged"


async def test_nothing_is_left_of_closed_streams(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite()) as client:
        before = client.node.counts()
        calls = [listen(client, toolsListChanged=True) for _ in range(50)]
        for call in calls:
            await call.next_notification()
        for call in calls:
            call.leave()
        await trio.sleep(1)
        assert client.node.counts() == before


def test_uri_covers_itself_and_what_lies_below() -> None:
    assert covers(["a://x/y"], "a://x/y")
    assert covers(["a://x/y"], "a://x/y/z")
    assert covers(["a://x/y/"], "a://x/y/z")
    assert not covers(["a://x/y"], "a://x/yz")


def test_lineage_holds_the_uri_and_its_parents() -> None:
    assert lineage("a://x/y") == ["a://x/y", "a://x", "a:/", "a:"]


def test_topics_leave_out_what_a_parent_covers() -> None:
    wanted = mcp.SubscriptionFilter(resource_subscriptions=["a://x", "a://x/y", "b://z", "b://z"])
    assert topics_of(wanted) == ["genmcp.resource_updated a://x", "genmcp.resource_updated b://z"]


def test_topics_of_a_thousand_uris_take_no_time() -> None:
    uris = [f"a://x/{number}" for number in range(999)] + ["b://" + "y/" * 1000]
    started = time.process_time()
    assert len(topics_of(mcp.SubscriptionFilter(resource_subscriptions=uris))) == 1000
    assert time.process_time() - started < 0.1  # each with each would be a million comparisons


@pytest.mark.parametrize("uris", [[f"a://{number}" for number in range(1001)], ["a://" + "x" * 2045]])
async def test_more_uris_than_a_stream_takes_are_refused(uris: list[str], autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite(resources=[Notes()])) as client:
        before = client.node.counts()
        with pytest.raises(InvalidParams, match="at most 1000 URIs"):
            await listen(client, resourceSubscriptions=uris).result()
        await trio.sleep(1)
        assert client.node.counts() == before


async def test_subscription_to_a_root_hears_each_change_once(autojump_clock: trio.abc.Clock) -> None:
    made = suite(resources=[Notes()])
    async with connect(made) as client:
        call = listen(client, resourceSubscriptions=["a:///"])
        await acknowledged(call)
        assert made.resource_updated("a:///x/y") == 1
        await trio.sleep(1)
        assert len(call.notifications) == 2


async def test_stream_hears_nothing_of_what_it_may_not_watch(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Private(ResourceRepo):
        prefix = "x://"

        async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
            return Page([])

        async def may_subscribe(self, uri: str, channel: Channel, /) -> bool:
            return uri != "x://secret"

    made = suite(resources=[Private])
    async with connect(made) as client:
        call = listen(client, resourceSubscriptions=["x://secret", "x://open"], promptsListChanged=True)
        assert await acknowledged(call) == {"resourceSubscriptions": ["x://open"]}
        assert made.resource_updated("x://secret") == 0
        assert made.resource_updated("x://open/below") == 1
        assert wire(await call.next_notification())["params"]["uri"] == "x://open/below"
        assert client.node.snapshot()[0].handled == 1
    assert caplog.text == ""


async def test_change_of_a_folder_is_none_of_what_lies_in_it(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    made = suite(resources=[Notes])
    async with connect(made) as client:
        call = listen(client, resourceSubscriptions=["a:///x/"])
        assert await acknowledged(call) == {"resourceSubscriptions": ["a:///x/"]}
        made.resource_updated("a:///x")
        made.resource_updated("a:///x/y")
        assert wire(await call.next_notification())["params"]["uri"] == "a:///x/y"
    assert caplog.text == ""  # the Suite's own handler never sends what nobody asked for


@pytest.mark.parametrize(
    "limit", [{"max_streams": 1}, {"max_streams_per_principal": 1}], ids=lambda limit: next(iter(limit))
)
async def test_closed_stream_makes_room_for_another(limit: dict[str, int], autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite(subscription_handler=Changes(**limit))) as client:
        for _ in range(3):
            call = listen(client, toolsListChanged=True)
            assert await acknowledged(call) == {"toolsListChanged": True}
            call.leave()
            await trio.sleep(1)


async def test_id_that_a_notification_carries_is_kept(autojump_clock: trio.abc.Clock) -> None:
    foreign = mcp.ToolListChangedNotification(params=mcp.NotificationParams(meta={SUBSCRIPTION: "other"}))
    async with connect(suite(subscription_handler=Handler())) as client:
        call = listen(client, toolsListChanged=True)
        await acknowledged(call)
        await call.next_notification()  # what `subscribe` sent
        call.push(foreign)
        assert wire(await call.next_notification())["params"]["_meta"] == {SUBSCRIPTION: "other"}
