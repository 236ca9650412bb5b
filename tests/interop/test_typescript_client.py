"""The official TypeScript client against real server processes, in one run of Node.js each."""

from __future__ import annotations

import base64
import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.interop.node import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.process import ServerProcess

pytestmark = [pytest.mark.node, pytest.mark.slow, pytest.mark.timeout(360)]


def run(node: Path, program: str, url: str) -> dict[str, Any]:
    """What a program prints as JSON."""
    done = subprocess.run([str(node), str(FOLDER / program), url], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


@pytest.fixture(scope="module")
def seen(node: Path, workshop: ServerProcess) -> dict[str, Any]:
    """What the client saw of tools."""
    return run(node, "typescript_client.mjs", workshop.url)


@pytest.fixture(scope="module")
def beside_tools(node: Path, everything: ServerProcess) -> dict[str, Any]:
    """What the client saw of everything else."""
    return run(node, "typescript_suite.mjs", everything.url)


def test_it_negotiates_and_lists_the_tools(seen: dict[str, Any]) -> None:
    assert seen["version"] == "2026-07-28"
    assert seen["server"]["name"] == "workshop"
    assert seen["tools"] == ["count", "hold", "who_left", "fail", "place"]


def test_it_gets_a_result_with_progress_and_logs(seen: dict[str, Any]) -> None:
    assert seen["call"]["result"]["content"] == [{"type": "text", "text": "counted to 3"}]
    assert [report["progress"] for report in seen["progress"]] == [1, 2, 3]
    assert seen["logs"] == [{"number": 1}, {"number": 2}, {"number": 3}]


@pytest.mark.parametrize("name", ["refusal", "bad_arguments"])
def test_what_the_model_should_read_is_a_result(seen: dict[str, Any], name: str) -> None:
    assert seen[name]["result"]["isError"] is True


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        ("unknown_tool", -32602),
        ("crash", -32603),
        ("late_crash", -32603),
        ("own_error", 4242),
        ("invalid_params", -32602),
        ("missing_capability", -32021),
        ("not_found", -32602),
    ],
)
def test_each_failure_is_a_protocol_error(seen: dict[str, Any], failure: str, code: int) -> None:
    outcome = seen["failures"][failure]
    assert (outcome.get("kind"), outcome.get("code")) == ("protocol", code)


def test_an_own_error_keeps_its_data(seen: dict[str, Any]) -> None:
    assert seen["failures"]["own_error"]["data"] == {"hint": "look here"}


def test_it_reads_listed_resources(beside_tools: dict[str, Any]) -> None:
    (content,) = beside_tools["resource"]["contents"]
    assert (content["uri"], content["mimeType"]) == ("test://static-binary", "image/png")
    assert base64.b64decode(content["blob"], validate=True).startswith(b"\x89PNG")
    assert json.loads(beside_tools["read"]["contents"][0]["text"])["id"] == "7"


def test_it_follows_the_cursors_by_itself(beside_tools: dict[str, Any]) -> None:
    assert beside_tools["resources"][0] == "test://static-text"
    assert beside_tools["resources"][-1] == "test://library/4"
    assert len(set(beside_tools["resources"])) == len(beside_tools["resources"]) == 8


def test_it_gets_a_prompt_with_completion(beside_tools: dict[str, Any]) -> None:
    (message,) = beside_tools["prompt"]["messages"]
    assert message["content"]["text"] == "Prompt with arguments: arg1='one', arg2='two'"
    assert beside_tools["completion"]["completion"]["values"] == ["testing"]


def test_it_answers_a_question(beside_tools: dict[str, Any]) -> None:
    assert beside_tools["questions"] == ["What is your name?"]
    assert beside_tools["answered"]["content"] == [{"type": "text", "text": "Hello, Ada!"}]


def test_it_hears_only_what_it_subscribed_to(beside_tools: dict[str, Any]) -> None:
    assert beside_tools["honored"] == {"promptsListChanged": True, "resourceSubscriptions": ["test://watched-resource"]}
    assert beside_tools["heard"] == ["test://watched-resource"]
    assert beside_tools["closed"] == "local"
