"""Malformed requests on real sockets: the right error, with the id where one can be read, and never a traceback."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from tests.faults.raw import Raw
from tests.faults.watch import Watched
from tests.interop.wire import META, VERSION, call, headers_for

pytestmark = pytest.mark.slow

GOOD = call("echo", {"value": 1}, id="readable")
HEADERS = headers_for(GOOD)
DEEP = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":' + b'{"a":' * 65 + b"1" + b"}" * 66
PARSE, INVALID, PARAMS, MISMATCH, VERSION_ERROR, METHOD = -32700, -32600, -32602, -32020, -32022, -32601

BODIES: dict[str, tuple[bytes, int]] = {
    "empty": (b"", PARSE),
    "white space": (b" \r\n", PARSE),
    "bad json": (b'{"jsonrpc":', PARSE),
    "two texts": (b"{}{}", PARSE),
    "byte order mark": (b"\xef\xbb\xbf{}", PARSE),
    "invalid utf-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE),
    "utf-16": ('{"jsonrpc":"2.0"}'.encode("utf-16"), PARSE),
    "lone surrogate": (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', PARSE),
    "nan": (b'{"jsonrpc":"2.0","id":NaN}', PARSE),
    "infinite number": (b'{"jsonrpc":"2.0","id":1e999}', PARSE),
    "number of a million digits": (b"9" * 1_000_000, PARSE),
    "nested too deep": (DEEP, PARSE),
    "nested without end": (b"[" * 1_000_000, PARSE),
    "null bytes": (b"\x00" * 100, PARSE),
    "batch": (json.dumps([GOOD]).encode(), INVALID),
    "empty batch": (b"[]", INVALID),
    "number": (b"1", INVALID),
    "null": (b"null", INVALID),
    "no version": (b'{"id":1,"method":"tools/list"}', INVALID),
    "other version": (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', INVALID),
    "null id": (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', INVALID),
    "fractional id": (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', INVALID),
    "object as id": (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', INVALID),
    "number as method": (b'{"jsonrpc":"2.0","id":1,"method":1}', INVALID),
    "response": (b'{"jsonrpc":"2.0","id":1,"result":{}}', INVALID),
}


def spoilt(**changes: Any) -> dict[str, Any]:
    """The good request with other params."""
    return {**GOOD, "params": {**GOOD["params"], **changes}}


def with_meta(**changes: Any) -> dict[str, Any]:
    return spoilt(_meta={**META, **{VERSION.replace("protocolVersion", key): value for key, value in changes.items()}})


REQUESTS: dict[str, tuple[dict[str, Any], dict[str, str | None], int, int]] = {
    "no meta": (spoilt(_meta={}), {}, 400, PARAMS),
    "meta of another type": (spoilt(_meta=[]), {}, 400, PARAMS),
    "params of another type": ({**GOOD, "params": []}, {"Mcp-Name": None}, 400, PARAMS),
    "arguments of another type": (spoilt(arguments=[1]), {}, 400, PARAMS),
    "capabilities of another type": (with_meta(clientCapabilities=1), {}, 400, PARAMS),
    "unknown log level": (with_meta(logLevel="loud"), {}, 400, PARAMS),
    "no version header": (GOOD, {"MCP-Protocol-Version": None}, 400, MISMATCH),
    "other version header": (GOOD, {"MCP-Protocol-Version": "2027-01-01"}, 400, MISMATCH),
    "unserved version": (
        with_meta(protocolVersion="2027-01-01"),
        {"MCP-Protocol-Version": "2027-01-01"},
        400,
        VERSION_ERROR,
    ),
    "no method header": (GOOD, {"Mcp-Method": None}, 400, MISMATCH),
    "other method header": (GOOD, {"Mcp-Method": "tools/list"}, 400, MISMATCH),
    "no name header": (GOOD, {"Mcp-Name": None}, 400, MISMATCH),
    "doubled name header": (GOOD, {"Mcp-Name": "echo\r\nMcp-Name: echo"}, 400, MISMATCH),
    "other bytes in a header": (GOOD, {"Mcp-Name": "\xff\xfe"}, 400, MISMATCH),
    "wrong base64": (GOOD, {"Mcp-Name": "=?base64?!!!?="}, 400, MISMATCH),
    "unpadded base64": (GOOD, {"Mcp-Name": "=?base64?ZWNobw?="}, 400, MISMATCH),
    "base64 of no text": (GOOD, {"Mcp-Name": "=?base64?//8=?="}, 400, MISMATCH),
    "unknown method": ({**GOOD, "method": "tools/smash"}, {"Mcp-Method": "tools/smash", "Mcp-Name": None}, 404, METHOD),
    "unknown tool": (spoilt(name="smash"), {"Mcp-Name": "smash"}, 200, PARAMS),
}


async def answer_to(client: Raw, content: bytes, changes: dict[str, str | None] | None = None) -> tuple[int, Any]:
    fields = {name: value for name, value in {**HEADERS, **(changes or {})}.items() if value is not None}
    await client.send(client.spelled(content, fields))
    status, headers, body = await client.answer()
    assert headers["content-type"] == "application/json"
    return status, json.loads(body)


@pytest.mark.parametrize("name", BODIES)
async def test_body_that_is_no_request_is_400(server: Watched, name: str) -> None:
    content, code = BODIES[name]
    client = await server.dial()
    status, answer = await answer_to(client, content)
    assert (status, answer["error"]["code"]) == (400, code)
    assert answer.get("id") == (1 if b'"id":1,' in content and code == INVALID and b"result" not in content else None)
    assert await client.tool("echo", {"value": 2}) == "2"  # the connection goes on


@pytest.mark.parametrize("name", REQUESTS)
async def test_request_with_a_fault_is_told_it_with_its_id(server: Watched, name: str) -> None:
    message, changes, expected, code = REQUESTS[name]
    client = await server.dial()
    status, answer = await answer_to(client, json.dumps(message).encode(), changes)
    assert (status, answer["error"]["code"], answer["id"]) == (expected, code, "readable")
    assert await client.tool("echo", {"value": 2}) == "2"


def mutations(whole: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Valid requests with bytes changed, cut out, doubled or put in."""
    chance = random.Random(seed)
    for _ in range(count):
        spoilt = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            at, length = chance.randrange(len(spoilt)), chance.choice([1, 1, 1, 4, 30])
            match chance.randrange(5):
                case 0:
                    spoilt[at] = chance.randrange(256)
                case 1:
                    del spoilt[at : at + length]
                case 2:
                    spoilt[at:at] = spoilt[at : at + length]
                case 3:
                    spoilt[at:at] = chance.randbytes(length)
                case 4:
                    spoilt[at] = chance.choice(b'\r\n\x00:;,"{}[]0\x80\xff ')
            if len(spoilt) < 2:
                break
        yield bytes(spoilt)


async def check_survival(server: Watched, seed: int, count: int) -> None:
    """Send mutated requests; each is answered below 500, or its connection ends."""
    whole = (await server.dial()).spelled(GOOD)
    before = await server.census()
    statuses: dict[bytes, int] = {}

    async def attack(spoilt: bytes) -> None:
        client = await server.dial()
        with contextlib.suppress(trio.BrokenResourceError):
            await client.send(spoilt)
            client.shut_writing()
        answer = await client.rest()
        status = answer[answer.rfind(b"HTTP/1.1 ") + 9 :][:3]  # behind a 100 Continue, perhaps
        assert status == b"" or status < b"500", (spoilt, answer)
        statuses[status] = statuses.get(status, 0) + 1
        await client.close()

    for spoilt in mutations(whole, seed, count):
        await attack(spoilt)
    assert {b"200", b"400"} < set(statuses)
    await server.settles_at(before)


async def test_mutated_requests_are_never_a_fault_of_ours(server: Watched) -> None:
    await check_survival(server, seed=20260728, count=1000)


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_many_mutated_requests_are_never_a_fault_of_ours(server: Watched) -> None:
    await check_survival(server, seed=random.randrange(2**32), count=20_000)
