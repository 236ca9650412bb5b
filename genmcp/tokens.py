"""Sealed tokens: values that a client carries for the server, unread and unchanged.

    token = tokens.seal("cursor tools/list", ["docs", 3], principal=channel.meta.principal)
    value = tokens.open("cursor tools/list", token, principal=channel.meta.principal)

A token is bound to its purpose, to the caller and to a time: sealed for another purpose or another principal it is
invalid, after its age it is expired. It is encrypted and authenticated (ChaCha20-Poly1305 under a key of its own, see
`genmcp.keys`), so the client can neither read nor change the value. Values are JSON: a tuple comes back as a list.

On the wire: `salt (24) | ciphertext and tag`, in Base64url without padding, in its one canonical form. The expiry lies
inside. Every key of the ring is tried, so a new key does not refuse what was sealed with the old one.
(`GenMCP.Token`.)
"""

from __future__ import annotations

import base64
import binascii
import functools
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from genmcp.keys import SALT_BYTES, check_key, encoded, make_up_key, master_key, read_keys, token_key

LOG = logging.getLogger("genmcp")

MAX_AGE = 1200.0
"""Seconds after which a token expires unless its maker says otherwise."""

TAG_BYTES = 16
NONCE = bytes(12)  # constant: the key is used for this one token only


class TokenError(Exception):
    """A token does not open. It says nothing of why: that would tell a forger how far he came."""


class TokenInvalid(TokenError):
    """The token was not sealed here, not for this purpose, not for this principal, or was changed."""


class TokenExpired(TokenError):
    """The token is genuine, but older than it may be."""


class TokenMissing(TokenError):
    """There is no token where one is needed."""


class _Sealed(msgspec.Struct, array_like=True):
    expires: float
    value: Any


class KeyRing:
    """Keys for sealing and opening: the first one seals, each of them opens.

    Args:
        keys: Secrets of at least 32 random bytes each, the newest first.
        max_age: Seconds after which a token expires unless `seal` is told otherwise.
        clock: The wall clock, in seconds; tokens outlive processes, so it is not the event loop's.

    Raises:
        ConfigurationError: There is no key, or one is too short or not random.
    """

    def __init__(
        self, keys: Sequence[bytes], *, max_age: float = MAX_AGE, clock: Callable[[], float] = time.time
    ) -> None:
        self._masters = [master_key(check_key(key)) for key in keys]
        if not self._masters:
            raise ValueError("a key ring needs a key")
        self.max_age = max_age
        self._clock = clock

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], *, max_age: float = MAX_AGE) -> KeyRing:
        """Make a ring of the keys in GENMCP_SECRET_KEY; without any, of one made up, with a warning.

        Raises:
            ConfigurationError: A key there is not Base64, too short or not random.
        """
        return cls(read_keys(environ) or [make_up_key()], max_age=max_age)

    def __repr__(self) -> str:
        return f"<KeyRing of {len(self._masters)}>"

    def seal(self, purpose: str, value: Any, max_age: float | None = None, principal: str | None = None) -> str:
        """Seal a value; see the module function `seal`."""
        age = self.max_age if max_age is None else max_age
        plain = msgspec.json.encode(_Sealed(self._clock() + age, value))
        salt = os.urandom(SALT_BYTES)
        sealed = _cipher()(token_key(self._masters[0], purpose, salt)).encrypt(NONCE, plain, _bound(principal))
        return base64.urlsafe_b64encode(salt + sealed).rstrip(b"=").decode()

    def open(self, purpose: str, token: str | None, principal: str | None = None) -> Any:
        """Open a token; see the module function `open`."""
        if token is None:
            raise TokenMissing("there is no token")
        found = self._decrypted(purpose, _raw(token), principal)
        if self._clock() >= found.expires:
            raise TokenExpired("the token has expired")
        return found.value

    def _decrypted(self, purpose: str, raw: bytes, principal: str | None) -> _Sealed:
        from cryptography.exceptions import InvalidTag

        salt, sealed = raw[:SALT_BYTES], raw[SALT_BYTES:]
        for master in self._masters:
            try:
                plain = _cipher()(token_key(master, purpose, salt)).decrypt(NONCE, sealed, _bound(principal))
            except InvalidTag:
                continue
            return msgspec.json.decode(plain, type=_Sealed)
        LOG.info(
            "A token for %r does not open: it was changed, belongs to another caller, or was sealed with another key",
            purpose,
        )
        raise TokenInvalid("the token does not open")


@functools.cache
def _cipher() -> Callable[[bytes], Any]:
    # Imported by the first token: half of what importing genmcp would cost otherwise, and many servers seal nothing.
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    return ChaCha20Poly1305


def _bound(principal: str | None) -> bytes:
    """Return what authenticates the caller along with the token; nobody and the empty name are two."""
    return b"nobody" if principal is None else b"principal " + encoded(principal)


def _raw(token: str) -> bytes:
    """Decode Base64url in its canonical form only: a token has one spelling."""
    try:
        given = token.encode("ascii")
        raw = base64.b64decode(given + b"=" * (-len(given) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise TokenInvalid("the token is not Base64url") from None
    if len(raw) < SALT_BYTES + TAG_BYTES or base64.urlsafe_b64encode(raw).rstrip(b"=") != given:
        raise TokenInvalid("the token is not Base64url as it was given out")
    return raw


_ring: KeyRing | None = None


def ring() -> KeyRing:
    """Return the process's key ring; the first call makes it of GENMCP_SECRET_KEY.

    Servers call it at start, so that a wrong key stops them there.

    Raises:
        ConfigurationError: A key there is not Base64, too short or not random.
    """
    global _ring
    if _ring is None:
        _ring = KeyRing.from_environ(os.environ)
    return _ring


def use(other: KeyRing | None) -> KeyRing | None:
    """Make another ring the process's, and return the one before; None: let the next token make it."""
    global _ring
    before, _ring = _ring, other
    return before


def seal(purpose: str, value: Any, max_age: float | None = None, principal: str | None = None) -> str:
    """Seal a value into a token, with the process's key ring.

    Args:
        purpose: What it is for; it opens for the same purpose only.
        value: Any JSON value, or a struct.
        max_age: Seconds until it expires; None: 20 minutes, or what the ring was made with.
        principal: Who may present it; None is the anonymous principal.

    Returns:
        Text of the Base64url alphabet.

    Raises:
        TypeError: The value is not JSON.
    """
    return ring().seal(purpose, value, max_age, principal)


def open(purpose: str, token: str | None, principal: str | None = None) -> Any:
    """Open a token that `seal` made.

    Args:
        purpose: What it was sealed for.
        token: What the client sent; None if it sent none.
        principal: Who presents it.

    Returns:
        The value, as plain JSON.

    Raises:
        TokenMissing: `token` is None.
        TokenInvalid: It was not sealed with one of the keys for this purpose and principal, or was changed.
        TokenExpired: It was, but too long ago.
    """
    return ring().open(purpose, token, principal)
