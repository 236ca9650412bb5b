import socket
import stat
import sys
from pathlib import Path

import pytest
import trio

from genmcp.address import Address
from transport.listeners import ListenError, open_listeners, raise_descriptor_limit, tls_context

LOOPBACK = Address("127.0.0.1", 0)


async def test_port_zero_tells_the_chosen_port() -> None:
    listeners = await open_listeners(LOOPBACK)
    assert listeners.address.port > 0
    async with await trio.open_tcp_stream("127.0.0.1", listeners.address.port):
        await listeners.close()


async def test_all_addresses_of_a_name_share_a_port() -> None:
    listeners = await open_listeners(Address("localhost", 0))
    ports = {one.socket.getsockname()[1] for one in listeners.sockets if isinstance(one, trio.SocketListener)}
    await listeners.close()
    assert ports == {listeners.address.port}


async def test_taken_port_is_said_so() -> None:
    listeners = await open_listeners(LOOPBACK)
    with pytest.raises(ListenError, match="is taken by another program; choose another port"):
        await open_listeners(listeners.address)
    await listeners.close()


async def test_address_of_another_machine_is_said_so() -> None:
    with pytest.raises(ListenError, match="is not an address of this machine"):
        await open_listeners(Address("192.0.2.1", 0))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has TCP_USER_TIMEOUT")
async def test_accepted_sockets_inherit_the_user_timeout() -> None:
    listeners = await open_listeners(LOOPBACK, user_timeout=1.5)
    (listener,) = listeners.sockets
    async with await trio.open_tcp_stream("127.0.0.1", listeners.address.port):
        accepted = await listener.accept()
        assert isinstance(accepted, trio.SocketStream)
        assert accepted.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1500
        await accepted.aclose()
    await listeners.close()


async def test_socket_file_is_made_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "server.sock"
    listeners = await open_listeners(Address(path=str(path)))
    assert stat.S_ISSOCK(path.stat().st_mode)
    async with await trio.open_unix_socket(str(path)):
        await listeners.close()
    assert not path.exists()


async def test_dead_socket_file_is_taken_over(tmp_path: Path) -> None:
    path = str(tmp_path / "server.sock")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    listeners = await open_listeners(Address(path=path))
    with pytest.raises(ListenError, match="is taken"):
        await open_listeners(Address(path=path))
    await listeners.close()


async def test_ordinary_file_is_never_removed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(ListenError):
        await open_listeners(Address(path=str(path)))
    assert path.read_text() == "mine"


@pytest.mark.slow
async def test_thousand_clients_connect_without_retries() -> None:
    raise_descriptor_limit()
    listeners = await open_listeners(LOOPBACK)
    with trio.fail_after(0.9):  # a SYN that found the backlog full is sent again after 1 s
        async with trio.open_nursery() as nursery:
            clients = [trio.socket.socket() for _ in range(1000)]
            for client in clients:
                nursery.start_soon(client.connect, ("127.0.0.1", listeners.address.port))
    for client in clients:
        client.close()
    await listeners.close()
    assert len(clients) == 1000


def test_missing_certificate_is_named() -> None:
    with pytest.raises(ListenError, match=r"cannot use the certificate nowhere\.pem: No such file"):
        tls_context("nowhere.pem", None)


def test_descriptor_limit_is_raised_to_the_systems() -> None:
    import resource

    limit = raise_descriptor_limit()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limit == (None if hard == resource.RLIM_INFINITY else hard)
