"""The secret keys behind sealed tokens: where they come from, and what is derived from them.

Theory. A key from the environment is hashed to a master key. Each token gets a key of its own, derived from the
master key, the token's purpose and 24 random bytes that travel with it. So no key ever encrypts twice, however many
tokens are made, and a token that was made for one purpose does not open for another.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import os
from collections.abc import Mapping

from genmcp.errors import ConfigurationError

LOG = logging.getLogger("genmcp")

VARIABLE = "GENMCP_SECRET_KEY"
"""The environment variable that holds the keys: `NEW`, or `NEW,OLD` while the old one runs out."""

LEAST_BYTES = 32
SALT_BYTES = 24

MADE_UP = (
    f"{VARIABLE} is not set: a key was made up for this process. Cursors and request states stop being valid when it "
    "ends, and no other process can read them. Make a key with `python -m genmcp secret`."
)


def read_keys(environ: Mapping[str, str]) -> list[bytes]:
    """Read the keys that the environment gives, the newest first; none if the variable is not set.

    Args:
        environ: Usually `os.environ`.

    Raises:
        ConfigurationError: A key is not Base64, too short or not random; the text says which one, never what it is.
    """
    texts = [text.strip() for text in environ.get(VARIABLE, "").split(",")]
    if texts == [""]:
        return []
    return [_read_key(text, place) for place, text in enumerate(texts, 1)]


def _read_key(text: str, place: int) -> bytes:
    where = f"{VARIABLE}: key {place}"
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise ConfigurationError(f"{where}: expected Base64; make one with `python -m genmcp secret`") from None
    return check_key(raw, where)


def check_key(raw: bytes, where: str = "key") -> bytes:
    """Return a key if it is long enough and does not look like a text or a pattern.

    Raises:
        ConfigurationError: It does not do; the text names `where`.
    """
    if len(raw) < LEAST_BYTES:
        raise ConfigurationError(f"{where}: expected at least {LEAST_BYTES} random bytes, got {len(raw)}")
    if len(set(raw)) < LEAST_BYTES // 2:  # of 32 random bytes: less often than once in 10^15
        raise ConfigurationError(
            f"{where}: expected random bytes, got a pattern; make one with `python -m genmcp secret`"
        )
    return raw


def make_up_key() -> bytes:
    """Make a key for this process alone, and warn that nothing it seals outlives the process."""
    LOG.warning("%s", MADE_UP)
    return os.urandom(LEAST_BYTES)


def master_key(raw: bytes) -> bytes:
    """Return the master key of a secret of any length."""
    return hashlib.blake2b(raw, person=b"genmcp master").digest()


def token_key(master: bytes, purpose: str, salt: bytes) -> bytes:
    """Return the key of one token."""
    return hashlib.blake2b(salt + encoded(purpose), key=master, digest_size=32, person=b"genmcp token").digest()


def encoded(text: str) -> bytes:
    """Return a text as bytes, also one with lone surrogates, which JSON can bring."""
    return text.encode("utf-8", "surrogatepass")
