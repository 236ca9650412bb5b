"""The Suite that the 2025 clients of these tests talk to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import trio

from genmcp import (
    Accepted,
    AnswerRefused,
    Channel,
    InputRequired,
    Page,
    ResourceRepo,
    Suite,
    Tool,
    prompt,
    resource,
    tool,
)
from genmcp.mcp import v2607 as mcp

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ICON = mcp.Icon("https://example.com/icon.png")


class Ratio(msgspec.Struct):
    """A structured answer."""

    ratio: float


class Stateless(Tool):
    """Asks by a result, and is run again with the answers."""

    name = "stateless"
    description = "Ask by a result."

    def __init__(self) -> None:
        super().__init__()
        self.runs = 0

    async def call(self, request: mcp.CallToolRequest, channel: Channel, /) -> Any:
        """Ask for a name, then for a colour."""
        self.runs += 1
        answers = channel.input_responses
        state = channel.request_state
        match answers.get("name"), answers.get("color"):
            case None, None:
                return InputRequired({"name": mcp.elicit_form("Name?", NAME)}, {"step": 1})
            case mcp.ElicitResult() as answer, None:
                asked = {"color": mcp.elicit_form("Colour?", NAME)}
                return InputRequired(asked, {"step": 2, "name": (answer.content or {})["name"]})
            case None, mcp.ElicitResult() as answer:
                return mcp.call_tool_result(text=f"{state['name']} likes {(answer.content or {})['name']}")
        raise AssertionError(answers)


class Folder(ResourceRepo):
    """Every file below a folder."""

    prefix = "file:///"
    template = "file:///{+path}"

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        """List one file."""
        return Page([mcp.Resource(uri="file:///a", name="a", title="A", icons=[ICON])])

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> str:
        """Read any file."""
        return uri


class Shop:
    """The Suite, and what its tools have noted."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.stateless = Stateless()
        self.suite = Suite(
            server_name="shop",
            server_version="1",
            server_title="The Shop",
            server_description="Sells nothing",
            instructions="Ask.",
            tools=[*self.tools(), self.stateless],
            resources=[Folder(), self.static()],
            prompts=[self.greeting()],
        )

    def static(self) -> Any:
        @resource("shop://hours", name="hours", title="Hours", icons=[ICON])
        async def hours() -> str:
            """When it is open."""
            return "always"

        return hours

    def greeting(self) -> Any:
        @prompt(title="Greeting", icons=[ICON])
        async def greet(who: str = "you") -> mcp.GetPromptResult:
            """Greet somebody."""
            return mcp.get_prompt_result(mcp.user(f"Hello {who}"), mcp.user(mcp.link("shop://hours", "hours")))

        return greet

    def tools(self) -> list[Any]:
        notes = self.notes

        @tool(title="Echo", icons=[ICON])
        async def echo(text: str) -> str:
            """Return the text."""
            return text

        @tool
        async def ratio() -> Ratio:
            """Return a structured object."""
            return Ratio(0.5)

        @tool
        async def numbers() -> list[int]:
            """Return a structured list."""
            return [1, 2]

        @tool
        async def links() -> list[mcp.ResourceLink]:
            """Return a link."""
            return [mcp.link("shop://hours", "hours", title="Hours", description="When it is open")]

        @tool
        async def work(channel: Channel, steps: int = 3, pause: float = 0.1) -> str:
            """Report progress and log."""
            for step in range(1, steps + 1):
                await trio.sleep(pause)
                await channel.send_progress(step, steps)
                await channel.send_log("info", step)
                await channel.send_log("debug", "detail")
            notes.append("worked")
            return "done"

        @tool
        async def hold(channel: Channel) -> None:
            """Wait until somebody stops it."""
            try:
                await channel.start_stream()
                await trio.sleep_forever()
            finally:
                notes.append(f"held {channel.close_reason}")

        @tool
        async def ask(channel: Channel, rounds: int = 1) -> str:
            """Ask the person."""
            names = []
            try:
                for _ in range(rounds):
                    answer = await channel.elicit("Name?", NAME)
                    names.append(answer.value["name"] if isinstance(answer, Accepted) else type(answer).__name__)
            finally:
                notes.append(f"asked {channel.close_reason}")
            return ", ".join(names)

        @tool
        async def sample(channel: Channel) -> str:
            """Ask the model, and do without it if it refuses."""
            try:
                answer = await channel.sample("Where?", max_tokens=5)
            except AnswerRefused as refused:
                return f"refused with {refused.client_code}"
            return str(answer.content)

        @tool
        async def both(channel: Channel) -> str:
            """Ask two things at once."""
            answers = await channel.ask({"name": mcp.elicit_form("Name?", NAME), "roots": mcp.list_roots()})
            return f"{answers['name'].value['name']} and {len(answers['roots'])} roots"

        @tool
        async def page(channel: Channel) -> str:
            """Ask to open a page."""
            return repr(await channel.elicit_url("Sign in", "https://example.com/"))

        @tool
        async def several(channel: Channel) -> str:
            """Ask for a choice of several values."""
            items = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}
            return repr(await channel.elicit("Which?", {"type": "object", "properties": {"which": items}}))

        @tool
        async def polled(channel: Channel) -> str:
            """Close the stream, then go on."""
            notes.append((await channel.close_stream(retry=0.5)).value)
            await trio.sleep(1)
            await channel.send_progress(1)
            await trio.sleep(1)
            return "after all"

        @tool
        async def version(channel: Channel) -> str:
            """Say what the request says of itself."""
            info = channel.meta.client_info
            return f"{channel.meta.protocol_version} {info.name if info else ''} {channel.log_level}"

        @tool
        async def crash() -> None:
            """Fail."""
            raise RuntimeError("secret")

        return [echo, ratio, numbers, links, work, hold, ask, sample, both, page, several, polled, version, crash]
