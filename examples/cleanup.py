"""A tool that deletes old files, after a person has chosen them and confirmed.

    python -m genmcp serve examples/cleanup.py

Each answer goes on in the next line. If the server was restarted in between, the tool runs again from the top with the
answers so far; `once=True` at the last question refuses that, because what follows deletes.
"""

import os
import time
from pathlib import Path

import msgspec
import trio

from genmcp import Accepted, Channel, Suite, ToolError, tool

ROOT = Path(os.environ.get("FILES", ".")).resolve()
DAY = 86_400


class Confirm(msgspec.Struct):
    really: bool


class Deleted(msgspec.Struct):
    names: list[str]


def older_than(days: float) -> list[str]:
    limit = time.time() - days * DAY
    return sorted(path.name for path in ROOT.iterdir() if path.is_file() and path.stat().st_mtime < limit)


@tool(annotations={"destructiveHint": True})
async def clean_up(channel: Channel, days: float = 30) -> Deleted:
    """Deletes old files, and says which.

    Args:
        days: How old a file must be.
    """
    channel.require_capability("elicitation", "form")
    old = await trio.to_thread.run_sync(older_than, days)
    if not old:
        raise ToolError(f"no file is older than {days:g} days")
    form = {
        "type": "object",
        "properties": {"files": {"type": "array", "title": "Files", "items": {"type": "string", "enum": old}}},
        "required": ["files"],
    }
    match await channel.elicit(f"Which of these {len(old)} old files may go?", form, key="which"):
        case Accepted({"files": [_, *_] as chosen}):
            pass
        case _:
            return Deleted([])
    question = f"Delete {', '.join(chosen)}? This cannot be undone."
    match await channel.elicit(question, Confirm, key="sure", once=True):
        case Accepted(Confirm(really=True)):
            for name in chosen:
                await trio.Path(ROOT, name).unlink(missing_ok=True)
            return Deleted([str(name) for name in chosen])
    return Deleted([])


suite = Suite(server_name="Cleanup", server_version="1", tools=[clean_up])
