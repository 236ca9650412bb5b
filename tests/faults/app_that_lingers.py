"""Tools that are still busy when the server is told to stop, each in its own way."""

import threading
import time

import trio

import actors
from genmcp import Channel, Suite, tool


@tool
async def hold(channel: Channel) -> None:
    """Stream, and never end by itself."""
    await channel.start_stream()
    await trio.sleep_forever()


@tool
async def finish(seconds: float) -> str:
    """Take a moment."""
    await trio.sleep(seconds)
    return "finished"


@tool
async def flood(channel: Channel) -> None:
    """Send more than any client takes."""
    await channel.start_stream()
    while True:
        await channel.send_log("info", "x" * 60_000)


@tool
def block_thread(seconds: float) -> str:
    """Sit in a worker thread, where nothing can be cancelled."""
    time.sleep(seconds)
    return "woke up"


@tool
async def block_loop(seconds: float) -> str:
    """Hold the whole loop, as no handler should."""
    time.sleep(seconds)  # noqa: ASYNC251  (this fault is what is tested)
    return "woke up"


@tool
async def leave_thread(name: str) -> str:
    """Start a thread of the application's own, which nobody ends."""
    threading.Thread(target=time.sleep, args=(60,), name=name).start()
    return "left"


@tool
async def ask(channel: Channel) -> str:
    """Wait for an answer that does not come."""
    return repr(await channel.list_roots())


async def clean_up_slowly() -> None:
    """Be a child that takes its time to end."""
    try:
        await trio.sleep_forever()
    finally:
        with actors.current().clean_up(30):
            await trio.sleep(30)


suite = Suite(
    server_name="lingering",
    server_version="1",
    tools=[hold, finish, flood, block_thread, block_loop, leave_thread, ask],
)
slow_child = Suite(server_name="lingering", server_version="1", tools=[finish], children=[clean_up_slowly])
