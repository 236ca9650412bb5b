"""`@resource`: parameters and variables, what is refused, descriptions, threads."""

from __future__ import annotations

import enum
import re
import threading
from collections.abc import Callable
from typing import Any, Literal

import msgspec
import pytest

from genmcp import Channel, ConfigurationError, FunctionResource, ResourceNotFound, Suite, SyncChannel, resource
from genmcp.mcp import v2607 as mcp
from genmcp.testing import connect


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def suite(*resources: Any) -> Suite:
    return Suite(server_name="s", server_version="1", resources=resources)


async def read(provider: Any, uri: str) -> str:
    async with connect(suite(provider)) as client:
        result = await client.request("resources/read", {"uri": uri})
        return str(result.contents[0].text)


def test_decorated_function_is_still_a_function() -> None:
    @resource("users://{id}")
    def user(id: int) -> str:
        return f"user {id}"

    assert isinstance(user, FunctionResource)
    assert user(7) == "user 7"


async def test_everything_that_is_told_of_a_resource_is_listed() -> None:
    @resource(
        "config://app",
        name="config",
        title="Configuration",
        mime_type="application/json",
        size=2,
        icons=[mcp.Icon("https://example.com/icon.png", sizes=["48x48"], theme="dark")],
        annotations=mcp.Annotations(audience=["user"], priority=0.5, last_modified="2026-07-28T00:00:00Z"),
        meta={"example.com/x": 1},
        cache=("public", 1000),
    )
    async def app() -> str:
        """The configuration.

        Returns:
            JSON.
        """
        return "{}"

    async with connect(suite(app)) as client:
        listed = await client.request("resources/list")
        read = await client.request("resources/read", {"uri": "config://app"})
    assert [mcp.to_dict(item) for item in listed.resources] == [
        {
            "uri": "config://app",
            "name": "config",
            "title": "Configuration",
            "description": "The configuration.",
            "mimeType": "application/json",
            "size": 2,
            "icons": [{"src": "https://example.com/icon.png", "sizes": ["48x48"], "theme": "dark"}],
            "annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-07-28T00:00:00Z"},
            "_meta": {"example.com/x": 1},
        }
    ]
    assert (listed.cache_scope, listed.ttl_ms) == (read.cache_scope, read.ttl_ms) == ("public", 1000)
    assert read.contents[0].mime_type == "application/json"


async def test_everything_that_is_told_of_a_template_is_listed() -> None:
    @resource("users://{id}", title="A user", mime_type="text/markdown", annotations=mcp.Annotations(priority=1))
    def user(id: str) -> str:
        """A user."""
        return id

    async with connect(suite(user)) as client:
        assert (await client.request("resources/list")).resources == []
        templates = (await client.request("resources/templates/list")).resource_templates
    assert [mcp.to_dict(item) for item in templates] == [
        {
            "uriTemplate": "users://{id}",
            "name": "user",
            "title": "A user",
            "description": "A user.",
            "mimeType": "text/markdown",
            "annotations": {"priority": 1},
        }
    ]


async def test_variables_are_converted_to_parameter_types() -> None:
    @resource("x://{id}/{colour}/{kind}{?ratio,flag,note}")
    def item(
        id: int,
        colour: Colour,
        kind: Literal["a", "b"],
        ratio: float = 0.5,
        flag: bool = False,
        note: str | None = None,
    ) -> str:
        return f"{id!r} {colour} {kind} {ratio!r} {flag!r} {note!r}"

    assert await read(item, "x://7/red/a") == "7 Colour.RED a 0.5 False None"
    assert await read(item, "x://7/blue/b?note=null&flag=true&ratio=2") == "7 Colour.BLUE b 2.0 True 'null'"
    for uri in ("x://seven/red/a", "x://7/green/a", "x://7/red/c", "x://7/red/a?ratio=x"):
        with pytest.raises(ResourceNotFound):
            await read(item, uri)


async def test_channel_is_injected_into_both_kinds() -> None:
    @resource("a://{x}")
    async def asynchronous(x: str, c: Channel) -> str:
        return f"{x} {c.meta.principal} {threading.current_thread() is threading.main_thread()}"

    @resource("s://{x}")
    def synchronous(x: str, c: SyncChannel) -> str:
        return f"{x} {c.meta.principal} {threading.current_thread() is threading.main_thread()}"

    assert await read(asynchronous, "a://1") == "1 None True"
    assert await read(synchronous, "s://1") == "1 None False"


async def test_method_of_an_object_can_be_a_resource() -> None:
    class Store:
        def __init__(self) -> None:
            self.text = "from the store"

        async def read(self, name: str) -> str:
            return self.text + name

    assert await read(resource("store://{name}")(Store().read), "store://x") == "from the storex"


def of(x: str) -> str:
    return x


def both(x: str, c: Channel) -> str:
    return x


async def wrong(x: str, c: SyncChannel) -> str:
    return x


@pytest.mark.parametrize(
    ("uri", "fn", "problem"),
    [
        ("a://x", lambda: "x", None),
        ("a://{x}", both, "parameter 'c' is a Channel, but a def takes a SyncChannel"),
        ("a://{x}", wrong, "parameter 'c' is a SyncChannel, but an async def takes a Channel"),
        ("a://{x}{y", of, "a { is not closed"),
        ("a://{x}", lambda: "x", "variable 'x' is no parameter of the function"),
        ("a://{x}", lambda x: x, "has no annotation"),
    ],
)
def test_functions_that_do_not_fit_are_refused(uri: str, fn: Callable[..., Any], problem: str | None) -> None:
    if problem is None:
        assert resource(uri)(fn).resource is not None
        return
    with pytest.raises(ConfigurationError, match=re.escape(problem)):
        resource(uri)(fn)


def test_variable_that_may_be_absent_needs_a_default() -> None:
    with pytest.raises(ConfigurationError, match="parameter 'q' needs a default, because the URI may come without it"):

        @resource("a://x{?q}")
        def search(q: str) -> str:
            return q


def test_parameter_that_no_variable_fills_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="parameter 'y' is no variable of the URI"):

        @resource("a://{x}")
        def pair(x: str, y: str) -> str:
            return x + y


def test_parameter_that_no_text_can_become_is_refused() -> None:
    class Point(msgspec.Struct):
        x: int

    for kind in (list[str], dict[str, int], Point, str | list[int], bytes):
        with pytest.raises(ConfigurationError, match="parameter 'x': the client gives a text"):

            @resource("a://{x}")
            def of(x: kind) -> str:  # type: ignore[valid-type]  # varied on purpose
                return str(x)


@pytest.mark.parametrize("uri", ["app", "app/{x}", "a b://x", "://x"])
async def test_uri_without_a_scheme_is_refused_at_start(uri: str) -> None:
    async def app(x: str = "") -> str:
        return x

    with pytest.raises(ConfigurationError, match="scheme"):
        suite(resource(uri)(app))


def test_template_has_no_size() -> None:
    with pytest.raises(ConfigurationError, match="size: a template has none"):
        resource("a://{x}", size=3)(of)


def test_reserved_meta_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="resource 'a://x': meta"):
        resource("a://x", meta={"io.modelcontextprotocol/x": 1})(lambda: "x")
