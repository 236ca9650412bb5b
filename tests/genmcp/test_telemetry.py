"""Telemetry events, and the default logger."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio

from genmcp import McpError, Server, Stop, Suite, attach_default_logger, telemetry, tool
from genmcp.testing import connect


@tool
async def boom() -> None:
    """Fails."""
    raise RuntimeError("secret")


async def test_events_have_their_names_and_metadata(autojump_clock: trio.abc.Clock) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []
    detach = telemetry.attach(lambda event, metadata: seen.append((event, metadata)))
    try:
        async with connect(Suite(server_name="x", server_version="1", tools=[boom])) as client:
            with pytest.raises(McpError) as caught:
                await client.call_tool("boom")
    finally:
        detach()
    assert [event for event, _ in seen] == ["server.init", "transport.server_crashed"]
    assert seen[0][1]["method"] == "tools/call"
    assert seen[1][1]["reference"] == caught.value.data["reference"]


async def test_refusal_by_init_is_a_start_error(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.abc.Clock
) -> None:
    class Refusing(Server[None]):
        async def init(self) -> Stop:
            return Stop("closed today")

    caplog.set_level(logging.DEBUG, "genmcp")
    detach = attach_default_logger(min_log_level=logging.ERROR)
    try:
        async with connect(Refusing()) as client:
            with pytest.raises(McpError):
                await client.discover()
    finally:
        detach()
    [record] = [record for record in caplog.records if record.name == "genmcp" and "server." in record.getMessage()]
    assert record.levelno == logging.ERROR
    assert "server.start_error" in record.getMessage()
    assert "closed today" in record.getMessage()


def test_handler_that_raises_is_detached(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []

    def failing(event: str, metadata: dict[str, Any]) -> None:
        calls.append(event)
        raise KeyError(event)

    detach = telemetry.attach(failing)
    telemetry.emit("server.init")
    telemetry.emit("server.init")
    detach()
    assert calls == ["server.init"]
    assert "is detached" in caplog.text


def test_logger_takes_only_the_prefixes_it_was_given(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "genmcp")
    detach = attach_default_logger(prefixes=["transport."])
    telemetry.emit("server.init", method="x")
    telemetry.emit("transport.request_rejected", code=-32600)
    detach()
    detach()
    assert [record.getMessage() for record in caplog.records] == ["transport.request_rejected code=-32600"]
