"""The official Python client uses everything that a Suite can offer beside tools, in a real server process."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
import trio
from mcp import Client, MCPError
from mcp.client.subscriptions import PromptsListChanged, ResourceUpdated, ToolsListChanged
from mcp_types import (
    BlobResourceContents,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    ListRootsResult,
    PromptReference,
    ResourceTemplateReference,
    Root,
    TextContent,
    TextResourceContents,
)

if TYPE_CHECKING:
    from mcp.client.context import ClientRequestContext
    from mcp_types import CallToolResult, CreateMessageRequestParams, ElicitRequestParams, ReadResourceResult

    from tests.interop.process import ServerProcess

pytestmark = [
    pytest.mark.slow,
    # The client stops reading a stream at its last event and leaves the generators over it to trio, which warns.
    pytest.mark.filterwarnings("ignore:Async generator 'http(x2|core2)\\..*:ResourceWarning"),
]

WATCHED = "test://watched-resource"


class Person:
    """Answers everything a server may ask, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def elicit(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params.message)
        answers: dict[str, str | bool] = {"name": "Ada", "color": "red", "ok": True, "context": "tests"}
        wanted = params.requested_schema["properties"]
        return ElicitResult(action="accept", content={key: answers[key] for key in wanted})

    async def sample(self, context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        content = params.messages[0].content
        assert isinstance(content, TextContent)
        self.asked.append(content.text)
        return CreateMessageResult(role="assistant", content=TextContent(text="Paris"), model="a model")

    async def roots(self, context: ClientRequestContext) -> ListRootsResult:
        self.asked.append("roots")
        return ListRootsResult(roots=[Root.model_validate({"uri": "file:///home"})])

    def at(self, server: ServerProcess) -> Client:
        """A client of the server whose callbacks are this person's."""
        return Client(
            server.url,
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            list_roots_callback=self.roots,
        )


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def content_of(result: ReadResourceResult) -> TextResourceContents | BlobResourceContents:
    (content,) = result.contents
    return content


# -- resources


async def test_text_resource_is_read(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        content = content_of(await client.read_resource("test://static-text"))
    assert isinstance(content, TextResourceContents)
    assert (content.uri, content.mime_type) == ("test://static-text", "text/plain")
    assert content.text == "This is the content of the static text resource."


async def test_binary_resource_is_read_as_it_was(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        content = content_of(await client.read_resource("test://static-binary"))
        listed = {item.uri: item for item in (await client.list_resources()).resources}
    assert isinstance(content, BlobResourceContents)
    assert content.mime_type == "image/png"
    picture = base64.b64decode(content.blob, validate=True)
    assert picture.startswith(b"\x89PNG")
    assert listed["test://static-binary"].size == len(picture)


async def test_template_is_listed_and_read(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        templates = [item.uri_template for item in (await client.list_resource_templates()).resource_templates]
        content = content_of(await client.read_resource("test://template/a%20b/data"))
    assert templates == ["test://template/{id}/data", "test://library/{book}"]
    assert isinstance(content, TextResourceContents)
    assert json.loads(content.text)["id"] == "a b"


async def test_absent_resource_is_invalid_params_with_its_uri(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        with pytest.raises(MCPError) as failed:
            await client.read_resource("test://library/99")
    assert failed.value.error.code == -32602
    assert failed.value.error.data == {"uri": "test://library/99"}


async def test_cursors_lead_through_every_page(everything: ServerProcess) -> None:
    pages: list[list[str]] = []
    cursor = None
    async with Client(everything.url) as client:
        while not pages or cursor is not None:
            page = await client.list_resources(cursor=cursor)
            pages.append([item.uri.removeprefix("test://") for item in page.resources])
            cursor = page.next_cursor
    assert pages == [
        ["static-text", "static-binary", "watched-resource"],
        ["library/0", "library/1"],
        ["library/2", "library/3"],
        ["library/4"],
    ]


async def test_foreign_cursor_is_invalid_params(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        with pytest.raises(MCPError) as failed:
            await client.list_resources(cursor="made up")
    assert failed.value.error.code == -32602


# -- prompts and completion


async def test_prompts_are_listed_with_their_arguments(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        prompts = {item.name: item for item in (await client.list_prompts()).prompts}
    arguments = prompts["test_prompt_with_arguments"].arguments or []
    assert [(item.name, item.required) for item in arguments] == [("arg1", True), ("arg2", True)]
    assert prompts["test_simple_prompt"].arguments is None


async def test_prompt_is_filled_in(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        result = await client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
        with pytest.raises(MCPError) as failed:
            await client.get_prompt("test_prompt_with_arguments", {"arg1": "one"})
    (message,) = result.messages
    assert isinstance(message.content, TextContent)
    assert message.content.text == "Prompt with arguments: arg1='one', arg2='two'"
    assert failed.value.error.code == -32602
    assert "arg2" in failed.value.error.message


async def test_prompt_brings_resource_and_image(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        embedding = await client.get_prompt("test_prompt_with_embedded_resource", {"resourceUri": "test://x"})
        drawing = await client.get_prompt("test_prompt_with_image")
    embedded, image = embedding.messages[0].content, drawing.messages[0].content
    assert isinstance(embedded, EmbeddedResource)
    assert (embedded.resource.uri, embedded.resource.mime_type) == ("test://x", "text/plain")
    assert isinstance(image, ImageContent)
    assert base64.b64decode(image.data, validate=True).startswith(b"\x89PNG")


async def test_prompt_and_template_complete(everything: ServerProcess) -> None:
    async with Client(everything.url) as client:
        prompt = PromptReference(name="test_prompt_with_arguments")
        words = await client.complete(prompt, {"name": "arg1", "value": "test"}, {"arg2": "x"})
        template = ResourceTemplateReference(uri="test://library/{book}")
        numbers = await client.complete(template, {"name": "book", "value": ""})
    assert words.completion.values == ["test", "testing", "tested"]
    assert numbers.completion.values == ["0", "1", "2", "3", "4"]


# -- questions


@pytest.mark.parametrize(
    ("tool", "asked", "answer"),
    [
        ("test_input_required_result_elicitation", ["What is your name?"], "Hello, Ada!"),
        ("test_input_required_result_sampling", ["What is the capital of France?"], "The model says: Paris"),
        ("test_input_required_result_list_roots", ["roots"], "The client has 1 roots."),
        (
            "test_input_required_result_multiple_inputs",
            ["Generate a greeting", "What is your name?", "roots"],
            "The client answered 3 questions.",
        ),
    ],
)
async def test_each_kind_of_question_is_answered(
    everything: ServerProcess, tool: str, asked: list[str], answer: str
) -> None:
    person = Person()
    async with person.at(everything) as client:
        assert text_of(await client.call_tool(tool)) == answer
    assert sorted(person.asked) == sorted(asked)


async def test_rounds_follow_one_another(everything: ServerProcess) -> None:
    person = Person()
    async with person.at(everything) as client:
        text = text_of(await client.call_tool("test_input_required_result_multi_round"))
    assert [message[:6] for message in person.asked] == ["Step 1", "Step 2"]
    assert "Ada" in text
    assert "red" in text


async def test_prompt_may_ask_first(everything: ServerProcess) -> None:
    person = Person()
    async with person.at(everything) as client:
        result = await client.get_prompt("test_input_required_result_prompt")
    (message,) = result.messages
    assert message.content == TextContent(text="Work in this context: tests")
    assert person.asked == ["What is the context?"]


async def test_only_what_the_client_declared_is_asked(everything: ServerProcess) -> None:
    person = Person()
    async with Client(everything.url, sampling_callback=person.sample) as client:
        text = text_of(await client.call_tool("test_input_required_result_capabilities"))
    assert text == "The client answered 1 questions."
    assert person.asked == ["Say hello"]


async def test_interleaved_conversations_keep_their_own_answers(everything: ServerProcess) -> None:
    texts: dict[str, str] = {}
    asked = {name: trio.Event() for name in ("Ada", "Bob", "Eve")}

    async def converse(client: Client, name: str) -> None:
        """Call, and answer once everybody else was asked as well; all rounds go over one connection."""
        session = client.session
        call: dict[str, Any] = {"name": "test_input_required_result_multi_round", "allow_input_required": True}
        first = await session.call_tool(**call)
        asked[name].set()
        for other in asked.values():
            await other.wait()
        answers: list[Any] = [{"step1": form(name=name)}, {"step2": form(color=f"colour of {name}")}]
        for answer in answers:
            first = await session.call_tool(**call, input_responses=answer, request_state=first.request_state)
        texts[name] = text_of(first)

    async with Person().at(everything) as client, trio.open_nursery() as nursery:
        for name in asked:
            nursery.start_soon(converse, client, name)
    for name, text in texts.items():
        assert [other for other in asked if other in text] == [name]
        assert f"colour of {name}" in text
    assert set(texts) == set(asked)


def form(**content: str | int | float | bool | list[str] | None) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


# -- subscriptions


async def test_only_what_was_asked_for_is_heard(everything: ServerProcess) -> None:
    heard: list[object] = []
    async with (
        Client(everything.url) as client,
        client.listen(prompts_list_changed=True, resource_subscriptions=[WATCHED, "nobody://x"]) as subscription,
    ):
        assert subscription.honored.prompts_list_changed
        assert not subscription.honored.tools_list_changed
        assert subscription.honored.resource_subscriptions == [WATCHED]
        await client.call_tool("test_trigger_tool_change")
        await client.call_tool("test_trigger_resource_update", {"uri": "test://static-text"})
        await client.call_tool("test_trigger_resource_update", {"uri": f"{WATCHED}/part"})
        await client.call_tool("test_trigger_prompt_change")
        with trio.fail_after(5):
            async for event in subscription:
                heard.append(event)
                if len(heard) == 2:
                    break
    assert heard == [ResourceUpdated(uri=f"{WATCHED}/part"), PromptsListChanged()]


async def test_each_of_two_streams_hears_its_own(everything: ServerProcess) -> None:
    async with (
        Client(everything.url) as client,
        client.listen(tools_list_changed=True) as tools,
        client.listen(prompts_list_changed=True) as prompts,
    ):
        await client.call_tool("test_trigger_prompt_change")
        await client.call_tool("test_trigger_tool_change")
        with trio.fail_after(5):
            assert await anext(aiter(tools)) == ToolsListChanged()
            assert await anext(aiter(prompts)) == PromptsListChanged()
