"""What `actors` raises.

    ActorError
    ├── NoProcessError            no such actor
    ├── AlreadyRegisteredError    the name belongs to another actor
    ├── StartError                a supervised child did not start
    ├── StoppedError              the node is not running (yet, or any more)
    ├── CallTimeoutError          no reply in time          (also a TimeoutError)
    ├── CallExitError             the callee ended first
    ├── ReceiveTimeoutError       no message in time        (also a TimeoutError)
    └── MessageError              JSON that is not the message its tag promises
    Exit                          not an error: ends the actor that raises it, with a reason

The timeouts are not `trio.TooSlowError`, so that a broad `except TooSlowError` around a caller's own
deadline cannot take one for the other.
"""

from __future__ import annotations

from actors.address import Pid
from actors.exits import ExitReason


class ActorError(Exception):
    """The base of every error of the actor runtime."""


class NoProcessError(ActorError):
    """There is no such actor.

    Args:
        to: The pid or name that was looked for.
    """

    def __init__(self, to: Pid | str) -> None:
        super().__init__(f"no actor {to}")
        self.to = to


class AlreadyRegisteredError(ActorError):
    """The name belongs to a living actor.

    Args:
        name: The name wanted.
        pid: Who has it.
    """

    def __init__(self, name: str, pid: Pid) -> None:
        super().__init__(f"the name {name!r} belongs to {pid}")
        self.name = name
        self.pid = pid


class StartError(ActorError):
    """A supervised child did not start; those started before it were stopped again.

    Args:
        child: The child's name or label.
        reason: How its first run ended.
    """

    def __init__(self, child: str, reason: ExitReason) -> None:
        super().__init__(f"child {child} did not start: {reason}")
        self.child = child
        self.reason = reason


class StoppedError(ActorError):
    """The node is not running: not started yet, stopping, or over.

    Args:
        node: The node's name.
        what: What was asked of it.
    """

    def __init__(self, node: str, what: str) -> None:
        super().__init__(f"node {node!r} is not running: {what}")
        self.node = node


class CallTimeoutError(ActorError, TimeoutError):
    """No reply came in time. The callee may still be at work; its late reply is dropped.

    Args:
        to: Who was called.
        timeout: The seconds waited.
    """

    def __init__(self, to: Pid | str, timeout: float) -> None:
        super().__init__(f"no reply from {to} within {timeout:g} s")
        self.to = to
        self.timeout = timeout


class CallExitError(ActorError):
    """The callee ended without a reply, or was not there (`NoProcess`).

    Args:
        to: Who was called.
        reason: How it ended.
    """

    def __init__(self, to: Pid | str, reason: ExitReason) -> None:
        super().__init__(f"{to} ended without a reply: {reason}")
        self.to = to
        self.reason = reason


class ReceiveTimeoutError(ActorError, TimeoutError):
    """No (matching) message came in time; the mailbox is as it was.

    Args:
        pid: Who waited.
        timeout: The seconds waited.
    """

    def __init__(self, pid: Pid, timeout: float) -> None:
        super().__init__(f"{pid} got no message within {timeout:g} s")
        self.pid = pid
        self.timeout = timeout


class MessageError(ActorError, ValueError):
    """A JSON object carries a registered tag but not that message's fields; the text names the field."""


class Exit(Exception):
    """Raise it in an actor to end with a reason of your own; a clean one is not logged.

    Args:
        reason: The exit reason that monitors see.
    """

    def __init__(self, reason: ExitReason) -> None:
        super().__init__(reason)
        self.reason = reason
