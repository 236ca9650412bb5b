"""What a person answered: accepted with a value, declined, or dismissed without deciding (I-25, I-26)."""

from __future__ import annotations

from typing import Generic, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")


class Accepted(msgspec.Struct, Generic[T], frozen=True):
    """The person accepted. For a page in the browser the value is None: it says only that they agreed to open it."""

    value: T


class Declined(msgspec.Struct, frozen=True):
    """The person said no."""


class Dismissed(msgspec.Struct, frozen=True):
    """The person closed the question without deciding."""


Answer: TypeAlias = Accepted[T] | Declined | Dismissed
