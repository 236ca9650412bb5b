"""What a user writes first: six programs, as both type checkers read them and as they run."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio.testing

from actors import Delivery, MessageError, decode_message
from genmcp import McpError, MethodNotFound, MissingCapability, Suite, Tool, ToolError
from genmcp.mcp import v2607 as mcp
from genmcp.testing import channel, connect
from tests.typing import p1_tool, p2_struct, p3_stream, p4_sub, p5_server, p6_conv
from tests.typing.p1_tool import test_add  # noqa: F401 - it is a test of its own: the function stays a function

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = [path.name for path in sorted(HERE.glob("p?_*.py"))]

# program → (how the line begins before which it is asked, the expression, its type)
REVEALED: Mapping[str, list[tuple[str, str, str]]] = {
    "p1_tool.py": [
        ('assert up("x") == "X"', "await add(1, 2)", "float"),
        ('assert up("x") == "X"', 'up("x")', "str"),
    ],
    "p2_struct.py": [
        ("if args.days > self.limit:", "args", "ReportInput"),
        ("if args.days > self.limit:", "args.days", "int"),
        ("return mcp.call_tool_result(text=str(", "request.params.arguments", "dict[str, Any]"),
        ("suite = Suite(", "Report(limit=3)", "Report"),
    ],
    "p3_stream.py": [
        ("return Stream(await queue", "request.params.arguments", "RunInput"),
        ("return Stream(await queue", "channel.pid", "Pid"),
        ("return mcp.call_tool_result(text=output)", "output", "str"),
        ("return Stream(state)", "state", "str"),
        ("return Stream(state)", "Stream(state)", "Stream[str]"),
        ("return Stream(state)", "await channel.send_progress(1, 2)", "Sent"),
    ],
    "p4_sub.py": [
        ("if not requested.tools_list_changed:", "requested", "SubscriptionFilter"),
        ('channel.registry.subscribe("tools", channel.pid)', "channel.registry", "Registry"),
        ("return Stream(state)", "Stream(state)", "Stream[None]"),
    ],
    "p5_server.py": [
        ("return Stream(await queue", "arguments", "dict[str, Any]"),
        ("return Error(MethodNotFound(request.method))", "request.method", "str"),
        ("return Stream(state)", "state", "str | None"),
        ("return Result(mcp.call_tool_result(text=output))", "output", "str"),
    ],
    "p6_conv.py": [
        ('return f"kept ({value.ok})"', "value", "Confirm"),
        ('return f"kept ({type(other).__name__})"', "other", "Declined | Dismissed"),
    ],
}


def ask(program: str, into: Path) -> dict[int, tuple[str, str]]:
    """Write a program with its questions into a file. Returns expression and expected type by line number."""
    lines: list[str] = []
    asked: dict[int, tuple[str, str]] = {}
    left = list(REVEALED[program])
    for line in (HERE / program).read_text().splitlines():
        for question in [question for question in left if line.strip().startswith(question[0])]:
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f"{indent}reveal_type({question[1]})")
            asked[len(lines)] = question[1:]
            left.remove(question)
        lines.append(line)
    assert not left, f"{program} has no line that begins {left[0][0]!r}"
    into.write_text("\n".join(lines) + "\n")
    return asked


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, dict[int, tuple[str, str]]]:
    folder = tmp_path_factory.mktemp("programs")
    return {folder / program: ask(program, folder / program) for program in PROGRAMS}


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_mypy_reveals_the_promised_types(questions: dict[Path, dict[int, tuple[str, str]]], tmp_path: Path) -> None:
    done = run("mypy", "--strict", "--no-error-summary", f"--cache-dir={tmp_path}", *questions)
    assert done.returncode == 0, done.stdout
    found = {}
    for path, line, shown in re.findall(r'^(.+?):(\d+): note: Revealed type is "(.*)"$', done.stdout, re.MULTILINE):
        found[Path(path), int(line)] = re.sub(r"Union\[(\w+), (\w+)\]", r"\1 | \2", re.sub(r"(\w+\.)+", "", shown))
    assert found == expected(questions)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_pyright_reveals_the_promised_types(questions: dict[Path, dict[int, tuple[str, str]]]) -> None:
    report = json.loads(run("pyright", "--outputjson", f"--pythonpath={sys.executable}", *questions).stdout)
    assert report["summary"]["errorCount"] == report["summary"]["warningCount"] == 0, report["generalDiagnostics"]
    found = {}
    for item in report["generalDiagnostics"]:
        shown = re.fullmatch(r'Type of ".*" is "(.*)"', item["message"], re.DOTALL)
        assert shown is not None, item
        found[Path(item["file"]), item["range"]["start"]["line"] + 1] = shown[1]
    assert found == expected(questions)


def expected(questions: dict[Path, dict[int, tuple[str, str]]]) -> dict[tuple[Path, int], str]:
    return {(path, line): shown for path, asked in questions.items() for line, (_, shown) in asked.items()}


def text_of(result: mcp.CallToolResult) -> str:
    block = result.content[0]
    assert isinstance(block, mcp.TextContent)
    return block.text


# -- they run


async def test_decorated_functions_are_served_as_tools() -> None:
    async with connect(p1_tool.suite) as client:
        added = await client.call_tool("add", {"a": 1, "b": 2})
        assert (added.structured_content, text_of(added)) == (3.0, "3.0")
        assert text_of(await client.call_tool("up", {"text": "x"})) == "X"
        described = {tool.name: tool for tool in await client.list_tools()}
    assert described["add"].description == "Adds two numbers and returns the sum."
    assert described["add"].annotations == mcp.ToolAnnotations(read_only_hint=True)
    assert described["up"].output_schema is None


async def test_struct_arguments_arrive_as_that_struct() -> None:
    async with connect(p2_struct.suite) as client:
        assert text_of(await client.call_tool("report", {"city": "Rome", "days": 2})) == "Rome"
        refused = await client.call_tool("report", {"city": "Rome"})
        assert (refused.is_error, text_of(refused)) == (True, "days must be <= 3")
        wrong = await client.call_tool("report", {"city": "Rome", "days": "two"})
        assert wrong.is_error
        assert "days" in text_of(wrong)
        assert text_of(await client.call_tool("raw", {"x": 1})) == "1"


async def test_tool_can_be_called_directly_in_a_unit_test() -> None:
    request = mcp.CallToolRequest(
        id=1, params=mcp.CallToolRequestParams(name="report", arguments=p2_struct.ReportInput(city="Rome"))
    )
    with pytest.raises(ToolError, match="days must be <= 3"):
        await p2_struct.Report(limit=3).call(request, channel())
    assert text_of(await p2_struct.Report(limit=7).call(request, channel())) == "Rome"


@pytest.mark.parametrize("streaming", [p3_stream.Run(), p3_stream.run], ids=["class", "function"])
async def test_messages_drive_a_streaming_tool(streaming: Tool[Any, Any]) -> None:
    suite = Suite(server_name="Jobs", server_version="1", tools=[streaming])
    async with connect(suite) as client:
        call = client.start_tool("run", {"query": "q"}, progress_token="p")
        assert call.push(p3_stream.JobUpdate(job="1", done=1, total=2)) is Delivery.DELIVERED
        progress = await call.next_notification()
        assert isinstance(progress, mcp.ProgressNotification)
        assert (progress.params.progress, progress.params.total) == (1, 2)
        call.push(p3_stream.JobFinished(job="1", output="done"))
        assert text_of(await call.result()) == "done"


@pytest.mark.parametrize("streaming", [p3_stream.Run(), p3_stream.run], ids=["class", "function"])
async def test_client_that_leaves_cancels_the_job(streaming: Tool[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled: list[str] = []

    async def cancel(job: str) -> None:
        cancelled.append(job)

    monkeypatch.setattr(p3_stream.queue, "cancel", cancel)
    suite = Suite(server_name="Jobs", server_version="1", tools=[streaming])
    async with connect(suite) as client:
        call = client.start_tool("run", {"query": "q"})
        await trio.testing.wait_all_tasks_blocked()
        call.leave()
        await trio.testing.wait_all_tasks_blocked()
    assert cancelled == ["1"]


def test_messages_are_read_from_json_by_their_tags() -> None:
    value = {"type": "job.finished", "job": "1", "output": "done"}
    assert decode_message(value) == p3_stream.JobFinished(job="1", output="done")
    with pytest.raises(MessageError, match="output"):
        decode_message({"type": "job.finished", "job": "1"})


async def test_subscription_handler_forwards_changes() -> None:
    async with connect(p4_sub.suite) as client:
        call = client.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        acknowledged = await call.next_notification()
        assert isinstance(acknowledged, mcp.SubscriptionsAcknowledgedNotification)
        assert acknowledged.params.notifications == mcp.SubscriptionFilter(tools_list_changed=True)
        assert p4_sub.suite.registry.publish("tools", "tools_changed") == 1
        assert isinstance(await call.next_notification(), mcp.ToolListChangedNotification)
        refused = client.start("subscriptions/listen", {"notifications": {"promptsListChanged": True}})
        with pytest.raises(McpError, match="nothing to watch"):
            await refused.result()


async def test_low_level_server_answers_and_streams() -> None:
    async with connect(p5_server.Jobs()) as client:
        assert (await client.discover()).capabilities.tools is not None
        assert [tool.name for tool in await client.list_tools()] == ["run"]
        call = client.start_tool("run", {"q": "query"})
        call.push(p3_stream.JobFinished(job="1", output="done"))
        assert text_of(await call.result()) == "done"
        with pytest.raises(MethodNotFound):
            await client.request("prompts/list")


FORM = mcp.ClientCapabilities(elicitation=mcp.ElicitationCapability())


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"action": "accept", "content": {"ok": True}}, "deleted"),
        ({"action": "accept", "content": {"ok": False}}, "kept (False)"),
        ({"action": "decline"}, "kept (Declined)"),
        ({"action": "cancel"}, "kept (Dismissed)"),
    ],
)
async def test_conversation_goes_on_with_the_answer(answer: dict[str, object], text: str) -> None:
    suite = Suite(server_name="Files", server_version="1", tools=[p6_conv.delete])
    async with connect(suite, capabilities=FORM) as client:
        call = client.start_tool("delete", {"path": "/a"})
        asked = await call.result()
        assert isinstance(asked, mcp.InputRequiredResult)
        assert text_of(await client.retry(call, {"q1": answer}).result()) == text


async def test_client_without_forms_is_not_asked() -> None:
    suite = Suite(server_name="Files", server_version="1", tools=[p6_conv.delete])
    async with connect(suite) as client:
        with pytest.raises(MissingCapability):
            await client.call_tool("delete", {"path": "/a"})
