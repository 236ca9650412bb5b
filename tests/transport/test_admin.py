from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from quart.typing import TestClientProtocol as Client

import actors
from actors import Node
from transport.admin import registry_routes
from transport.http import Front
from transport.policy import HostPolicy, OriginPolicy

TOKEN = "a token of some length"
AUTHORIZED = {"Host": "localhost", "Authorization": f"Bearer {TOKEN}"}


@actors.message("admin-test.progress")
class Progress(msgspec.Struct, frozen=True):
    done: int
    total: int


@pytest.fixture
async def node() -> AsyncIterator[Node]:
    async with Node() as node:
        yield node


@pytest.fixture
def client(node: Node) -> Client:
    front = Front(hosts=HostPolicy(), origins=OriginPolicy(), max_body=10_000)
    front.register_blueprint(registry_routes(node, TOKEN))
    return front.test_client()


class Receiver:
    """An actor that keeps what it gets, and may be told to take nothing."""

    def __init__(self, topic: str | None = None, *, takes: bool = True) -> None:
        self.got: list[object] = []
        self.topic = topic
        self.takes = takes

    async def __call__(self) -> None:
        me = actors.current()
        if self.topic is not None:
            me.registry.subscribe(self.topic)
        if not self.takes:
            await trio.sleep_forever()
        while True:
            self.got.append(await me.receive())


async def post(client: Client, action: str, body: Any, headers: Any = AUTHORIZED) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else msgspec.json.encode(body)
    response = await client.post(f"/registry/{action}", data=data, headers=headers)
    return response.status_code, await response.get_json()


async def test_message_reaches_a_pid(node: Node, client: Client) -> None:
    receiver = Receiver()
    pid = node.spawn(receiver)
    assert await post(client, "send", {"to": str(pid), "message": [1, "x", None]}) == (200, {"status": "delivered"})
    await trio.testing.wait_all_tasks_blocked()
    assert receiver.got == [[1, "x", None]]


async def test_message_reaches_a_registered_name(node: Node, client: Client) -> None:
    receiver = Receiver()
    node.spawn(receiver, name="inbox")
    assert (await post(client, "send", {"to": "inbox", "message": "hello"}))[0] == 200
    await trio.testing.wait_all_tasks_blocked()
    assert receiver.got == ["hello"]


async def test_tagged_message_arrives_as_its_type(node: Node, client: Client) -> None:
    receiver = Receiver()
    body = {"to": str(node.spawn(receiver)), "message": {"type": "admin-test.progress", "done": 1, "total": 2}}
    assert (await post(client, "send", body))[0] == 200
    await trio.testing.wait_all_tasks_blocked()
    assert receiver.got == [Progress(1, 2)]


@pytest.mark.parametrize("to", ["nobody", "pid:genmcp.abc.999", "pid:nonsense"])
async def test_absent_receiver_is_gone(client: Client, to: str) -> None:
    assert await post(client, "send", {"to": to, "message": 1}) == (404, {"status": "gone"})


async def test_full_mailbox_is_said_so(node: Node, client: Client) -> None:
    pid = node.spawn(Receiver(takes=False), capacity=1)
    await trio.testing.wait_all_tasks_blocked()
    assert (await post(client, "send", {"to": str(pid), "message": 1}))[0] == 200
    assert await post(client, "send", {"to": str(pid), "message": 2}) == (429, {"status": "full"})


