"""Every command and every program of README.md, done in its order in an empty folder."""

import ast
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from genmcp import Suite
from genmcp.mcp import v2607 as mcp
from genmcp.testing import connect
from tests.interop.wire import post, request, result_of
from tests.pages import ROOT, Block, blocks_of, module_of, session, unknown_markers

README = "README.md"


def test_every_block_says_what_is_done_with_it() -> None:
    assert unknown_markers(README) == []


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("make")), reason="needs curl and make")
def test_commands_do_what_the_text_says(tmp_path: Path) -> None:
    with session(tmp_path) as reader:
        for block in blocks_of(README):
            reader.perform(block)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("mounted", ["mounted", "with_starlette"])
def test_mounted_endpoints_answer(mounted: str, tmp_path: Path) -> None:
    blocks = blocks_of(README)
    (command,) = (block for block in blocks if block.text.startswith("hypercorn "))
    with session(tmp_path) as reader:
        for block in blocks:
            if block.marker.startswith("file: "):
                reader.perform(block)
        reader.perform(Block(command.marker, command.language, command.text.replace("mounted:", f"{mounted}:")))
        url = f"http://127.0.0.1:{reader.port}/mcp"
        listed = result_of(post(url, request("tools/list")))
        assert [tool["name"] for tool in listed["tools"]] == ["run"]


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_installation_brings_the_three_packages(tmp_path: Path) -> None:
    (block,) = (block for block in blocks_of(README) if block.marker == "install")
    assert block.text == "pip install .\n"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path), "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("the build back end cannot be fetched")
    assert done.returncode == 0, done.stderr
    assert {"actors", "genmcp", "transport"} <= {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "genmcp" / "py.typed").exists()


async def test_plain_function_counts_in_a_thread(tmp_path: Path) -> None:
    database = str(tmp_path / "shop.db")
    with sqlite3.connect(database) as connection:
        connection.execute("create table orders (customer, price, paid)")
        connection.executemany("insert into orders values (?, ?, ?)", [("ann", 3, False), ("ann", 4, True)])
    suite = Suite(server_name="Shop", server_version="1", tools=[module_of(README).unpaid])
    async with connect(suite) as client:
        call = client.start_tool("unpaid", {"database": database, "customer": "ann"}, log_level="info")
        assert (await call.result()).structured_content == 1
        logged = call.notifications[0]
        assert isinstance(logged, mcp.LoggingMessageNotification)
        assert logged.params.data == {"customer": "ann", "total": 3}


def test_question_is_the_checked_program() -> None:
    (block,) = (block for block in blocks_of(README) if "elicit" in block.text)
    program = (ROOT / "tests" / "typing" / "p6_conv.py").read_text()
    assert ast.dump(ast.parse(block.text)) == ast.dump(ast.parse(program))
