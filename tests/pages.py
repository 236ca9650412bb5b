"""The documents as tests see them: marked blocks, and a session in a shell that runs them as a reader would.

The comment above a fence says what is done with it:

    file: NAME                 it is written to that file
    python                     it is executed, all of a page's blocks in one module
    program: FILE              a part of that file, which tests run; the module gets its names
    run                        a shell runs it to its end
    printed                    what the command before it printed
    run in the background      a shell runs it until the next one like it, or the end; it listens on the page's port
    run beside the next blocks a shell runs it while the next blocks are run
    printed beside             what that one printed to its end
    install                    tried by a test of its own
    not run: REASON            nothing
"""

import contextlib
import importlib
import inspect
import os
import re
import signal
import socket
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"(?:<!-- (?P<marker>[^\n]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
MARKERS = (
    "file: ",
    "python",
    "program: ",
    "run",
    "printed",
    "run in the background",
    "run beside the next blocks",
    "printed beside",
    "install",
    "not run: ",
)
OURS = re.compile(r"(?:genmcp|mcp|actors|transport)(?:\.\w+)+")
PID = re.compile(r"pid:genmcp\.\w+\.\d+")
PATIENCE = 30.0


class Block(msgspec.Struct, frozen=True):
    """A fenced block of a document: its marker, its language, its text."""

    marker: str
    language: str
    text: str


def blocks_of(document: str) -> list[Block]:
    """Read the blocks of a document, given by its path from the root."""
    found = BLOCK.finditer((ROOT / document).read_text())
    return [Block(match["marker"] or "", match["language"], match["text"]) for match in found]


def unknown_markers(document: str) -> list[str]:
    """Return the markers of a document that mean nothing, "" for a block without one."""
    known = re.compile("|".join(rf"{re.escape(marker)}{'.+' if marker.endswith(' ') else ''}" for marker in MARKERS))
    return [block.marker for block in blocks_of(document) if not known.fullmatch(block.marker)]


def module_of(document: str) -> Any:
    """Execute the `python` blocks of a document, in order, in one module."""
    module = types.ModuleType("page_" + re.sub(r"\W", "_", document))
    sys.modules[module.__name__] = module  # annotations are looked up there
    for block in blocks_of(document):
        if block.marker.startswith("program: "):
            name = block.marker.removeprefix("program: ").removesuffix(".py").replace("/", ".")
            module.__dict__.update(importlib.import_module(name).__dict__ | {"__name__": module.__name__})
        if block.marker == "python":
            exec(compile(block.text, document, "exec"), module.__dict__)
    return module


def names_in(text: str) -> list[str]:
    """Return the dotted names of ours that a text has in code quotes; `mcp` is short for `genmcp.mcp.v2607`."""
    return sorted({span for span in re.findall(r"`([^`]+)`", text) if OURS.fullmatch(span)})


def exists(name: str) -> bool:
    """Say whether a dotted name means something; an attribute of instances counts if its class documents it."""
    parts = re.sub(r"^mcp\.", "genmcp.mcp.v2607.", name).split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return inspect.isclass(found) and f"\n    {part}: " in inspect.cleandoc(found.__doc__ or "")
            found = getattr(found, part)
        return True
    return False


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Session:
    """A reader at a shell, in an empty folder, who does what a document says from the top to the end.

    What differs from the text, all of it:
        127.0.0.1:8000       another port, which is free; GENMCP_PORT says so to `python -m genmcp`
        make serve           in the checkout, with the environment that runs the tests
        pip install …        left out: it is installed
        pid:genmcp.k3f9a2.1  the address that the call beside has printed
        python, hypercorn    those of the environment that runs the tests
        XDG_RUNTIME_DIR      the folder, so that no other server's token file is found
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._printed = ""
        self._background: subprocess.Popen[str] | None = None
        self._beside: subprocess.Popen[str] | None = None
        self._beside_printed = ""
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GENMCP_")},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "XDG_RUNTIME_DIR": str(folder),
            "GENMCP_PORT": str(self.port),
            "GENMCP_GRACE": "0.5",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def perform(self, block: Block) -> None:
        """Do what the marker of a block says."""
        kind, _, name = block.marker.partition(": ")
        match kind:
            case "file":
                (self.folder / name).write_text(block.text)
            case "run":
                self._run(block.text)
            case "printed":
                compare(self._printed, block.text)
            case "run in the background":
                self._serve(block.text)
            case "run beside the next blocks":
                self._beside = self._start(block.text)
                self._beside_printed = ""
            case "printed beside":
                assert self._beside is not None
                assert self._beside.stdout is not None
                rest = self._beside.stdout.read()
                compare(self._beside_printed + rest, block.text)

    def _substituted(self, commands: str) -> str:
        lines = [line for line in commands.splitlines() if not line.startswith("pip install ")]
        text = "\n".join(lines).replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")
        text = text.replace("make serve", f"make -C {ROOT} VENV={sys.prefix} -o {sys.prefix}/.installed serve")
        return PID.sub(lambda _: self._pid(), text) if self._beside is not None else text

    def _pid(self) -> str:
        """Read what the call beside prints, until it has printed an address."""
        assert self._beside is not None
        assert self._beside.stdout is not None
        while (found := PID.search(self._beside_printed)) is None:
            line = self._beside.stdout.readline()
            assert line, f"no address was printed, but: {self._beside_printed}"
            self._beside_printed += line
        return found[0]

    def _start(self, commands: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-ec", self._substituted(commands)],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def _run(self, commands: str) -> None:
        process = self._start(commands)
        self._printed, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, self._printed

    def _serve(self, commands: str) -> None:
        self.stop()
        self._background = process = self._start(commands)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)
        end(process)
        raise AssertionError(f"{commands}does not listen on the port; it printed {process.communicate()[0]}")

    def stop(self) -> None:
        """End what runs in the background."""
        if self._background is not None:
            end(self._background)
            self._background = None

    def close(self) -> None:
        """End everything."""
        self.stop()
        if self._beside is not None:
            end(self._beside)


def end(process: subprocess.Popen[str]) -> None:
    """End a shell and what it started, by its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def alike(text: str) -> str:
    """Return a printed text without what differs each time: the numbers of addresses."""
    return PID.sub("pid:…", text).strip()


def compare(printed: str, promised: str) -> None:
    """Require that what was printed is what the document says."""
    if alike(printed) != alike(promised):
        raise AssertionError(f"this was printed:\n{printed}\nand the document says:\n{promised}")


@contextlib.contextmanager
def session(folder: Path) -> Iterator[Session]:
    """Open a session in a folder, and end everything that it started."""
    reader = Session(folder)
    try:
        yield reader
    finally:
        reader.close()
