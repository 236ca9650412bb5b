"""The programs of examples/: each is served as its first lines say, and does what they say."""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
import trio
import trio.testing

from examples import cleanup, files, jobs, shop
from genmcp import ResourceNotFound
from genmcp.mcp import v2607 as mcp
from genmcp.testing import Call, Client, connect
from tests.interop.process import serving
from tests.interop.wire import META, call, headers_for, post, request
from tests.pages import ROOT, free_port

FORMS = mcp.ClientCapabilities(elicitation=mcp.ElicitationCapability())


def text_of(result: mcp.CallToolResult) -> str:
    block = result.content[0]
    assert isinstance(block, mcp.TextContent)
    return block.text


def labels(client: Client) -> list[str]:
    return [info.label for info in client.node.snapshot()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jobs", "files", "cleanup"])
def test_example_is_served_as_it_says(name: str, tmp_path: Path) -> None:
    with serving(f"examples/{name}.py", "--grace", "0.5", env={"FILES": str(tmp_path)}) as server:
        found = post(server.url, request("server/discover")).json()["result"]
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] == "1"


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_examples_satisfy_the_type_checkers(tool: str) -> None:
    strict = ["--strict"] if tool == "mypy" else [f"--pythonpath={sys.executable}"]
    command = [
        sys.executable,
        "-m",
        tool,
        *strict,
        *(f"examples/{name}.py" for name in ("jobs", "files", "cleanup", "shop")),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# -- jobs


async def test_jobs_run_two_at_once_and_report(autojump_clock: trio.testing.MockClock) -> None:
    async with connect(jobs.suite) as client:
        calls = [client.start_tool("shout", {"text": f"word {n}"}, progress_token="p") for n in range(3)]
        await trio.sleep(0.1)
        assert labels(client).count("work") == 2
        assert [text_of(await call.result()) for call in calls] == ["WORD 0", "WORD 1", "WORD 2"]
        assert trio.current_time() == pytest.approx(0.8, abs=0.01)
        assert [len(call.notifications) for call in calls] == [2, 2, 2]
        assert "work" not in labels(client)


async def test_job_of_a_client_that_left_is_stopped(autojump_clock: trio.testing.MockClock) -> None:
    async with connect(jobs.suite) as client:
        leaving = [client.start_tool("shout", {"text": "one two three"}) for _ in range(2)]
        await trio.sleep(0.05)  # workers start in any order
        call = client.start_tool("shout", {"text": "one two three"})
        await trio.sleep(0.05)
        for one in leaving:
            one.leave()
        assert text_of(await call.result()) == "ONE TWO THREE"
        assert trio.current_time() == pytest.approx(0.7, abs=0.01)


async def test_job_that_crashes_is_told_to_the_model(autojump_clock: trio.testing.MockClock) -> None:
    async with connect(jobs.suite) as client:
        result = await client.call_tool("shout", {"text": "zoë"})
    assert result.is_error
    assert "'zoë' cannot be shouted" in text_of(result)


# -- files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for example in (files, cleanup):
        monkeypatch.setattr(example, "ROOT", tmp_path / "docs")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "docs" / "sub dir").mkdir(parents=True)
    (tmp_path / "docs" / "a.txt").write_text("hello")
    (tmp_path / "docs" / "sub dir" / "b.bin").write_bytes(b"\xff")
    (tmp_path / "docs" / ".hidden").write_text("secret")
    return tmp_path / "docs"


async def test_files_are_listed_and_read(folder: Path) -> None:
    async with connect(files.suite) as client:
        listed = await client.request("resources/list")
        assert [resource.uri for resource in listed.resources] == ["files:///a.txt", "files:///sub%20dir/b.bin"]
        read = [await client.request("resources/read", {"uri": resource.uri}) for resource in listed.resources]
    assert read[0].contents[0].text == "hello"
    assert read[1].contents[0].blob == "/w=="


