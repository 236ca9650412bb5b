"""The behaviour of a prompt repository: `PromptRepo`.

Choose `@genmcp.prompt` for a few prompts; subclass `PromptRepo` when they come from elsewhere: files, a database.
Requests are routed to the repository with the longest `prefix` that the prompt's name begins with; decorated prompts
come before all of them.

Lifecycle: one instance serves all requests. `list` answers `prompts/list` page by page, `get` answers `prompts/get`.

    class Reviews(PromptRepo):
        prefix = "review-"

        async def list(self, cursor, channel, /):
            return Page([mcp.Prompt("review-code", arguments=[mcp.PromptArgument("language", required=True)])])

        async def get(self, name, arguments, channel, /):
            if name != "review-code":
                raise PromptNotFound(name)
            return mcp.get_prompt_result(mcp.user(f"Review this {arguments['language']} code."))

The arguments are texts, and not checked against what `list` says: `check_arguments(prompt, arguments)` does that.

| return of `get` | the client gets |
|---|---|
| `GetPromptResult` | it |
| a text, content, a message, or a list of them | messages; what is none is the user's |
| `InputRequired(requests, state)` | the questions; it is got again with the answers |
| raises `PromptNotFound(name)`, `InvalidParams(text)` | -32602 |

(`GenMCP.Suite.PromptRepo`; the protocol's page on prompts.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from genmcp.channel import Channel
from genmcp.errors import InvalidParams
from genmcp.mcp import v2607 as mcp
from genmcp.server import InputRequired
from genmcp.suite.page import Page
from genmcp.suite.provider import Provider

Part: TypeAlias = str | mcp.ContentBlock | mcp.PromptMessage
"""What a message can be made of; a bare content is the user's."""

Prompting: TypeAlias = mcp.GetPromptResult | InputRequired | Part | Sequence[Part]
"""What `get` may return."""


class PromptRepo(Provider):
    """Base class of prompt repositories; see the module for when to use it and its table of returns.

    Attributes:
        prefix: What its prompts' names begin with; the default takes every name that nobody else has.
        cache: Cache hint for its pages.
    """

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Prompt]:
        """Return a page of prompts; the default has none. Every name begins with the prefix.

        Args:
            cursor: None for the first page, else the `next_cursor` of the page before.
            channel: The request's channel; `channel.meta` says who asks.
        """
        del cursor, channel
        return Page(())

    async def get(self, name: str, arguments: Mapping[str, str], channel: Channel, /) -> Prompting:
        """Return a prompt's messages. Every repository defines it; see the module's table of returns.

        Args:
            name: The prompt's name.
            arguments: What the client filled in.
            channel: The request's channel.

        Raises:
            PromptNotFound: There is no such prompt, or the caller may not see it.
            InvalidParams: An argument is missing or wrong.
        """
        raise TypeError(f"{type(self).__name__} does not define `async def get(self, name, arguments, channel, /)`")

    async def complete(
        self, name: str, argument: str, value: str, context: Mapping[str, str], channel: Channel, /
    ) -> Sequence[str] | mcp.Completion:
        """Suggest values for an argument. The default suggests nothing.

        Args:
            name: The prompt's name.
            argument: The argument.
            value: What is typed of it.
            context: The arguments that were filled in before.
            channel: The request's channel.

        Returns:
            The suggestions, the best first; of more than 100 the first 100 are sent, with the total.
        """
        del name, argument, value, context, channel
        return ()

    @property
    def completes(self) -> bool:
        """True if it suggests values for arguments."""
        return type(self).complete is not PromptRepo.complete


def check_arguments(prompt: mcp.Prompt, arguments: Mapping[str, str]) -> None:
    """Check arguments against what a prompt declares (P-11).

    Raises:
        InvalidParams: A required argument is missing or one is unknown; the text names it.
    """
    declared = {argument.name: argument for argument in prompt.arguments or ()}
    for name in arguments:
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise InvalidParams(f"Prompt {prompt.name}: unknown argument {name!r}; there are: {known}")
    for name, argument in declared.items():
        if argument.required and name not in arguments:
            raise InvalidParams(f"Prompt {prompt.name}: the argument {name!r} is missing")
