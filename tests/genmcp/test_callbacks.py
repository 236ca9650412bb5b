"""Callbacks of the wrong kind are refused when their provider is taken, not on the first request."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from actors import Node
from genmcp import (
    Channel,
    ConfigurationError,
    Extension,
    PromptRepo,
    ResourceRepo,
    Server,
    Stream,
    SubscriptionHandler,
    Suite,
    Tool,
    tool,
)
from genmcp.mcp import v2607 as mcp
from genmcp.testing import connect


class Base(Tool):
    """Works."""

    name = "base"

    async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> mcp.CallToolResult:
        return mcp.call_tool_result(text="fine")


def plain(*given: object) -> Any:
    del given


async def awaited(*given: object) -> Any:
    del given


@pytest.mark.parametrize("callback", ["call", "validate", "handle_message", "handle_close"])
def test_tool_callback_that_is_no_async_def_is_refused(callback: str) -> None:
    made = type("Wrong", (Base,), {callback: plain})
    with pytest.raises(ConfigurationError, match=rf"tool 'base' \(Wrong\): {callback}: expected an `async def`"):
        Suite(server_name="x", server_version="1", tools=[made])


def test_tool_without_call_is_refused() -> None:
    made = type("Empty", (Tool,), {"name": "empty"})
    with pytest.raises(ConfigurationError, match="call: missing"):
        Suite(server_name="x", server_version="1", tools=[made])


@pytest.mark.parametrize(
    ("option", "base", "callback", "given", "text"),
    [
        ("extensions", Extension, "tools", plain, "expected an `async def`"),
        ("resources", ResourceRepo, "read", plain, "expected an `async def`"),
        ("prompts", PromptRepo, "get", plain, "expected an `async def`"),
        ("subscription_handler", SubscriptionHandler, "subscribe", plain, "expected an `async def`"),
        ("subscription_handler", SubscriptionHandler, "subscription_capabilities", awaited, "expected a plain `def`"),
        ("subscription_handler", SubscriptionHandler, "handle_close", plain, "expected an `async def`"),
    ],
)
def test_wrong_kind_of_callback_names_option_provider_and_callback(
    option: str, base: type[Any], callback: str, given: Callable[..., Any], text: str
) -> None:
    fields: dict[str, Any] = {"prefix": "docs://", "subscribe": awaited, callback: given}
    made = type("Wrong", (base,), fields)()
    options: dict[str, Any] = {option: made if option.endswith("handler") else [made]}
    with pytest.raises(ConfigurationError, match=rf"{option}: Wrong: {callback}: {text}"):
        Suite(server_name="x", server_version="1", **options)


def test_handler_without_subscribe_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="subscription_handler: SubscriptionHandler: subscribe: missing"):
        Suite(server_name="x", server_version="1", subscription_handler=SubscriptionHandler)


@pytest.mark.parametrize("callback", ["init", "handle_request", "handle_notification", "handle_message"])
async def test_server_callback_that_is_no_async_def_is_refused_at_start(callback: str) -> None:
    made = type("Wrong", (Server,), {callback: plain})()
    with pytest.raises(ConfigurationError, match=f"Wrong: {callback}: expected an `async def`"):
        async with Node() as node, made.attach(node):
            pass


def test_wrapped_and_partial_callbacks_are_taken() -> None:
    def logged(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def call(*given: Any) -> Any:
            return fn(*given)

        return call

    made = type("Wrapped", (Base,), {"call": logged(Base.call)})
    Suite(server_name="x", server_version="1", tools=[made])
    assert made().contract.wire.name == "base"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"timeout": 0}, "timeout: expected a positive number"),
        ({"timeout": "5"}, "timeout: expected a positive number"),
        ({"cache": ("public", -1)}, "cache: expected"),
        ({"cache": "public"}, "cache: expected"),
        ({"cache": ("public", 1.5)}, "cache: expected"),
    ],
)
def test_wrong_limits_and_hints_name_provider_and_field(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"tool 'base' \(Wrong\): {text}"):
        Suite(server_name="x", server_version="1", tools=[type("Wrong", (Base,), fields)])
    with pytest.raises(ConfigurationError, match=f"tool 'fn': {text}"):
        Suite(server_name="x", server_version="1", tools=[tool(name="fn", **fields)(awaited_text)])


async def awaited_text() -> str:
    """Says nothing."""
    return ""


def test_extension_class_that_needs_arguments_is_refused() -> None:
    class Needs(Extension):
        def __init__(self, what: str) -> None:
            self.what = what

    with pytest.raises(ConfigurationError, match="extensions: Needs cannot be made without arguments"):
        Suite(server_name="x", server_version="1", extensions=[Needs])


async def test_suite_runs_on_one_node_at_a_time() -> None:
    suite = Suite(server_name="x", server_version="1", tools=[Base])
    async with connect(suite), Node("other") as other:
        with pytest.raises(RuntimeError, match="one server runs on one node"):
            async with suite.attach(other):
                pass
    async with connect(suite) as client:
        assert (await client.call_tool("base")).content == [mcp.TextContent(text="fine")]


def test_change_before_the_start_tells_nobody() -> None:
    suite = Suite(server_name="x", server_version="1", tools=[Base])
    assert suite.tools_changed() == suite.resource_updated("a://b") == 0
    assert suite.remove("base")


async def test_failing_lifespan_ends_the_start_and_frees_the_suite() -> None:
    @asynccontextmanager
    async def lifespan(suite: Suite) -> AsyncIterator[dict[str, Any]]:
        if suite.registry.whereis("database") is None:
            raise OSError("no database")
        yield {}

    suite = Suite(server_name="x", server_version="1", tools=[Base], lifespan=lifespan)
    for _ in range(2):  # the second time it is free again
        with pytest.raises(OSError, match="no database"):
            async with Node() as node, suite.attach(node):
                pass


@pytest.mark.parametrize("wrong", ["generator", "mapping"])
async def test_lifespan_of_the_wrong_kind_names_the_option(wrong: str) -> None:
    async def generator(suite: Suite) -> AsyncIterator[dict[str, Any]]:
        yield {}

    @asynccontextmanager
    async def mapping(suite: Suite) -> AsyncIterator[Any]:
        yield ["database"]

    given: Any = generator if wrong == "generator" else mapping
    suite = Suite(server_name="x", server_version="1", tools=[Base], lifespan=given)
    with pytest.raises(ConfigurationError, match="lifespan: expected"):
        async with Node() as node, suite.attach(node):
            pass


async def test_workers_end_before_lifespan_and_children() -> None:
    order: list[str] = []

    class Held(Base):
        """Holds."""

        async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> Any:
            return Stream(None)

        async def handle_close(self, channel: Channel, state: None, /) -> None:
            order.append("worker")

    @asynccontextmanager
    async def lifespan(suite: Suite) -> AsyncIterator[dict[str, Any]]:
        yield {}
        order.append("lifespan")

    async def child() -> None:
        try:
            await connected.wait()
            await forever.wait()
        finally:
            order.append("child")

    connected, forever = trio.Event(), trio.Event()
    suite = Suite(server_name="x", server_version="1", tools=[Held], lifespan=lifespan, children=[child])
    async with connect(suite) as client:
        client.start_tool("base")
        connected.set()
        await trio.testing.wait_all_tasks_blocked()
    assert order == ["worker", "child", "lifespan"]
