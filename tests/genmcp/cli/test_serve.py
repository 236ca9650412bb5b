"""`python -m genmcp` as a user starts it: a process, its lines, its exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.interop.process import ROOT, ServerProcess, serving
from tests.interop.wire import META, call, headers_for, post

DEMO = "genmcp.cli.demo:suite"


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """An environment whose token files are its own."""
    return {"XDG_RUNTIME_DIR": str(tmp_path_factory.mktemp("runtime")), "GENMCP_ADMIN_TOKEN": ""}


@pytest.fixture(scope="module")
def demo(runtime: Mapping[str, str]) -> Iterator[ServerProcess]:
    with serving(DEMO, "--grace", "0.5", env=runtime) as server:
        yield server


def genmcp(*arguments: str, env: Mapping[str, str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "genmcp", *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def start_lines(server: ServerProcess) -> str:
    while not any(line.startswith("Stop with") for line in server.lines):
        time.sleep(0.01)
    return "".join(server.lines)


def port_of(server: ServerProcess) -> str:
    return server.origin.rpartition(":")[2]


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["result"]["content"][0]["text"])


@pytest.mark.slow
def test_start_lines_say_what_a_user_needs(demo: ServerProcess) -> None:
    text = start_lines(demo)
    assert "Serving genmcp-demo" in text
    assert "with 6 tools, 2 resources, 1 prompt: add, countdown, wait_for_message, ticks, greet, write_note" in text
    assert f"Listening on {demo.url}\n" in text
    assert f"python -m genmcp token --port {port_of(demo)}" in text
    assert f"kill {demo.process.pid}" in text


@pytest.mark.slow
def test_demo_tool_adds(demo: ServerProcess) -> None:
    answer = post(demo.url, call("add", {"a": 1, "b": 2.5})).json()
    assert answer["result"]["structuredContent"] == 3.5


@pytest.mark.slow
def test_demo_streams_progress_and_ticks(demo: ServerProcess) -> None:
    meta = {**META, "progressToken": "p"}
    body = post(demo.url, call("ticks", {"count": 1}, meta=meta)).text
    assert '"progressToken":"p"' in body
    assert "tick " in body
    body = post(demo.url, call("countdown", {"seconds": 1}, meta=meta)).text
    assert "1 to go" in body
    assert "Lift-off" in body


@pytest.mark.slow
def test_message_from_a_shell_ends_the_waiting_tool(demo: ServerProcess, runtime: Mapping[str, str]) -> None:
    body = call("wait_for_message", meta={**META, "progressToken": 1})
    with httpx.stream("POST", demo.url, json=body, headers=headers_for(body), timeout=20) as response:
        events = (json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: "))
        told = next(events)["params"]["message"]
        pid = told.split()[4]
        sent = genmcp("send", pid, '"hello"', "--port", port_of(demo), env=runtime)
        assert (sent.returncode, sent.stdout) == (0, "delivered\n")
        assert text_of(next(events)) == "Somebody sent: 'hello'"
    sent = genmcp("send", pid, '"again"', "--port", port_of(demo), env=runtime)
    assert sent.returncode == 1
    assert "gone: there is no such actor" in sent.stderr


@pytest.mark.slow
def test_publish_from_a_shell_counts_receivers(demo: ServerProcess, runtime: Mapping[str, str]) -> None:
    where = ("--port", port_of(demo))
    done = genmcp("publish", "nobody.listens", "-", *where, env=runtime, stdin='{"a": 1}')
    assert (done.returncode, done.stdout) == (0, "delivered to 0\n")
    done = genmcp("publish", "demo.ticks", '{"type": "demo.tick", "number": "x"}', *where, env=runtime)
    assert done.returncode == 1
    assert "number" in done.stderr
    done = genmcp("publish", "demo.ticks", "hello", *where, env=runtime)
    assert done.returncode == 2
    assert "a text needs quotes of its own: '\"hello\"'" in done.stderr


@pytest.mark.slow
def test_only_server_is_found_without_options(demo: ServerProcess, runtime: Mapping[str, str]) -> None:
    done = genmcp("token", env=runtime)
    assert done.returncode == 0
    headers = {"Authorization": f"Bearer {done.stdout.strip()}"}
    actors = httpx.get(f"{demo.origin}/registry/actors", headers=headers).json()["actors"]
    assert "ticking" in [actor["label"] for actor in actors]
    assert httpx.get(f"{demo.origin}/registry/actors").status_code == 401


@pytest.mark.slow
def test_unknown_server_is_explained(demo: ServerProcess, runtime: Mapping[str, str]) -> None:
    done = genmcp("token", "--port", "1", env=runtime)
    assert done.returncode == 1
    assert "no server of this user has its registry API at 127.0.0.1:1" in done.stderr
    assert f"127.0.0.1:{port_of(demo)}" in done.stderr
    done = genmcp("send", "x", "1", "--port", "1", env={**runtime, "GENMCP_ADMIN_TOKEN": "guess"})
    assert "nobody answers at 127.0.0.1:1" in done.stderr
    done = genmcp("send", "x", "1", "--port", port_of(demo), env={**runtime, "GENMCP_ADMIN_TOKEN": "guess"})
    assert "unauthorized: the server does not take this token" in done.stderr


@pytest.mark.slow
def test_without_app_the_demo_is_served(runtime: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "genmcp", "serve", "--port", "0", "--grace", "0.5"]
    env = {**os.environ, **runtime, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while not any(line.startswith("Stop with") for line in lines):
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    assert any(line.startswith("No APP was given, so this is the built-in demo") for line in lines)


@pytest.mark.slow
def test_variables_configure_the_server(runtime: Mapping[str, str]) -> None:
    env = {**runtime, "GENMCP_PATH": "/mcp/two", "GENMCP_MAX_BODY": "200", "GENMCP_ADMIN": "off"}
    with serving(DEMO, env=env) as server:
        assert post(server.url, call("add")).status_code == 404
        assert post(f"{server.url}/two", call("add", {"a": 1, "b": 2})).status_code == 413
        assert httpx.get(f"{server.origin}/registry/actors").status_code == 404
        assert httpx.get(f"{server.origin}/health/ready").json() == {"status": "ready"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("nowhere:suite",), 1, "Error: there is no module 'nowhere'"),
        (("genmcp.cli.demo:suit",), 1, "Error: genmcp.cli.demo has no 'suit'; did you mean genmcp.cli.demo:suite?"),
        ((DEMO, "--keep-alive", "never"), 2, "Error: --keep-alive: 'never' is not a time in seconds"),
        ((DEMO, "--admin", "x"), 2, "Error: 'x' is not HOST:PORT"),
        ((DEMO, "--host", "192.0.2.1"), 1, "Error: 192.0.2.1 is not an address of this machine"),
        ((DEMO, "--certfile", "none.pem"), 1, "Error: cannot use the certificate none.pem"),
    ],
)
def test_wrong_start_is_one_sentence(
    arguments: tuple[str, ...], code: int, sentence: str, runtime: Mapping[str, str]
) -> None:
    done = genmcp("serve", *arguments, "--port", "0", env=runtime)
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_taken_port_is_one_sentence(demo: ServerProcess, runtime: Mapping[str, str]) -> None:
    done = genmcp("serve", DEMO, "--port", port_of(demo), env=runtime)
    assert done.returncode == 1
    assert f"Error: 127.0.0.1:{port_of(demo)} is taken by another program" in done.stderr


@pytest.mark.slow
def test_application_in_the_current_directory_is_served(runtime: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from genmcp import Suite\nsuite = Suite(server_name='mine', server_version='7')\n"
    )
    env = {**os.environ, **runtime, "PYTHONUNBUFFERED": "1", "GENMCP_APP": "mine"}
    command = [sys.executable, "-m", "genmcp", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "Serving mine 7 with no tools, resources or prompts of its own\n"
        process.terminate()
        assert process.wait(10) == 0


@pytest.mark.slow
def test_import_is_quick_and_leaves_the_front_out() -> None:
    code = (
        "import sys, time\nstart = time.process_time()\n"
        "import trio, msgspec, jsonschema_rs\nbegun = time.process_time()\n"
        "import genmcp; print((time.process_time() - begun) / (begun - start), *sys.modules)"
    )
    # a ratio to what cannot be spared, not seconds: those are the machine's
    ratio, *modules = min(
        (subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split() for _ in range(3)),
        key=lambda words: float(words[0]),
    )
    assert float(ratio) < 1.5
    assert not {"click", "rich", "quart", "hypercorn", "h11", "httpx", "transport"} & set(modules)


@pytest.mark.slow
def test_help_does_not_load_the_front() -> None:
    code = (
        "import sys\nfrom click.testing import CliRunner\nfrom genmcp.cli import main\n"
        "assert CliRunner().invoke(main, ['serve', '--help']).exit_code == 0\nprint(*sys.modules)"
    )
    modules = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()
    assert not {"quart", "hypercorn", "rich"} & set(modules)


@pytest.mark.slow
def test_send_answers_within_a_second(demo: ServerProcess, runtime: Mapping[str, str]) -> None:
    started = time.monotonic()
    genmcp("send", "nobody", "1", "--port", port_of(demo), env=runtime)
    assert time.monotonic() - started < 1.5
