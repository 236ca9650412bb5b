"""`transport.serve` inside trio: where it listens, what it mounts, the registry API, TLS, the end."""

import contextlib
import json
import os
import ssl
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import trustme

from genmcp import Channel, ConfigurationError, Suite, tokens, tool
from genmcp.settings import Settings, SettingsError
from tests.interop.wire import call, headers_for
from transport.listeners import ListenError
from transport.serve import serve
from transport.serving import Caller, Serving


@tool
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
async def who(channel: Channel) -> str:
    """Say who calls."""
    return f"{channel.meta.principal} {channel.meta.assigns.get('region')}"


def make_suite(name: str = "served") -> Suite:
    return Suite(server_name=name, server_version="1", tools=[add, who])


@pytest.fixture(autouse=True)
def _own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("GENMCP_ADMIN_TOKEN", raising=False)
    monkeypatch.delenv("GENMCP_SECRET_KEY", raising=False)
    before = tokens.use(None)
    yield
    tokens.use(before)


async def start(nursery: trio.Nursery, *servers: Any, caller: Caller | None = None, **settings: Any) -> Serving:
    chosen = Settings(**{"port": 0, "grace": 0.2, **settings})
    serving: Serving = await nursery.start(
        partial(serve, *(servers or (make_suite(),)), settings=chosen, caller=caller)
    )
    return serving


async def connect(serving: Serving) -> trio.SocketStream:
    address = serving.address
    if address.path:
        return await trio.open_unix_socket(address.path)
    return await trio.open_tcp_stream(address.host, address.port)


