"""One legacy client as this process knows it: what it told, and what it has changed since.

Everything but the `Client` is made by use and can be thrown away when nothing of it is left: a session that only calls
tools keeps nothing between two calls.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Protocol

import trio

from genmcp.mcp import v2607 as mcp
from transport.legacy.client import Client
from transport.legacy.sink import Sink

DEFAULT_LEVEL: mcp.LoggingLevel = "info"
"""The log level of a client that has not set one: the server's choice (O-29)."""


class Cancellable(Protocol):
    """A request of the session that is being answered."""

    def cancel(self) -> None:
        """Stop it: the client does not want the answer any more."""
        ...

    def leave(self) -> None:
        """Stop it: the client is gone for good."""
        ...


class Ear(Protocol):
    """The session's stream of changes."""

    async def renew(self) -> None:
        """Listen to what the session watches now."""
        ...

    @property
    def sink(self) -> Sink:
        """Where messages to the client go when they belong to no request."""
        ...

    def leave(self) -> None:
        """End: the session is over, or another stream takes its place."""
        ...


class Question:
    """One request to the client that waits for its response.

    Attributes:
        id: Of the request; nobody can guess it.
        method: What was asked.
        answered: Set when the response is there.
        message: The response.
    """

    __slots__ = ("answered", "id", "message", "method")

    def __init__(self, method: str) -> None:
        self.id = secrets.token_urlsafe(16)
        self.method = method
        self.answered = trio.Event()
        self.message: Mapping[str, Any] = {}


class Session:
    """What is known of one client.

    Args:
        client: What it told in `initialize`.

    Attributes:
        client: See above.
        level: The least level of log messages that it wants.
        watched: The resources it has subscribed to, in order.
        running: Its requests that are being answered, by id.
        ear: Its stream of changes, while it has one.
        ended: It is over; nothing of it may be answered any more.
    """

    __slots__ = ("_questions", "client", "ear", "ended", "level", "running", "watched")

    def __init__(self, client: Client) -> None:
        self.client = client
        self.level: mcp.LoggingLevel = DEFAULT_LEVEL
        self.watched: dict[str, None] = {}
        self.running: dict[mcp.RequestId, Cancellable] = {}
        self.ear: Ear | None = None
        self.ended = False
        self._questions: dict[str, Question] = {}

    @property
    def busy(self) -> bool:
        """Whether something of it is going on."""
        return bool(self.running or self.ear is not None or self._questions)

    @property
    def blank(self) -> bool:
        """Whether there is nothing to be kept: a new one of the same client would be the same."""
        return not (self.busy or self.watched or self.level != DEFAULT_LEVEL)

    # -- questions to the client

    def ask(self, method: str) -> Question:
        """Make a question that a response of this client can answer."""
        question = Question(method)
        self._questions[question.id] = question
        return question

    def withdraw(self, question: Question) -> bool:
        """Wait for the answer no longer. Returns True if it had not come."""
        return self._questions.pop(question.id, None) is not None

    def answer(self, message: Mapping[str, Any]) -> bool:
        """Take a response of the client. Returns False if nobody waits for it: never asked, or answered before."""
        question_id = message.get("id")
        question = self._questions.pop(question_id, None) if isinstance(question_id, str) else None
        if question is None:
            return False
        question.message = message
        question.answered.set()
        return True

    # -- the end

    def cancel(self, request_id: Any) -> bool:
        """Cancel a running request. Returns False if there is none with this id."""
        turn = self.running.get(request_id) if type(request_id) in (str, int) else None
        if turn is None:
            return False
        turn.cancel()
        return True

    def end(self) -> None:
        """End all of it: the client has ended the session, or it is evicted."""
        self.ended = True
        for turn in tuple(self.running.values()):
            turn.leave()
        if self.ear is not None:
            self.ear.leave()
        self.watched.clear()
