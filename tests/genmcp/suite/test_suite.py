"""The Suite: routing, discovery, start-up refusals, its life on a node."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import msgspec
import pytest
import trio

import actors
from genmcp import (
    Channel,
    ConfigurationError,
    Extension,
    McpError,
    MethodNotFound,
    MissingCapability,
    ResourceRepo,
    Result,
    Stream,
    Suite,
    Tool,
    ToolError,
    UnknownTool,
    prompt,
    resource,
    tool,
)
from genmcp.limits import RequestContext
from genmcp.mcp import HeaderMismatch
from genmcp.mcp import v2607 as mcp
from genmcp.schema import HeaderParam
from genmcp.suite import Offers
from genmcp.testing import MemoryOutbox, connect
from genmcp.worker import start_request


@tool
async def add(a: float, b: float) -> float:
    """Adds."""
    return a + b


class City(msgspec.Struct):
    city: str
    days: int = 7


class Report(Tool[City]):
    """Reports the weather."""

    name = "report"

    def __init__(self, limit: int = 3) -> None:
        self.limit = limit

    async def call(self, request: mcp.CallToolRequest[City], channel: Channel, /) -> mcp.CallToolResult:
        if request.params.arguments.days > self.limit:
            raise ToolError(f"days must be <= {self.limit}")
        return mcp.call_tool_result(text=request.params.arguments.city)


class Wait(Tool[dict[str, Any], int]):
    """Counts messages."""

    name = "wait"

    def __init__(self) -> None:
        self.closed: list[tuple[str | None, int]] = []

    async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> Stream[int]:
        return Stream(0)

    async def handle_message(
        self, message: object, channel: Channel, state: int, /
    ) -> mcp.CallToolResult | Stream[int]:
        await channel.send_progress(state + 1)
        return mcp.call_tool_result(text=str(state)) if message == "end" else Stream(state + 1)

    async def handle_close(self, channel: Channel, state: int, /) -> None:
        self.closed.append((channel.close_reason, state))


def suite(**options: Any) -> Suite:
    return Suite(server_name="Test", server_version="1.2", **{"tools": [add], **options})


async def test_discovery_tells_what_is_configured(autojump_clock: trio.abc.Clock) -> None:
    made = suite(
        server_title="A test",
        server_description="For tests",
        server_url="https://example.com",
        instructions="Be kind.",
        protocol_extensions={"com.example/thing": {"a": 1}},
        experimental={"x": {}},
    )
    async with connect(made) as client:
        found = await client.discover()
    assert found.supported_versions == ["2026-07-28"]
    assert found.instructions == "Be kind."
    told = mcp.to_dict(found)
    assert told["capabilities"]["tools"] == {"listChanged": True}
    assert told["capabilities"]["logging"] == {}
    assert told["capabilities"]["extensions"] == {"com.example/thing": {"a": 1}}
    assert told["capabilities"]["experimental"] == {"x": {}}
    info = told["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert (info["name"], info["version"], info["title"]) == ("Test", "1.2", "A test")
    assert (info["description"], info["websiteUrl"]) == ("For tests", "https://example.com")
    assert (told["ttlMs"], told["cacheScope"]) == (0, "private")


async def test_what_is_not_configured_is_neither_advertised_nor_served(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite(tools=[], subscription_handler=None)) as client:
        assert "tools" not in mcp.to_dict(await client.discover())["capabilities"]
        for method, params in (
            ("tools/list", {}),
            ("tools/call", {"name": "x"}),
            ("subscriptions/listen", {"notifications": {}}),
        ):
            with pytest.raises(MethodNotFound):
                await client.request(method, params)


async def test_server_info_is_in_every_result_unless_switched_off(autojump_clock: trio.abc.Clock) -> None:
    for on in (True, False):
        async with connect(suite(send_server_info=on)) as client:
            results = [
                await client.request("tools/list"),
                await client.call_tool("add", {"a": 1, "b": 1}),
                await client.discover(),
            ]
        assert all(("io.modelcontextprotocol/serverInfo" in (result.meta or {})) == on for result in results)


async def test_unknown_tool_is_invalid_params(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite()) as client:
        with pytest.raises(UnknownTool) as caught:
            await client.call_tool("sub")
    assert caught.value.code == -32602


async def test_typed_arguments_arrive_as_their_type(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite(tools=[Report(limit=3)])) as client:
        assert (await client.call_tool("report", {"city": "Oslo", "days": 2})).content == [mcp.TextContent(text="Oslo")]
        result = await client.call_tool("report", {"city": "Oslo"})
        assert result.is_error
        assert result.content == [mcp.TextContent(text="days must be <= 3")]
        [described] = await client.list_tools()
    assert described.description == "Reports the weather."
    assert described.input_schema["additionalProperties"] is False


async def test_dict_schemas_pass_through_unaltered(autojump_clock: trio.abc.Clock) -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"x": {"$anchor": "y"}},
    }

    class Raw(Tool):
        """Raw."""

        name = "raw"
        input_schema = schema
        meta = {"com.example/x": 1}

        async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> mcp.CallToolResult:
            return mcp.call_tool_result(text="raw")

    async with connect(suite(tools=[Raw])) as client:
        [described] = await client.list_tools()
    assert described.input_schema == schema
    assert described.meta == {"com.example/x": 1}


async def test_messages_reach_the_tool_that_streams(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite(tools=[Wait()])) as client:
        call = client.start_tool("wait", progress_token="t")
        for message in ("a", "b", "end"):
            call.push(message)
        result = await call.result()
    assert result.content == [mcp.TextContent(text="2")]
    assert [note.params.progress for note in call.notifications] == [1, 2, 3]  # type: ignore[union-attr]  # all progress


async def test_tool_that_streams_is_told_when_its_client_leaves(autojump_clock: trio.abc.Clock) -> None:
    wait = Wait()
    async with connect(suite(tools=[wait])) as client:
        call = client.start_tool("wait")
        call.push("a")
        await trio.sleep(1)
        call.leave()
        await trio.sleep(1)
    assert wait.closed == [("client_gone", 1)]


async def test_message_that_nobody_handles_ends_the_worker(autojump_clock: trio.abc.Clock) -> None:
    class Deaf(Tool[dict[str, Any], None]):
        """Deaf."""

        name = "deaf"

        async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> Stream[None]:
            return Stream(None)

    async with connect(suite(tools=[Deaf])) as client:
        call = client.start_tool("deaf")
        reasons: list[actors.ExitReason] = []
        client.node.on_exit(call.pid, reasons.append)
        call.push("hello?")
        assert await call.result() is None
        await trio.sleep(1)
    assert reasons == [actors.Shutdown("unexpected_message")]


@pytest.mark.parametrize("wrap", [lambda result: result, Result], ids=["bare", "in a Result"])
async def test_structured_content_that_its_schema_refuses_is_our_fault(
    wrap: Any, caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Wrong(Tool):
        """Wrong."""

        name = "wrong"
        output_schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

        async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> mcp.CallToolResult | Result:
            returned: mcp.CallToolResult | Result = wrap(mcp.call_tool_result(data={"n": "many"}))
            return returned

    async with connect(suite(tools=[Wrong])) as client:
        with pytest.raises(McpError) as caught:
            await client.call_tool("wrong")
    assert caught.value.code == -32603
    assert "output schema" in caplog.text
    assert "n:" in caplog.text or "n " in caplog.text


async def test_missing_capability_is_raised_for_the_client(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def needs(channel: Channel) -> str:
        """Needs sampling."""
        channel.require_capability("sampling")
        channel.require_capability("elicitation", "form")
        channel.require_capability("elicitation", "url")
        return "fine"

    async with connect(suite(tools=[needs])) as client:
        with pytest.raises(MissingCapability) as caught:
            await client.call_tool("needs")
    assert caught.value.code == -32021
    assert caught.value.data == {"requiredCapabilities": {"sampling": {}}}
    able = mcp.decode_as(mcp.ClientCapabilities, {"sampling": {}, "elicitation": {}})
    async with connect(suite(tools=[needs]), capabilities=able) as client:
        with pytest.raises(MissingCapability) as caught:
            await client.call_tool("needs")
    assert caught.value.data == {"requiredCapabilities": {"elicitation": {"url": {}}}}


class ForAdmins(Extension):
    async def tools(self, channel: Channel, /) -> Sequence[Tool[Any, Any]]:
        return [Report()] if channel.meta.principal == "admin" else []


async def test_extension_tools_depend_on_the_caller(autojump_clock: trio.abc.Clock) -> None:
    async with connect(suite(extensions=[ForAdmins()])) as client:
        admin = client.as_principal("admin")
        assert [found.name for found in await client.list_tools()] == ["add"]
        assert [found.name for found in await admin.list_tools()] == ["add", "report"]
        with pytest.raises(UnknownTool):
            await client.call_tool("report", {"city": "x", "days": 1})
        assert not (await admin.call_tool("report", {"city": "x", "days": 1})).is_error


async def test_first_extension_wins_and_direct_tools_win_over_all(autojump_clock: trio.abc.Clock) -> None:
    def named(name: str, text: str) -> Tool[Any, Any]:
        @tool(name=name)
        async def fn() -> str:
            """Says."""
            return text

        return fn

    class First(Extension):
        async def tools(self, channel: Channel, /) -> Sequence[Tool[Any, Any]]:
            return [named("add", "first"), named("both", "first")]

    class Second(Extension):
        async def tools(self, channel: Channel, /) -> Sequence[Tool[Any, Any]]:
            return [named("both", "second")]

    async with connect(suite(extensions=[First, Second])) as client:
        assert (await client.call_tool("both")).content == [mcp.TextContent(text="first")]
        assert (await client.call_tool("add", {"a": 1, "b": 1})).structured_content == 2
        assert [found.name for found in await client.list_tools()] == ["add", "both"]


async def test_cache_hint_is_the_smallest_and_public_only_if_nothing_varies(autojump_clock: trio.abc.Clock) -> None:
    @tool(cache=("public", 500))
    async def one() -> None:
        """One."""

    @tool(cache=("public", 200))
    async def two() -> None:
        """Two."""

    cases: list[tuple[dict[str, Any], tuple[str, int]]] = [
        ({"tools": [one, two]}, ("public", 200)),
        ({"tools": [one, add]}, ("private", 0)),
        ({"tools": [one, two], "extensions": [ForAdmins()]}, ("private", 200)),
    ]
    for options, expected in cases:
        async with connect(suite(**options)) as client:
            found = await client.request("tools/list")
        assert (found.cache_scope, found.ttl_ms) == expected


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"server_name": ""}, "server_name"),
        ({"server_version": None}, "server_version"),
        ({"tools": [add, add]}, "two tools are named 'add'"),
        ({"tools": [lambda: 1]}, "decorate the function with @tool"),
        ({"tools": [1]}, "tools: expected a Tool"),
        ({"extensions": [1]}, "extensions: expected an Extension"),
        ({"children": [print]}, "children: expected an async def"),
        ({"subscription_handler": 1}, "subscription_handler: expected"),
        ({"protocol_extensions": {"bare": {}}}, "protocol_extensions"),
    ],
)
def test_wrong_options_are_refused_naming_them(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        Suite(**{"server_name": "x", "server_version": "1", **options})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": ""}, "name"),
        ({"input_schema": {"type": "array"}}, "input_schema"),
        ({"input_schema": {"type": "object", "$ref": "https://example.com/x"}}, "input_schema"),
        ({"input_schema": {"type": "object", "$schema": "urn:unknown"}}, "input_schema"),
        ({"input_schema": {"type": "nonsense"}}, "input_schema"),
        ({"output_schema": {"$ref": "file:///etc/passwd"}}, "output_schema"),
        ({"meta": {"io.modelcontextprotocol/x": 1}}, "meta"),
        ({"meta": {"-bad": 1}}, "meta"),
        ({"annotations": {"readonly": True}}, "annotations"),
        ({"annotations": {"readOnlyHint": "yes"}}, "annotations"),
        (
            {"input_schema": {"type": "object", "properties": {"n": {"type": "number", "x-mcp-header": "N"}}}},
            "x-mcp-header",
        ),
    ],
)
def test_wrong_tools_are_refused_naming_tool_and_field(fields: dict[str, Any], text: str) -> None:
    made = type("Wrong", (Tool,), {"name": "wrong", "description": "x", "call": Report.call, **fields})
    with pytest.raises(ConfigurationError, match=text) as caught:
        suite(tools=[made])
    assert "rong" in str(caught.value)


def test_registry_before_start_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match="does not run on a node yet"):
        _ = suite().registry


async def test_lifespan_is_open_while_it_runs_and_gives_assigns(autojump_clock: trio.abc.Clock) -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(made: Suite) -> AsyncIterator[dict[str, Any]]:
        seen.append(f"open {made.identity.name}")
        yield {"db": "connected", "who": "lifespan"}
        seen.append("closed")

    @tool
    async def look(channel: Channel) -> str:
        """Looks."""
        return f"{channel.meta.assigns['db']} {channel.meta.assigns['who']}"

    async with connect(suite(tools=[look], lifespan=lifespan), assigns={"who": "mount"}) as client:
        assert (await client.call_tool("look")).content == [mcp.TextContent(text="connected mount")]
        assert seen == ["open Test"]
    assert seen == ["open Test", "closed"]


async def test_children_run_with_the_suite(autojump_clock: trio.abc.Clock) -> None:
    seen: list[str] = []

    async def ticker() -> None:
        seen.append(f"started {actors.current().node.name}")
        try:
            while True:
                await trio.sleep(1)
                actors.current().registry.publish("ticks", "tick")
        finally:
            seen.append("stopped")

    @tool
    async def next_tick(channel: Channel) -> str:
        """Waits for a tick."""
        channel.registry.subscribe("ticks")
        return str(await channel.receive())

    async with connect(suite(tools=[next_tick], children=[ticker])) as client:
        assert (await client.call_tool("next_tick")).content == [mcp.TextContent(text="tick")]
        assert seen == ["started test"]
    assert seen == ["started test", "stopped"]


async def test_running_suite_can_be_changed(autojump_clock: trio.abc.Clock) -> None:
    made = suite(tools=[])
    async with connect(made) as client:
        client.node.spawn(trio.sleep_forever, name="watcher")
        made.add(Report)

        @made.tool
        @tool
        async def late() -> str:
            """Late."""
            return "late"

        assert [found.name for found in await client.list_tools()] == ["report", "late"]
        assert made.remove("report")
        assert not made.remove("report")
        assert [found.name for found in await client.list_tools()] == ["late"]


async def test_result_of_a_tool_may_carry_a_stop_reason(autojump_clock: trio.abc.Clock) -> None:
    class Custom(Tool):
        """Custom."""

        name = "custom"

        async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> Result:
            return Result(mcp.call_tool_result(text="x"), actors.Normal())

    async with connect(suite(tools=[Custom])) as client:
        call = client.start_tool("custom")
        reasons: list[actors.ExitReason] = []
        client.node.on_exit(call.pid, reasons.append)
        await call.result()
        await trio.sleep(1)
    assert reasons == [actors.Normal()]


async def test_headers_of_extension_tools_are_checked_too(autojump_clock: trio.abc.Clock) -> None:
    @tool
    async def where(region: Annotated[str, msgspec.Meta(extra_json_schema={"x-mcp-header": "Region"})]) -> str:
        """Where."""
        return region

    class Routed(Extension):
        async def tools(self, channel: Channel, /) -> Sequence[Tool[Any, Any]]:
            return [where]

    seen: list[object] = []

    def check(declared: Mapping[str, HeaderParam], arguments: Mapping[str, Any]) -> None:
        seen.append((list(declared), arguments))
        raise HeaderMismatch("no such header")

    async with connect(suite(extensions=[Routed])) as client:
        context = RequestContext(check_headers=check)
        message = {"name": "where", "arguments": {"region": "eu"}, "_meta": client.meta()}
        request = mcp.decode_as(
            mcp.CallToolRequest, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": message}
        )
        outbox = MemoryOutbox()
        start_request(client.node, suite(extensions=[Routed]), request, outbox, context)
        await outbox.ended.wait()
    assert isinstance(outbox.final, HeaderMismatch)
    assert seen == [(["Region"], {"region": "eu"})]


def test_offers_are_what_was_given_in_order() -> None:
    class Docs(ResourceRepo):
        prefix = "docs://"

    @resource("config://app")
    async def config() -> str:
        """The configuration."""
        return "{}"

    @resource("users://{name}")
    async def user(name: str) -> str:
        """A user."""
        return name

    @prompt
    async def review() -> str:
        """Reviews."""
        return "Review this."

    made = Suite(server_name="Test", server_version="1", resources=[Docs, config, user], prompts=[review])
    assert made.offers == Offers((), ("docs://", "config://app", "users://{name}"), ("review",))
    for key in (*made.offers.resources, *made.offers.prompts):
        assert made.remove(key)
    assert made.offers == Offers((), (), ())
