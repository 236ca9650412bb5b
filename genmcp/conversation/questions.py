"""Questions to the client: what is asked, what the client must be able to do, and how its answer is read.

What a form may not ask is refused here, where the author writes it: nested fields, and fields for passwords, tokens or
keys (I-24); so is a page at `http:` outside this machine (I-29), or one that brings a login along (I-28).
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlsplit

from genmcp.conversation.answers import Accepted, Answer, Declined, Dismissed
from genmcp.conversation.turns import check_turns
from genmcp.mcp import v2607 as mcp
from genmcp.schema import (
    Converter,
    InvalidValueError,
    check_elicitation,
    compile_schema,
    describe,
    elicitation_schema,
)

_NO_URL = re.compile(r"[\s<>\"{}|\\^`\x00-\x1f\x7f]")
"""What no URL may hold unless it is percent-encoded."""

T = TypeVar("T")
Reader = Callable[[mcp.InputResponse], T]


class InvalidAnswerError(ValueError):
    """An answer does not fit what was asked, so it is asked again."""


class Question(Generic[T]):
    """One question.

    Attributes:
        request: What goes into `inputRequests`.
        needs: The client capability it needs, as for `Channel.require_capability`.
    """

    __slots__ = ("_read", "needs", "request")

    def __init__(self, request: mcp.InputRequest, read: Reader[T]) -> None:
        self.request = request
        self.needs = needs_of(request)
        self._read = read

    @property
    def digest(self) -> str:
        """A short digest of what is asked: an answer to something else is no answer to this."""
        return hashlib.sha256(mcp.encode(self.request)).hexdigest()[:16]

    def read(self, response: mcp.InputResponse) -> T:
        """Return what an answer means.

        Raises:
            InvalidAnswerError: It does not fit the question.
        """
        return self._read(response)


def needs_of(request: mcp.InputRequest) -> tuple[str, ...]:
    """Return the client capability that a request needs, as for `Channel.require_capability` (I-08, I-21, I-35)."""
    match request:
        case mcp.ElicitRequest(params=mcp.ElicitRequestURLParams()):
            return ("elicitation", "url")
        case mcp.ElicitRequest():
            return ("elicitation", "form")
        case mcp.CreateMessageRequest(params=params):
            tools = params.tools is not None or params.tool_choice is not None
            return ("sampling", "tools") if tools else ("sampling",)
    return ("roots",)


def form(message: str, kind: type[T] | Mapping[str, Any]) -> Question[Answer[T]]:
    """Ask the person for a few values.

    Args:
        message: What the person reads.
        kind: A Struct, dataclass or TypedDict with flat fields, or a form's schema (the value then is a dict).

    Raises:
        SchemaError: The form cannot be shown, or asks for a secret.
    """
    if isinstance(kind, Mapping):
        schema = dict(kind)
        check_elicitation(schema, where="form")
        convert: Callable[[Any], Any] = dict
    else:
        schema = elicitation_schema(kind)
        convert = Converter[Any](kind)
    validator = compile_schema(schema, where="form")

    def read(response: mcp.InputResponse) -> Answer[T]:
        result = _elicited(response)
        if not isinstance(result, mcp.ElicitResult):
            return result
        problems = validator.problems(result.content or {})
        if problems:
            raise InvalidAnswerError(describe(problems, subject="the form"))
        try:
            return Accepted(cast("T", convert(result.content or {})))
        except InvalidValueError as error:
            raise InvalidAnswerError(describe(error.problems, subject="the form")) from None

    return Question(mcp.elicit_form(message, schema), read)


def page(message: str, url: str) -> Question[Answer[None]]:
    """Ask the person to open a page: for everything that must not pass through the client.

    Raises:
        ValueError: Not an `https:` URL, nor an `http:` one on this machine; or it holds a name and password.
    """
    parts = urlsplit(url)
    safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not safe or not parts.hostname or _NO_URL.search(url):
        raise ValueError(f"elicit_url: expected an https: URL (http: on this machine only), got {url!r}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("elicit_url: the URL holds a name or password; whoever opens it has to log in himself")

    def read(response: mcp.InputResponse) -> Answer[None]:
        result = _elicited(response)
        return Accepted(None) if isinstance(result, mcp.ElicitResult) else result

    return Question(mcp.elicit_url(message, url), read)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _elicited(response: mcp.InputResponse) -> mcp.ElicitResult | Declined | Dismissed:
    if not isinstance(response, mcp.ElicitResult):
        raise InvalidAnswerError("expected the answer of a person: action, and content if it is accept")
    if response.action == "accept":
        return response
    return Declined() if response.action == "decline" else Dismissed()


def sampling(request: mcp.CreateMessageRequest) -> Question[mcp.CreateMessageResult]:
    """Ask the client's model.

    Raises:
        ValueError: `include_context` asks for other servers' context, which is no longer served (I-36), or calls and
            results of tools do not belong together (I-38).
    """
    if request.params.include_context not in (None, "none"):
        raise ValueError("sample: include_context is deprecated; put what the model needs into the messages")
    check_turns(request.params.messages)
    return Question(request, _of(mcp.CreateMessageResult))


def roots() -> Question[list[mcp.Root]]:
    """Ask the client for its roots."""
    read = _of(mcp.ListRootsResult)
    return Question(mcp.list_roots(), lambda response: list(read(response).roots))


def _of(kind: type[T]) -> Reader[T]:
    def read(response: mcp.InputResponse) -> T:
        if not isinstance(response, kind):
            raise InvalidAnswerError(f"expected a {kind.__name__}")
        return response

    return read


def question_of(request: mcp.InputRequest) -> Question[Any]:
    """Return the question that a request of `inputRequests` asks; its answer is read as `elicit` and so on read it."""
    match request:
        case mcp.ElicitRequest(params=mcp.ElicitRequestURLParams(message=message, url=url)):
            return page(message, url)
        case mcp.ElicitRequest(params=mcp.ElicitRequestFormParams(message=message, requested_schema=schema)):
            return form(message, mcp.to_dict(schema) if isinstance(schema, mcp.Model) else schema)
        case mcp.CreateMessageRequest():
            return sampling(request)
    return roots()
