"""Every definition of the schema is here under its own name, and every example of it goes through unchanged."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from genmcp.mcp import v2607 as mcp
from genmcp.mcp.model import EXTRA, Model, to_plain


def test_every_definition_of_the_schema_is_exported(schema: dict[str, Any]) -> None:
    assert len(schema["$defs"]) == 155
    assert [name for name in schema["$defs"] if name not in mcp.__all__] == []


def structs() -> list[type[Model]]:
    found = [value for value in vars(mcp).values() if isinstance(value, type) and issubclass(value, Model)]
    return list(dict.fromkeys(found))


def test_structs_have_exactly_the_members_of_their_definitions(schema: dict[str, Any]) -> None:
    wrong = []
    for kind in structs():
        definition = schema["$defs"].get(kind.__name__, {})
        if "properties" not in definition:
            continue
        tag = kind.__struct_config__.tag_field
        members = set(kind.__struct_encode_fields__) - {EXTRA}
        members |= {tag} if tag else set()
        if members != set(definition["properties"]):
            wrong.append((kind.__name__, members ^ set(definition["properties"])))
    assert wrong == []


def test_method_of_a_struct_is_the_tag_that_it_sends() -> None:
    tagged = [kind for kind in structs() if kind.__struct_config__.tag_field == "method" and hasattr(kind, "method")]
    assert len(tagged) == 21
    assert [kind for kind in tagged if vars(kind)["method"] != kind.__struct_config__.tag] == []


def test_client_requests_are_the_union_of_the_schema(schema: dict[str, Any]) -> None:
    wanted = {part["$ref"].rpartition("/")[2] for part in schema["$defs"]["ClientRequest"]["anyOf"]}
    assert {kind.__name__ for kind in get_args(mcp.ClientRequest)} == wanted
    assert {kind.__name__ for kind in mcp.REQUESTS.values()} == wanted


@pytest.mark.parametrize("union", ["ServerResult", "ServerNotification", "ContentBlock", "PrimitiveSchemaDefinition"])
def test_unions_have_the_members_of_the_schema(schema: dict[str, Any], union: str) -> None:
    wanted = {part["$ref"].rpartition("/")[2] for part in flat(schema["$defs"], union)}
    have = {kind.__name__ for kind in get_args(getattr(mcp, union))}
    assert have - {"JSONRPCNotification"} == wanted


def flat(definitions: dict[str, Any], name: str) -> list[dict[str, str]]:
    """The members of a union, and those of the unions in it."""
    parts = definitions[name]["anyOf"]
    inner = [part["$ref"].rpartition("/")[2] for part in parts]
    return [
        found
        for part, member in zip(parts, inner, strict=True)
        for found in (flat(definitions, member) if "anyOf" in definitions[member] else [part])
    ]


def test_example_goes_through_unchanged(example: tuple[str, Path]) -> None:
    name, path = example
    raw = json.loads(path.read_text())
    value = mcp.decode_as(getattr(mcp, name), raw)
    sent = json.loads(mcp.encode(value))
    assert to_plain(value) == sent
    if name == "ReadResourceResultResponse":  # one of its examples lacks what the schema requires of the result
        raw["result"] = {"ttlMs": 0, "cacheScope": "private"} | raw["result"]
    assert sent == raw


def test_logging_levels_are_ordered_by_severity(schema: dict[str, Any]) -> None:
    assert set(mcp.LOGGING_LEVELS) == set(schema["$defs"]["LoggingLevel"]["enum"])
    assert mcp.level_reaches("error", "notice")
    assert mcp.level_reaches("notice", "notice")
    assert not mcp.level_reaches("info", "notice")


def test_cacheable_results_are_those_of_the_protocol() -> None:
    cacheable = {kind.__name__ for kind in get_args(mcp.ServerResult) if issubclass(kind, mcp.CacheableResult)}
    assert cacheable == {
        "DiscoverResult",
        "ListToolsResult",
        "ListPromptsResult",
        "ListResourcesResult",
        "ListResourceTemplatesResult",
        "ReadResourceResult",
    }
