"""One request's conversation with its client: the actor's way of asking, and the stateless one.

Theory. A server never sends requests. To ask, a worker ends its request with an `InputRequiredResult`, and waits; the
client sends the request again with the answers and the `requestState` of the round. That retry is attached to the
waiting worker in one synchronous step: its outbox, id, progress token and capabilities replace those of the request
before, and the handler goes on in its next line. The retry owns the worker from then on: its disconnect cancels it.

When the worker is gone (restart, eviction, another process), the handler runs again from the top with the answers so
far, which were sealed in `requestState`: nobody is asked twice, but what stands before the question happens twice.
`once=True` refuses instead. So the waiting worker is a cache, and a client that never comes back costs nothing.

| a retry comes with | what happens |
|---|---|
| the state of a round whose worker waits | it takes the worker over |
| the state of a round whose worker is gone | the handler runs again with the answers so far |
| the same, asked with `once`, or `single_use` on another node | -32602 |
| the state of a round that was used | -32602 |
| a state that is changed, too old, another principal's or another request's | -32602 |
| answers without a state | they count for this run |
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import trio

from actors import Pid, Registry, Shutdown
from genmcp.conversation.questions import InvalidAnswerError, Question, needs_of, question_of
from genmcp.conversation.state import Answerable, RoundState, digest_of, seal
from genmcp.conversation.table import Conversations
from genmcp.errors import InvalidParams, McpError
from genmcp.mcp import v2607 as mcp
from genmcp.meta import ChannelMeta

Recorded = dict[str, tuple[str, dict[str, Any]]]


class Line(Protocol):
    """What a dialogue needs of its worker's channel."""

    @property
    def pid(self) -> Pid:
        """The worker's address."""
        ...

    @property
    def registry(self) -> Registry:
        """The node's registry."""
        ...

    @property
    def meta(self) -> ChannelMeta:
        """What the request says of itself."""
        ...

    def require_capability(self, name: str, *path: str) -> None:
        """Make sure that the client can do something."""
        ...


class Stage(Protocol):
    """What it needs of the channel's other side."""

    @property
    def incarnation(self) -> str:
        """Which run of the node this is."""
        ...

    @property
    def stopping(self) -> bool:
        """True once the worker was asked to end."""
        ...

    def suspend(self, question: mcp.InputRequiredResult) -> AbstractContextManager[None]:
        """End the request with a question, for the length of the block."""
        ...


