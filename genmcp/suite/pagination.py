"""Lists in pages, across providers: cursors, cache hints, and slices of what has no pages of its own (G-01 to G-05).

Theory. A list is a row of sources: the decorated functions of a kind together, then each repository. A page never
mixes two of them. The client's cursor is sealed, for the method and the caller, and holds the source's key and that
source's own cursor; `""` is a cursor like any other. An empty page is not worth a round trip, so the search goes on
within the request. Sources are named by key, not by number, so that one that comes or goes meanwhile moves nobody.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from genmcp import tokens
from genmcp.channel import Channel
from genmcp.errors import CallbackReturnError, ExpiredCursor, InvalidCursor
from genmcp.mcp.v2607 import CacheScope
from genmcp.suite.contract import CacheHint
from genmcp.suite.page import Page

T = TypeVar("T")

MOST_EMPTY_PAGES = 1000
"""Empty pages in a row after which a provider is taken to be caught in a loop."""


class Source(msgspec.Struct, Generic[T], frozen=True):
    """Where a part of a list comes from.

    Attributes:
        key: What cursors call it; unique in its list.
        name: What errors call it: provider and callback.
        hint: Its cache hint.
        fetch: Returns the page at one of its own cursors; None is the first one.
    """

    key: str
    name: str
    hint: CacheHint
    fetch: Callable[[str | None], Awaitable[Page[T]]]


class Found(msgspec.Struct, Generic[T], frozen=True):
    """One page for the client: the items, the sealed cursor of the next page, and the cache hint."""

    items: Sequence[T]
    cursor: str | None
    hint: CacheHint


async def paginate(
    method: str, sources: Sequence[Source[T]], cursor: str | None, channel: Channel, *, varies: bool
) -> Found[T]:
    """Return the page at a client's cursor.

    Args:
        method: The list, which cursors are bound to.
        sources: Where its items come from, in order.
        cursor: What the client sent, if it sent any.
        channel: The request's channel; cursors are bound to its principal.
        varies: The list depends on who asks, so nobody else may keep it.

    Raises:
        InvalidCursor: The cursor was not given out for this list, to this caller.
        ExpiredCursor: It was, but too long ago.
        CallbackReturnError: A provider's pages never end.
    """
    place, inner = _opened(method, sources, cursor, channel)
    empty = 0
    while place < len(sources):
        source = sources[place]
        page = await source.fetch(inner)
        after = (place, page.next_cursor) if page.next_cursor is not None else (place + 1, None)
        if page.items:
            sealed = _sealed(method, sources, after, channel)
            return Found(page.items, sealed, (_scope(sources, varies=varies), source.hint[1]))
        empty = empty + 1 if after[0] == place else 0
        if empty > MOST_EMPTY_PAGES or after == (place, inner):
            raise CallbackReturnError(source.name, page, "pages that come to an end: a next_cursor of None at last")
        place, inner = after
    return Found((), None, merged_hint([source.hint for source in sources], varies=varies))


def _opened(method: str, sources: Sequence[Source[T]], cursor: str | None, channel: Channel) -> tuple[int, str | None]:
    if cursor is None:
        return 0, None
    try:
        key, inner = tokens.open(_purpose(method), cursor, channel.meta.principal)
    except tokens.TokenExpired:
        raise ExpiredCursor from None
    except tokens.TokenError:
        raise InvalidCursor from None
    for place, source in enumerate(sources):
        if source.key == key:
            return place, inner
    raise InvalidCursor  # its provider is gone


def _sealed(method: str, sources: Sequence[Source[T]], after: tuple[int, str | None], channel: Channel) -> str | None:
    place, inner = after
    if place >= len(sources):
        return None
    return tokens.seal(_purpose(method), [sources[place].key, inner], principal=channel.meta.principal)


def _purpose(method: str) -> str:
    return f"cursor {method}"


def _scope(sources: Sequence[Source[T]], *, varies: bool) -> CacheScope:
    return merged_hint([source.hint for source in sources], varies=varies)[0]


def merged_hint(hints: Sequence[CacheHint], *, varies: bool) -> CacheHint:
    """Return the hint for a list: the smallest ttl; public only if everything on it is and nothing varies (K-08)."""
    if not hints:
        return ("private", 0)
    public = not varies and all(scope == "public" for scope, _ in hints)
    return ("public" if public else "private", min(ttl for _, ttl in hints))


def sliced(
    key: str, name: str, items: Sequence[T], name_of: Callable[[T], str], hints: Sequence[CacheHint], size: int | None
) -> Source[T]:
    """Make a source of items that are all here; `size` is how many make a page, None all of them.

    A page goes on after the item that ended the last one, or where it stood if it is gone by now.
    """

    async def fetch(cursor: str | None) -> Page[T]:
        begin = 0
        if cursor is not None:
            place, _, last = cursor.partition(" ")
            names = [name_of(item) for item in items]
            begin = names.index(last) + 1 if last in names else int(place)
        end = len(items) if size is None else begin + size
        following = f"{end - 1} {name_of(items[end - 1])}" if end < len(items) else None
        return Page(items[begin:end], following)

    return Source(key, name, merged_hint(hints, varies=False), fetch)


def checked_page(page: object, name: str, expected: str, fits: Callable[[object], bool]) -> Page[Any]:
    """Return what a provider's `list` returned, if it is a page of the right items.

    Raises:
        CallbackReturnError: It is not; it names the provider, the first wrong item, and what was expected.
    """
    if not isinstance(page, Page) or not isinstance(page.next_cursor, str | None):
        raise CallbackReturnError(name, page, expected)
    for item in page.items:
        if not fits(item):
            raise CallbackReturnError(name, item, expected)
    return page
