"""The TypeScript client of the 2025 revisions, the 1.x SDK, against a real server process, in one run of Node.js."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.interop.node import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.process import ServerProcess

pytestmark = [pytest.mark.node, pytest.mark.slow, pytest.mark.timeout(360)]


@pytest.fixture(scope="module")
def seen(node: Path, everything: ServerProcess) -> dict[str, Any]:
    """What the client saw, as `typescript_sdk_client.mjs` prints it."""
    command = [str(node), str(FOLDER / "typescript_sdk_client.mjs"), everything.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def text_of(outcome: dict[str, Any]) -> str:
    text: str = outcome["result"]["content"][0]["text"]
    return text


def test_it_opens_a_session_at_its_newest_revision(seen: dict[str, Any]) -> None:
    assert seen["version"] == "2025-11-25"
    assert seen["session"].isascii()
    assert seen["server"] == {"name": "everything", "version": "1.0.0"}
    assert seen["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}


def test_it_lists_tools_and_pings(seen: dict[str, Any]) -> None:
    assert "test_simple_text" in seen["tools"]
    assert seen["ping"] == {}


def test_progress_and_logs_reach_it(seen: dict[str, Any]) -> None:
    assert seen["progress"] == [0, 50, 100]
    assert seen["logs"] == ["Tool execution started", "Tool processing data", "Tool execution completed"]


def test_its_person_and_model_are_asked(seen: dict[str, Any]) -> None:
    assert "ada@example.com" in text_of(seen["elicited"])
    assert text_of(seen["sampled"]) == "LLM response: Paris"
    assert seen["questions"] == ["Who are you?", "Which city?"]


def test_it_comes_back_for_a_result(seen: dict[str, Any]) -> None:
    assert text_of(seen["resumed"]) == "The client came back."


@pytest.mark.parametrize(("failure", "code"), [("unknown", -32602), ("missing", -32002)])
def test_failures_have_the_codes_of_its_revision(seen: dict[str, Any], failure: str, code: int) -> None:
    assert seen[failure]["code"] == code


def test_changes_reach_its_get_stream(seen: dict[str, Any]) -> None:
    assert seen["toolsChanged"] == 1
    assert seen["updated"] == ["test://watched-resource"]


def test_a_call_that_it_aborts_is_cancelled(seen: dict[str, Any]) -> None:
    assert "no longer wanted" in seen["aborted"]["message"]
    assert text_of(seen["held"]) == "1 cancelled"


def test_a_terminated_session_is_over(seen: dict[str, Any]) -> None:
    assert "result" not in seen["afterwards"]


def test_nothing_went_wrong_before_that(seen: dict[str, Any]) -> None:
    assert len(seen["errors"]) <= 1, seen["errors"]
