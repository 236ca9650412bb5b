"""Prompts: routing, arguments, every kind of content, and what happens when a provider is wrong."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pytest
import trio

from genmcp import (
    Channel,
    ConfigurationError,
    Extension,
    FunctionPrompt,
    InputRequired,
    InvalidParams,
    McpError,
    MethodNotFound,
    Page,
    PromptNotFound,
    PromptRepo,
    Suite,
    SyncChannel,
    check_arguments,
    prompt,
)
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Client, channel, connect


class Repo(PromptRepo):
    """Gives whatever it was made with."""

    def __init__(self, prefix: str = "", value: Any = "text") -> None:
        self.prefix = prefix
        self.value = value

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Prompt]:
        return Page([mcp.Prompt(f"{self.prefix}one")])

    async def get(self, name: str, arguments: Mapping[str, str], channel: Channel, /) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value if self.value != "text" else f"{self.prefix}|{name}|{dict(arguments)}"


@prompt
def review(language: Literal["python", "go"], focus: str = "style") -> str:
    """Reviews code.

    Args:
        language: What it is written in.
        focus: What matters.
    """
    return f"{language} {focus}"


def suite(*prompts: Any, **options: Any) -> Suite:
    return Suite(server_name="s", server_version="1", prompts=prompts, **options)


async def get(client: Client, name: str, **arguments: Any) -> mcp.GetPromptResult:
    found: mcp.GetPromptResult = await client.request("prompts/get", {"name": name, "arguments": arguments})
    return found


async def text_of(client: Client, name: str, **arguments: Any) -> str:
    message = (await get(client, name, **arguments)).messages[0]
    assert isinstance(message.content, mcp.TextContent)
    return message.content.text


async def test_prompt_is_listed_as_its_function_says() -> None:
    async with connect(suite(review)) as client:
        assert [mcp.to_dict(item) for item in (await client.request("prompts/list")).prompts] == [
            {
                "name": "review",
                "description": "Reviews code.",
                "arguments": [
                    {"name": "language", "description": "What it is written in.", "required": True},
                    {"name": "focus", "description": "What matters."},
                ],
            }
        ]


async def test_options_override_the_function() -> None:
    icon = mcp.Icon("https://example.com/icon.png")
    meta = {"example.com/x": 1}
    made = prompt(name="r-1", title="R", description="D", icons=[icon], meta=meta, cache=("public", 9))(review.fn)
    async with connect(suite(made)) as client:
        result = await client.request("prompts/list")
    assert (result.cache_scope, result.ttl_ms) == ("public", 9)
    listed = result.prompts[0]
    assert (listed.name, listed.title, listed.description, listed.icons) == ("r-1", "R", "D", [icon])
    assert listed.meta == {"example.com/x": 1}


async def test_arguments_reach_the_function() -> None:
    async with connect(suite(review)) as client:
        assert await text_of(client, "review", language="go") == "go style"
        assert await text_of(client, "review", language="python", focus="names") == "python names"
        assert (await get(client, "review", language="go")).description == "Reviews code."
    assert isinstance(review, FunctionPrompt)
    assert review("go") == "go style"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Prompt review: the argument 'language' is missing"),
        ({"language": "go", "x": "1"}, "Prompt review: unknown argument 'x'; there are: language, focus"),
        ({"language": "c"}, "Prompt review: the argument 'language': expected one of python, go"),
    ],
)
async def test_wrong_argument_is_32602_and_named(arguments: dict[str, str], message: str) -> None:
    async with connect(suite(review)) as client:
        with pytest.raises(InvalidParams) as caught:
            await client.request("prompts/get", {"name": "review", "arguments": arguments})
    assert (caught.value.code, caught.value.message) == (-32602, message)


async def test_argument_that_is_no_text_is_32602_and_named() -> None:
    async with connect(suite(review)) as client:
        with pytest.raises(InvalidParams, match="language"):
            await client.request("prompts/get", {"name": "review", "arguments": {"language": 7}})


async def test_prompt_without_arguments_needs_none() -> None:
    @prompt
    async def simple() -> str:
        """Simple."""
        return "simple"

    async with connect(suite(simple)) as client:
        result = await client.request("prompts/get", {"name": "simple"})
        assert result.messages == [mcp.user("simple")]
        assert (await client.request("prompts/list")).prompts[0].arguments is None


async def test_arguments_are_converted_to_parameter_types() -> None:
    @prompt
    def typed(count: int, ratio: float = 1.5, flag: bool = False) -> str:
        """Typed."""
        return f"{count!r} {ratio!r} {flag!r}"

    async with connect(suite(typed)) as client:
        assert await text_of(client, "typed", count="7", flag="true") == "7 1.5 True"
        with pytest.raises(InvalidParams, match=re.escape("the argument 'count': Expected `int`")):
            await text_of(client, "typed", count="seven")


IMAGE, SOUND = mcp.image(b"i", "image/png"), mcp.audio(b"a", "audio/wav")
FILE, LINK = mcp.resource("test://x", text="x"), mcp.link("test://x", "x")


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("text", [mcp.user("text")]),
        (IMAGE, [mcp.user(IMAGE)]),
        (SOUND, [mcp.user(SOUND)]),
        (FILE, [mcp.user(FILE)]),
        (LINK, [mcp.user(LINK)]),
        (mcp.assistant("a"), [mcp.assistant("a")]),
        ([mcp.assistant("a"), "more", IMAGE], [mcp.assistant("a"), mcp.user("more"), mcp.user(IMAGE)]),
        ([], []),
        (mcp.get_prompt_result("x", description="own"), [mcp.user("x")]),
    ],
)
async def test_every_kind_of_content_becomes_messages(value: Any, messages: list[mcp.PromptMessage]) -> None:
    @prompt
    async def made() -> Any:
        """Made."""
        return value

    async with connect(suite(made)) as client:
        result = await client.request("prompts/get", {"name": "made"})
    assert result.messages == messages
    assert result.description == ("own" if isinstance(value, mcp.GetPromptResult) else "Made.")


@pytest.mark.parametrize(
    ("contents", "kind"),
    [
        (mcp.TextResourceContents("test://x", "x"), "text/plain"),
        (mcp.BlobResourceContents("test://x", "eA=="), "application/octet-stream"),
        (mcp.TextResourceContents("test://x", "x", mime_type="text/csv"), "text/csv"),
    ],
)
async def test_embedded_resource_always_says_what_it_is(contents: Any, kind: str) -> None:
    value = mcp.GetPromptResult([mcp.user("first"), mcp.user(mcp.EmbeddedResource(contents))])
    async with connect(suite(Repo("", value))) as client:
        messages = (await get(client, "x")).messages
    assert messages[0] == mcp.user("first")
    assert isinstance(messages[1].content, mcp.EmbeddedResource)
    assert messages[1].content.resource.mime_type == kind


async def test_channel_is_injected_into_both_kinds() -> None:
    @prompt
    async def asynchronous(a: str, c: Channel) -> str:
        """A."""
        return f"{a} {c.meta.principal}"

    @prompt
    def synchronous(a: str, c: SyncChannel) -> str:
        """S."""
        return f"{a} {c.meta.principal}"

    async with connect(suite(asynchronous, synchronous), as_principal="ada") as client:
        assert await text_of(client, "asynchronous", a="1") == "1 ada"
        assert await text_of(client, "synchronous", a="2") == "2 ada"


async def test_question_is_answered_before_the_messages(autojump_clock: trio.abc.Clock) -> None:
    @prompt
    async def asking(c: Channel) -> Any:
        """Asks."""
        if c.input_responses:
            return f"{c.input_responses['user_context']} {c.request_state}"
        form = mcp.elicit_form("Context?", {"type": "object", "properties": {"context": {"type": "string"}}})
        return InputRequired({"user_context": form}, "state")

    forms = mcp.ClientCapabilities(elicitation=mcp.ElicitationCapability())
    async with connect(suite(asking), capabilities=forms) as client:
        first = client.start("prompts/get", {"name": "asking"})
        asked = await first.result()
        assert isinstance(asked, mcp.InputRequiredResult)
        assert list(asked.input_requests or {}) == ["user_context"]
        answer = {"user_context": {"action": "accept", "content": {"context": "tests"}}}
        text = (await client.retry(first, answer).result()).messages[0].content.text
    assert "tests" in text
    assert text.endswith("state")


# -- routing


async def test_exact_then_longest_prefix_owns_a_name() -> None:
    async with connect(suite(Repo(), Repo("review-"), review)) as client:
        assert await text_of(client, "review", language="go") == "go style"
        assert await text_of(client, "review-x", a="1") == "review-|review-x|{'a': '1'}"
        assert await text_of(client, "other") == "|other|{}"
        listed, cursor = list[str](), None
        while True:
            page = await client.request("prompts/list", {} if cursor is None else {"cursor": cursor})
            listed += [item.name for item in page.prompts]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert listed == ["review", "one", "review-one"]


async def test_unknown_prompt_is_32602() -> None:
    async with connect(suite(review, Repo("x-", PromptNotFound("x-y")))) as client:
        for name in ("reviews", "x-y"):
            with pytest.raises(PromptNotFound) as caught:
                await get(client, name)
            assert (caught.value.code, caught.value.message) == (-32602, f"Unknown prompt: {name}")


async def test_extension_prompts_depend_on_the_caller() -> None:
    class Private(Extension):
        async def prompts(self, channel: Channel, /) -> Sequence[PromptRepo]:
            return [Repo("review"), review] if channel.meta.principal == "ada" else []

    async with connect(suite(extensions=[Private])) as client:
        assert (await client.request("prompts/list")).prompts == []
        with pytest.raises(PromptNotFound):
            await get(client, "review")
        ada = client.as_principal("ada")
        assert await text_of(ada, "review", language="go") == "go style"
        assert await text_of(ada, "reviewed") == "review|reviewed|{}"


def test_declared_arguments_can_be_checked_by_a_repository() -> None:
    declared = mcp.Prompt("p", arguments=[mcp.PromptArgument("a", required=True), mcp.PromptArgument("b")])
    check_arguments(declared, {"a": "1"})
    with pytest.raises(InvalidParams, match="the argument 'a' is missing"):
        check_arguments(declared, {"b": "1"})
    with pytest.raises(InvalidParams, match="unknown argument 'c'; there are: a, b"):
        check_arguments(declared, {"a": "1", "c": ""})
    with pytest.raises(InvalidParams, match="there are: none"):
        check_arguments(mcp.Prompt("q"), {"a": "1"})


# -- wrong providers


@pytest.mark.parametrize("value", [None, 7, [None], {"text": "x"}, b"bytes"])
async def test_wrong_return_is_masked_for_the_client_and_named_in_the_log(
    value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        async with connect(suite(Repo("x-", value))) as client:
            with pytest.raises(McpError) as caught:
                await get(client, "x-1")
    assert (caught.value.code, caught.value.message) == (-32603, "Internal error")
    assert "Repo.get returned" in caplog.text
    assert "expected GetPromptResult, str" in caplog.text


async def test_raising_function_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    @prompt
    def broken() -> str:
        """Broken."""
        raise ZeroDivisionError("secret")

    with caplog.at_level(logging.ERROR):
        async with connect(suite(broken)) as client:
            with pytest.raises(McpError) as caught:
                await get(client, "broken")
    assert "secret" not in str(caught.value.to_dict())
    assert "raised by prompt 'broken'.get" in caplog.text


@pytest.mark.parametrize("page", [None, Page([7]), Page([mcp.Prompt("y")])])
async def test_wrong_page_is_named_in_the_log(page: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Wrong(Repo):
        async def list(self, cursor: str | None, channel: Channel, /) -> Any:
            return page

    with caplog.at_level(logging.ERROR):
        async with connect(suite(Wrong("x-"))) as client:
            with pytest.raises(McpError):
                await client.request("prompts/list")
    assert "a Page of Prompt whose names begin with 'x-'" in caplog.text


async def test_repository_without_get_says_what_to_define() -> None:
    with pytest.raises(TypeError, match="PromptRepo does not define `async def get"):
        await PromptRepo().get("x", {}, channel())


@pytest.mark.parametrize(
    ("prompts", "problem"),
    [
        ([review, review], "there are two 'review'"),
        ([Repo("a"), Repo("a")], "Repo and Repo have the same prefix 'a'"),
        ([lambda: "x"], "decorate the function with @prompt"),
    ],
)
def test_wrong_configuration_is_refused_at_start(prompts: list[Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        suite(*prompts)


def test_functions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="prompt 'listing': parameter 'x': the client gives a text"):

        @prompt
        def listing(x: list[str]) -> str:
            return str(x)

    with pytest.raises(ConfigurationError, match="name: expected a text that is not empty"):
        prompt(name="")(review.fn)


async def test_capabilities_agree_with_what_is_configured() -> None:
    async with connect(suite(Repo())) as client:
        assert mcp.to_dict((await client.discover()).capabilities) == {"logging": {}, "prompts": {"listChanged": True}}
    async with connect(suite()) as client:
        for method, params in (("prompts/list", {}), ("prompts/get", {"name": "x"})):
            with pytest.raises(MethodNotFound):
                await client.request(method, params)


async def test_running_suite_gains_and_loses_prompts(autojump_clock: trio.abc.Clock) -> None:
    running = suite(Repo("x-"))
    async with connect(running) as client:
        listening = client.start("subscriptions/listen", {"notifications": {"promptsListChanged": True}})
        await listening.next_notification()
        assert running.prompt(review) is review
        assert isinstance(await listening.next_notification(), mcp.PromptListChangedNotification)
        assert await text_of(client, "review", language="go") == "go style"
        assert running.remove("review")
        assert isinstance(await listening.next_notification(), mcp.PromptListChangedNotification)
        with pytest.raises(PromptNotFound):
            await get(client, "review", language="go")
