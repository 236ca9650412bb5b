"""No time-out that nobody asked for (user demand L3)."""

from pathlib import Path

import httpx
import pytest

from tests.interop.process import serving
from tests.interop.wire import call, headers_for

APP = str(Path(__file__).with_name("app_that_lingers.py"))


@pytest.mark.slow
def test_ten_second_tool_passes_with_defaults() -> None:
    body = call("finish", {"seconds": 11})
    with serving(f"{APP}:suite") as server:
        answer = httpx.post(server.url, json=body, headers=headers_for(body), timeout=30)
    assert answer.status_code == 200
    assert answer.json()["result"]["content"][0]["text"] == "finished"
