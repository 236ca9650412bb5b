from typing import Any

import pytest
import trio
import trio.testing
from quart.typing import TestClientProtocol as Client
from quart_trio import QuartTrio

from transport.http import Front, mount
from transport.policy import HostPolicy, OriginPolicy


class Streaming:
    """An ASGI endpoint that answers with where it was called, after some time."""

    def __init__(self, seconds: float = 0) -> None:
        self.seconds = seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": scope["path"].encode(), "more_body": True})
        await trio.sleep(self.seconds)
        await send({"type": "http.response.body", "body": b" end", "more_body": False})


def make_front(allowed_hosts: tuple[str, ...] = ()) -> Front:
    front = Front(hosts=HostPolicy(allowed_hosts), origins=OriginPolicy())
    front.mount("/mcp", Streaming())
    return front


@pytest.fixture
def front() -> Front:
    return make_front()


@pytest.fixture
def client(front: Front) -> Client:
    return front.test_client()


async def get(client: Client, path: str, **headers: str) -> tuple[int, Any]:
    response = await client.get(path, headers={"Host": "localhost", **headers})
    return response.status_code, await response.get_json()


async def test_live_and_ready_answer_200(client: Client) -> None:
    assert await get(client, "/health/live") == (200, {"status": "live"})
    assert await get(client, "/health/ready") == (200, {"status": "ready"})


async def test_draining_server_lives_but_is_not_ready(front: Front, client: Client) -> None:
    front.ready = False
    assert await get(client, "/health/live") == (200, {"status": "live"})
    assert await get(client, "/health/ready") == (503, {"status": "draining"})


async def test_health_is_exempt_from_the_host_check(client: Client) -> None:
    assert (await get(client, "/health/ready", Host="pod-7.cluster"))[0] == 200
    status, body = await get(client, "/elsewhere", Host="pod-7.cluster")
    assert status == 421
    assert "--allow-host" in body["error"]["message"]


@pytest.mark.parametrize("host", ["a..b", "x" * 80, ".", "localhost..", "\xff", "a:b:c", ""])
async def test_host_that_is_no_name_is_refused_not_a_fault(client: Client, host: str) -> None:
    assert (await get(client, "/health/live", Host=host))[0] == 200
    assert (await get(client, "/registry/actors", Host=host))[0] == 421


async def test_doubled_slashes_are_not_redirected(client: Client) -> None:
    assert (await get(client, "//evil.example//health/live"))[0] == 404


async def test_allowed_host_reaches_the_routes() -> None:
    client = make_front(("mcp.example.com",)).test_client()
    assert (await get(client, "/elsewhere", Host="MCP.example.com:8000"))[0] == 404


async def test_foreign_origin_is_refused(client: Client) -> None:
    status, body = await get(client, "/elsewhere", Origin="https://evil.example")
    assert status == 403
    assert "--allow-origin" in body["error"]["message"]


async def test_wrong_path_says_where_mcp_is(client: Client) -> None:
    status, body = await get(client, "/sse")
    assert status == 404
    assert body["jsonrpc"] == "2.0"
    assert "/mcp" in body["error"]["message"]


async def test_wrong_method_names_what_is_allowed(client: Client) -> None:
    response = await client.post("/health/live", headers={"Host": "localhost"})
    assert response.status_code == 405
    assert "GET" in response.headers["Allow"]


async def test_fault_of_a_route_is_masked_and_logged(front: Front, caplog: pytest.LogCaptureFixture) -> None:
    @front.get("/broken")
    async def broken() -> str:
        raise LookupError("a secret")

    response = await front.test_client().get("/broken", headers={"Host": "localhost"})
    body = await response.get_data(as_text=True)
    assert response.status_code == 500
    assert '"code":-32603' in body
    assert "a secret" not in body
    assert any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_mount_is_served_with_and_without_slash(client: Client, path: str) -> None:
    response = await client.get(path)
    assert await response.get_data() == path.encode() + b" end"


async def test_websockets_are_told_to_post(front: Front) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope: Any = {"type": "websocket", "path": "/mcp", "extensions": {"websocket.http.response": {}}}
    await front(scope, receive, send)
    assert (sent[0]["type"], sent[0]["status"]) == ("websocket.http.response.start", 405)
    assert b'"code":-32600' in sent[1]["body"]


def test_second_server_at_one_path_is_refused(front: Front) -> None:
    with pytest.raises(ValueError, match="two servers at /mcp"):
        front.mount("mcp/", Streaming())


async def test_response_timeout_does_not_cut_streams(front: Front, autojump_clock: trio.testing.MockClock) -> None:
    front.config["RESPONSE_TIMEOUT"] = 1
    front.mount("/slow", Streaming(seconds=600))
    response = await front.test_client().get("/slow")
    assert await response.get_data() == b"/slow end"
    assert trio.current_time() >= 600


async def test_mount_serves_beside_another_applications_routes() -> None:
    app = QuartTrio("elsewhere")
    app.config["RESPONSE_TIMEOUT"] = 1

    @app.get("/")
    async def home() -> str:
        return "home"

    mount(app, "/mcp", Streaming())
    client = app.test_client()
    assert await (await client.get("/")).get_data() == b"home"
    assert await (await client.get("/mcp")).get_data() == b"/mcp end"
