"""Completion: of prompts' arguments and templates' variables, and when it is advertised."""

from __future__ import annotations

import enum
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pytest

from genmcp import (
    Channel,
    ConfigurationError,
    Extension,
    InvalidParams,
    McpError,
    MethodNotFound,
    PromptNotFound,
    PromptRepo,
    ResourceNotFound,
    ResourceRepo,
    Suite,
    SyncChannel,
    prompt,
    resource,
)
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Client, connect


@prompt
def review(language: Literal["python", "PL/I", "go", "c python"], framework: str = "", plain: str = "") -> str:
    """Reviews code."""
    return language


@review.completion("framework")
async def frameworks(value: str, context: dict[str, str], channel: Channel) -> list[str]:
    return [f"{value}-{context.get('language')}-{channel.meta.principal}"]


@resource("users://{name}/{item}")
def user(name: str, item: str) -> str:
    """A user."""
    return name


@user.completion("name")
def names(typed: str, c: SyncChannel) -> mcp.Completion:
    return mcp.Completion([typed.upper()], total=7, has_more=True)


@user.completion("item")
def items(value: str) -> tuple[str, ...]:
    return tuple(f"{value}{number}" for number in range(250))


def suite(prompts: Sequence[Any] = (), resources: Sequence[Any] = (), **options: Any) -> Suite:
    return Suite(server_name="s", server_version="1", prompts=prompts, resources=resources, **options)


async def complete(client: Client, ref: str, argument: str, value: str = "", **context: str) -> mcp.Completion:
    about = {"type": "ref/resource", "uri": ref} if "://" in ref else {"type": "ref/prompt", "name": ref}
    params: dict[str, Any] = {"ref": about, "argument": {"name": argument, "value": value}}
    if context:
        params["context"] = {"arguments": context}
    result: mcp.CompleteResult = await client.request("completion/complete", params)
    return result.completion


async def test_function_gets_value_context_and_channel() -> None:
    async with connect(suite([review]), as_principal="ada") as client:
        assert (await complete(client, "review", "framework", "dj", language="go")).values == ["dj-go-ada"]
        assert (await complete(client, "review", "framework")).values == ["-None-ada"]


async def test_synchronous_function_may_know_the_total() -> None:
    async with connect(suite(resources=[user])) as client:
        assert await complete(client, "users://{name}/{item}", "name", "ad") == mcp.Completion(["AD"], 7, True)


async def test_at_most_100_values_are_sent() -> None:
    async with connect(suite(resources=[user])) as client:
        found = await complete(client, "users://{name}/{item}", "item", "x")
    assert list(found.values) == [f"x{number}" for number in range(100)]
    assert (found.total, found.has_more) == (250, True)


async def test_few_values_complete_by_themselves() -> None:
    class Colour(enum.Enum):
        RED = "red"
        DARK_RED = "dark red"

    @prompt
    def paint(colour: Colour | None = None) -> str:
        """Paints."""
        return str(colour)

    async with connect(suite([review, paint])) as client:
        assert (await complete(client, "review", "language", "P")).values == ["python", "PL/I", "c python"]
        assert (await complete(client, "review", "language", "x")).values == []
        assert (await complete(client, "paint", "colour", "red")).values == ["red", "dark red"]


async def test_argument_without_suggestions_gets_none() -> None:
    async with connect(suite([review])) as client:
        assert await complete(client, "review", "plain", "x") == mcp.Completion([])


async def test_unknown_names_are_32602() -> None:
    async with connect(suite([review], [user])) as client:
        with pytest.raises(PromptNotFound):
            await complete(client, "reviews", "language")
        with pytest.raises(ResourceNotFound):
            await complete(client, "users://{name}", "name")
        with pytest.raises(InvalidParams, match="Unknown argument: lang"):
            await complete(client, "review", "lang")
        with pytest.raises(InvalidParams, match="Unknown argument: id"):
            await complete(client, "users://{name}/{item}", "id")


async def test_repositories_complete_by_a_method() -> None:
    class Prompts(PromptRepo):
        prefix = "p-"

        async def complete(
            self, name: str, argument: str, value: str, context: Mapping[str, str], channel: Channel, /
        ) -> Sequence[str]:
            return [name, argument, value, *context]

    class Docs(ResourceRepo):
        template = "docs://{page}"

        async def complete(
            self, argument: str, value: str, context: Mapping[str, str], channel: Channel, /
        ) -> Sequence[str]:
            return [argument, value, *context]

    async with connect(suite([Prompts], [Docs])) as client:
        assert (await complete(client, "p-1", "a", "v", c="1")).values == ["p-1", "a", "v", "c"]
        assert (await complete(client, "docs://{page}", "page", "v", c="1")).values == ["page", "v", "c"]


async def test_advertised_only_if_something_completes() -> None:
    @prompt
    def plain(text: str) -> str:
        """Plain."""
        return text

    async with connect(suite([plain], [ResourceRepoOf("docs://{x}")])) as client:
        assert (await client.discover()).capabilities.completions is None
        with pytest.raises(MethodNotFound):
            await complete(client, "plain", "text")
    for made in (suite([plain, review]), suite(resources=[user])):
        async with connect(made) as client:
            assert (await client.discover()).capabilities.completions == {}


class ResourceRepoOf(ResourceRepo):
    def __init__(self, template: str) -> None:
        self.template = template


async def test_extension_decides_for_each_caller() -> None:
    class Private(Extension):
        async def prompts(self, channel: Channel, /) -> Sequence[PromptRepo]:
            return [review] if channel.meta.principal == "ada" else []

    async with connect(suite(extensions=[Private])) as client:
        with pytest.raises(MethodNotFound):
            await complete(client, "review", "language")
        ada = client.as_principal("ada")
        assert (await complete(ada, "review", "language", "go")).values == ["go"]
        assert (await ada.discover()).capabilities.completions == {}


@pytest.mark.parametrize("value", [None, "text", [1], {"a": 1}])
async def test_wrong_return_is_named_in_the_log(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    @prompt
    def made(a: str) -> str:
        """Made."""
        return a

    @made.completion("a")
    async def wrong(typed: str) -> Any:
        return value

    with caplog.at_level(logging.ERROR):
        async with connect(suite([made])) as client:
            with pytest.raises(McpError) as caught:
                await complete(client, "made", "a")
    assert caught.value.code == -32603
    assert "prompt 'made'.complete returned" in caplog.text
    assert "expected a list or tuple of texts, or a Completion" in caplog.text


def test_completion_of_what_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no argument 'lang'; there are: language, framework, plain"):
        review.completion("lang")
    with pytest.raises(ConfigurationError, match="completion of 'plain': the function takes what is typed"):
        review.completion("plain")(lambda: ["x"])
    with pytest.raises(ConfigurationError, match="parameter 'c' is a Channel, but a def takes a SyncChannel"):

        @review.completion("plain")
        def wrong(value: str, c: Channel) -> list[str]:
            return [value]
