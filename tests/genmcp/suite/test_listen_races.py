"""Subscriptions in odd moments: what was joined is left again, nothing precedes the acknowledgement."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio

from actors import ExitReason, Shutdown
from genmcp import (
    Channel,
    McpError,
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
from genmcp.testing import Call, connect


@tool
async def noop() -> None:
    """Does nothing."""


class Docs(ResourceRepo):
    """Lets a caller subscribe slowly."""

    prefix = "docs://"

    async def read(self, uri: str, variables: Any, channel: Channel, /) -> str:
        return "text"

    async def may_subscribe(self, uri: str, channel: Channel, /) -> bool:
        await trio.sleep(1)
        return "secret" not in uri


class Handler(SubscriptionHandler[str]):
    """Notes what it is told, and sends what it gets."""

    def __init__(self, honored: mcp.SubscriptionFilter | None = None) -> None:
        self.honored = honored
        self.closed: list[tuple[str | None, str]] = []
        self.channels: list[Channel] = []

    async def subscribe(self, requested: mcp.SubscriptionFilter, channel: Channel, /) -> Stream[str] | Stop:
        self.channels.append(channel)
        return Stream("joined", honored=self.honored)

    async def handle_message(self, message: Any, channel: Channel, state: str, /) -> Stream[str] | Stop:
        if message == "close":
            await channel.close()
        elif message == "crash":
            raise RuntimeError("secret")
        else:
            await channel.send_notification(message)
        return Stream(state)

    async def handle_close(self, channel: Channel, state: str, /) -> None:
        self.closed.append((channel.close_reason, state))

    def subscription_capabilities(self, channel: Channel, /) -> SubscriptionCapabilities:
        return {"tools_list_changed": True, "resources_list_changed": True, "resources_updated": True}


def suite(handler: SubscriptionHandler[Any] | type[SubscriptionHandler[Any]]) -> Suite:
    return Suite(server_name="Test", server_version="1", tools=[noop], resources=[Docs()], subscription_handler=handler)


def updated(uri: str) -> mcp.ResourceUpdatedNotification:
    return mcp.ResourceUpdatedNotification(params=mcp.ResourceUpdatedNotificationParams(uri=uri))


def methods(call: Call) -> list[str]:
    return [note.method.removeprefix("notifications/") for note in call.notifications]


WANTED = {"toolsListChanged": True, "resourceSubscriptions": ["docs://a"]}


async def test_client_that_leaves_before_the_acknowledgement_is_told_to_the_handler(
    autojump_clock: trio.abc.Clock,
) -> None:
    handler = Handler()
    async with connect(suite(handler)) as client:
        call = client.start("subscriptions/listen", {"notifications": WANTED})
        await trio.sleep(0.5)  # `subscribe` has returned, and the URI is being checked
        call.leave()
        await trio.sleep(1)
        assert client.node.snapshot() == ()
    assert handler.closed == [("client_gone", "joined")]
    assert call.notifications == []


async def test_stop_before_the_acknowledgement_ends_with_the_result(autojump_clock: trio.abc.Clock) -> None:
    handler = Handler()
    async with connect(suite(handler)) as client:
        call = client.start("subscriptions/listen", {"notifications": WANTED}, request_id="")
        await trio.sleep(0.5)
        client.node.registry.stop(call.pid, Shutdown("shutdown"))
        result = mcp.to_dict(await call.result())
    assert result["_meta"]["io.modelcontextprotocol/subscriptionId"] == ""
    assert handler.closed == [("shutdown", "joined")]


async def test_what_another_task_sends_waits_for_the_acknowledgement(autojump_clock: trio.abc.Clock) -> None:
    handler = Handler()
    async with connect(suite(handler)) as client, trio.open_nursery() as nursery:
        call = client.start("subscriptions/listen", {"notifications": WANTED})
        await trio.sleep(0.5)
        for note in (updated("docs://a"), mcp.PromptListChangedNotification(), mcp.ToolListChangedNotification()):
            nursery.start_soon(handler.channels[0].send_notification, note)
        await trio.sleep(5)
        assert methods(call)[0] == "subscriptions/acknowledged"
        assert sorted(methods(call)[1:]) == ["resources/updated", "tools/list_changed"]
        call.leave()


async def test_honoured_filter_wider_than_requested_is_cut(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    honored = mcp.SubscriptionFilter(
        tools_list_changed=True,
        prompts_list_changed=True,
        resources_list_changed=True,
        resource_subscriptions=["docs://a", "docs://b", "docs://secret"],
    )
    async with connect(suite(Handler(honored))) as client:
        wanted = {"toolsListChanged": False, "resourceSubscriptions": ["docs://secret", "docs://a", "docs://a"]}
        call = client.start("subscriptions/listen", {"notifications": wanted})
        first = mcp.to_dict(await call.next_notification())
        assert first["params"]["notifications"] == {"resourceSubscriptions": ["docs://a"]}
        for message in (
            updated("docs://a"),
            updated("docs://a/b"),
            updated("docs://ab"),
            updated("docs://a/secret"),
            updated("docs://b"),
            mcp.ToolListChangedNotification(),
            mcp.ResourceListChangedNotification(),
        ):
            call.push(message)
        await trio.sleep(10)
        call.leave()
    uris = [mcp.to_dict(note)["params"]["uri"] for note in call.notifications[1:]]
    assert uris == ["docs://a", "docs://a/b"]
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 1


async def test_closing_by_itself_ends_with_the_result_and_tells_the_handler(autojump_clock: trio.abc.Clock) -> None:
    handler = Handler()
    async with connect(suite(handler)) as client:
        call = client.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, request_id=0)
        reasons: list[ExitReason] = []
        client.node.on_exit(call.pid, reasons.append)
        call.push("close")
        result = mcp.to_dict(await call.result())
        await trio.sleep(1)
    assert result["_meta"]["io.modelcontextprotocol/subscriptionId"] == 0
    assert handler.closed == [("closed", "joined")]
    assert reasons == [Shutdown("closed")]


async def test_crash_of_a_handler_is_the_last_event(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    handler = Handler()
    async with connect(suite(handler)) as client:
        call = client.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        call.push("crash")
        with pytest.raises(McpError) as caught:
            await call.result()
    assert caught.value.code == -32603
    assert caught.value.data["reference"] in caplog.text
    assert handler.closed == []


async def test_closed_channel_takes_nothing_more(autojump_clock: trio.abc.Clock) -> None:
    handler = Handler()
    async with connect(suite(handler)) as client:
        call = client.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        await trio.sleep(1)
        call.leave()
        await trio.sleep(1)
        assert await handler.channels[0].send_notification(mcp.ToolListChangedNotification()) is Sent.CLOSED


async def test_failing_capabilities_are_a_masked_crash(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Failing(Handler):
        def subscription_capabilities(self, channel: Channel, /) -> SubscriptionCapabilities:
            raise KeyError("secret")

    async with connect(suite(Failing())) as client:
        listening: dict[str, Any] = {"notifications": {}}
        for method, params in (("server/discover", {}), ("subscriptions/listen", listening)):
            with pytest.raises(McpError) as caught:
                await client.request(method, params)
            assert caught.value.code == -32603
            assert "secret" not in str(caught.value.to_dict())
            assert caught.value.data["reference"] in caplog.text


async def test_principals_hear_only_of_their_own(autojump_clock: trio.abc.Clock) -> None:
    made = Suite(server_name="Test", server_version="1", tools=[noop], resources=[Docs()])
    async with connect(made) as client:
        uris = ["docs://a", "docs://a @ada"]
        calls = {
            name: client.as_principal(name).listen(tools_list_changed=True, resource_subscriptions=uris)
            for name in ("ada", "eve", None)
        }
        await trio.sleep(5)
        assert made.resource_updated("docs://a/b", principal="ada") == 1
        made.resource_updated("docs://a", principal="ada")
        made.tools_changed(principal="ada")
        await trio.sleep(5)
        counts = {name: len(call.notifications) for name, call in calls.items()}
        for call in calls.values():
            call.leave()
    assert counts == {"ada": 4, "eve": 1, None: 1}
