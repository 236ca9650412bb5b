"""A client on lines in memory: what it says, and what it hears."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import trio
import trio.testing

from genmcp import Server
from genmcp.settings import Settings
from tests.interop.wire import Json
from transport.stdio import StdioServing, serve_stdio

PATIENCE = 3600.0
"""Seconds of the mock clock for which a message is waited for."""


class Talk:
    """The client of one server.

    Attributes:
        serving: What is served.
        ended: Set when the server has ended.
        ends: The seconds that were promised for each end.
        out: Where the client writes.
    """

    serving: StdioServing

    def __init__(self, out: trio.abc.SendStream, into: trio.abc.ReceiveStream) -> None:
        self.out = out
        self.ended = trio.Event()
        self.ends: list[float] = []
        self._into = into
        self._begun = b""

    async def say(self, *messages: Json | list[Any] | bytes) -> None:
        """Send each message on a line of its own; bytes go out as they are."""
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            await self.out.send_all(line + b"\n")

    async def hear(self) -> Json:
        """Return the next message."""
        message = await self.hear_or_end()
        assert message is not None, "the server has ended its output"
        return message

    async def hear_or_end(self) -> Json | None:
        """Return the next message, or None at the end of the output."""
        with trio.fail_after(PATIENCE):
            while b"\n" not in self._begun:
                data = await self._into.receive_some()
                if not data:
                    assert not self._begun, "half a line"
                    return None
                self._begun += data
        line, _, self._begun = self._begun.partition(b"\n")
        message: Json = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def ask(self, message: Json) -> Json:
        """Send a request and return the next message, which has to be the answer to it."""
        await self.say(message)
        answer = await self.hear()
        assert answer.get("id") == message["id"], answer
        return answer

    async def expect_silence(self) -> None:
        """See that nothing comes while time passes."""
        with trio.move_on_after(60):
            raise AssertionError(f"heard {await self.hear()}")

    async def leave(self) -> None:
        """Read no more: close the server's output."""
        await self._into.aclose()

    async def hear_rest(self) -> list[Json]:
        """Return everything up to the end of the output."""
        rest = []
        while (message := await self.hear_or_end()) is not None:
            rest.append(message)
        return rest


@asynccontextmanager
async def talking(
    server: Server[Any], *, settings: Mapping[str, Any] | None = None, lockstep: bool = False, **options: Any
) -> AsyncIterator[Talk]:
    """Serve over streams in memory until the block ends.

    Args:
        server: Who answers.
        settings: What differs from the default settings.
        lockstep: Let the server's output wait for the client to read it, as a full pipe does.
        options: As for `serve_stdio`.
    """
    out, receive = trio.testing.memory_stream_one_way_pair()
    make = trio.testing.lockstep_stream_one_way_pair if lockstep else trio.testing.memory_stream_one_way_pair
    send, into = make()
    talk = Talk(out, into)

    async def serve(task_status: trio.TaskStatus[StdioServing]) -> None:
        try:
            await serve_stdio(
                server,
                receive,
                send,
                settings=msgspec.structs.replace(Settings(), **(settings or {})),
                ends=talk.ends.append,
                task_status=task_status,
                **options,
            )
        finally:
            talk.ended.set()
            await trio.aclose_forcefully(send)

    async with trio.open_nursery() as nursery:
        talk.serving = await nursery.start(serve)
        yield talk
        nursery.cancel_scope.cancel()