class Dialogue:
    """The questions and answers of one worker."""

    def __init__(
        self,
        channel: Line,
        stage: Stage,
        request: Answerable,
        conversations: Conversations,
        ttl: float,
        capacity: int,
    ) -> None:
        self._channel = channel
        self._stage = stage
        self._request = request
        self._table = conversations
        self._ttl = ttl
        self._capacity = capacity
        self._recorded: Recorded = {}
        self._given: Mapping[str, mcp.InputResponse] = request.params.input_responses or {}
        self._count = 0
        self._once = False
        self._single_use = False
        self._attached: trio.Event | None = None
        self._refusal: McpError | None = None
        self._round_id = ""
        self._asking: trio.Lock | None = None
        self.owner: Any = None  # the worker; its type lives above this package

    # -- the actor's way

    def key(self, given: str | None) -> str:
        """Return the key of the next question: the author's, or `q1`, `q2`, … in order."""
        self._count += 1
        return given if given is not None else f"q{self._count}"

    async def ask(
        self, questions: Mapping[str, Question[Any]], *, once: bool = False, single_use: bool = False
    ) -> dict[str, Any]:
        """Return the answers, asking for those that are not there. See `Channel.ask`.

        Tasks of one handler that ask at the same time ask one after another: a request can be answered with one round.
        """
        self._once |= once
        self._single_use |= single_use
        if self._asking is None:
            self._asking = trio.Lock()
        async with self._asking:
            return await self._until_answered(questions)

    async def _until_answered(self, questions: Mapping[str, Question[Any]]) -> dict[str, Any]:
        while True:
            found = {key: self._answer(key, question) for key, question in questions.items()}
            missing = {key: questions[key] for key, answer in found.items() if answer is None}
            if not missing:
                return {key: answer[0] for key, answer in found.items() if answer is not None}
            for question in missing.values():
                self._channel.require_capability(*question.needs)
            await self._round(missing)

    def _answer(self, key: str, question: Question[Any]) -> tuple[Any] | None:
        """Return the answer to a question in a tuple, or None if it must be asked (again)."""
        recorded = self._recorded.get(key)
        if recorded is not None and recorded[0] != question.digest:
            self._forget_from(key)  # the handler asks something else now, so later answers mean nothing either
            recorded = None
        response = self._given.get(key) if recorded is None else decode_response(recorded[1])
        if response is None:
            return None
        try:
            answer = question.read(response)
        except InvalidAnswerError:
            return None
        self._recorded[key] = (question.digest, mcp.to_dict(response))
        return (answer,)

    def _forget_from(self, key: str) -> None:
        keys = list(self._recorded)
        for later in keys[keys.index(key) :]:
            del self._recorded[later]

    async def _round(self, missing: Mapping[str, Question[Any]]) -> None:
        """Ask, and wait until a retry brings answers."""
        channel = self._channel
        self._round_id = round_id = f"{channel.pid} {secrets.token_hex(8)}"
        state = RoundState(
            kind="live",
            id=round_id,
            incarnation=self._stage.incarnation,
            request=digest_of(self._request),
            answers=self._recorded,
            once=self._once,
            single_use=self._single_use,
        )
        token = seal(state, channel.meta.principal, self._ttl)
        requests = {key: question.request for key, question in missing.items()}
        self._attached = trio.Event()
        self._table.suspend(round_id, self, self._capacity)  # before the question leaves: the answer may be quick
        try:
            with self._stage.suspend(mcp.input_required_result(requests, token)):
                with trio.move_on_after(self._ttl):
                    await self._attached.wait()
                if not self._attached.is_set():
                    self.expire()
                    await trio.sleep_forever()  # the stop cancels it
        finally:
            self._table.forget(round_id)
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal

    @property
    def waits(self) -> bool:
        """True if a retry can go on here: a worker that was asked to end only looks as if it waited."""
        return not self._stage.stopping

    def expire(self, why: str = "expired") -> None:
        """End the worker: nobody answered in time, too many wait, or the server stops; a retry runs it again."""
        self._table.forget(self._round_id)
        self._channel.registry.stop(self._channel.pid, Shutdown(why))

    def attach(self, request: Answerable) -> None:
        """Go on with the answers of a retry; the channel was bound to it."""
        self._request = request
        self._given = request.params.input_responses or {}
        if self._attached is not None:
            self._attached.set()

    def refuse(self, error: McpError) -> None:
        """Raise an error where an answer is awaited: the client, of a 2025 revision, has answered with one."""
        self._refusal = error
        if self._attached is not None:
            self._attached.set()

    def replay(self, state: RoundState) -> None:
        """Begin with the answers that the rounds before have sealed."""
        self._recorded = dict(state.answers)
        self._once, self._single_use = state.once, state.single_use

    # -- the stateless way

    def input_required(self, requests: Mapping[str, mcp.InputRequest], state: Any) -> mcp.InputRequiredResult:
        """Return the result that asks `requests` and brings `state` back to the handler.

        Raises:
            MissingCapability: The client did not declare that it can answer one of them.
        """
        for request in requests.values():
            self._channel.require_capability(*question_of(request).needs)
        return self._again({key: mcp.to_dict(request) for key, request in requests.items()}, requests, state)

    def allow(self, question: mcp.InputRequiredResult) -> None:
        """Make sure that the client declared whatever it needs to answer a question, however it came about (I-08).

        Raises:
            MissingCapability: It did not.
        """
        for request in (question.input_requests or {}).values():
            self._channel.require_capability(*needs_of(request))

    def _again(
        self, asked: dict[str, Any], missing: Mapping[str, mcp.InputRequest], state: Any
    ) -> mcp.InputRequiredResult:
        sealed = RoundState(
            kind="again",
            id=secrets.token_hex(8),
            incarnation="",
            request=digest_of(self._request),
            answers=self._recorded,
            asked=asked,
            state=state,
        )
        return mcp.input_required_result(missing, seal(sealed, self._channel.meta.principal, self._ttl))

    def complete(self, state: RoundState) -> mcp.InputRequiredResult | dict[str, mcp.InputResponse]:
        """Return every answer to what the stateless round asked, or ask again for those that are missing or invalid."""
        self._recorded = dict(state.answers)
        requests = {key: mcp.decode_as(mcp.InputRequest, raw) for key, raw in state.asked.items()}
        questions = {key: question_of(request) for key, request in requests.items()}
        missing = {key: requests[key] for key, question in questions.items() if self._answer(key, question) is None}
        if missing:
            return self._again(state.asked, missing, state.state)
        return {key: decode_response(raw) for key, (_, raw) in self._recorded.items() if key in questions}


def decode_response(raw: Mapping[str, Any]) -> mcp.InputResponse:
    """Return the answer that its JSON stands for.

    Raises:
        InvalidParams: It stands for none.
    """
    responses = mcp.decode_as(mcp.InputResponses, {"answer": raw})
    if "answer" not in responses:
        raise InvalidParams("inputResponses: expected an answer")
    found: mcp.InputResponse = responses["answer"]
    return found
