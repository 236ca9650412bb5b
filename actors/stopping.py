"""The end of a node: stop everybody in order, kill who does not end, leave who cannot be killed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import trio

from actors.cell import Cell
from actors.exits import ExitReason, Shutdown
from actors.registry import Registry
from actors.supervisor import Supervisor
from actors.timers import KILL_PATIENCE, report_unkillable


async def stop_everything(registry: Registry, supervisors: Sequence[Supervisor], grace: float) -> None:
    """Stop unsupervised actors, then supervisors in reverse order, then system actors.

    Args:
        registry: The node's; nothing is added to it any more.
        supervisors: The node's, in the order they were started.
        grace: Seconds that each step (of a supervisor: each child) may take before kills.
    """
    supervised = {pid for supervisor in supervisors for _, pid in supervisor.running()}
    await _end([cell for cell in registry.cells() if not cell.system and cell.pid not in supervised], grace)
    for supervisor in reversed(supervisors):
        supervisor.limit = grace
        await supervisor.stop()
    # who is killed and still there has been waited for, and is in the log
    await _end([cell for cell in registry.cells() if not cell.killed], grace)


async def _end(cells: Collection[Cell], grace: float) -> None:
    """Stop actors all at once, and give them the grace; then kill, and give up on those that stay."""
    left = len(cells)
    over = trio.Event()

    def ended(reason: ExitReason) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            over.set()

    if not cells:
        return
    for cell in cells:
        cell.on_exit(ended)
        cell.stop(Shutdown())
    with trio.move_on_after(grace):
        await over.wait()
    if over.is_set():
        return
    for cell in cells:
        if not cell.ended:
            cell.kill()
    with trio.move_on_after(KILL_PATIENCE):
        await over.wait()
    for cell in cells:
        if not cell.ended:
            report_unkillable(cell)
