"""What is kept of what a client says of itself: only what its revision has, and little enough for a token."""

from __future__ import annotations

from typing import Any

import pytest

from genmcp.mcp import InvalidParams
from transport.legacy.client import Client, read_client

TASKS = "io.modelcontextprotocol/tasks"


def read(version: str, capabilities: dict[str, Any], **info: Any) -> Client:
    who = {"name": "a", "version": "1", **info}
    return read_client({"protocolVersion": version, "capabilities": capabilities, "clientInfo": who})


@pytest.mark.parametrize(
    ("version", "given", "kept"),
    [
        ("2025-11-25", {"elicitation": {"form": {}, "url": {}}}, {"elicitation": {"form": {}, "url": {}}}),
        ("2025-06-18", {"elicitation": {"form": {}, "url": {}}}, {"elicitation": {}}),
        ("2025-03-26", {"elicitation": {}}, {}),
        ("2025-11-25", {"sampling": {"tools": {}}}, {"sampling": {"tools": {}}}),
        ("2025-06-18", {"sampling": {"tools": {}}}, {"sampling": {}}),
        ("2025-03-26", {"roots": {"listChanged": True}}, {"roots": {"listChanged": True}}),
        ("2025-11-25", {"tasks": {"list": {}}, "mine": {}}, {}),
        ("2025-11-25", {"extensions": {TASKS: {}, "a/b": {}}}, {"extensions": {"a/b": {}}}),
    ],
)
def test_capabilities_are_what_the_revision_has(version: str, given: dict[str, Any], kept: dict[str, Any]) -> None:
    assert read(version, given).capabilities == kept


def test_only_the_names_of_a_client_are_kept() -> None:
    client = read("2025-11-25", {}, title="A", description="long", icons=[{"src": "https://a.example"}])
    assert client.info == {"name": "a", "version": "1", "title": "A"}
    assert len(read("2025-11-25", {}, title="A" * 999).info["title"]) == 200


def test_what_no_handler_needs_goes_first() -> None:
    client = read("2025-11-25", {"sampling": {}, "experimental": {"a": {"b": "c" * 9000}}})
    assert client.capabilities == {"sampling": {}}


@pytest.mark.parametrize("capabilities", [{"roots": {"a": "b" * 9000}}, {"extensions": []}, {"sampling": 5}])
def test_the_rest_is_refused(capabilities: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams, match="capabilities"):
        read("2025-11-25", capabilities)
