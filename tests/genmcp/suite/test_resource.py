"""Resources: routing, reading, listing, capabilities, and what happens when a provider is wrong."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import trio

from genmcp import (
    Channel,
    ConfigurationError,
    Extension,
    InputRequired,
    InvalidParams,
    McpError,
    MethodNotFound,
    Page,
    ResourceNotFound,
    ResourceRepo,
    Suite,
    resource,
)
from genmcp.mcp import v2607 as mcp
from genmcp.suite.resource_catalog import parents
from genmcp.testing import Client, channel, connect

RESERVED = {"io.modelcontextprotocol/x": 1}


class Repo(ResourceRepo):
    """Reads whatever it is asked for."""

    def __init__(self, prefix: str = "docs://", template: Any = None, value: Any = None) -> None:
        self.prefix = prefix
        self.template = template
        self.value = value
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        return Page([mcp.Resource(f"{self.prefix}one", "one")])

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> Any:
        self.asked.append((uri, dict(variables)))
        if isinstance(self.value, Exception):
            raise self.value
        return self.prefix if self.value is None else self.value


@resource("docs://exact")
async def exact() -> str:
    """One exactly."""
    return "exact"


@resource("docs://{name}.txt")
def text_file(name: str) -> str:
    """A text file."""
    return f"text of {name}"


def suite(*resources: Any, **options: Any) -> Suite:
    return Suite(server_name="s", server_version="1", resources=resources, **options)


async def read(client: Client, uri: str) -> Any:
    return (await client.request("resources/read", {"uri": uri})).contents[0]


async def text_at(client: Client, uri: str) -> str:
    return str((await read(client, uri)).text)


# -- routing


async def test_exact_then_longest_prefix_owns_a_uri() -> None:
    async with connect(suite(Repo("docs://"), Repo("docs://guide/"), text_file, exact)) as client:
        assert await text_at(client, "docs://exact") == "exact"
        assert await text_at(client, "docs://guide/exact") == "docs://guide/"
        assert await text_at(client, "docs://a.txt") == "text of a"
        assert await text_at(client, "docs://a.md") == "docs://"
        with pytest.raises(ResourceNotFound):
            await read(client, "doc://a")


async def test_special_template_is_asked_before_a_general_one() -> None:
    @resource("a://{x}")
    def general(x: str) -> str:
        """General."""
        return f"general {x}"

    @resource("a://{x}-{y}")
    def special(x: str, y: str) -> str:
        """Special."""
        return f"special {x} {y}"

    for order in ((general, special), (special, general)):
        async with connect(suite(*order)) as client:
            assert await text_at(client, "a://1-2") == "special 1 2"
            assert await text_at(client, "a://12") == "general 12"


async def test_direct_providers_come_before_those_of_extensions() -> None:
    class Added(Extension):
        async def resources(self, channel: Channel, /) -> Sequence[ResourceRepo]:
            @resource("docs://exact")
            async def other() -> str:
                """Another."""
                return "extension"

            @resource("docs://new")
            async def new() -> str:
                """New."""
                return "new"

            return [other, new, Repo("docs://", value="extension"), Repo("docs://longer/", value="longer")]

    async with connect(suite(Repo("docs://"), exact, extensions=[Added, Added])) as client:
        assert await text_at(client, "docs://exact") == "exact"
        assert await text_at(client, "docs://new") == "new"
        assert await text_at(client, "docs://any") == "docs://"
        assert await text_at(client, "docs://longer/x") == "longer"
        listed, cursor = list[str](), None
        while True:
            page = await client.request("resources/list", {} if cursor is None else {"cursor": cursor})
            listed += [item.uri for item in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert listed == ["docs://exact", "docs://new", "docs://one", "docs://longer/one"]


async def test_extension_resources_depend_on_the_caller() -> None:
    class Private(Extension):
        async def resources(self, channel: Channel, /) -> Sequence[ResourceRepo]:
            return [Repo("mine://")] if channel.meta.principal == "ada" else []

    async with connect(suite(extensions=[Private()])) as client:
        assert (await client.request("resources/list")).resources == []
        with pytest.raises(ResourceNotFound):
            await read(client, "mine://x")
        ada = client.as_principal("ada")
        assert [item.uri for item in (await ada.request("resources/list")).resources] == ["mine://one"]
        assert await text_at(ada, "mine://x") == "mine://"


# -- reading


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", mcp.TextResourceContents("docs://x", "text", mime_type="text/plain")),
        ("", mcp.TextResourceContents("docs://x", "", mime_type="text/plain")),
        (b"\0\xff", mcp.BlobResourceContents("docs://x", "AP8=", mime_type="application/octet-stream")),
        (b"", mcp.BlobResourceContents("docs://x", "", mime_type="application/octet-stream")),
        (mcp.resource_contents("docs://y", text="part"), mcp.resource_contents("docs://y", text="part")),
    ],
)
async def test_read_value_becomes_contents(value: Any, expected: Any) -> None:
    async with connect(suite(Repo(value=value))) as client:
        assert await read(client, "docs://x") == expected


async def test_several_contents_answer_one_read() -> None:
    parts = [mcp.resource_contents("docs://x/1", text="1"), mcp.resource_contents("docs://x/2", blob=b"2")]
    async with connect(suite(Repo(value=parts))) as client:
        assert (await client.request("resources/read", {"uri": "docs://x"})).contents == parts


async def test_template_variables_and_mime_type_reach_the_reader() -> None:
    template = mcp.ResourceTemplate("docs://{section}/{page}{?lang}", "docs", mime_type="text/markdown")
    repo = Repo(template=template)
    async with connect(suite(repo)) as client:
        assert (await read(client, "docs://a%20b/c?lang=de")).mime_type == "text/markdown"
        assert repo.asked == [("docs://a%20b/c?lang=de", {"section": "a b", "page": "c", "lang": "de"})]
        with pytest.raises(ResourceNotFound):
            await read(client, "docs://no-page")


async def test_repository_may_parse_uris_itself() -> None:
    class Own(Repo):
        def parse_uri(self, uri: str, /) -> Mapping[str, str]:
            return {"rest": uri.removeprefix(self.prefix)}

    repo = Own(template="docs://{x}")
    async with connect(suite(repo)) as client:
        await read(client, "docs://a/b/c")
    assert repo.asked == [("docs://a/b/c", {"rest": "a/b/c"})]


async def test_missing_resource_is_32602_with_its_uri() -> None:
    async with connect(suite(Repo(value=ResourceNotFound("docs://x")))) as client:
        with pytest.raises(ResourceNotFound) as caught:
            await read(client, "docs://x")
    assert caught.value.code == -32602
    assert caught.value.data == {"uri": "docs://x"}


async def test_question_is_answered_before_the_contents() -> None:
    class Asking(Repo):
        async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> Any:
            if channel.input_responses:
                answer = channel.input_responses["who"]
                assert isinstance(answer, mcp.ElicitResult)
                return f"{answer.content} {channel.request_state}"
            form = mcp.elicit_form("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
            return InputRequired({"who": form}, {"step": 1})

    forms = mcp.ClientCapabilities(elicitation=mcp.ElicitationCapability())
    hinted = Asking()
    hinted.cache = ("public", 60_000)
    async with connect(suite(hinted), capabilities=forms) as client:
        first = client.start("resources/read", {"uri": "docs://x"})
        assert isinstance(await first.result(), mcp.InputRequiredResult)
        result = await client.retry(first, {"who": {"action": "accept", "content": {"name": "Ada"}}}).result()
    assert result.contents[0].text == "{'name': 'Ada'} {'step': 1}"
    assert (result.cache_scope, result.ttl_ms) == ("private", 0)


async def test_conversation_ends_in_a_result_nobody_keeps(autojump_clock: trio.abc.Clock) -> None:
    class Asking(Repo):
        async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> Any:
            form: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
            return str(await channel.elicit("Who?", form))

    hinted = Asking()
    hinted.cache = ("public", 60_000)
    forms = mcp.ClientCapabilities(elicitation=mcp.ElicitationCapability())
    async with connect(suite(hinted), capabilities=forms) as client:
        first = client.start("resources/read", {"uri": "docs://x"})
        await first.result()
        result = await client.retry(first, {"q1": {"action": "accept", "content": {"name": "Ada"}}}).result()
    assert (result.cache_scope, result.ttl_ms) == ("private", 0)
    assert "Ada" in result.contents[0].text


async def test_hint_of_the_repository_is_on_what_it_reads() -> None:
    class Varying(Extension):
        async def resources(self, channel: Channel, /) -> Sequence[ResourceRepo]:
            return [hinted("mine://")]

    def hinted(prefix: str) -> Repo:
        repo = Repo(prefix)
        repo.cache = ("public", 500)
        return repo

    async with connect(suite(hinted("docs://"), extensions=[Varying()])) as client:
        shared = await client.request("resources/read", {"uri": "docs://x"})
        own = await client.request("resources/read", {"uri": "mine://x"})
        listed = await client.request("resources/list")
    assert (shared.cache_scope, shared.ttl_ms) == ("public", 500)
    assert (own.cache_scope, own.ttl_ms) == ("private", 500)
    assert (listed.cache_scope, listed.ttl_ms) == ("private", 500)


@pytest.mark.parametrize("uri", ["docs://a b", "docs://a\nb", "docs://a\0", "docs://%zz", "docs://{x}", "docs://<x>"])
async def test_what_is_no_uri_reaches_no_provider(uri: str) -> None:
    repo = Repo()
    async with connect(suite(repo)) as client:
        with pytest.raises(ResourceNotFound):
            await read(client, uri)
    assert repo.asked == []


async def test_endless_uri_is_refused_without_repeating_it() -> None:
    async with connect(suite(Repo())) as client:
        with pytest.raises(InvalidParams, match="longer than 8192 characters"):
            await read(client, "docs://" + "a" * 9000)


# -- wrong providers


@pytest.mark.parametrize("value", [None, [], 7, ["text"], {"text": "x"}, mcp.ReadResourceResult([])])
async def test_wrong_return_is_masked_for_the_client_and_named_in_the_log(
    value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Wrong(Repo):
        async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> Any:
            return value

    with caplog.at_level(logging.ERROR):
        async with connect(suite(Wrong())) as client:
            with pytest.raises(McpError) as caught:
                await read(client, "docs://x")
    assert (caught.value.code, caught.value.message) == (-32603, "Internal error")
    assert "Wrong.read returned" in caplog.text
    assert "expected str, bytes, contents" in caplog.text


async def test_raising_provider_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with connect(suite(Repo(value=ZeroDivisionError("secret path")))) as client:
            with pytest.raises(McpError) as caught:
                await read(client, "docs://x")
    assert caught.value.code == -32603
    assert "secret" not in str(caught.value.to_dict())
    assert "raised by Repo.read" in caplog.text


@pytest.mark.parametrize(
    "page",
    [
        None,
        [mcp.Resource("docs://x", "x")],
        Page(["docs://x"]),
        Page([mcp.Resource("other://x", "x")]),
        Page([mcp.Resource("docs://a b", "x")]),
    ],
)
async def test_wrong_page_is_named_in_the_log(page: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Wrong(Repo):
        async def list(self, cursor: str | None, channel: Channel, /) -> Any:
            return page

    with caplog.at_level(logging.ERROR):
        async with connect(suite(Wrong())) as client:
            with pytest.raises(McpError) as caught:
                await client.request("resources/list")
    assert caught.value.code == -32603
    assert "Wrong.list returned" in caplog.text
    assert "a Page of Resource whose URIs begin with 'docs://'" in caplog.text


async def test_wrong_extension_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    class Wrong(Extension):
        async def resources(self, channel: Channel, /) -> Any:
            return ["docs://"]

    with caplog.at_level(logging.ERROR):
        async with connect(suite(extensions=[Wrong()])) as client:
            with pytest.raises(McpError):
                await read(client, "docs://x")
    assert "Wrong.resources returned ['docs://']; expected a sequence of resources" in caplog.text


# -- start-up


@pytest.mark.parametrize(
    ("resources", "problem"),
    [
        ([Repo("docs://"), Repo("docs://")], "Repo and Repo have the same prefix 'docs://'"),
        ([exact, exact], "there are two 'docs://exact'"),
        ([text_file, text_file], "match the same URIs"),
        ([Repo("")], "Repo: prefix: expected what its URIs begin with"),
        ([Repo("docs")], "Repo: prefix: expected what its URIs begin with"),
        ([Repo("do cs://")], "Repo: prefix: expected what its URIs begin with"),
        ([Repo("docs://", "other://{x}")], "'other://{x}' never begins with the prefix 'docs://'"),
        ([Repo("docs://", "docs://{x")], "a { is not closed"),
        ([Repo("docs://", mcp.ResourceTemplate("docs://{x}", "x", meta=RESERVED))], "Repo: meta:"),
        ([lambda: "x"], "expected a ResourceRepo, a class of one or a function decorated with @resource"),
        (["docs://"], "expected a ResourceRepo"),
    ],
)
def test_wrong_configuration_is_refused_at_start(resources: list[Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        suite(*resources)
    assert str(caught.value).startswith("resources: ")
    assert problem in str(caught.value)


def test_class_that_needs_arguments_is_refused_at_start() -> None:
    class Needs(ResourceRepo):
        def __init__(self, root: str) -> None:
            self.root = root

    with pytest.raises(ConfigurationError, match="Needs cannot be made without arguments"):
        suite(Needs)


async def test_prefix_comes_from_the_template() -> None:
    class Docs(ResourceRepo):
        """The docs.

        More of it.
        """

        template = "docs://{name}"

        async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> str:
            return variables["name"]

    async with connect(suite(Docs)) as client:
        assert await text_at(client, "docs://x") == "x"
        templates = (await client.request("resources/templates/list")).resource_templates
        assert templates == [mcp.ResourceTemplate("docs://{name}", "Docs", description="The docs.")]
        assert (await client.request("resources/list")).resources == []


async def test_repository_without_read_says_what_to_define() -> None:
    with pytest.raises(TypeError, match="ResourceRepo does not define `async def read"):
        await ResourceRepo().read("docs://x", {}, channel())


# -- capabilities and changes


async def test_capabilities_agree_with_what_is_configured() -> None:
    async with connect(suite(exact)) as client:
        capabilities = (await client.discover()).capabilities
        assert mcp.to_dict(capabilities) == {"logging": {}, "resources": {"listChanged": True, "subscribe": True}}
    async with connect(suite(exact, subscription_handler=None)) as client:
        assert mcp.to_dict((await client.discover()).capabilities) == {"logging": {}, "resources": {}}
    async with connect(suite()) as client:
        assert mcp.to_dict((await client.discover()).capabilities) == {"logging": {}}


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "resources/read"])
async def test_without_resources_their_methods_do_not_exist(method: str) -> None:
    async with connect(suite()) as client:
        with pytest.raises(MethodNotFound):
            await client.request(method, {"uri": "docs://x"} if method == "resources/read" else {})


async def test_running_suite_gains_and_loses_resources(autojump_clock: trio.abc.Clock) -> None:
    running = suite(exact)
    async with connect(running) as client:
        listening = client.start("subscriptions/listen", {"notifications": {"resourcesListChanged": True}})
        await listening.next_notification()
        decorated = running.resource(resource("new://{id}")(lambda_of_id))
        assert isinstance(await listening.next_notification(), mcp.ResourceListChangedNotification)
        assert await text_at(client, "new://7") == "7"
        assert running.remove("new://{id}")
        assert isinstance(await listening.next_notification(), mcp.ResourceListChangedNotification)
        with pytest.raises(ResourceNotFound):
            await read(client, "new://7")
        assert not running.remove("new://{id}")
        assert running.remove("docs://exact")
        assert decorated("x") == "x"


def lambda_of_id(id: str) -> str:
    """The id."""
    return id


async def test_only_watched_uris_that_somebody_owns_are_acknowledged(autojump_clock: trio.abc.Clock) -> None:
    class Guarded(Repo):
        async def may_subscribe(self, uri: str, channel: Channel, /) -> bool:
            return "secret" not in uri

    running = suite(Guarded(), text_file, resource("config://app")(exact.fn))
    wanted = ["docs://a", "docs://secret", "nobody://x", "config://app"]
    async with connect(running) as client:
        listening = client.start("subscriptions/listen", {"notifications": {"resourceSubscriptions": wanted}})
        first = await listening.next_notification()
        assert isinstance(first, mcp.SubscriptionsAcknowledgedNotification)
        assert first.params.notifications.resource_subscriptions == ["docs://a", "config://app"]
        for uri in ("docs://secret", "docs://b", "config://app/part", "docs://a"):
            running.resource_updated(uri)
        updates = [await listening.next_notification() for _ in range(2)]
        assert [update.params.uri for update in updates if isinstance(update, mcp.ResourceUpdatedNotification)] == [
            "config://app/part",
            "docs://a",
        ]


def test_parents_of_a_uri_are_few() -> None:
    assert list(parents("a://b/c/")) == ["a://b/c/", "a://b", "a:/"]
    assert len(list(parents("a://" + "/x" * 1000))) == 9


async def test_update_reaches_one_caller_only(autojump_clock: trio.abc.Clock) -> None:
    running = suite(exact)
    async with connect(running) as client:
        calls = [
            client.as_principal(name).start(
                "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["docs://exact"]}}
            )
            for name in ("ada", "bob")
        ]
        for call in calls:
            await call.next_notification()
        assert running.resource_updated("docs://exact", principal="bob") == 1
        assert isinstance(await calls[1].next_notification(), mcp.ResourceUpdatedNotification)
        assert len(calls[0].notifications) == 1
