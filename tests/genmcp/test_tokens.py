"""Sealed tokens: what they are bound to, and that nothing else opens."""

from __future__ import annotations

import base64
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from genmcp import ConfigurationError, tokens
from genmcp.settings import Settings
from genmcp.tokens import KeyRing, TokenExpired, TokenInvalid, TokenMissing

OLD, NEW = os.urandom(32), os.urandom(48)
RING = KeyRing([NEW])
TOKEN = RING.seal("cursor", {"page": 3})

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("aé☃\0"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=8,
)


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A process without a key ring or a key in its environment."""
    before = tokens.use(None)
    monkeypatch.delenv("GENMCP_SECRET_KEY", raising=False)
    yield monkeypatch
    tokens.use(before)


def text_of(*keys: bytes) -> str:
    return ",".join(base64.b64encode(key).decode() for key in keys)


@given(value=JSON, purpose=st.text(max_size=8), principal=st.none() | st.text(max_size=8))
def test_what_was_sealed_opens_again(value: Any, purpose: str, principal: str | None) -> None:
    assert RING.open(purpose, RING.seal(purpose, value, principal=principal), principal) == value


@given(place=st.integers(0, len(TOKEN) - 1), letter=st.characters())
def test_no_changed_character_is_accepted(place: int, letter: str) -> None:
    changed = TOKEN[:place] + letter + TOKEN[place + 1 :]
    assume(changed != TOKEN)
    with pytest.raises(TokenInvalid):
        RING.open("cursor", changed)


@given(place=st.integers(0, len(base64.urlsafe_b64decode(TOKEN + "==")) - 1), bits=st.integers(1, 255))
def test_no_changed_byte_is_accepted(place: int, bits: int) -> None:
    raw = bytearray(base64.urlsafe_b64decode(TOKEN + "=" * (-len(TOKEN) % 4)))
    assume(place < len(raw))
    raw[place] ^= bits
    with pytest.raises(TokenInvalid):
        RING.open("cursor", base64.urlsafe_b64encode(bytes(raw)).rstrip(b"=").decode())


def test_no_flipped_bit_of_any_byte_is_accepted() -> None:
    raw = base64.urlsafe_b64decode(TOKEN + "=" * (-len(TOKEN) % 4))
    for bit in range(8 * len(raw)):
        changed = bytearray(raw)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(TokenInvalid):
            RING.open("cursor", base64.urlsafe_b64encode(bytes(changed)).rstrip(b"=").decode())


def test_no_second_spelling_is_accepted() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/="
    for place in range(len(TOKEN)):
        for letter in set(alphabet) - {TOKEN[place]}:  # the last letter has bits that mean nothing
            with pytest.raises(TokenInvalid):
                RING.open("cursor", TOKEN[:place] + letter + TOKEN[place + 1 :])


@given(
    value=JSON,
    purpose=st.text(max_size=8),
    principal=st.none() | st.text(max_size=8),
    cut=st.floats(0, 1),
    end=st.floats(0, 1),
)
def test_no_edited_token_of_anything_is_accepted(
    value: Any, purpose: str, principal: str | None, cut: float, end: float
) -> None:
    token, other = (RING.seal(purpose, value, principal=principal) for _ in range(2))
    begin, stop = (int(share * len(token)) for share in sorted((cut, end)))
    edited = {
        token[:begin] + other[begin:],  # spliced with another genuine one
        token[:begin] + token[stop:],  # shortened
        token[:stop] + token[begin:],  # lengthened
        token[stop:] + token[:stop],  # turned
        token[:begin] + token[begin:stop][::-1] + token[stop:],
    }
    for changed in edited - {token, other}:
        with pytest.raises(TokenInvalid):
            RING.open(purpose, changed, principal)


@given(text=st.text())
def test_foreign_text_is_invalid_not_a_crash(text: str) -> None:
    with pytest.raises(TokenInvalid):
        RING.open("cursor", text)


@pytest.mark.parametrize("tail", ["-TAMPERED", "=", "==", "A", "AAAA", " ", "\n", ".", "\x00"])
def test_a_suffix_is_never_ignored(tail: str) -> None:
    with pytest.raises(TokenInvalid):
        RING.open("cursor", TOKEN + tail)


def test_every_prefix_of_a_token_is_invalid() -> None:
    for length in range(len(TOKEN)):
        with pytest.raises(TokenInvalid):
            RING.open("cursor", TOKEN[:length])


def test_tokens_are_plain_words_for_urls() -> None:
    assert set(TOKEN) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert RING.seal("cursor", {"page": 3}) != TOKEN


def test_another_purpose_does_not_open_it() -> None:
    with pytest.raises(TokenInvalid):
        RING.open("cursors", TOKEN)


@pytest.mark.parametrize("other", [None, "", "bob", "alice "])
def test_another_principal_does_not_open_it(other: str | None) -> None:
    token = RING.seal("cursor", 1, principal="alice")
    with pytest.raises(TokenInvalid):
        RING.open("cursor", token, other)
    assert RING.open("cursor", token, "alice") == 1


def test_nobody_and_the_empty_name_differ() -> None:
    with pytest.raises(TokenInvalid):
        RING.open("cursor", RING.seal("cursor", 1), "")


def test_missing_token_is_told_from_invalid_one() -> None:
    with pytest.raises(TokenMissing):
        RING.open("cursor", None)
    with pytest.raises(TokenInvalid):
        RING.open("cursor", "")


def test_token_expires_at_its_age() -> None:
    clock = Clock()
    ring = KeyRing([NEW], clock=clock)
    token, short = ring.seal("cursor", 1), ring.seal("cursor", 2, max_age=5)
    clock.now += 5
    assert ring.open("cursor", token) == 1
    with pytest.raises(TokenExpired):
        ring.open("cursor", short)
    clock.now += 1195
    with pytest.raises(TokenExpired):
        ring.open("cursor", token)


def test_expired_token_of_somebody_else_is_invalid() -> None:
    clock = Clock()
    ring = KeyRing([NEW], clock=clock)
    token = ring.seal("cursor", 1, principal="alice")
    clock.now += 10_000
    with pytest.raises(TokenInvalid):
        ring.open("cursor", token, "bob")


def test_old_key_opens_while_it_is_in_the_ring() -> None:
    token = KeyRing([OLD]).seal("cursor", 1)
    assert KeyRing([NEW, OLD]).open("cursor", token) == 1
    with pytest.raises(TokenInvalid):
        KeyRing([NEW]).open("cursor", token)


def test_unknown_key_is_said_in_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="genmcp"), pytest.raises(TokenInvalid):
        KeyRing([NEW]).open("cursor", KeyRing([OLD]).seal("cursor", 1))
    assert [record.message.split(":")[0] for record in caplog.records] == ["A token for 'cursor' does not open"]


def test_newest_key_of_the_ring_seals() -> None:
    assert KeyRing([NEW]).open("cursor", KeyRing([NEW, OLD]).seal("cursor", 1)) == 1


def test_default_age_is_that_of_the_settings() -> None:
    assert Settings().token_age == tokens.MAX_AGE


def test_value_that_is_not_json_is_refused() -> None:
    with pytest.raises(TypeError):
        RING.seal("cursor", object())


def test_keys_come_from_the_environment(fresh: pytest.MonkeyPatch) -> None:
    fresh.setenv("GENMCP_SECRET_KEY", text_of(NEW, OLD))
    assert tokens.open("cursor", KeyRing([OLD]).seal("cursor", 7)) == 7
    assert KeyRing([NEW]).open("cursor", tokens.seal("cursor", 8)) == 8


def test_base64url_and_unpadded_keys_are_read(fresh: pytest.MonkeyPatch) -> None:
    fresh.setenv("GENMCP_SECRET_KEY", base64.urlsafe_b64encode(OLD).decode().rstrip("=") + " , " + text_of(NEW))
    assert tokens.open("cursor", KeyRing([NEW]).seal("cursor", 7)) == 7


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("correct horse battery staple", "key 1: expected Base64"),
        (text_of(os.urandom(31)), "key 1: expected at least 32 random bytes, got 31"),
        (text_of(NEW) + "," + text_of(b"\0" * 32), "key 2: expected random bytes"),
        (text_of(NEW) + ",", "key 2: expected at least 32 random bytes, got 0"),
    ],
    ids=["no Base64", "too short", "not random", "empty"],
)
def test_a_bad_key_stops_the_start(fresh: pytest.MonkeyPatch, given: str, problem: str) -> None:
    fresh.setenv("GENMCP_SECRET_KEY", given)
    with pytest.raises(ConfigurationError, match=problem) as caught:
        tokens.ring()
    assert given not in str(caught.value)


def test_made_up_key_is_warned_of_once(fresh: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="genmcp"):
        assert tokens.open("cursor", tokens.seal("cursor", 1)) == 1
    assert [record.message.split(":")[0] for record in caplog.records] == ["GENMCP_SECRET_KEY is not set"]


def test_ring_without_keys_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a key"):
        KeyRing([])


def test_ring_does_not_show_its_keys() -> None:
    assert repr(KeyRing([NEW, OLD])) == "<KeyRing of 2>"


def test_importing_tokens_leaves_cryptography_unloaded() -> None:
    code = "import sys, genmcp.tokens; print('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