async def test_publish_counts_its_receivers(node: Node, client: Client) -> None:
    receivers = [Receiver("news"), Receiver("news"), Receiver("weather")]
    for receiver in receivers:
        node.spawn(receiver)
    await trio.testing.wait_all_tasks_blocked()
    answer = await post(client, "publish", {"topic": "news", "message": "x"})
    assert answer == (200, {"status": "delivered", "receivers": 2})
    await trio.testing.wait_all_tasks_blocked()
    assert [receiver.got for receiver in receivers] == [["x"], ["x"], []]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"{", "JSON object"),
        (b"[]", "JSON object"),
        ({"message": 1}, "`to`"),
        ({"to": 1, "message": 1}, "$.to"),
        ({"to": "x"}, "`message`"),
        ({"to": "x", "message": 1, "form": 2}, "`form`"),
        ({"to": "x", "message": {"type": "admin-test.progress", "done": "much", "total": 1}}, "done"),
        ({"to": "x", "message": {"type": "admin-test.progress", "done": 1}}, "`total`"),
        ({"to": "x", "message": {"type": "admin-test.progress", "done": 1, "total": 1, "more": 1}}, "`more`"),
    ],
)
async def test_wrong_body_is_refused_naming_the_field(client: Client, body: Any, named: str) -> None:
    status, answer = await post(client, "send", body)
    assert (status, answer["status"]) == (400, "invalid")
    assert named in answer["error"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[" * 9000,
        b'{"to":"x","message":' + b"[" * 4000 + b"]" * 4000 + b"}",
        b'{"to":"\xff","message":1}',
        b'{"to":"\\ud800","message":1}',
        b'{"to":"x","message":1e999}',
        b'{"to":"x","message":' + b"9" * 4500 + b"}",
    ],
    ids=["empty", "null", "deep", "deep message", "utf-8", "surrogate", "infinite", "long number"],
)
async def test_body_that_is_no_json_is_refused(client: Client, body: bytes) -> None:
    status, answer = await post(client, "send", body)
    assert (status, answer["status"]) == (400, "invalid")


async def test_too_large_body_is_refused(client: Client) -> None:
    status, _ = await post(client, "send", {"to": "x", "message": "x" * 20_000})
    assert status == 413


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer \u00fc"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_without_the_token_nothing_is_done(node: Node, client: Client, header: str | None, method: str) -> None:
    receiver = Receiver()
    pid = node.spawn(receiver)
    path = {"GET": "/registry/actors", "POST": "/registry/send", "DELETE": f"/registry/actors/{pid}"}[method]
    headers = {"Host": "localhost"} if header is None else {"Host": "localhost", "Authorization": header}
    body = msgspec.json.encode({"to": str(pid), "message": 1})
    ask = {"GET": client.get, "POST": client.post, "DELETE": client.delete}[method]
    response = await ask(path, data=body if method == "POST" else None, headers=headers)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    await trio.testing.wait_all_tasks_blocked()
    assert receiver.got == []
    assert len(node.snapshot()) == 1


@pytest.mark.parametrize(
    ("headers", "status"), [({"Host": "evil.example"}, 421), ({"Origin": "https://evil.example"}, 403)]
)
async def test_foreign_callers_are_refused_before_the_token(
    client: Client, headers: dict[str, str], status: int
) -> None:
    assert (await post(client, "send", {"to": "x", "message": 1}, {**AUTHORIZED, **headers}))[0] == status


async def test_actors_are_listed(node: Node, client: Client) -> None:
    pid = node.spawn(Receiver("news"), name="reader", label="a reader")
    await trio.testing.wait_all_tasks_blocked()
    response = await client.get("/registry/actors", headers=AUTHORIZED)
    (shown,) = (await response.get_json())["actors"]
    assert (shown["pid"], shown["label"], shown["names"], shown["topics"]) == (
        str(pid),
        "a reader",
        ["reader"],
        ["news"],
    )


async def test_actor_is_stopped_by_its_pid(node: Node, client: Client) -> None:
    pid = node.spawn(Receiver())
    response = await client.delete(f"/registry/actors/{pid}", headers=AUTHORIZED)
    assert (response.status_code, await response.get_json()) == (200, {"status": "stopped"})
    await trio.testing.wait_all_tasks_blocked()
    assert node.snapshot() == ()
    response = await client.delete(f"/registry/actors/{pid}", headers=AUTHORIZED)
    assert (response.status_code, await response.get_json()) == (404, {"status": "gone"})


async def test_system_actors_are_neither_reached_nor_listed(node: Node, client: Client) -> None:
    receiver = Receiver()
    pid = str(node.spawn(receiver, system=True))
    assert (await post(client, "send", {"to": pid, "message": 1}))[0] == 404
    response = await client.delete(f"/registry/actors/{pid}", headers=AUTHORIZED)
    assert response.status_code == 404
    listed = await (await client.get("/registry/actors", headers=AUTHORIZED)).get_json()
    assert listed["actors"] == []
    assert receiver.got == []
