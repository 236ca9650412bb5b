"""Functions that take texts: what is converted, what is refused, where they run."""

from __future__ import annotations

import datetime
import threading
from typing import Annotated, Any, Literal

import msgspec
import pytest
import trio

from genmcp import Channel, SyncChannel
from genmcp.suite.handler import Handler, Unfit, choices_of
from genmcp.testing import channel


def typed(
    text: str,
    number: int,
    limited: Annotated[int, msgspec.Meta(ge=1)] = 1,
    maybe: int | None = None,
    day: datetime.date | None = None,
    choice: Literal["b", "a", "null"] | None = None,
    anything: Any = None,
) -> Any:
    """Typed."""
    return (text, number, limited, maybe, day, choice, anything)


@pytest.mark.parametrize(
    ("texts", "bound"),
    [
        ({"text": "7", "number": "7"}, {"text": "7", "number": 7}),
        ({"text": "null", "number": "-1"}, {"text": "null", "number": -1}),
        ({"text": "", "number": "0", "unknown": "x"}, {"text": "", "number": 0}),
        (
            {"text": "a", "number": "1", "day": "2026-07-28"},
            {"text": "a", "number": 1, "day": datetime.date(2026, 7, 28)},
        ),
        ({"text": "a", "number": "1", "choice": "null"}, {"text": "a", "number": 1, "choice": "null"}),
        ({"text": "a", "number": "1", "anything": "[1]"}, {"text": "a", "number": 1, "anything": "[1]"}),
    ],
)
def test_texts_become_what_the_parameter_takes(texts: dict[str, str], bound: dict[str, Any]) -> None:
    assert Handler(typed, "it").bind(texts) == bound


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ({"number": "1"}, "text: is missing"),
        ({"text": "a", "number": "one"}, "number: Expected `int`"),
        ({"text": "a", "number": "1.5"}, "number: Expected `int`"),
        ({"text": "a", "number": "1", "limited": "0"}, "limited: Expected `int` >= 1"),
        ({"text": "a", "number": "1", "choice": "c"}, "choice: expected one of b, a, null"),
    ],
)
def test_text_that_does_not_fit_is_named(texts: dict[str, str], problem: str) -> None:
    with pytest.raises(Unfit) as caught:
        Handler(typed, "it").bind(texts)
    assert str(caught.value) == problem


def test_parameters_without_a_default_are_required() -> None:
    handler = Handler(typed, "it")
    assert handler.required == {"text", "number"}
    assert handler.description == "Typed."
    assert choices_of(handler.parameters["choice"]) == ("b", "a", "null")
    assert choices_of(handler.parameters["text"]) == ()


async def test_def_runs_in_a_thread_and_async_def_in_the_worker() -> None:
    def synchronous(c: SyncChannel) -> Any:
        return threading.get_ident(), type(c)

    async def asynchronous(c: Channel) -> Any:
        await trio.lowlevel.checkpoint()
        return threading.get_ident(), type(c)

    here = channel()
    thread, kind = await Handler(synchronous, "it").run({}, here)
    assert (thread != threading.get_ident(), kind) == (True, SyncChannel)
    assert await Handler(asynchronous, "it").run({}, here) == (threading.get_ident(), type(here))
