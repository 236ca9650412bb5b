"""Who is where: pids, names, and sending to them."""

from __future__ import annotations

import threading

import trio

from actors.address import Pid, as_address, check_registered_name
from actors.cell import Cell, current_cell
from actors.errors import AlreadyRegisteredError, NoProcessError
from actors.loop import Loop, on_loop
from actors.messages import Delivery


class Directory:
    """The part of the registry that knows pids and names.

    Args:
        loop: The node's thread.
        incarnation: The node's incarnation, which its pids carry.
    """

    def __init__(self, loop: Loop, incarnation: str) -> None:
        self.loop = loop
        self.incarnation = incarnation
        self.lost = 0  # messages that nobody took: left at an actor's end, or queued for one that was gone or full
        self._cells: dict[int, Cell] = {}
        self._names: dict[str, Cell] = {}

    # -- names -----------------------------------------------------------------------------------------

    @on_loop
    def register(self, name: str, pid: Pid | None = None) -> None:
        """Give an actor a name, by which everybody may send to it. The name is freed when the actor ends.

        An actor may have several names. From any thread.

        Args:
            name: Any string that does not start with `pid:`.
            pid: Who gets it; default the current actor.

        Raises:
            AlreadyRegisteredError: A living actor has the name.
            NoProcessError: There is no such actor.
            ValueError: Not a name.
        """
        check_registered_name(name)
        cell = self.self_or(pid)
        self.check_free(name)
        self.give_name(name, cell)

    @on_loop
    def unregister(self, name: str, pid: Pid | None = None) -> bool:
        """Free a name. From any thread.

        Args:
            name: The name.
            pid: Free it only if this actor has it; default whoever has it.

        Returns:
            Whether it was freed.
        """
        cell = self._names.get(name)
        if cell is None or (pid is not None and cell.pid != pid):
            return False
        del self._names[name]
        assert cell.names is not None
        cell.names.remove(name)
        return True

    @on_loop
    def whereis(self, name: str) -> Pid | None:
        """Find who has a name now. From any thread.

        Args:
            name: The name.

        Returns:
            The pid, or None.
        """
        cell = self._names.get(name)
        return None if cell is None else cell.pid

    @on_loop
    def names(self) -> dict[str, Pid]:
        """List the names in use. From any thread.

        Returns:
            A snapshot, name → pid.
        """
        return {name: cell.pid for name, cell in self._names.items()}

    # -- sending ---------------------------------------------------------------------------------------

    def send(self, to: Pid | str, message: object, *, external: bool = False) -> Delivery:
        """Put a message into an actor's mailbox. Never waits, and never raises for an absent receiver.

        Messages from one sender to one actor arrive in the order they were sent. From any thread: another than
        the node's has it queued, in order, and does not learn whether it arrived.

        Args:
            to: A pid, its string, or a registered name (looked up now).
            message: Any object; it goes by reference, so do not change it afterwards.
            external: The sender is outside of the program: system actors are not there for it.

        Returns:
            What became of the message.

        Raises:
            TypeError: `to` is no address.
        """
        if threading.get_ident() != self.loop.thread:
            check_address(to)
            return Delivery.QUEUED if self.loop.soon(self._send_queued, to, message, external) else Delivery.GONE
        cell = self.find(to)
        if cell is None or (external and cell.system):
            return Delivery.GONE
        return Delivery.DELIVERED if cell.put(message) else Delivery.FULL

    async def send_wait(self, to: Pid | str, message: object) -> Delivery:
        """Send, and wait for room if the mailbox is full.

        Always a checkpoint. Cancelled, it has sent nothing.

        Args:
            to: A pid, its string, or a registered name (looked up once, at the start).
            message: Any object.

        Returns:
            `DELIVERED`, or `GONE` if there is no such actor or it ends while waiting.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        cell = self.find(to)
        delivery = Delivery.GONE if cell is None else await self.put_wait(cell, message)
        await trio.lowlevel.cancel_shielded_checkpoint()
        return delivery

    def _send_queued(self, to: Pid | str, message: object, external: bool) -> None:
        if self.send(to, message, external=external) is not Delivery.DELIVERED:
            self.count_lost(self.find(to))

    # -- for the other parts of the registry -------------------------------------------------------------

    def find(self, to: Pid | str) -> Cell | None:
        """Resolve an address; None if nobody is there.

        Args:
            to: A pid, its string, or a registered name.

        Raises:
            TypeError: `to` is no address.
        """
        if isinstance(to, str):
            to = as_address(to)
            if isinstance(to, str):
                return self._names.get(to)
        elif type(to) is not Pid:
            check_address(to)
        if to.incarnation != self.incarnation or to.node != self.loop.node:
            return None
        return self._cells.get(to.serial)

    def self_or(self, pid: Pid | str | None) -> Cell:
        """Find the actor with `pid`, or the current one.

        Raises:
            NoProcessError: There is no such actor.
            RuntimeError: No pid given, outside of every actor.
        """
        cell = current_cell() if pid is None else self.find(pid)
        if cell is None and pid is None:
            raise RuntimeError("this code runs in no actor: say which one is meant, with its pid")
        if cell is None or cell.ended:
            raise NoProcessError(str(pid) if cell is None else cell.pid)
        return cell

    def check_free(self, name: str) -> None:
        """Raise AlreadyRegisteredError if somebody has the name."""
        owner = self._names.get(name)
        if owner is not None:
            raise AlreadyRegisteredError(name, owner.pid)

    def give_name(self, name: str, cell: Cell) -> None:
        """Give a free name to a living actor."""
        self._names[name] = cell
        if cell.names is None:
            cell.names = []
        cell.names.append(name)

    async def put_wait(self, cell: Cell, message: object) -> Delivery:
        """Put a message into a mailbox as soon as there is room."""
        while not cell.ended:
            if cell.put(message):
                return Delivery.DELIVERED
            assert cell.mailbox is not None
            await cell.mailbox.room()
        return Delivery.GONE

    def count_lost(self, cell: Cell | None) -> None:
        """Count a message that its sender cannot know to be lost."""
        self.lost += 1
        if cell is not None and cell.mailbox is not None:
            cell.mailbox.dropped += 1


def check_address(to: object) -> None:
    """Refuse what is neither a pid nor a string.

    Raises:
        TypeError: It is no address.
    """
    if not isinstance(to, Pid | str):
        raise TypeError(f"an address is a Pid, its string or a registered name, not {type(to).__name__}")
