"""Servers in processes of their own, one for many tests; after each it must live and have logged no traceback."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trustme

from tests.faults.watch import APP, ENVIRON, Watched
from tests.interop.process import ServerProcess, serving

LIMITS = ("--write-deadline", "1", "--body-deadline", "0.5")


@pytest.fixture(scope="session")
def process() -> Iterator[ServerProcess]:
    """A server with short deadlines and otherwise its defaults."""
    with serving(f"{APP}:suite", *LIMITS, env=ENVIRON) as server:
        yield server


@pytest.fixture(scope="session")
def tls_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, Path]]:
    """The same with TLS, and the file of its authority."""
    authority, folder = trustme.CA(), tmp_path_factory.mktemp("tls")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    with serving(f"{APP}:suite", *LIMITS, "--certfile", str(folder / "server.pem"), env=ENVIRON) as server:
        yield server, folder / "ca.pem"


@pytest.fixture
async def server(process: ServerProcess, request: pytest.FixtureRequest) -> AsyncIterator[Watched]:
    """The server; a test marked `logs_tracebacks` may make it log one."""
    lines = len(process.lines)
    watched = Watched(process)
    yield watched
    await watched.close()
    assert process.process.poll() is None, "".join(process.lines[lines:])
    if request.node.get_closest_marker("logs_tracebacks") is None:
        assert "Traceback" not in "".join(process.lines[lines:]), "".join(process.lines[lines:])


@pytest.fixture
async def tls_server(tls_process: tuple[ServerProcess, Path]) -> AsyncIterator[Watched]:
    """The server that speaks TLS."""
    process, authority = tls_process
    watched = Watched(process, tls=ssl.create_default_context(cafile=str(authority)))
    yield watched
    await watched.close()
    assert process.process.poll() is None, "".join(process.lines)
    assert "Traceback" not in "".join(process.lines)
