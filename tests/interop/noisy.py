"""A server over stdio that prints in every way there is, and whose children do, while it is talking to its client."""

import os
import subprocess
import sys
import threading

import trio

from genmcp import Suite, tool

print("printed when imported")
before = sys.stdout


@tool
async def shout() -> str:
    """Print in every way there is."""
    print("printed by a tool")
    print("printed to the old stdout", file=before, flush=True)
    print("printed to the first stdout", file=sys.__stdout__, flush=True)
    os.write(1, b"written to descriptor 1\n")
    await trio.run_process([sys.executable, "-c", "print('printed by a child')"])
    subprocess.run("echo printed by a shell", shell=True, check=True)  # noqa: ASYNC221  (people do)
    os.system("echo printed by system")  # noqa: ASYNC221  (as above)
    thread = threading.Thread(target=print, args=("printed by a thread",))
    thread.start()
    thread.join()
    return "shouted"


@tool
async def read_input() -> str:
    """Read what should be the client's messages, here and in a child."""
    child = await trio.run_process([sys.executable, "-c", "print(len(input()))"], capture_stdout=True, check=False)
    inherited = await trio.to_thread.run_sync(lambda: subprocess.run(["cat"], capture_output=True, check=True).stdout)
    return repr((sys.stdin.read(), os.read(0, 100), child.returncode, inherited))


@tool
async def leave_child() -> int:
    """Start a process that lives on; return its pid."""
    return subprocess.Popen(["sleep", "30"], stderr=subprocess.DEVNULL).pid  # noqa: ASYNC220  (as above)


@tool
async def open_files() -> str:
    """List what a child inherits."""
    code = "import os; print(*sorted(fd for fd in os.listdir('/dev/fd')))"
    done = await trio.run_process([sys.executable, "-c", code], capture_stdout=True)
    return done.stdout.decode().strip()


@tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


suite = Suite(server_name="noisy", server_version="1", tools=[shout, read_input, leave_child, open_files, echo])
