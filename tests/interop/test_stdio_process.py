"""Real server processes behind pipes: what they write, and how soon they end (Q-01, Q-02, Q-08; J1, K1, K3)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.interop.node import FOLDER
from tests.interop.piped import piped, stdio_command
from tests.interop.process import ROOT
from tests.interop.wire import META, call, request

if TYPE_CHECKING:
    from tests.interop.wire import Json

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="not supported there")]

NOISY = f"{FOLDER / 'noisy.py'}:suite"
LINGERING = f"{Path(__file__).parents[1] / 'faults' / 'app_that_lingers.py'}:suite"
ODD_LINES = (b"{", b"", b"\r", b"\xff", b"\xef\xbb\xbf{}", b"[]", b"x" * (5 * 2**20))
ROOTS = {**META, "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}
LOUD = {**META, "io.modelcontextprotocol/logLevel": "debug"}
LISTEN = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="l")


def text_of(answer: Json) -> str:
    return str(answer["result"]["content"][0]["text"])


# -- what is written


def test_only_messages_reach_the_output_whoever_prints() -> None:
    with piped(NOISY) as server:
        assert text_of(server.ask(call("shout"))) == "shouted"
        assert server.end_input()[0] == 0
        assert server.hear_rest() == []
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)
    printers = ["when imported", "by a tool", "to the old stdout", "to the first stdout"]
    printers += ["by a child", "by a shell", "by system", "by a thread"]
    for printer in printers:
        assert f"printed {printer}\n" in server.errors
    assert "written to descriptor 1\n" in server.errors


def test_nobody_else_reads_the_messages() -> None:
    with piped(NOISY) as server:
        server.say(call("read_input", id=1), *(call("echo", {"text": str(number)}, id=number) for number in (2, 3, 4)))
        heard = {message["id"]: text_of(message) for message in (server.hear() for _ in range(4))}
    assert heard == {1: repr(("", b"", 1, b"")), 2: "2", 3: "3", 4: "4"}


def test_children_inherit_no_pipe_of_the_client() -> None:
    with piped(NOISY) as server:
        assert text_of(server.ask(call("open_files"))) in ("0 1 2", "0 1 2 3")  # 3 is that of the listing
        child = server.ask(call("leave_child"))["result"]["structuredContent"]
        try:
            code, took = server.end_input()
            assert server.hear_rest() == []  # the end is seen although the child lives
        finally:
            os.kill(child, signal.SIGKILL)
    assert (code, took < 1) == (0, True)


def test_broken_lines_are_answered_and_the_next_is_served() -> None:
    with piped(NOISY) as server:
        server.say(*ODD_LINES, call("echo", {"text": "still here"}, id="good"))
        heard = [server.hear() for _ in range(len(ODD_LINES) + 1)]
    assert [message["error"]["code"] for message in heard[:-1]] == [-32700] * 5 + [-32600] * 2
    assert text_of(heard[-1]) == "still here"


def test_storm_of_broken_lines_is_logged_a_few_times() -> None:
    with piped(NOISY) as server:
        server.say(*[b"{"] * 2000)
        for _ in range(2000):
            server.hear()
    assert server.errors.count("refused") < 10


def test_long_lines_go_both_ways() -> None:
    text = "x" * (4 * 2**20 - 1000)
    with piped(NOISY) as server:
        assert text_of(server.ask(call("echo", {"text": text}))) == text


def test_memory_is_bounded_by_the_limit_of_a_line() -> None:
    with piped(NOISY, "--max-body", "64KiB") as server:
        server.ask(call("echo", {"text": "a"}))
        before = resident(server.process.pid)
        for _ in range(200):
            server.into.write(b"x" * 2**20)
        server.say(b"", call("echo", {"text": "b"}))
        assert server.hear()["error"]["code"] == -32600
        assert text_of(server.hear()) == "b"
        assert resident(server.process.pid) - before < 20 * 2**20


def resident(pid: int) -> int:
    """Bytes that a process has in memory."""
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(shown.stdout) * 1024


# -- how it ends


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        ([], 0),
        ([call("hold")], 0),
        ([call("block_thread", {"seconds": 30})], 0),
        ([call("leave_thread", {"name": "left behind"})], 1),
        ([LISTEN], 1),
        ([call("ask", meta=ROOTS)], 1),
        ([call("hold", id=number) for number in range(500)], 0),
    ],
    ids=["idle", "waiting", "thread", "own thread", "subscription", "question", "many"],
)
@pytest.mark.parametrize("way", ["input", "SIGTERM", "SIGINT"])
def test_process_ends_within_a_second(way: str, sent: list[Json], heard: int) -> None:
    with piped(LINGERING) as server:
        assert server.ask(request("server/discover", id="up"))["result"]
        server.say(*sent)
        for _ in range(heard):
            server.hear()
        if sent and not heard:
            time.sleep(0.2)
        code, took = server.end_input() if way == "input" else server.signal(signal.Signals[way])
        rest = server.hear_rest()
    assert code == 0
    assert took < 1.0
    if way == "input":
        assert rest == []
    elif sent == [LISTEN]:
        assert [message["result"]["resultType"] for message in rest] == ["complete"]
    elif sent and not heard:
        assert {message["error"]["code"] for message in rest} == {-32603}
        assert len(rest) == len(sent)
    assert "Traceback" not in server.errors


def test_call_may_finish_within_the_grace_period_of_a_signal() -> None:
    with piped(LINGERING, "--grace", "5") as server:
        server.ask(request("server/discover"))
        server.say(call("finish", {"seconds": 1}))
        time.sleep(0.2)
        code, took = server.signal(signal.SIGTERM)
        assert text_of(server.hear()) == "finished"
    assert (code, took < 2) == (0, True)


def test_second_signal_ends_the_process_at_once() -> None:
    with piped(LINGERING, "--grace", "30") as server:
        server.ask(request("server/discover"))
        server.say(call("hold"))
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        code, took = server.signal(signal.SIGTERM)
    assert (code, took < 0.5) == (130, True)


def test_handler_that_holds_the_loop_does_not_hold_the_process() -> None:
    with piped(LINGERING) as server:
        server.ask(request("server/discover"))
        server.say(call("block_loop", {"seconds": 30}))
        time.sleep(0.2)
        code, took = server.signal(signal.SIGTERM)
    assert (code, took < 2) == (1, True)
    assert "block_loop" in server.errors


def test_child_that_clings_does_not_hold_the_end() -> None:
    with piped(LINGERING.replace(":suite", ":slow_child")) as server:
        server.ask(request("server/discover"))
        code, took = server.end_input()
    assert (code, took < 1.5) == (0, True)


def test_client_that_closes_our_output_ends_the_process() -> None:
    with piped(LINGERING, read=False) as server:
        server.say(call("flood", meta=LOUD))
        server.output.read(10)
        started = time.monotonic()
        server.output.close()
        code = server.process.wait(10)
        took = time.monotonic() - started
    assert (code, took < 1) == (0, True)
    assert "Traceback" not in server.errors


def test_client_that_does_not_read_is_given_up() -> None:
    with piped(LINGERING, "--write-deadline", "0.5", read=False) as server:
        server.say(call("flood", meta=LOUD))
        code = server.process.wait(15)
    assert code == 0
    assert "is given up" in server.errors


def test_death_of_the_client_ends_the_process() -> None:
    client = "import subprocess, sys, time; p = subprocess.Popen(sys.argv[1:], stdin=-1, stdout=-1); print(p.pid)"
    command = [sys.executable, "-c", client + "; sys.stdout.flush(); time.sleep(60)", *stdio_command(NOISY)]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while is_alive(server) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(server)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    with contextlib.suppress(subprocess.CalledProcessError):
        shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=True)
        return not shown.stdout.strip().startswith("Z")
    return False


# -- how it is started


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of ours to its end."""
    command = [sys.executable, "-m", "genmcp", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output="stdout" not in options, text=True, timeout=30, check=False, **options
    )


