"""docs/clients.md: its commands are run, and its configurations start a server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from genmcp.cli.stdio import GRACE
from genmcp.settings import TABLE
from genmcp.units import show_seconds
from tests.interop.piped import stdio_command
from tests.pages import ROOT, blocks_of, session, unknown_markers
from transport.stdio.serve import EOF_GRACE

PAGE = "docs/clients.md"


def configured() -> list[dict[str, Any]]:
    """Every server of every configuration."""
    found = []
    for block in blocks_of(PAGE):
        if block.language == "json" and block.marker.startswith("not run"):
            (servers,) = json.loads(block.text).values()
            found += list(servers.values())
    return found


def test_every_block_says_what_is_done_with_it() -> None:
    assert unknown_markers(PAGE) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="stdio is not supported there")
def test_commands_do_what_the_text_says(tmp_path: Path) -> None:
    with session(tmp_path) as reader:
        for block in blocks_of(PAGE):
            reader.perform(block)
    assert "this goes to the log" in (tmp_path / "log.txt").read_text()


def test_configurations_name_our_command() -> None:
    commands = [server for server in configured() if "command" in server]
    assert len(commands) == 4
    for server in commands:
        assert server["command"].endswith("/.venv/bin/python")
        assert server["args"][:-1] == stdio_command("app.py")[1:-1]
        assert server["args"][-1].endswith("/app.py")


def test_configurations_name_the_default_url() -> None:
    defaults = {setting.name: setting.default for setting in TABLE}
    url = f"http://{defaults['host']}:{defaults['port']}{defaults['path']}"
    assert [server["url"] for server in configured() if "url" in server] == [url] * 3


def test_times_of_the_end_are_those_of_the_code() -> None:
    text = " ".join((ROOT / PAGE).read_text().split())
    assert f"calls that are over within {EOF_GRACE:g} s" in text
    assert f"(here {GRACE:g} s by default" in text
    assert show_seconds(GRACE) in " ".join((ROOT / "docs" / "settings.md").read_text().split())
