"""A page of a provider's list: `Page`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """What `ResourceRepo.list` and `PromptRepo.list` return.

    Attributes:
        items: This page's items, in a stable order. An empty page is skipped.
        next_cursor: What `list` shall be given for the next page, in any form of the provider's own; the client gets
            it sealed. None: this was the last page. `""` is a cursor like any other.
    """

    items: Sequence[T]
    next_cursor: str | None = None
