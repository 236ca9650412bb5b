"""Actors on trio: tasks with an address, a mailbox, their own state and their own fate. Knows nothing of MCP or HTTP.

    import trio
    from actors import Call, Node, current

    async def pong():
        call = await current().receive(match=Call)
        current().registry.reply(call.from_, "pong")

    async def main():
        async with Node(name="main") as node:
            node.spawn(pong, name="pong")
            print(await node.registry.call("pong", "ping"))

    trio.run(main)

Nothing in here imports from `genmcp` or `transport`.
"""

from actors.address import Pid, Ref
from actors.calls import Call, From
from actors.errors import (
    ActorError,
    AlreadyRegisteredError,
    CallExitError,
    CallTimeoutError,
    Exit,
    MessageError,
    NoProcessError,
    ReceiveTimeoutError,
    StartError,
    StoppedError,
)
from actors.exits import Crashed, ExitReason, Killed, NoProcess, Normal, Shutdown
from actors.introspect import ActorInfo, Counts
from actors.messages import Cast, Delivery, Down, decode_message, encode_message, message
from actors.node import Actor, Node, current
from actors.registry import Registry
from actors.slow_steps import watch_steps
from actors.supervisor import Child, Supervisor
from actors.timers import Timer

__all__ = [
    "Actor",
    "ActorError",
    "ActorInfo",
    "AlreadyRegisteredError",
    "Call",
    "CallExitError",
    "CallTimeoutError",
    "Cast",
    "Child",
    "Counts",
    "Crashed",
    "Delivery",
    "Down",
    "Exit",
    "ExitReason",
    "From",
    "Killed",
    "MessageError",
    "NoProcess",
    "NoProcessError",
    "Node",
    "Normal",
    "Pid",
    "ReceiveTimeoutError",
    "Ref",
    "Registry",
    "Shutdown",
    "StartError",
    "StoppedError",
    "Supervisor",
    "Timer",
    "current",
    "decode_message",
    "encode_message",
    "message",
    "watch_steps",
]
