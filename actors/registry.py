"""The registry of a node: how everything reaches its actors.

    directory  register unregister whereis names send send_wait
    timers     send_after send_every
    topics     subscribe unsubscribe members publish
    calls      call cast reply
    here       monitor demonitor stop stop_after kill, and forgetting an actor that ended

All but `send_wait` and `call` are plain functions and work from any thread.
"""

from __future__ import annotations

from functools import partial

import trio

from actors.address import Pid, Ref, as_address, check_registered_name
from actors.calls import Calls
from actors.cell import Cell
from actors.exits import ExitReason, NoProcess, Shutdown
from actors.introspect import Counts
from actors.loop import on_loop
from actors.messages import Down
from actors.timers import Timer
from actors.topics import Topics

_ASKED = Shutdown()


class Registry(Calls, Topics):
    """Names, topics, sending, timers, monitors and stopping. Get it from `node.registry` or `current().registry`."""

    @on_loop
    def monitor(self, to: Pid | str, watcher: Pid | None = None) -> Ref:
        """Have an actor told when another ends, by exactly one `Down` in its mailbox.

        Each call makes a monitor of its own. For an actor that is not there, `Down` with `NoProcess` comes at
        once. From any thread.

        Args:
            to: A pid, its string, or a registered name (looked up now).
            watcher: Who is told; default the current actor.

        Returns:
            What `Down.ref` will be, and `demonitor` takes.

        Raises:
            NoProcessError: The watcher has ended.
        """
        cell = self.self_or(watcher)
        target = self.find(to)
        if target is None:
            ref = Ref(cell.pid, to)
            cell.put_exempt(Down(ref, as_address(to), NoProcess()))
            return ref
        ref = Ref(cell.pid, target.pid)
        if target.watched_by is None:
            target.watched_by = {}
        if cell.watching is None:
            cell.watching = {}
        target.watched_by[ref] = cell
        cell.watching[ref] = target
        return ref

    @on_loop
    def demonitor(self, ref: Ref) -> bool:
        """Take a monitor off; its `Down` will not come, and is taken out of the mailbox if it is there already.

        From any thread.

        Args:
            ref: What `monitor` returned.

        Returns:
            Whether the actor was still watched.
        """
        cell = self.find(ref.owner)
        if cell is None:
            return False
        target = (cell.watching or {}).pop(ref, None)
        if target is not None:
            assert target.watched_by is not None
            del target.watched_by[ref]
            return True
        if cell.mailbox is not None:
            cell.mailbox.discard(lambda message: isinstance(message, Down) and message.ref is ref)
        return False

    @on_loop
    def stop(self, to: Pid | str, reason: ExitReason = _ASKED, *, external: bool = False) -> bool:
        """Ask an actor to end: its scope is cancelled, and what it does in `clean_up` may take its grace.

        When the grace is over it is killed. If it was asked before, the first reason stays. From any thread.

        Args:
            to: A pid, its string, or a registered name.
            reason: Its exit reason, unless its body ends otherwise first.
            external: The caller is outside of the program: system actors are not there for it.

        Returns:
            Whether there is such an actor.
        """
        cell = self.find(to)
        if cell is None or (external and cell.system):
            return False
        if cell.stop(reason):
            self.kill_after_grace(cell)
        return True

    @on_loop
    def stop_after(self, delay: float, to: Pid | str, reason: ExitReason = _ASKED) -> Timer:
        """Stop an actor in `delay` seconds, unless it has ended by then or the timer is cancelled. From any thread.

        Args:
            delay: Seconds.
            to: A pid, its string, or a registered name; looked up when the time has come.
            reason: Its exit reason, as for `stop`.

        Returns:
            The timer; it ends with the actor.
        """
        cell = self.find(to)
        cells = () if cell is None else (cell,)
        return self.at(trio.current_time() + delay, partial(self.stop, to, reason), *cells)

    @on_loop
    def kill(self, to: Pid | str, *, external: bool = False) -> bool:
        """End an actor at its next checkpoint, even inside `clean_up`; its reason is `Killed`.

        A body in a shield of its own, or waiting for a thread, cannot be killed: the log says so. From any thread.

        Args:
            to: A pid, its string, or a registered name.
            external: The caller is outside of the program: system actors are not there for it.

        Returns:
            Whether there is such an actor.
        """
        cell = self.find(to)
        if cell is None or (external and cell.system):
            return False
        self.kill_now(cell)
        return True

    # -- for the node ------------------------------------------------------------------------------------

    def add(self, cell: Cell, name: str | None) -> None:
        """Make an actor known, and its name if it gets one."""
        if name is not None:
            check_registered_name(name)
            self.check_free(name)
            self.give_name(name, cell)
        self._cells[cell.pid.serial] = cell

    def release(self, cell: Cell) -> None:
        """Forget an actor that ended: nothing points at it any more."""
        del self._cells[cell.pid.serial]
        for name in cell.names or ():
            del self._names[name]
        for topic in cell.topics or ():
            self.leave(topic, cell)
        for timer in tuple(cell.timers or ()):
            timer.drop()

    def counts(self) -> Counts:
        """Count what the tables hold."""
        cells = self.cells()
        return Counts(
            actors=len(cells),
            names=len(self._names),
            topics=sum(map(len, self._topics.values())),
            monitors=sum(len(cell.watching or ()) + len(cell.hooks or ()) for cell in cells),
            timers=self.timers.active,
        )

    def cells(self) -> tuple[Cell, ...]:
        """List the living actors, oldest first."""
        return tuple(self._cells.values())
