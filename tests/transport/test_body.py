from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from transport.body import ClientLeftError, check_declared_length, discard_body, read_body
from transport.inbox import Inbox
from transport.refusal import Refusal


def passes(check: Callable[..., None], *arguments: Any) -> bool:
    """Checks refuse by raising."""
    check(*arguments)
    return True


class Pieces:
    """An ASGI receive channel that gives pieces with a pause before each, and then nothing, or a disconnect."""

    def __init__(self, *pieces: bytes, pause: float = 0.0, left_open: bool = False, leaves: bool = False) -> None:
        self.messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": piece, "more_body": left_open or leaves or number < len(pieces) - 1}
            for number, piece in enumerate(pieces)
        ]
        if leaves:
            self.messages.append({"type": "http.disconnect"})
        self.pause = pause
        self.taken = 0

    async def __call__(self) -> dict[str, Any]:
        await trio.sleep(self.pause)
        if self.taken == len(self.messages):
            await trio.sleep_forever()
        self.taken += 1
        return self.messages[self.taken - 1]


async def test_a_body_in_one_piece_is_read() -> None:
    assert await read_body(Pieces(b"{}"), limit=2, deadline=1) == b"{}"


async def test_a_body_in_pieces_is_joined() -> None:
    assert await read_body(Pieces(b'{"a"', b"", b":1}"), limit=7, deadline=1) == b'{"a":1}'


async def test_an_event_without_a_body_is_an_empty_body() -> None:
    async def receive() -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        return {"type": "http.request"}

    assert await read_body(receive, limit=1, deadline=1) == b""


async def test_one_piece_over_the_limit_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        await read_body(Pieces(b"123"), limit=2, deadline=1)
    assert refused.value.status == 413
    assert "body_limit" in refused.value.error.message


async def test_a_body_of_unknown_length_is_cut_at_the_limit() -> None:
    pieces = Pieces(*[b"x" * 10] * 100)
    with pytest.raises(Refusal) as refused:
        await read_body(pieces, limit=25, deadline=1)
    assert (refused.value.status, pieces.taken) == (413, 3)


async def test_a_trickling_body_meets_the_deadline(autojump_clock: trio.testing.MockClock) -> None:
    before = trio.current_time()
    with pytest.raises(Refusal, match="within 5 s") as refused:
        await read_body(Pieces(*[b"x"] * 100, pause=0.2), limit=1000, deadline=5)
    assert refused.value.status == 408
    assert trio.current_time() - before == pytest.approx(5)


async def test_a_body_that_never_comes_meets_the_deadline(autojump_clock: trio.testing.MockClock) -> None:
    before = trio.current_time()
    with pytest.raises(Refusal, match="within 30 s"):
        await read_body(Pieces(), limit=1, deadline=30)
    assert trio.current_time() - before == pytest.approx(30)


async def test_leaving_in_the_middle_is_no_refusal() -> None:
    with pytest.raises(ClientLeftError):
        await read_body(Pieces(b'{"a"', leaves=True), limit=100, deadline=1)


async def test_leaving_before_the_body_is_no_refusal() -> None:
    with pytest.raises(ClientLeftError):
        await read_body(Pieces(leaves=True), limit=100, deadline=1)


@pytest.mark.parametrize("length", [b"101", b"9" * 400])
def test_a_declared_length_over_the_limit_is_refused(length: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        check_declared_length(length, 100)
    assert refused.value.status == 413


@pytest.mark.parametrize("length", [None, b"100", b"0", b"-5", b"1e9", b"x"])
def test_other_lengths_are_left_to_the_reading(length: bytes | None) -> None:
    assert passes(check_declared_length, length, 100)


async def test_discarding_ends_with_the_body() -> None:
    pieces = Pieces(b"1", b"2", b"3")
    await discard_body(pieces, 1)
    assert pieces.taken == 3


async def test_discarding_gives_up_in_time(autojump_clock: trio.testing.MockClock) -> None:
    before = trio.current_time()
    await discard_body(Pieces(b"1", left_open=True), 1)
    assert trio.current_time() - before == pytest.approx(1)


async def inbox(*pieces: bytes, ends: bool = True) -> Inbox:
    made = Inbox()
    for number, piece in enumerate(pieces, start=1):
        await made.put({"type": "http.request", "body": piece, "more_body": number < len(pieces) or not ends})
    return made


async def test_a_body_that_is_there_is_read_at_once() -> None:
    made = await inbox(b'{"a"', b":1}")
    with trio.testing.assert_no_checkpoints():
        assert await read_body(made.receive, limit=7, deadline=0) == b'{"a":1}'


async def test_a_body_that_is_there_is_measured_as_well() -> None:
    made = await inbox(b"123")
    with pytest.raises(Refusal) as refused:
        await read_body(made.receive, limit=2, deadline=1)
    assert refused.value.status == 413


async def test_a_part_that_is_there_waits_for_the_rest(autojump_clock: trio.testing.MockClock) -> None:
    made = await inbox(b"1", ends=False)
    with pytest.raises(Refusal) as refused:
        await read_body(made.receive, limit=2, deadline=30)
    assert (refused.value.status, trio.current_time()) == (408, 30)


async def test_a_body_goes_through_a_middleware_that_wraps_receive() -> None:
    made = await inbox(b"1")
    seen = []

    async def receive() -> Any:
        seen.append(await made.receive())
        return seen[-1]

    assert await read_body(receive, limit=2, deadline=1) == b"1"
    assert len(seen) == 1
