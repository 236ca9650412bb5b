"""Files as resources: what is served, and that nothing leads outside the root."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genmcp import ConfigurationError, McpError, ResourceNotFound, Suite
from genmcp.mcp import v2607 as mcp
from genmcp.suite import DirectoryResources
from genmcp.testing import Client, channel, connect


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with a secret beside it, and ways that could lead there."""
    (tmp_path / "secret.txt").write_text("secret")
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("täxt")
    (root / "sub" / "b & c.json").write_text("{}")
    (root / "sub" / "deep" / "image.png").write_bytes(b"\x89PNG\0\xff")
    (root / "sub.txt").write_text("beside sub")
    (root / ".hidden").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "inside.txt").symlink_to(root / "a.txt")
    (root / "out").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    return root


@pytest.fixture
async def client(root: Path) -> AsyncIterator[Client]:
    async with connect(suite(root)) as client:
        yield client


def suite(root: Path, **options: Any) -> Suite:
    return Suite(
        server_name="s", server_version="1", resources=[DirectoryResources(root, prefix="docs:///", **options)]
    )


async def read(client: Client, path: str) -> Any:
    result = await client.request("resources/read", {"uri": f"docs:///{path}"})
    return result.contents[0]


async def test_text_and_bytes_are_told_apart_by_content(client: Client) -> None:
    text, image = await read(client, "a.txt"), await read(client, "sub/deep/image.png")
    assert text == mcp.TextResourceContents("docs:///a.txt", "täxt", mime_type="text/plain")
    assert image == mcp.BlobResourceContents("docs:///sub/deep/image.png", "iVBORwD/", mime_type="image/png")


async def test_every_listed_file_can_be_read(client: Client) -> None:
    listed = (await client.request("resources/list")).resources
    assert [item.name for item in listed] == ["a.txt", "sub/b & c.json", "sub/deep/image.png", "sub.txt"]
    assert [item.uri for item in listed][1] == "docs:///sub/b%20%26%20c.json"
    for item in listed:
        result = await client.request("resources/read", {"uri": item.uri})
        assert result.contents[0].uri == item.uri
        assert item.size is not None
        assert item.annotations.last_modified.endswith("Z")


async def test_template_shows_how_paths_are_written(client: Client) -> None:
    templates = (await client.request("resources/templates/list")).resource_templates
    assert [item.uri_template for item in templates] == ["docs:///{+path}"]


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "sub/../../secret.txt",
        "%2e%2e/secret.txt",
        "..%2Fsecret.txt",
        "%2e%2e%2fsecret.txt",
        "%252e%252e%252fsecret.txt",
        "..%5Csecret.txt",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "sub//b",
        "sub/./b",
        "./a.txt",
        "a.txt/",
        "a.txt/.",
        "a.txt%00",
        "a.txt%00.png",
        "..%00/secret.txt",
        "link.txt",
        "inside.txt",
        "out/secret.txt",
        "out/root/a.txt",
        ".hidden",
        "pipe",
        "sub",
        "",
        "missing.txt",
        "a" * 300,
        "%C0%AE%C0%AE/secret.txt",
        "~/secret.txt",
    ],
)
async def test_nothing_leads_outside_the_root(client: Client, path: str) -> None:
    with pytest.raises(ResourceNotFound) as caught:
        await read(client, path)
    assert caught.value.data == {"uri": f"docs:///{path}"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(path=st.text(st.sampled_from("./%2eE5C\\fFo~\0out")) | st.text(max_size=12))
def test_no_path_ever_shows_the_secret(root: Path, path: str) -> None:
    repo = DirectoryResources(root, hidden=True)
    parts = repo._parts(path)
    data = None if parts is None else repo._load(parts)
    assert data is None or (root / path).resolve().is_relative_to(root)


async def test_hidden_files_are_served_on_request_only(root: Path) -> None:
    async with connect(suite(root, hidden=True)) as client:
        assert (await read(client, ".hidden")).text == "secret"
        assert ".hidden" in [item.name for item in (await client.request("resources/list")).resources]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
async def test_pages_visit_every_file_once(root: Path, size: int) -> None:
    repo = DirectoryResources(root, page_size=size)
    names, cursor = list[str](), None
    while True:
        page = await repo.list(cursor, channel())
        assert len(page.items) <= size
        names += [item.name for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert names == ["a.txt", "sub/b & c.json", "sub/deep/image.png", "sub.txt"]


async def test_removed_file_does_not_shift_the_next_page(root: Path) -> None:
    repo = DirectoryResources(root, page_size=1)
    page = await repo.list(None, channel())
    (root / "a.txt").unlink()
    page = await repo.list(page.next_cursor, channel())
    assert [item.name for item in page.items] == ["sub/b & c.json"]


async def test_large_file_is_refused_with_its_limit(root: Path) -> None:
    async with connect(suite(root, max_bytes=4)) as client:
        assert (await read(client, "sub/b%20%26%20c.json")).text == "{}"
        with pytest.raises(McpError, match="larger than 4 bytes"):
            await read(client, "a.txt")


async def test_only_what_could_be_read_can_be_watched(root: Path) -> None:
    repo = DirectoryResources(root, prefix="docs:///")
    assert await repo.may_subscribe("docs:///a.txt", channel())
    assert await repo.may_subscribe("docs:///sub/", channel())
    assert await repo.may_subscribe("docs:///", channel())
    assert not await repo.may_subscribe("docs:///../secret.txt", channel())
    assert not await repo.may_subscribe("docs:///.hidden", channel())


async def test_systems_without_relative_opening_follow_no_links_either(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genmcp.suite.directory.AT_ONCE", False)
    repo = DirectoryResources(root)
    assert repo._load(("a.txt",)) == "täxt".encode()
    assert repo._load(("link.txt",)) is None
    assert repo._load(("out", "secret.txt")) is None


def test_root_that_is_no_directory_is_refused(root: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"root: .* is no directory"):
        DirectoryResources(root / "a.txt")


def test_prefix_without_a_slash_at_its_end_is_refused(root: Path) -> None:
    with pytest.raises(ConfigurationError, match="ends in '/'"):
        DirectoryResources(root, prefix="docs:")