def test_a_pipe_of_a_shell_is_a_client() -> None:
    done = run("stdio", input=json.dumps(call("add", {"a": 1, "b": 2})))
    assert done.returncode == 0
    assert json.loads(done.stdout)["result"]["structuredContent"] == 3.0


def test_files_are_streams_as_well(tmp_path: Path) -> None:
    asked, answered = tmp_path / "asked.jsonl", tmp_path / "answered.jsonl"
    asked.write_text("".join(json.dumps(call("add", {"a": n, "b": 0}, id=n)) + "\n" for n in range(100)))
    with asked.open() as stdin, answered.open("w") as stdout:
        done = run("stdio", stdin=stdin, stdout=stdout)
    assert done.returncode == 0
    assert {json.loads(line)["id"] for line in answered.read_text().splitlines()} == set(range(100))


def test_wrong_application_is_told_on_standard_error() -> None:
    done = run("stdio", "no_such_module", stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no module 'no_such_module'" in done.stderr


def test_closed_input_is_told_on_standard_error() -> None:
    command = f"exec {sys.executable} -m genmcp stdio <&-"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "standard input is closed" in done.stderr


def test_closed_standard_error_is_no_harm() -> None:
    command = f"exec {sys.executable} -m genmcp stdio {NOISY} 2>&-"
    asked = json.dumps(call("echo", {"text": "here"}))
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, input=asked, capture_output=True, text=True, timeout=30)
    assert [text_of(json.loads(line)) for line in done.stdout.splitlines()] == ["here"]
    assert done.returncode == 0


def test_old_era_can_be_switched_off() -> None:
    with piped(NOISY, "--no-legacy") as server:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        refused = server.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    assert refused["error"]["data"]["supported"] == ["2026-07-28"]


def test_server_is_started_soon_and_says_nothing_unasked() -> None:
    started = time.monotonic()
    with piped(NOISY) as server:
        assert server.ask(request("server/discover"))["result"]
        took = time.monotonic() - started
    assert took < 5
    assert "WARNING" not in server.errors