@pytest.mark.parametrize(
    "path", ["../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "/etc/passwd", ".hidden", "no", ""]
)
async def test_nothing_outside_of_the_folder_is_read(folder: Path, path: str) -> None:
    async with connect(files.suite) as client:
        with pytest.raises(ResourceNotFound):
            await client.request("resources/read", {"uri": f"files:///{path}"})


async def test_many_files_make_pages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PAGE", 1)
    async with connect(files.suite) as client:
        first = await client.request("resources/list")
        assert [resource.name for resource in first.resources] == ["a.txt"]
        second = await client.request("resources/list", {"cursor": first.next_cursor})
        assert [resource.name for resource in second.resources] == ["b.bin"]
        assert second.next_cursor is None


async def test_changes_of_files_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "EVERY", 0.02)
    async with connect(files.suite) as client:
        wanted = {"resourcesListChanged": True, "resourceSubscriptions": ["files:///a.txt"]}
        stream = client.start("subscriptions/listen", {"notifications": wanted})
        assert isinstance(await stream.next_notification(), mcp.SubscriptionsAcknowledgedNotification)
        await trio.sleep(0.1)
        (folder / "c.txt").write_text("new")
        assert isinstance(await stream.next_notification(), mcp.ResourceListChangedNotification)
        (folder / "a.txt").write_text("changed")
        updated = await stream.next_notification()
        assert isinstance(updated, mcp.ResourceUpdatedNotification)
        assert updated.params.uri == "files:///a.txt"


# -- cleanup


@pytest.fixture
def old(folder: Path) -> Path:
    for name in ("x.log", "y.log"):
        (folder / name).write_text("old")
        os.utime(folder / name, (0, 0))
    return folder


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


async def choose(client: Client, *names: str) -> Call:
    call = client.start_tool("clean_up")
    asked = await call.result()
    assert asked.input_requests["which"].params.message == "Which of these 2 old files may go?"
    return client.retry(call, {"which": accept(files=list(names))})


async def test_chosen_files_are_deleted_after_a_yes(old: Path) -> None:
    async with connect(cleanup.suite, capabilities=FORMS) as client:
        call = await choose(client, "x.log")
        await call.result()
        done = await client.retry(call, {"sure": accept(really=True)}).result()
    assert done.structured_content == {"names": ["x.log"]}
    assert not (old / "x.log").exists()
    assert (old / "y.log").exists()


@pytest.mark.parametrize("answer", [accept(really=False), {"action": "decline"}, {"action": "cancel"}])
async def test_nothing_is_deleted_without_a_yes(old: Path, answer: dict[str, Any]) -> None:
    async with connect(cleanup.suite, capabilities=FORMS) as client:
        call = await choose(client, "x.log")
        await call.result()
        assert (await client.retry(call, {"sure": answer}).result()).structured_content == {"names": []}
        assert (await (await choose(client)).result()).structured_content == {"names": []}
    assert (old / "x.log").exists()


async def test_nothing_old_is_told_to_the_model(folder: Path) -> None:
    async with connect(cleanup.suite, capabilities=FORMS) as client:
        assert "no file is older than 30 days" in text_of(await client.call_tool("clean_up"))


# -- shop


@pytest.mark.slow
def test_web_hook_ends_the_call_that_waits(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "hypercorn", "-k", "trio", "--bind", f"127.0.0.1:{port}", "shop:app"]
    key = {"Authorization": "Bearer letmein"}
    body = call("wait_for_payment", {"order": "7"}, meta={**META, "io.modelcontextprotocol/logLevel": "info"})
    with subprocess.Popen(command, cwd=ROOT / "examples", stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_it_answers(url)
            assert post(f"{url}/mcp", request("tools/list")).status_code == 401
            assert post(f"{url}/mcp", request("tools/list"), set=key).status_code == 200
            assert httpx.post(f"{url}/paid/7", json={"amount": 5}).status_code == 202
            with httpx.stream("POST", f"{url}/mcp", json=body, headers=headers_for(body) | key, timeout=20) as response:
                lines = response.iter_lines()
                assert any("waiting for the payment of 7" in line for line in lines)
                assert httpx.post(f"{url}/paid/7", json={"amount": 5}).text == "thanks"
                assert any("7 was paid: 5.00, ann" in line for line in lines)
        finally:
            process.terminate()


def wait_until_it_answers(url: str) -> None:
    for _ in range(200):
        try:
            assert "/mcp" in httpx.get(url).text
        except httpx.ConnectError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"nobody answers at {url}")


def test_every_example_is_tested() -> None:
    tested: list[ModuleType] = [jobs, files, cleanup, shop]
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == {Path(str(one.__file__)).name for one in tested}
