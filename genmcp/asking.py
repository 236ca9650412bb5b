"""Asking the client from inside a handler: the part of `Channel` that waits for answers.

    match await channel.elicit("Delete everything?", Confirm):
        case Accepted(Confirm(ok=True)):
            ...

The worker waits and the handler goes on in its next line; `genmcp.conversation.dialogue` says how. If the worker is
gone by then, the handler runs again from the top with the answers so far: what stands before a question may run
twice, and `once=True` refuses that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from genmcp.conversation import questions
from genmcp.conversation.answers import Answer
from genmcp.mcp import v2607 as mcp

if TYPE_CHECKING:
    from genmcp.backstage import Backstage

T = TypeVar("T")


class Asking:
    """What `Channel` can ask; see the module.

    Every method takes `key`, the question's name among this request's (default `q1`, `q2`, … in order; give your own
    where the order may change), and `once` and `single_use`: refuse the retry (-32602) when the worker is gone, or when
    it cannot be known that the state was not used before, instead of running the handler again.

    All of them wait as long as a conversation may take, and may raise:
        MissingCapability: The client did not declare that it can answer; unhandled, it is -32021.
        AnswerRefused: A client of a 2025 revision answered with an error, as when its user refused; those of 2026 just
            do not come back.
        ChannelClosedError: The request was answered, or its client left a handler that finishes anyway.
    """

    backstage: Backstage

    @property
    def input_responses(self) -> Mapping[str, mcp.InputResponse]:
        """The answers that this run began with, by key: those to the `InputRequired` that led to it. Else empty."""
        return getattr(getattr(self.backstage.request, "params", None), "input_responses", None) or {}

    @property
    def request_state(self) -> Any:
        """The state of the `InputRequired` that led to this run. Else None."""
        return getattr(getattr(self.backstage.request, "params", None), "request_state", None)

    @overload
    async def elicit(
        self, message: str, form: type[T], *, key: str | None = None, once: bool = False, single_use: bool = False
    ) -> Answer[T]: ...
    @overload
    async def elicit(
        self,
        message: str,
        form: Mapping[str, Any],
        *,
        key: str | None = None,
        once: bool = False,
        single_use: bool = False,
    ) -> Answer[dict[str, Any]]: ...
    async def elicit(
        self, message: str, form: Any, *, key: str | None = None, once: bool = False, single_use: bool = False
    ) -> Answer[Any]:
        """Ask the person at the client to fill in a form (I-21, I-22).

        Args:
            message: What they read.
            form: A Struct, dataclass or TypedDict with flat fields, or a form's schema. Not for secrets: use
                `elicit_url`.
            key: See the class.
            once: See the class.
            single_use: See the class.

        Returns:
            `Accepted(value)`, `Declined()` or `Dismissed()`.
        """
        return await self._one(questions.form(message, form), key, once, single_use)

    async def elicit_url(
        self, message: str, url: str, *, key: str | None = None, once: bool = False, single_use: bool = False
    ) -> Answer[None]:
        """Ask the person to open a page, for everything that must not pass through the client (I-23).

        `Accepted` says only that they agreed to open it, not what came of it (I-26).

        Raises:
            ValueError: Not an `https:` URL, nor an `http:` one on this machine; or it holds a name or password (I-28).
        """
        return await self._one(questions.page(message, url), key, once, single_use)

    async def sample(
        self,
        messages: Sequence[mcp.SamplingMessage] | str,
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: Sequence[str] | None = None,
        model_preferences: mcp.ModelPreferences | None = None,
        metadata: dict[str, Any] | None = None,
        tools: Sequence[mcp.Tool] | None = None,
        tool_choice: mcp.ToolChoice | None = None,
        include_context: Literal["none", "thisServer", "allServers"] | None = None,
        key: str | None = None,
        once: bool = False,
        single_use: bool = False,
    ) -> mcp.CreateMessageResult:
        """Ask the client's model (I-37); a text is one message of the user's. Deprecated by the protocol, and served.

        Raises:
            ValueError: `include_context` asks for the context of servers, or calls of tools and their results do not
                follow one another (I-38).
        """
        if isinstance(messages, str):
            messages = [mcp.SamplingMessage(role="user", content=mcp.text(messages))]
        request = mcp.create_message(
            messages,
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            temperature=temperature,
            stop_sequences=stop_sequences,
            model_preferences=model_preferences,
            metadata=metadata,
            tools=tools,
            tool_choice=tool_choice,
            include_context=include_context,
        )
        return await self._one(questions.sampling(request), key, once, single_use)

    async def list_roots(
        self, *, key: str | None = None, once: bool = False, single_use: bool = False
    ) -> list[mcp.Root]:
        """Ask the client for its roots (I-40). Deprecated by the protocol, and served."""
        return await self._one(questions.roots(), key, once, single_use)

    async def ask(
        self, requests: Mapping[str, mcp.InputRequest], *, once: bool = False, single_use: bool = False
    ) -> dict[str, Any]:
        """Ask several questions in one round.

        Args:
            requests: What to ask, by key: `mcp.elicit_form(…)`, `mcp.elicit_url(…)`, `mcp.create_message(…)`,
                `mcp.list_roots()`.
            once: See the class.
            single_use: See the class.

        Returns:
            By key, what `elicit`, `elicit_url`, `sample` and `list_roots` return.
        """
        asked = {key: questions.question_of(request) for key, request in requests.items()}
        return await self.backstage.conversation.ask(asked, once=once, single_use=single_use)

    async def _one(self, question: questions.Question[T], key: str | None, once: bool, single_use: bool) -> T:
        key = self.backstage.conversation.key(key)
        answers = await self.backstage.conversation.ask({key: question}, once=once, single_use=single_use)
        answer: T = answers[key]
        return answer
