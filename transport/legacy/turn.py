"""One request of a legacy client, from its worker's first event to its answer.

Theory. The worker speaks as to a 2026 client, and the turn is that client in the legacy client's stead. So there is
nothing that a worker does differently: when it ends the request with a question (`InputRequiredResult`), the turn asks
the client by requests on the request's own stream, waits as an actor, and retries with the answers, which resumes
the worker that waits or runs the handler again. One handler serves both eras.

    running ──InputRequiredResult──▶ asking ──answers: the retry──▶ running ──result, error──▶ over
       └─────────────── cancel (notifications/cancelled), leave (gone for good) ─────────────────▲

A client that disconnects changes nothing here (O-27): the sink keeps what it cannot deliver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
import trio

from actors import Node, Pid, StoppedError
from genmcp.mcp import AnswerRefused, InternalError, McpError, jsonrpc
from genmcp.mcp import v2607 as mcp
from genmcp.server import Server
from genmcp.worker import RequestContext, Worker, WorkerSettings, start_request
from transport.legacy.asking import answer_up, question_down
from transport.legacy.attendance import Attendance
from transport.legacy.codec import LegacyCodec
from transport.legacy.session import Question, Session
from transport.legacy.sink import Sink

ASK_AGAIN_AFTER = 1.0
"""Seconds until a request is retried that was only asked to come again: there is nothing to ask the client."""
MOST_REPEATS = 100
"""Rounds in a row that may ask the very same: a program that answers in a way that never fits would go on for ever."""


class House(Protocol):
    """What every turn of a server shares."""

    server: Server[Any]
    settings: WorkerSettings

    @property
    def node(self) -> Node:
        """The node that the server runs on."""
        ...

    def count(self, pid: Pid) -> None:
        """Count a worker as living until it has ended."""
        ...


class Turn:
    """The outbox of the worker of one request; see the module.

    Attributes:
        attendance: Whether anybody reads what goes to the sink.
    """

    __slots__ = (
        "_asked",
        "_asker",
        "_codec",
        "_context",
        "_house",
        "_last_asked",
        "_on_over",
        "_over",
        "_repeats",
        "_request",
        "_session",
        "_sink",
        "_worker",
        "attendance",
    )

    def __init__(
        self,
        house: House,
        session: Session,
        request: mcp.ClientRequest,
        sink: Sink,
        context: RequestContext,
        on_over: Callable[[], None] = lambda: None,
    ) -> None:
        self._house = house
        self._session = session
        self._request = request
        self._sink = sink
        self._context = context
        self._on_over = on_over
        self._codec = LegacyCodec(session.client.revision)
        self._worker: Worker | None = None
        self._asker: Pid | None = None
        self._over = False
        self._asked: dict[str, Question] = {}
        self.attendance = Attendance(house.node, self.leave)
        self._last_asked = b""
        self._repeats = 0

    def begin(self) -> None:
        """Start the worker.

        Raises:
            InvalidParams: What stands under `_meta` is malformed.
            actors.StoppedError: The node is stopping.
        """
        self._session.running[self._request.id] = self
        try:
            self._start(self._request)
        except BaseException:
            self._close()
            raise

    def _start(self, request: mcp.ClientRequest) -> None:
        house = self._house
        worker = start_request(house.node, house.server, request, self, self._context, house.settings)
        if worker is not self._worker:
            house.node.on_exit(worker.pid, lambda _: self._worker_ended(worker))
        self._worker = worker
        house.count(worker.pid)

    # -- the worker's side: genmcp.outbox.Outbox

    @property
    def closed(self) -> bool:
        """True once the request is over."""
        return self._over

    def start(self) -> None:
        """See `genmcp.outbox.Outbox.start`."""
        if not self._over:
            self._sink.start()

    def put(self, notification: mcp.ServerNotification) -> bool:
        """See `genmcp.outbox.Outbox.put`; what the client knows nothing of is taken, and dropped."""
        if self._over:
            return False
        message = self._codec.notification(notification)
        return message is None or self._sink.write(message)

    async def room(self) -> None:
        """See `genmcp.outbox.Outbox.room`."""
        if not self._over:
            await self._sink.room()

    def end(self, final: mcp.ServerResult | McpError | None) -> None:
        """See `genmcp.outbox.Outbox.end`; a question is asked instead."""
        if self._over or self._asker is not None:
            return  # while it asks, the turn outlives a worker that waits no longer
        if isinstance(final, mcp.InputRequiredResult):
            self._ask(final)
        else:
            self._answer(final)

    def close_stream(self, retry: float) -> bool:
        """See `genmcp.outbox.Resumable.close_stream`."""
        return not self._over and self._sink.pause(retry)

    # -- the client's side

    def cancel(self) -> None:
        """Stop: the client sent `notifications/cancelled`. Nothing more is sent."""
        self.leave()

    def leave(self) -> None:
        """Stop: the client is gone for good, or does not want the answer."""
        if self._over:
            return
        worker, asker = self._worker, self._asker
        self._withdraw_all()
        self._answer(None)
        if asker is not None:
            self._house.node.registry.stop(asker)
        if worker is not None:
            worker.client_gone()

    # -- asking

    def _ask(self, question: mcp.InputRequiredResult) -> None:
        asked = mcp.encode(msgspec.structs.replace(question, request_state=None))
        self._repeats = self._repeats + 1 if asked == self._last_asked and question.input_requests else 0
        self._last_asked = asked
        if self._repeats >= MOST_REPEATS:
            self._fail(InternalError("The client's answers do not fit what it was asked"))
            return
        try:
            self._asker = self._house.node.spawn(
                self._ask_client, question, label=f"{self._request.method} asks its client"
            )
        except StoppedError:
            self._fail(InternalError("The server is shutting down"))

    async def _ask_client(self, question: mcp.InputRequiredResult) -> None:
        """Ask, and retry with the answers: the body of an actor, which ends with the question."""
        try:
            with trio.move_on_after(self._house.settings.conversation_ttl):
                answers = await self._answers(question.input_requests or {})
                self._retry(answers, question.request_state)
                return
            self._fail(InternalError("The client did not answer in time"))
        except AnswerRefused as error:
            self._refuse(error)
        except McpError as error:
            self._fail(error)
        except (StoppedError, trio.Cancelled) as stop:
            self._fail(InternalError("The server is shutting down"))
            if isinstance(stop, trio.Cancelled):
                raise

    async def _answers(self, requests: Mapping[str, mcp.InputRequest]) -> dict[str, mcp.InputResponse]:
        """Send the questions on the request's stream, and wait for every answer; withdraw them if it is in vain."""
        if not requests:
            await trio.sleep(ASK_AGAIN_AFTER)
        try:
            for key, request in requests.items():
                await self._send(key, request)
            asked = dict(self._asked)
            for question in asked.values():
                await question.answered.wait()
            return {key: answer_up(question.method, question.message) for key, question in asked.items()}
        finally:
            self._withdraw_all()

    async def _send(self, key: str, request: mcp.InputRequest) -> None:
        message = question_down(request, self._session.client.revision)
        question = self._asked[key] = self._session.ask(request.method)
        data = jsonrpc.dump({"jsonrpc": "2.0", "id": question.id, **message})
        while not self._over and not self._sink.ask(data):
            await self._sink.room()

    def _withdraw_all(self) -> None:
        """Say of every question that has no answer yet that none is needed any more (O-34)."""
        asked, self._asked = self._asked, {}
        for question in asked.values():
            if self._session.withdraw(question):
                params = {"requestId": question.id, "reason": "The answer is no longer needed"}
                message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                self._sink.write(jsonrpc.dump(message))

    def _retry(self, answers: Mapping[str, mcp.InputResponse], state: str | None) -> None:
        params: Any = msgspec.structs.replace(self._request.params, input_responses=answers, request_state=state)
        self._asker = None
        if not self._over:
            self._start(msgspec.structs.replace(self._request, params=params))

    def _refuse(self, error: AnswerRefused) -> None:
        """Let the handler that waits for the answer see that there is none; without one, it is the answer."""
        worker = self._worker
        if self._over or worker is None or not worker.refuse(error):
            self._fail(error)
        else:
            self._asker = None

    def _fail(self, error: McpError) -> None:
        """End the request with an error that comes from asking; the worker that waits is stopped."""
        self._asker = None
        if not self._over:
            worker = self._worker
            self._answer(error)
            if worker is not None:
                worker.client_gone()

    # -- the end

    def _answer(self, final: mcp.ServerResult | McpError | None) -> None:
        status, message = 202, None
        if final is not None:
            status, message = self._codec.final(self._request.id, final)
        self._close()
        self._sink.finish(message, status)

    def _close(self) -> None:
        self._over = True
        self._asker = None
        self.attendance.back()
        if self._session.running.get(self._request.id) is self:
            del self._session.running[self._request.id]
        self._on_over()

    def _worker_ended(self, worker: Worker) -> None:
        """See that the request ends with its worker, whatever ended that; not while the client is being asked."""
        if worker is self._worker:
            self._worker = None
            if self._asker is None and not self._over:
                self._answer(None)
