"""Addresses: `Pid` names one actor for ever, `Ref` one monitor.

Neither keeps an actor's state alive. A pid is never used again: its serial grows, and a node that
starts anew has another incarnation, so an old pid cannot reach a stranger.
"""

from __future__ import annotations

import contextlib
import re
import secrets

PREFIX = "pid:"
_PID = re.compile(r"pid:([A-Za-z0-9_@-][A-Za-z0-9_.@-]*)\.([a-z0-9]+)\.([1-9][0-9]*)", re.ASCII)
_NODE = re.compile(r"[A-Za-z0-9_@-][A-Za-z0-9_.@-]*", re.ASCII)
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


class Pid:
    """The address of one actor: opaque, hashable, safe to store and to send anywhere.

    `str(pid)` gives `pid:NODE.INCARNATION.SERIAL`, which every function that takes a pid takes too,
    and `Pid.parse` reads it back.

    Args:
        node: The node's name.
        incarnation: Which start of that node.
        serial: Which actor of that start.
    """

    __slots__ = ("incarnation", "node", "serial")

    def __init__(self, node: str, incarnation: str, serial: int) -> None:
        self.node = node
        self.incarnation = incarnation
        self.serial = serial

    @classmethod
    def parse(cls, text: str) -> Pid:
        """Read what `str(pid)` wrote.

        Args:
            text: A pid's string form.

        Returns:
            An equal pid.

        Raises:
            ValueError: `text` is not a pid.
        """
        found = _PID.fullmatch(text)
        if found is None:
            raise ValueError(f"not a pid: {text!r} (expected pid:NODE.INCARNATION.SERIAL)")
        return cls(found[1], found[2], int(found[3]))

    def __str__(self) -> str:
        return f"{PREFIX}{self.node}.{self.incarnation}.{self.serial}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __hash__(self) -> int:
        return hash((self.serial, self.incarnation))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pid):
            return NotImplemented
        return (self.serial, self.incarnation, self.node) == (other.serial, other.incarnation, other.node)


class Ref:
    """The identity of one monitor; compare it with `Down.ref`.

    Args:
        owner: The pid that gets the `Down`.
        target: What is watched, as it was named.
    """

    __slots__ = ("owner", "target")

    def __init__(self, owner: Pid, target: Pid | str) -> None:
        self.owner = owner
        self.target = target

    def __repr__(self) -> str:
        return f"<ref {id(self):x} to {self.target}>"


def new_incarnation() -> str:
    """Make a short random word that tells this start of a node from every other.

    Returns:
        Six characters of a-z and 0-9.
    """
    return "".join(secrets.choice(_ALPHABET) for _ in range(6))


def as_address(to: Pid | str) -> Pid | str:
    """Read a pid's string form as the pid.

    Args:
        to: A pid, its string, or a name.

    Returns:
        The pid, or what was given if it is a name or no pid that could exist.
    """
    if isinstance(to, str) and to.startswith(PREFIX):
        with contextlib.suppress(ValueError):
            return Pid.parse(to)
    return to


def check_node_name(name: str) -> str:
    """Refuse a node name that could not be read back out of a pid.

    Args:
        name: The name wanted.

    Returns:
        The same name.

    Raises:
        ValueError: It is empty or holds other characters than letters, digits and `_ . @ -`.
    """
    if _NODE.fullmatch(name) is None:
        raise ValueError(f"node name {name!r}: use letters, digits and _ . @ - (not a leading dot)")
    return name


def check_registered_name(name: str) -> str:
    """Refuse a registered name that could be taken for a pid.

    Args:
        name: The name wanted.

    Returns:
        The same name.

    Raises:
        ValueError: It is empty, or it starts with `pid:`.
    """
    if not name or name.startswith(PREFIX):
        raise ValueError(f"{name!r} cannot be a registered name: use a non-empty string that does not start with pid:")
    return name
