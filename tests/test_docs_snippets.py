"""The guides in docs/: every block is run, and does what the text around it says."""

import ast
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from genmcp import InvalidRequestState, McpError, ResourceNotFound, Suite, UnknownTool, telemetry
from genmcp.mcp import v2607 as mcp
from genmcp.schema import DIALECTS, compile
from genmcp.settings import Settings
from genmcp.testing import Call, Client, channel, connect
from genmcp.units import show_bytes
from tests.pages import ROOT, blocks_of, module_of, session, unknown_markers

GUIDES = ["tools", "resources", "streaming", "conversations", "server", "serving", "testing", "schemas", "legacy"]
PAGES = [f"docs/{name}.md" for name in GUIDES]
PROGRAMS = sorted((ROOT / "tests" / "typing").glob("p?_*.py"))


@pytest.fixture(scope="module")
def page() -> Any:
    """All guides, each executed once."""
    return types.SimpleNamespace(**{name: module_of(f"docs/{name}.md") for name in GUIDES})


@pytest.mark.parametrize("document", PAGES)
def test_every_block_says_what_is_done_with_it(document: str) -> None:
    assert unknown_markers(document) == []


def test_every_link_leads_somewhere() -> None:
    for document in ["README.md", "CHANGELOG.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / document).read_text()):
            assert ((ROOT / document).parent / target).exists(), f"{document} links to {target}"


def statements(source: str) -> list[str]:
    """Return a program's statements but its imports, in a form that no formatting changes."""
    return [ast.dump(node) for node in ast.parse(source).body if not isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_programs_are_shown_as_they_are_checked(program: Path) -> None:
    blocks = [block for document in ["README.md", *PAGES] for block in blocks_of(document)]
    shown = {node for block in blocks if block.language == "python" for node in statements(block.text)}
    assert [node for node in statements(program.read_text()) if node not in shown] == []


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The Python of README.md and of each guide as files."""
    folder = tmp_path_factory.mktemp("sources")
    for document in ["README.md", *PAGES]:
        blocks = [block for block in blocks_of(document) if block.language == "python"]
        own = [block.text for block in blocks if not block.marker.startswith("file: ")]
        page = f"page_{Path(document).stem.lower()}.py"
        (folder / page).write_text("\n".join(own).replace("from jobs import", "from tests.typing.p3_stream import"))
        if document == "README.md":
            for block in blocks:
                if block.marker.startswith("file: "):
                    (folder / block.marker.removeprefix("file: ")).write_text(block.text)
    return sorted(folder.iterdir())


CHECKERS = {
    "mypy": ["--strict", "--explicit-package-bases", "--disable-error-code=no-redef"],  # a page has several suites
    "pyright": [f"--pythonpath={sys.executable}"],
}


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("checker", CHECKERS)
def test_documents_satisfy_the_type_checkers(sources: list[Path], checker: str) -> None:
    folder = sources[0].parent
    command = [sys.executable, "-m", checker, *CHECKERS[checker], *map(str, sources)]
    environment = {**os.environ, "MYPYPATH": f"{folder}:{ROOT}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if " error: " in line and "is obscured" not in line]
    assert (errors, done.stderr) == ([], "")


def text_of(result: mcp.CallToolResult) -> str:
    block = result.content[0]
    assert isinstance(block, mcp.TextContent)
    return block.text


def serving(*tools: Any, **options: Any) -> Client:
    return connect(Suite(server_name="Docs", server_version="1", tools=tools), **options)


# -- tools.md


async def test_signature_and_docstring_describe_a_tool(page: Any) -> None:
    async with serving(page.tools.forecast) as client:
        (described,) = await client.list_tools()
        assert described.description == "Forecasts the weather."
        properties = described.input_schema["properties"]
        assert properties["city"]["description"] == "Where, as a person would say it."
        assert properties["days"]["description"] == "How many days."
        result = await client.call_tool("forecast", {"city": "Rome", "days": 2})
        assert result.structured_content == {"city": "Rome", "highs": [20.0, 20.0]}
        assert text_of(result) == '{"city":"Rome","highs":[20.0,20.0]}'
        assert "unknown" in text_of(await client.call_tool("forecast", {"city": "Rome", "zip": 1}))


async def test_results_are_built_of_blocks(page: Any) -> None:
    async with serving(page.tools.chart) as client:
        result = await client.call_tool("chart", {"city": "Rome"})
    kinds = [mcp.TextContent, mcp.ImageContent, mcp.TextContent]
    assert [type(block) for block in result.content] == kinds
    assert result.structured_content == {"city": "Rome", "high": 20.0}


async def test_errors_are_for_the_model_or_the_client(page: Any) -> None:
    async with serving(page.tools.alarm) as client:
        assert (await client.call_tool("alarm", {"city": "Atlantis"})).is_error
        with pytest.raises(McpError, match="siren service") as raised:
            await client.call_tool("alarm", {"city": ""})
        assert raised.value.to_dict() == {"code": 1001, "message": "the siren service is down", "data": {"retry": 60}}
        assert text_of(await client.call_tool("alarm", {"city": "Rome"})) == "howling"


async def test_schema_by_hand_is_passed_on(page: Any) -> None:
    async with serving(page.tools.Query) as client:
        (described,) = await client.list_tools()
        assert described.input_schema == page.tools.Query.input_schema
        assert text_of(await client.call_tool("query", {"region": "eu", "sql": "a; b"})) == "one statement at a time"
        assert "sql" in text_of(await client.call_tool("query", {"region": "eu"}))
        result = await client.call_tool("query", {"region": "eu", "sql": "select 1"})
        assert result.structured_content == {"rows": []}


async def test_plain_function_reports_from_its_thread(page: Any) -> None:
    async with serving(page.tools.crunch) as client:
        call = client.start_tool("crunch", {"rounds": 2}, progress_token="p")
        assert (await call.result()).structured_content == 2
        assert [notification.params.progress for notification in call.notifications] == [1, 2]  # type: ignore[union-attr] # all are progress


async def test_work_is_finished_though_the_client_left(page: Any, autojump_clock: trio.testing.MockClock) -> None:
    async with serving(page.tools.book) as client:
        call = client.start_tool("book", {"amount": 3})
        await trio.testing.wait_all_tasks_blocked()
        call.leave()
        await trio.sleep(2)
    assert page.tools.ledger == ["booked 3"]


async def test_progress_and_log_are_sent_if_wanted(page: Any) -> None:
    async with serving(page.tools.copy) as client:
        call = client.start_tool("copy", {"files": 2}, progress_token="p", log_level="info")
        await call.result()
        assert [notification.method for notification in call.notifications] == [
            "notifications/progress",
            "notifications/progress",
            "notifications/message",
        ]
        quiet = client.start_tool("copy", {"files": 2})
        await quiet.result()
        assert quiet.notifications == []


async def test_extension_shows_tools_to_some_callers(page: Any) -> None:
    async with connect(page.tools.suite) as client:
        with pytest.raises(UnknownTool):
            await client.call_tool("restart")
        admin = client.as_principal("admin")
        assert [tool.name for tool in await admin.list_tools()] == ["forecast", "restart"]
        assert text_of(await admin.call_tool("restart")) == "restarted"


# -- resources.md


async def read(client: Client, uri: str) -> str:
    result = await client.request("resources/read", {"uri": uri})
    (contents,) = result.contents
    return str(contents.text)


async def test_functions_are_resources_and_templates(page: Any) -> None:
    suite = Suite(server_name="Docs", server_version="1", resources=[page.resources.config, page.resources.article])
    async with connect(suite) as client:
        listed = await client.request("resources/list")
        assert [resource.uri for resource in listed.resources] == ["config://app"]
        templates = await client.request("resources/templates/list")
        assert [template.uri_template for template in templates.resource_templates] == ["docs://{section}/{page}"]
        assert await read(client, "config://app") == '{"debug": false}'
        assert await read(client, "docs://faq/why") == "Because."
        assert await read(client, "docs://faq/how") == "This page is empty."


async def test_repository_lists_reads_and_lets_subscribe(page: Any) -> None:
    suite = Suite(server_name="Docs", server_version="1", resources=[page.resources.Handbook])
    async with connect(suite) as client:
        first = await client.request("resources/list")
        assert [resource.uri for resource in first.resources] == ["book://faq/why"]
        second = await client.request("resources/list", {"cursor": first.next_cursor})
        assert [resource.name for resource in second.resources] == ["start", "end"]
        assert second.next_cursor is None
        with pytest.raises(ResourceNotFound):
            await read(client, "book://faq/how")
        wanted = {"notifications": {"resourceSubscriptions": ["book://faq"]}}
        streams = [who.start("subscriptions/listen", wanted) for who in (client, client.as_principal("guest"))]
        acknowledged: list[Any] = [await stream.next_notification() for stream in streams]
        uris = [notice.params.notifications.resource_subscriptions for notice in acknowledged]
        assert uris == [["book://faq"], None]
        suite.resource_updated("book://faq/why")
        await trio.testing.wait_all_tasks_blocked()
        assert [len(stream.notifications) for stream in streams] == [2, 1]


async def test_prompt_is_made_of_messages(page: Any) -> None:
    async with connect(page.resources.suite) as client:
        got = await client.request("prompts/get", {"name": "review", "arguments": {"language": "go"}})
        assert [message.role for message in got.messages] == ["user", "assistant"]
        assert got.messages[0].content.text == "Review this go code, above all its style."
        with pytest.raises(McpError, match="language"):
            await client.request("prompts/get", {"name": "review"})


async def test_arguments_are_completed(page: Any) -> None:
    async def complete(ref: dict[str, str], name: str, value: str, **context: str) -> list[str]:
        params = {"ref": ref, "argument": {"name": name, "value": value}, "context": {"arguments": context}}
        return list((await client.request("completion/complete", params)).completion.values)

    async with connect(page.resources.suite) as client:
        prompt = {"type": "ref/prompt", "name": "review"}
        assert await complete(prompt, "language", "p") == ["python"]
        assert await complete(prompt, "focus", "s", language="python") == ["style", "speed", "safety"]
        template = {"type": "ref/resource", "uri": "docs://{section}/{page}"}
        assert await complete(template, "page", "", section="guide") == ["start", "end"]


# -- streaming.md


@pytest.mark.parametrize("name", ["run_and_clean_up", "run"])
async def test_clean_up_may_wait_though_the_client_left(
    page: Any, name: str, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    cancelled: list[str] = []

    async def cancel(job: str) -> None:
        await trio.sleep(1)
        cancelled.append(job)

    monkeypatch.setattr(page.streaming.queue, "cancel", cancel)
    async with serving(getattr(page.streaming, name)) as client:
        call = client.start_tool(name, {"query": "q"})
        await trio.testing.wait_all_tasks_blocked()
        call.leave()
        await trio.sleep(2)
    assert cancelled == (["1"] if name == "run_and_clean_up" else [])  # without the shield it is cut short


async def test_child_publishes_to_who_watches(page: Any, autojump_clock: trio.testing.MockClock) -> None:
    async with connect(page.streaming.prices) as client:
        call = client.start_tool("watch", {"symbol": "ACME", "count": 2}, progress_token="p")
        assert (await call.result()).structured_content == 102.0
        assert [notification.params.progress for notification in call.notifications] == [101.0, 102.0]  # type: ignore[union-attr] # all are progress


async def test_tool_ends_when_what_it_watches_does(page: Any) -> None:
    async with connect(page.streaming.prices) as client:
        call = client.start_tool("watch", {"symbol": "ACME", "count": 2})
        await trio.testing.wait_all_tasks_blocked()
        client.node.registry.kill("ticker")
        assert (await call.result()).structured_content == 0.0


# -- conversations.md

FORMS = mcp.ClientCapabilities(elicitation=mcp.ElicitationCapability())


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


async def test_questions_are_asked_line_by_line(page: Any) -> None:
    async with serving(page.conversations.book, capabilities=FORMS) as client:
        call = client.start_tool("book", {"flight": "XY 1"})
        assert list((await call.result()).input_requests) == ["who"]
        call = client.retry(call, {"who": accept(name="Ann", bags=2)})
        asked = await call.result()
        assert asked.input_requests["pay"].params.message == "Pay 160?"
        call = client.retry(call, {"pay": accept(ok=True)})
        assert text_of(await call.result()) == "Ann is booked for 160"


async def test_answer_that_does_not_fit_is_asked_again(page: Any) -> None:
    async with serving(page.conversations.book, capabilities=FORMS) as client:
        call = client.start_tool("book", {"flight": "XY 1"})
        await call.result()
        call = client.retry(call, {"who": accept(bags="two")})
        assert list((await call.result()).input_requests) == ["who"]
        call = client.retry(call, {"who": {"action": "decline"}})
        assert text_of(await call.result()) == "nobody was booked"


async def end_worker(client: Client, call: Call) -> None:
    client.node.registry.kill(call.pid)
    await trio.testing.wait_all_tasks_blocked()


async def test_handler_runs_again_when_its_worker_is_gone(page: Any) -> None:
    async with serving(page.conversations.book, capabilities=FORMS) as client:
        call = client.start_tool("book", {"flight": "XY 1"})
        await call.result()
        call = client.retry(call, {"who": accept(name="Ann")})
        await call.result()
        await end_worker(client, call)
        call = client.retry(call, {"pay": accept(ok=True)})
        assert text_of(await call.result()) == "Ann is booked for 130"


async def test_handler_that_must_run_once_is_not_run_again(page: Any) -> None:
    async with serving(page.conversations.transfer, capabilities=FORMS) as client:
        call = client.start_tool("transfer", {"amount": 3})
        await call.result()
        await end_worker(client, call)
        with pytest.raises(InvalidRequestState):
            client.retry(call, {"q1": accept(ok=True)})


async def test_stateless_question_brings_its_state_back(page: Any) -> None:
    async with serving(page.conversations.Order, capabilities=FORMS) as client:
        call = client.start_tool("order", {"item": "tea"})
        await call.result()
        assert text_of(await client.retry(call, {"count": accept(n=3)}).result()) == "3 tea for 15"


# -- server.md


def test_state_of_a_low_level_server_is_sealed(page: Any) -> None:
    mine, hers = channel(principal="ann"), channel(principal="bea")
    token = page.server.next_step(mine, 2)
    assert page.server.step_of(mine, token) == 2
    for who, given in (hers, token), (mine, token[:-2] + "xx"), (mine, None):
        with pytest.raises(InvalidRequestState):
            page.server.step_of(who, given)


# -- serving.md


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("openssl")), reason="needs curl and openssl")
def test_commands_of_the_serving_guide_do_what_it_says(tmp_path: Path) -> None:
    with session(tmp_path) as reader:
        for block in blocks_of("docs/serving.md"):
            reader.perform(block)


async def test_two_servers_have_paths_of_their_own(page: Any) -> None:
    urls = await page.serving.serve_both()
    assert [url.rpartition("/")[2] for url in urls] == ["left", "right"]


def test_caller_is_read_from_the_scope(page: Any) -> None:
    assert page.serving.caller({"headers": [(b"x-authenticated-user", b"ann")]}) == "ann"
    assert page.serving.caller({"headers": []}) is None


async def test_telemetry_reaches_the_handler(page: Any) -> None:
    async with connect(page.serving.docs) as client:
        await client.discover()
    page.serving.detach()
    assert "server.init" in [event for event, _ in page.serving.seen]


def test_events_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `((?:server|transport)\.\w+)` \|", (ROOT / "docs" / "serving.md").read_text(), re.MULTILINE)
    assert rows == list(telemetry.LEVELS)


# -- testing.md


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_tests_of_the_testing_guide_pass(tmp_path: Path) -> None:
    blocks = [block.text for block in blocks_of("docs/testing.md") if block.marker == "python"]
    (tmp_path / "test_page.py").write_text("\n".join(blocks))
    command = [sys.executable, "-m", "pytest", "-q", "-o", "trio_mode=true", "test_page.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "6 passed" in done.stdout, done.stdout


# -- schemas.md


def test_dialects_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "schemas.md").read_text()
    assert {(name, url) for name, url in re.findall(r"^\| ([\w -]+) \| `(http[^`]+)` \|", text, re.MULTILINE)} == {
        (name, url) for url, name in DIALECTS.items()
    }


def test_limits_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "schemas.md").read_text()
    assert f"| depth of a schema | {compile.MAX_DEPTH} levels |" in text
    assert f"| parts of a schema | {compile.MAX_PARTS:,} |" in text
    assert f"| size of a schema, as JSON | {show_bytes(compile.MAX_BYTES)} |" in text
    defaults = Settings()
    assert f"`max_body`, {show_bytes(defaults.max_body)}; more is 413" in text
    assert f"`max_header`, {show_bytes(defaults.max_header)}; more is 431" in text


def test_reference_to_elsewhere_stops_the_start(page: Any) -> None:
    assert "remote" in page.schemas.problem
    assert "https://example.com/a.json" in page.schemas.problem


async def test_model_is_told_what_is_wrong(page: Any) -> None:
    async with serving(page.schemas.forecast) as client:
        told = await client.call_tool("forecast", {"city": 1, "days": 9, "zip": 0})
    assert text_of(told) in [block.text.strip() for block in blocks_of("docs/schemas.md")]
