"""The official TypeScript client against a real server process, in one run of Node.js."""

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
def seen(node: Path, workshop: ServerProcess) -> dict[str, Any]:
    """What the client saw, as `typescript_client.mjs` prints it."""
    command = [str(node), str(FOLDER / "typescript_client.mjs"), workshop.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


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
