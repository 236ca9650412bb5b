"""Pages: every item once whatever the sizes, cursors that are bound and told apart, cache hints."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genmcp import (
    CallbackReturnError,
    Channel,
    ConfigurationError,
    ExpiredCursor,
    Extension,
    InvalidCursor,
    McpError,
    Page,
    PromptRepo,
    ResourceRepo,
    Suite,
    prompt,
    resource,
    tokens,
    tool,
)
from genmcp.mcp import v2607 as mcp
from genmcp.suite.pagination import Found, Source, merged_hint, paginate, sliced
from genmcp.testing import Client, channel, connect

Pages = list[list[int]]


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Iterator[Clock]:
    """The wall clock that cursors are judged by."""
    clock = Clock()
    before = tokens.use(tokens.KeyRing([os.urandom(32)], clock=clock))
    yield clock
    tokens.use(before)


def source_of(key: str, pages: Pages, cursors: list[str]) -> Source[int]:
    """A source whose page at `cursors[n]` is `pages[n + 1]`."""

    async def fetch(cursor: str | None) -> Page[int]:
        place = 0 if cursor is None else cursors.index(cursor) + 1
        return Page(pages[place], cursors[place] if place + 1 < len(pages) else None)

    return Source(key, f"{key}.list", ("private", 0), fetch)


async def walk(sources: Sequence[Source[Any]], at: Channel | None = None) -> list[Found[Any]]:
    found, cursor = list[Found[Any]](), None
    while True:
        page = await paginate("things/list", sources, cursor, at or channel(), varies=False)
        found.append(page)
        cursor = page.cursor
        if cursor is None:
            return found


PAGES = st.lists(st.lists(st.integers(), max_size=3), min_size=1, max_size=5)


@given(
    repositories=st.lists(PAGES, max_size=5),
    decorated=st.lists(st.integers(), unique=True, max_size=6),
    size=st.none() | st.integers(1, 4),
)
async def test_every_item_is_visited_once(repositories: list[Pages], decorated: list[int], size: int | None) -> None:
    cursors = ["", "0", "null", " ", "☃"]  # an empty cursor is one like any other
    sources = [sliced("", "things", decorated, str, [("private", 0)], size)]
    sources += [source_of(f"r{number}", pages, cursors) for number, pages in enumerate(repositories)]
    found = await walk(sources)
    everything = decorated + [item for pages in repositories for page in pages for item in page]
    assert [item for page in found for item in page.items] == everything
    # Pages never mix repositories, and only the last one may be empty.
    whole = [page for pages in repositories for page in pages if page]
    assert [list(page.items) for page in found if page.items][-len(whole) :] == whole or not whole
    assert all(page.items for page in found[:-1])


async def test_cursor_is_bound_to_list_and_caller(clock: Clock) -> None:
    sources = [source_of("r", [[1], [2]], ["next"])]
    ada = channel(principal="ada")
    cursor = (await paginate("things/list", sources, None, ada, varies=False)).cursor
    assert cursor is not None
    assert (await paginate("things/list", sources, cursor, ada, varies=False)).items == [2]
    for method, other in (("others/list", ada), ("things/list", channel()), ("things/list", channel(principal="bob"))):
        with pytest.raises(InvalidCursor):
            await paginate(method, sources, cursor, other, varies=False)
    with pytest.raises(InvalidCursor):
        await paginate("things/list", [source_of("other", [[1]], [])], cursor, ada, varies=False)


@pytest.mark.parametrize("cursor", ["", "x", "null", "0" * 200])
async def test_foreign_cursor_is_invalid(cursor: str) -> None:
    with pytest.raises(InvalidCursor) as caught:
        await paginate("things/list", [source_of("r", [[1]], [])], cursor, channel(), varies=False)
    assert (caught.value.code, caught.value.message) == (-32602, "Invalid cursor")


async def test_old_cursor_is_expired_not_invalid(clock: Clock) -> None:
    sources = [source_of("r", [[1], [2]], ["next"])]
    cursor = (await paginate("things/list", sources, None, channel(), varies=False)).cursor
    clock.now += 1201
    with pytest.raises(ExpiredCursor) as caught:
        await paginate("things/list", sources, cursor, channel(), varies=False)
    assert (caught.value.code, caught.value.message) == (-32602, "Expired cursor")


async def test_source_that_came_meanwhile_moves_nobody(clock: Clock) -> None:
    sources = [source_of("b", [[1], [2]], ["next"])]
    cursor = (await paginate("things/list", sources, None, channel(), varies=False)).cursor
    sources.insert(0, source_of("a", [[7], [8]], ["next"]))
    assert (await paginate("things/list", sources, cursor, channel(), varies=False)).items == [2]


@pytest.mark.parametrize("next_cursors", [["same", "same"], [str(number) for number in range(2000)]])
async def test_provider_without_an_end_is_stopped(next_cursors: list[str]) -> None:
    following = iter(next_cursors)

    async def fetch(cursor: str | None) -> Page[int]:
        return Page((), next(following))

    with pytest.raises(CallbackReturnError, match=r"Endless\.list returned .*; expected pages that come to an end"):
        await paginate(
            "things/list", [Source("r", "Endless.list", ("private", 0), fetch)], None, channel(), varies=False
        )


async def test_removed_item_does_not_shift_the_next_page() -> None:
    items = ["a", "b", "c", "d"]
    source = sliced("", "things", items, str, [], 2)
    cursor = (await source.fetch(None)).next_cursor
    items.remove("a")
    assert (await source.fetch(cursor)).items == ["c", "d"]
    items.remove("b")
    assert (await source.fetch(cursor)).items == ["d"]


@pytest.mark.parametrize(
    ("hints", "varies", "merged"),
    [
        ([], False, ("private", 0)),
        ([("public", 5), ("public", 3)], False, ("public", 3)),
        ([("public", 5), ("private", 3)], False, ("private", 3)),
        ([("public", 5)], True, ("private", 5)),
    ],
)
def test_list_is_public_only_if_all_of_it_is(hints: Any, varies: bool, merged: Any) -> None:
    assert merged_hint(hints, varies=varies) == merged


async def test_scope_is_one_for_the_list_and_ttl_that_of_the_page() -> None:
    async def fetch(cursor: str | None) -> Page[int]:
        return Page([1])

    sources = [Source("a", "a", ("public", 100), fetch), Source("b", "b", ("private", 5), fetch)]
    assert [page.hint for page in await walk(sources)] == [("private", 100), ("private", 5)]


# -- the four lists of a Suite


def make_tool(number: int) -> Any:
    async def run() -> str:
        return ""

    return tool(name=f"tool{number}", description="A tool.")(run)


def make_resource(number: int) -> Any:
    async def read() -> str:
        return ""

    return resource(f"r://{number}", name=f"resource{number}")(read)


def make_template(number: int) -> Any:
    async def read(x: str) -> str:
        return x

    return resource(f"t{number}://{{x}}", name=f"template{number}")(read)


def make_prompt(number: int) -> Any:
    async def get() -> str:
        return ""

    return prompt(name=f"prompt{number}")(get)


async def names(client: Client, method: str, member: str) -> list[list[str]]:
    """Walk through a list of a server; returns the names on each page."""
    pages, cursor = list[list[str]](), None
    while True:
        result = await client.request(method, {} if cursor is None else {"cursor": cursor})
        pages.append([item.name for item in getattr(result, member)])
        cursor = result.next_cursor
        if cursor is None:
            return pages


LISTS = [
    ("tools/list", "tools", "tool"),
    ("resources/list", "resources", "resource"),
    ("resources/templates/list", "resource_templates", "template"),
    ("prompts/list", "prompts", "prompt"),
]


@pytest.mark.parametrize(("method", "member", "name"), LISTS)
async def test_page_size_divides_every_list(method: str, member: str, name: str) -> None:
    makers = {"tool": make_tool, "resource": make_resource, "template": make_template, "prompt": make_prompt}
    made = [makers[name](number) for number in range(5)]
    option = "resources" if name in ("resource", "template") else f"{name}s"
    for size, expected in ((2, [2, 2, 1]), (5, [5]), (None, [5])):
        options: dict[str, Any] = {option: made, "page_size": size}
        async with connect(Suite(server_name="s", server_version="1", **options)) as client:
            pages = await names(client, method, member)
            assert [len(page) for page in pages] == expected
            assert [item for page in pages for item in page] == [f"{name}{number}" for number in range(5)]
            with pytest.raises(InvalidCursor):
                await client.request(method, {"cursor": "made up"})


async def test_next_cursor_is_left_out_at_the_end() -> None:
    async with connect(Suite(server_name="s", server_version="1", tools=[make_tool(1)])) as client:
        result = await client.request("tools/list")
    assert "nextCursor" not in mcp.to_dict(result)


@pytest.mark.parametrize("size", [0, -1])
def test_page_size_is_positive(size: int) -> None:
    with pytest.raises(ConfigurationError, match="page_size: expected a positive number or None"):
        Suite(server_name="s", server_version="1", page_size=size)


class Numbers(ResourceRepo):
    """Pages of two, some of them empty."""

    def __init__(self, prefix: str, pages: Pages) -> None:
        self.prefix = prefix
        self.pages = pages

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        place = 0 if cursor is None else len(cursor) + 1
        items = [mcp.Resource(f"{self.prefix}{number}", str(number)) for number in self.pages[place]]
        return Page(items, "x" * place if place + 1 < len(self.pages) else None)


async def test_repositories_follow_one_another_without_mixing() -> None:
    made = [Numbers("a://", [[1, 2], [], [3]]), make_resource(0), Numbers("b://", [[]]), Numbers("c://", [[], [4]])]
    async with connect(Suite(server_name="s", server_version="1", resources=made)) as client:
        assert await names(client, "resources/list", "resources") == [["resource0"], ["1", "2"], ["3"], ["4"]]


class Named(PromptRepo):
    """Prompts in the pages that it was made with."""

    def __init__(self, prefix: str, pages: Pages) -> None:
        self.prefix = prefix
        self.pages = pages

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Prompt]:
        place = 0 if cursor is None else len(cursor) + 1
        items = [mcp.Prompt(f"{self.prefix}{number}") for number in self.pages[place]]
        return Page(items, "x" * place if place + 1 < len(self.pages) else None)


@given(
    repositories=st.lists(PAGES, max_size=3),
    added=st.lists(PAGES, max_size=2),
    decorated=st.integers(0, 5),
    size=st.none() | st.integers(1, 3),
)
@settings(max_examples=40)
async def test_every_item_of_a_suite_is_visited_once(
    repositories: list[Pages], added: list[Pages], decorated: int, size: int | None
) -> None:
    class More(Extension):
        async def resources(self, channel: Channel, /) -> Sequence[ResourceRepo]:
            return [Numbers(f"more{number}://", pages) for number, pages in enumerate(added)]

        async def prompts(self, channel: Channel, /) -> Sequence[PromptRepo]:
            return [Named(f"more{number}-", pages) for number, pages in enumerate(added)]

        async def tools(self, channel: Channel, /) -> Sequence[Any]:
            return [make_tool(number) for number in range(decorated, decorated + len(added))]

    numbers = range(decorated)
    made = Suite(
        server_name="s",
        server_version="1",
        page_size=size,
        tools=[make_tool(number) for number in numbers],
        prompts=[*(Named(f"r{n}-", pages) for n, pages in enumerate(repositories)), *map(make_prompt, numbers)],
        resources=[
            *(Numbers(f"r{n}://", pages) for n, pages in enumerate(repositories)),
            *map(make_resource, numbers),
            *map(make_template, numbers),
        ],
        extensions=[More],
    )
    pages = repositories + added
    prefixes = [f"r{n}-" for n in range(len(repositories))] + [f"more{n}-" for n in range(len(added))]
    listed = [str(number) for repository in pages for page in repository for number in page]
    expected = {
        "tools/list": [f"tool{number}" for number in range(decorated + len(added))],
        "resources/list": [f"resource{number}" for number in numbers] + listed,
        "resources/templates/list": [f"template{number}" for number in numbers],
        "prompts/list": [f"prompt{number}" for number in numbers]
        + [f"{prefix}{n}" for prefix, own in zip(prefixes, pages, strict=True) for page in own for n in page],
    }
    async with connect(made) as client:
        for method, member, _ in LISTS:
            found = await names(client, method, member)
            assert [name for page in found for name in page] == expected[method]
            assert all(found[:-1])  # only the last page may be empty


async def test_varying_extension_makes_a_list_private() -> None:
    class Same(Extension):
        varies = False

        async def prompts(self, channel: Channel, /) -> Sequence[PromptRepo]:
            return [public]

    class Varying(Same):
        varies = True

    public = prompt(name="p", cache=("public", 7))(make_prompt(1).fn)
    for extension, scope in ((Same(), "public"), (Varying(), "private")):
        async with connect(Suite(server_name="s", server_version="1", extensions=[extension])) as client:
            result = await client.request("prompts/list")
        assert (result.cache_scope, result.ttl_ms) == (scope, 7)


async def test_endless_repository_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    class Endless(PromptRepo):
        async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Prompt]:
            return Page((), "again")

    with caplog.at_level(logging.ERROR):
        async with connect(Suite(server_name="s", server_version="1", prompts=[Endless])) as client:
            with pytest.raises(McpError) as caught:
                await client.request("prompts/list")
    assert caught.value.code == -32603
    assert "Endless.list returned" in caplog.text