async def exchange(
    stream: trio.abc.Stream, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, Any]:
    """Send one request and read its answer to the end of the connection."""
    content = b"" if body is None else json.dumps(body).encode()
    if isinstance(body, dict) and "method" in body:
        headers = {**headers_for(body), **headers}
    head = {"Host": "localhost", **headers, "Content-Length": str(len(content)), "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    async with stream:
        await stream.send_all(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + content)
        answer = b"".join([part async for part in stream])
    status, _, rest = answer.partition(b"\r\n")
    return int(status.split()[1]), json.loads(rest.partition(b"\r\n\r\n")[2] or b"null")


async def call_add(serving: Serving, path: str = "/mcp") -> Any:
    status, answer = await exchange(await connect(serving), "POST", path, call("add", {"a": 1, "b": 2}))
    assert status == 200
    return answer["result"]["structuredContent"]


async def test_tool_is_called_on_the_chosen_port(nursery: trio.Nursery) -> None:
    serving = await start(nursery)
    assert serving.urls == [f"http://127.0.0.1:{serving.address.port}/mcp"]
    assert await call_add(serving) == 3
    serving.stop()


async def test_several_servers_have_paths_of_their_own(nursery: trio.Nursery) -> None:
    serving = await start(nursery, ("/a", make_suite("a")), ("/b", make_suite("b")))
    assert await call_add(serving, "/a") == 3
    assert await call_add(serving, "/b") == 3
    status, _ = await exchange(await connect(serving), "POST", "/mcp", call("add", {"a": 1, "b": 2}))
    assert status == 404
    serving.stop()


async def test_socket_file_serves_and_is_removed(nursery: trio.Nursery, tmp_path: Path) -> None:
    path = tmp_path / "mcp.sock"
    async with trio.open_nursery() as inner:
        serving = await start(inner, host=f"unix:{path}")
        assert await call_add(serving) == 3
        serving.stop()
    assert not path.exists()


async def test_tls_is_spoken_with_a_certificate(nursery: trio.Nursery, tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost")
    pem = tmp_path / "server.pem"
    certificate.private_key_and_cert_chain_pem.write_to_path(str(pem))
    serving = await start(nursery, certfile=str(pem))
    assert serving.urls[0].startswith("https://")
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    trusting.set_alpn_protocols(["h2", "http/1.1"])
    plain = await connect(serving)
    stream = trio.SSLStream(plain, trusting, server_hostname="localhost", https_compatible=True)
    await stream.do_handshake()
    assert stream.selected_alpn_protocol() == "h2"
    await trio.aclose_forcefully(stream)
    trusting.set_alpn_protocols(["http/1.1"])
    stream = trio.SSLStream(await connect(serving), trusting, server_hostname="localhost", https_compatible=True)
    assert (await exchange(stream, "POST", "/mcp", call("add", {"a": 1, "b": 2})))[0] == 200
    serving.stop()


async def test_caller_of_another_kind_is_refused_in_a_sentence() -> None:
    wrong: Any = lambda scope: "ada"  # noqa: E731  (what an author of endpoint(principal=…) may try)
    with pytest.raises(TypeError, match=r"caller: expected transport\.Caller"):
        await serve(make_suite(), port=0, caller=wrong)


async def test_caller_says_who_calls(nursery: trio.Nursery) -> None:
    caller = Caller(principal=lambda scope: "somebody", assigns={"region": "north"})
    serving = await start(nursery, caller=caller)
    _, answer = await exchange(await connect(serving), "POST", "/mcp", call("who"))
    assert answer["result"]["content"][0]["text"] == "somebody north"
    serving.stop()


async def test_own_host_name_and_allowed_ones_pass(nursery: trio.Nursery) -> None:
    serving = await start(nursery, host="localhost", allow_hosts=("mcp.example.com",))
    body = call("add", {"a": 1, "b": 2})
    for host, expected in (("localhost:1", 200), ("MCP.EXAMPLE.COM", 200), ("10.1.2.3", 200), ("evil.example", 421)):
        status, _ = await exchange(await connect(serving), "POST", "/mcp", body, Host=host)
        assert (host, status) == (host, expected)
    serving.stop()


async def test_registry_api_takes_only_the_written_token(nursery: trio.Nursery, tmp_path: Path) -> None:
    async with trio.open_nursery() as inner:
        serving = await start(inner)
        (file,) = (tmp_path / "genmcp").iterdir()
        assert file.name == f"127.0.0.1-{serving.address.port}.token"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.read_text().strip() == serving.token
        path = "/registry/actors"
        assert (await exchange(await connect(serving), "GET", path))[0] == 401
        authorized = {"Authorization": f"Bearer {serving.token}"}
        assert (await exchange(await connect(serving), "GET", path, **authorized))[0] == 200
        serving.stop()
    assert list((tmp_path / "genmcp").iterdir()) == []


async def test_token_of_the_environment_is_not_written(
    nursery: trio.Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENMCP_ADMIN_TOKEN", "chosen by me")
    serving = await start(nursery)
    assert serving.token == "chosen by me"
    assert not (tmp_path / "genmcp").exists()
    serving.stop()


async def test_admin_moves_off_the_public_listener(nursery: trio.Nursery, tmp_path: Path) -> None:
    private = tmp_path / "admin.sock"
    serving = await start(nursery, admin=f"unix:{private}")
    authorized = {"Authorization": f"Bearer {serving.token}"}
    assert (await exchange(await connect(serving), "GET", "/registry/actors", **authorized))[0] == 404
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    stream = await trio.open_unix_socket(str(private))
    assert (await exchange(stream, "GET", "/registry/actors", **authorized))[0] == 200
    stream = await trio.open_unix_socket(str(private))
    assert (await exchange(stream, "POST", "/mcp", call("add", {"a": 1, "b": 2})))[0] == 404
    serving.stop()


async def test_admin_off_has_no_registry_and_no_token(nursery: trio.Nursery, tmp_path: Path) -> None:
    serving = await start(nursery, admin="off")
    assert (await exchange(await connect(serving), "GET", "/registry/actors"))[0] == 404
    assert (serving.token, serving.admin) == (None, None)
    assert not (tmp_path / "genmcp").exists()
    serving.stop()


async def test_open_runtime_dir_switches_the_registry_off(nursery: trio.Nursery, tmp_path: Path) -> None:
    (tmp_path / "genmcp").mkdir()
    os.chmod(tmp_path / "genmcp", 0o777)
    serving = await start(nursery)
    assert serving.token is None
    assert await call_add(serving) == 3
    serving.stop()


async def test_local_proxy_does_not_lend_its_trust(nursery: trio.Nursery) -> None:
    serving = await start(nursery)

    async def forward(client: trio.SocketStream) -> None:
        server = await connect(serving)
        async with client, server, trio.open_nursery() as pipes:
            pipes.start_soon(pump, client, server)
            await pump(server, client)
            pipes.cancel_scope.cancel()

    listeners: list[trio.SocketListener] = await nursery.start(partial(trio.serve_tcp, forward, 0, host="127.0.0.1"))
    port = listeners[0].socket.getsockname()[1]
    message = {"to": "nobody", "message": 1}
    for headers, expected in (({}, 401), ({"X-Forwarded-For": "127.0.0.1"}, 401), ({"Forwarded": "for=_x"}, 401)):
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        assert (await exchange(stream, "POST", "/registry/send", message, **headers))[0] == expected
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    authorized = {"Authorization": f"Bearer {serving.token}"}
    assert (await exchange(stream, "POST", "/registry/send", message, **authorized))[0] == 404
    serving.stop()
    nursery.cancel_scope.cancel()


async def pump(source: trio.SocketStream, sink: trio.SocketStream) -> None:
    async for data in source:
        await sink.send_all(data)


async def test_private_registry_is_reachable_while_draining(nursery: trio.Nursery, tmp_path: Path) -> None:
    @tool
    async def wait(channel: Channel) -> str:
        """Wait for a message."""
        channel.registry.register("waiting")
        return str(await channel.receive())

    private = tmp_path / "admin.sock"
    suite = Suite(server_name="waiting", server_version="1", tools=[wait])
    serving = await start(nursery, suite, admin=f"unix:{private}", grace=30)
    answers: list[Any] = []

    async def ask() -> None:
        answers.append(await exchange(await connect(serving), "POST", "/mcp", call("wait")))

    async with trio.open_nursery() as asking:
        asking.start_soon(ask)
        while serving.node.registry.whereis("waiting") is None:
            await trio.sleep(0.01)
        serving.stop()
        await trio.sleep(0.05)
        with pytest.raises(OSError, match="connect"):
            await connect(serving)
        authorized = {"Authorization": f"Bearer {serving.token}"}
        stream = await trio.open_unix_socket(str(private))
        assert await exchange(stream, "GET", "/health/ready") == (503, {"status": "draining"})
        stream = await trio.open_unix_socket(str(private))
        body = {"to": "waiting", "message": "late news"}
        assert (await exchange(stream, "POST", "/registry/send", body, **authorized))[0] == 200
    assert answers[0][0] == 200
    assert answers[0][1]["result"]["content"][0]["text"] == "late news"


async def test_cancelling_serve_ends_it_at_once() -> None:
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            serving = await start(nursery, grace=60)
            idle = await connect(serving)
            nursery.cancel_scope.cancel()
        with contextlib.suppress(trio.BrokenResourceError):
            assert await idle.receive_some() == b""
        await idle.aclose()


async def test_attached_server_is_free_again_after_serve() -> None:
    suite = make_suite()
    for _ in range(2):
        async with trio.open_nursery() as nursery:
            serving = await start(nursery, suite)
            assert suite.node is serving.node
            serving.stop()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"admin": "nowhere"}, "'nowhere' is not HOST:PORT"),
        ({"allow_origins": ("example.com",)}, "'example.com' is not an origin"),
        ({"allow_hosts": ("https://example.com",)}, "is not a host name"),
        ({"host": "unix:"}, "the path of the socket file is missing"),
    ],
)
async def test_wrong_setting_is_refused_before_listening(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        await serve(make_suite(), settings=Settings(port=0, **settings))


async def test_two_servers_without_paths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"two servers at one path; give each its own: serve\(\('/a', a\)"):
        await serve(make_suite(), make_suite(), port=0)


async def test_wrong_secret_key_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENMCP_SECRET_KEY", "too short")
    with pytest.raises(ConfigurationError, match="GENMCP_SECRET_KEY: key 1"):
        await serve(make_suite(), port=0)


async def test_tokens_expire_at_the_age_of_the_settings(nursery: trio.Nursery) -> None:
    serving = await start(nursery, token_age=77.0)
    assert tokens.ring().max_age == 77.0
    serving.stop()


async def test_missing_certificate_is_refused() -> None:
    with pytest.raises(ListenError, match=r"cannot use the certificate nowhere\.pem"):
        await serve(make_suite(), settings=Settings(port=0, certfile="nowhere.pem"))
