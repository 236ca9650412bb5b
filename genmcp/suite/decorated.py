"""A function under a decorator: what it takes, whether it runs in the worker or in a thread, and how it is called.

An `async def` runs in the request's worker and may take a `Channel`; a `def` runs in a worker thread and may take a
`SyncChannel`. The wrong pairing is refused when the function is decorated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from genmcp.callbacks import is_async
from genmcp.channel import Channel
from genmcp.errors import ConfigurationError
from genmcp.schema import Signature, SignatureError, read_signature
from genmcp.sync_channel import SyncChannel


class Decorated:
    """One decorated function.

    Args:
        fn: The function.
        provider: What it serves, for error messages.
        endings: Classes that it may return to end its request in its own way.

    Attributes:
        fn: The function.
        is_async: Whether it runs in the worker.
        signature: What it takes and gives.

    Raises:
        ConfigurationError: It cannot be called with named arguments, or asks for the wrong channel.
    """

    def __init__(self, fn: Callable[..., Any], provider: str, *, endings: Collection[type]) -> None:
        self.fn = fn
        self.is_async = is_async(fn)
        wanted, other = (Channel, SyncChannel) if self.is_async else (SyncChannel, Channel)
        try:
            self.signature: Signature = read_signature(fn, injected=(wanted, other), endings=endings)
        except SignatureError as error:
            raise ConfigurationError(f"{provider}: {error}") from None
        for name, marker in self.signature.injected.items():
            if marker is other:
                kind = "an async def takes a Channel" if self.is_async else "a def takes a SyncChannel"
                raise ConfigurationError(f"{provider}: parameter {name!r} is a {other.__name__}, but {kind}")

    async def run(self, arguments: dict[str, Any], channel: Channel) -> Any:
        """Call the function with bound arguments, and with the channel if it asks for one."""
        injected = self.signature.injected
        if self.is_async:
            return await self.fn(**arguments, **dict.fromkeys(injected, channel))
        own = SyncChannel(channel)
        arguments = arguments | dict.fromkeys(injected, own)
        try:
            return await channel.backstage.settings.threads.run(lambda: self.fn(**arguments))
        finally:
            own._end()
