from __future__ import annotations

from typing import Any

import pytest
import trio

from genmcp.mcp import McpError
from tests.transport.calls import Answer, Call
from transport.exchange import Exchange


def exchange(answer: Answer, **options: Any) -> Exchange:
    scope, _ = Call(**options).scope_and_body()
    return Exchange(scope, trio.sleep_forever, answer.take)


async def test_an_answer_has_type_length_and_extra_headers() -> None:
    answer = Answer()
    made = exchange(answer)
    made.extra_headers = [(b"vary", b"origin")]
    await made.answer(401, b"{}", [(b"www-authenticate", b"Bearer")])
    assert (answer.status, answer.body, made.started) == (401, b"{}", True)
    assert answer.headers == {
        "content-type": "application/json",
        "content-length": "2",
        "www-authenticate": "Bearer",
        "vary": "origin",
    }


@pytest.mark.parametrize(("status", "length"), [(202, "0"), (204, None)])
async def test_an_empty_answer_has_no_type(status: int, length: str | None) -> None:
    answer = Answer()
    await exchange(answer).answer(status)
    assert (answer.headers.get("content-length"), "content-type" in answer.headers) == (length, False)


async def test_a_head_answer_has_the_length_of_its_body_only() -> None:
    answer = Answer()
    await exchange(answer, method="HEAD").answer(405, b"{}")
    assert (answer.headers["content-length"], answer.body) == ("2", b"")


async def test_a_refusal_echoes_the_id_once_it_is_known() -> None:
    answers = [Answer(), Answer()]
    await exchange(answers[0]).refuse(McpError(-32600, "x"), 400)
    made = exchange(answers[1])
    made.message_id = "seven"
    await made.refuse(McpError(-32600, "x"), 400)
    assert ["id" in answers[0].json, answers[1].json["id"]] == [False, "seven"]


async def test_a_client_that_has_left_is_answered_in_vain() -> None:
    async def broken(message: Any) -> None:
        raise BrokenPipeError

    made = exchange(Answer())
    made.send = broken
    await made.answer(200, b"{}")
    assert made.started
