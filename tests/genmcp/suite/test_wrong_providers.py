"""A provider that is wrong: the author's log names provider, callback and expectation; the client's error is clean."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import trio

from genmcp import (
    ConfigurationError,
    Extension,
    McpError,
    Page,
    PromptRepo,
    ResourceRepo,
    Stream,
    SubscriptionHandler,
    Suite,
    Tool,
    tool,
)
from genmcp.mcp import v2607 as mcp
from genmcp.testing import connect

LISTEN: tuple[str, Any] = ("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["docs://x"]}})
DISCOVER: tuple[str, Any] = ("server/discover", {})
READ: tuple[str, Any] = ("resources/read", {"uri": "docs://x"})
COMPLETE = "completion/complete"
OF_TEMPLATE = {"ref": {"type": "ref/resource", "uri": "docs://{x}"}, "argument": {"name": "x", "value": ""}}
OF_PROMPT = {"ref": {"type": "ref/prompt", "name": "p-x"}, "argument": {"name": "x", "value": ""}}


@tool
async def noop() -> None:
    """Does nothing."""


class Docs(ResourceRepo):
    """A repository with a template that completes."""

    template = "docs://{x}"

    async def read(self, uri: str, *_: Any) -> str:
        return uri

    async def complete(self, *_: Any) -> list[str]:
        return []


class Prompts(PromptRepo):
    """A repository of prompts that complete."""

    prefix = "p-"

    async def get(self, name: str, *_: Any) -> str:
        return name

    async def complete(self, *_: Any) -> list[str]:
        return []


class Handler(SubscriptionHandler[None]):
    """A handler of subscriptions to nothing."""

    async def subscribe(self, *_: Any) -> Stream[None]:
        return Stream(None)


class Calculator(Tool):
    """A tool."""

    name = "calculator"


CASES: list[tuple[type[Any], str, str, tuple[str, Any], str]] = [
    (Docs, "resources", "list", ("resources/list", {}), "a Page of Resource whose URIs begin with 'docs://'"),
    (Docs, "resources", "read", READ, "str, bytes, contents"),
    (Docs, "resources", "parse_uri", READ, "a mapping of variables"),
    (Docs, "resources", "may_subscribe", LISTEN, "True or False"),
    (Docs, "resources", "complete", (COMPLETE, OF_TEMPLATE), "a list or tuple of texts, or a Completion"),
    (Prompts, "prompts", "list", ("prompts/list", {}), "a Page of Prompt whose names begin with 'p-'"),
    (Prompts, "prompts", "get", ("prompts/get", {"name": "p-x"}), "GetPromptResult, str"),
    (Prompts, "prompts", "complete", (COMPLETE, OF_PROMPT), "a list or tuple of texts, or a Completion"),
    (Extension, "extensions", "tools", ("tools/list", {}), "a sequence of tools"),
    (Extension, "extensions", "resources", ("resources/list", {}), "a sequence of resources"),
    (Extension, "extensions", "prompts", ("prompts/list", {}), "a sequence of prompts"),
    (Calculator, "tools", "call", ("tools/call", {"name": "calculator"}), "CallToolResult, Result"),
    (Handler, "subscription_handler", "subscribe", LISTEN, "Stream or Stop"),
    (Handler, "subscription_handler", "subscription_capabilities", DISCOVER, "a dict of SubscriptionCapabilities"),
]
EACH = pytest.mark.parametrize(
    ("kind", "option", "callback", "request_", "expected"),
    CASES,
    ids=[f"{kind.__name__}.{callback}" for kind, _, callback, _, _ in CASES],
)


def wrong(kind: type[Any], option: str, callback: str, behave: Callable[[], object]) -> Suite:
    """A Suite with a provider `Wrong` of which one callback behaves like that."""

    async def asynchronous(self: object, *_: object) -> object:
        return behave()

    def synchronous(self: object, *_: object) -> object:
        return behave()

    plain = callback in ("parse_uri", "subscription_capabilities")
    made = type("Wrong", (kind,), {callback: synchronous if plain else asynchronous})
    beside: dict[str, Any] = {"tools": [noop], "resources": [Docs]} if option == "subscription_handler" else {}
    options = {**beside, option: made() if option == "subscription_handler" else [made()]}
    return Suite(server_name="s", server_version="1", **options)


async def refusal(made: Suite, request: tuple[str, Any]) -> McpError:
    """The error that the client gets, which shows nothing of the fault."""
    async with connect(made) as client:
        with pytest.raises(McpError) as caught:
            await client.request(*request)
    assert (caught.value.code, caught.value.message) == (-32603, "Internal error")
    assert list(caught.value.data) == ["reference"]
    return caught.value


@EACH
async def test_wrong_return_names_provider_callback_and_expectation(
    kind: type[Any],
    option: str,
    callback: str,
    request_: tuple[str, Any],
    expected: str,
    caplog: pytest.LogCaptureFixture,
    autojump_clock: trio.abc.Clock,
) -> None:
    with caplog.at_level(logging.ERROR):
        error = await refusal(wrong(kind, option, callback, lambda: 4711), request_)
    assert f"Wrong.{callback}" in caplog.text
    assert "returned 4711" in caplog.text
    assert f"expected {expected}" in caplog.text
    assert error.data["reference"] in caplog.text


@EACH
async def test_raising_callback_is_named_with_its_provider(
    kind: type[Any],
    option: str,
    callback: str,
    request_: tuple[str, Any],
    expected: str,
    caplog: pytest.LogCaptureFixture,
    autojump_clock: trio.abc.Clock,
) -> None:
    def fail() -> object:
        raise ZeroDivisionError("a secret of the author's")

    del expected
    with caplog.at_level(logging.ERROR):
        error = await refusal(wrong(kind, option, callback, fail), request_)
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert f"Wrong.{callback}" in f"{record.getMessage()} {record.exc_text}"
    assert "a secret of the author's" in caplog.text
    assert error.data["reference"] in record.getMessage()


async def test_wrong_hint_of_an_extensions_provider_is_named(caplog: pytest.LogCaptureFixture) -> None:
    class Hinted(Docs):
        cache = ("public", -1)

    with caplog.at_level(logging.ERROR):
        await refusal(wrong(Extension, "extensions", "resources", lambda: [Hinted()]), ("resources/list", {}))
    assert "Hinted: cache: expected" in caplog.text


def test_arguments_that_are_no_object_are_named_with_their_tool() -> None:
    class Untyped(Tool[Any, Any]):
        name = "untyped"

        async def call(self, *_: Any) -> mcp.CallToolResult:
            return mcp.call_tool_result(text="never")

    with pytest.raises(ConfigurationError, match=r"tool 'untyped' \(Untyped\): arguments: Any is no object"):
        Suite(server_name="s", server_version="1", tools=[Untyped])


async def test_uri_outside_the_prefix_is_named(caplog: pytest.LogCaptureFixture) -> None:
    page = Page([mcp.Resource("docs://fine", "x"), mcp.Resource("other://y", "y")])
    with caplog.at_level(logging.ERROR):
        await refusal(wrong(Docs, "resources", "list", lambda: page), ("resources/list", {}))
    assert "Wrong.list returned Resource(uri='other://y'" in caplog.text
    assert "whose URIs begin with 'docs://'" in caplog.text
