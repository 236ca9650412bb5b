"""The requests that are being answered, by their ids, and the workers that answer them."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from actors import Node, Pid
from genmcp.server import Server
from transport.stopping import STOPPING, workers_of

How = Literal["client_gone", "stalled"]


class Ongoing(Protocol):
    """A request that is being answered."""

    @property
    def subscription(self) -> bool:
        """Whether it waits for changes, and so for the end of the process."""
        ...

    @property
    def worker_pid(self) -> Pid | None:
        """Who answers it, if that is one worker."""
        ...

    def leave(self, how: How = "client_gone") -> None:
        """Stop: the client does not want the answer, or is gone. Nothing more is sent of it."""
        ...


class Running:
    """All requests of the client that are being answered.

    Args:
        server: Whose workers answer.
    """

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._requests: dict[int | str, Ongoing] = {}
        self._live: set[Pid] = set()

    def __contains__(self, request_id: int | str) -> bool:
        return request_id in self._requests

    def get(self, request_id: int | str) -> Ongoing | None:
        """Return the request with this id, if it is being answered."""
        return self._requests.get(request_id)

    def add(self, request_id: int | str, request: Ongoing) -> None:
        """Note that a request is being answered."""
        self._requests[request_id] = request

    def over(self, request_id: int | str) -> None:
        """Note that a request is over: its id may be used again."""
        self._requests.pop(request_id, None)

    def count(self, node: Node, pid: Pid) -> None:
        """Count a worker as living until it has ended."""
        if pid not in self._live:  # a retry may have been given to the worker that waits for it
            self._live.add(pid)
            node.on_exit(pid, lambda _: self._live.discard(pid))

    @property
    def live(self) -> int:
        """How many workers live."""
        return len(self._live)

    # -- the end

    @property
    def quiet(self) -> bool:
        """Whether nobody waits for an answer, but to subscriptions."""
        return all(request.subscription for request in self._requests.values())

    @property
    def ended(self) -> bool:
        """Whether no worker is left."""
        return next(workers_of(self._server.node), None) is None

    def end_subscriptions(self) -> None:
        """Stop the workers of subscriptions; each tells its client by the result (S-09)."""
        for request in tuple(self._requests.values()):
            if request.subscription and request.worker_pid is not None:
                self._server.registry.stop(request.worker_pid, STOPPING)

    def stop(self) -> None:
        """Stop every worker; each tells its client why."""
        for worker in tuple(workers_of(self._server.node)):
            self._server.registry.stop(worker.pid, STOPPING)

    def leave(self, how: How = "client_gone", *, only_subscriptions: bool = False) -> None:
        """Stop everything, or what only waits for changes, because the client is gone."""
        for request in tuple(self._requests.values()):
            if request.subscription or not only_subscriptions:
                request.leave(how)
