"""Trace context in `_meta`: what is well-formed is read, what is not is left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genmcp.mcp import v2607 as mcp

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_well_formed_keys_are_read() -> None:
    meta = {"traceparent": PARENT, "tracestate": "rojo=00f067aa0ba902b7, ,congo=t61", "baggage": "a=1;p=2,b=%20"}
    assert mcp.meta_trace_context({**meta, "com.example/x": 1}) == meta


@pytest.mark.parametrize(
    "parent",
    [
        f"{PARENT}-more",
        PARENT.upper(),
        f"ff{PARENT[2:]}",
        PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32),
        PARENT.replace("00f067aa0ba902b7", "0" * 16),
        f"{PARENT}\n",
        "00-x",
        "",
        7,
        None,
    ],
)
def test_malformed_parent_takes_its_state_along(parent: Any) -> None:
    meta = {"traceparent": parent, "tracestate": "a=1", "baggage": "b=2"}
    assert mcp.meta_trace_context(meta) == {"baggage": "b=2"}


def test_parent_of_a_later_version_may_be_longer() -> None:
    later = f"01{PARENT[2:]}-more"
    assert mcp.meta_trace_context({"traceparent": later}) == {"traceparent": later}


@pytest.mark.parametrize("value", ["", ",", "x", "=1", "a=1,x", "a=é", "a=1\r\nb=2", "a=" + "1" * 8191, 7, ["a=1"]])
def test_malformed_state_and_baggage_are_left_out(value: Any) -> None:
    meta = {"traceparent": PARENT, "tracestate": value, "baggage": value}
    assert mcp.meta_trace_context(meta) == {"traceparent": PARENT}


def test_state_without_a_parent_means_nothing() -> None:
    assert mcp.meta_trace_context({"tracestate": "a=1"}) == {}


@given(meta=st.dictionaries(st.sampled_from(["traceparent", "tracestate", "baggage"]), st.text(max_size=70)))
def test_any_text_is_left_out_or_kept_as_it_is(meta: dict[str, str]) -> None:
    found = mcp.meta_trace_context(meta)
    assert found.items() <= meta.items()
    assert "\n" not in "".join(found.values())


def test_own_keys_of_a_notification_are_kept() -> None:
    own = {"traceparent": "own", "com.example/x": 1}
    params = mcp.ProgressNotificationParams(progress_token=1, progress=2, meta=own)
    stamped = mcp.with_trace_context(mcp.ProgressNotification(params=params), {"traceparent": PARENT, "baggage": "a=1"})
    assert mcp.to_dict(stamped)["params"]["_meta"] == {**own, "baggage": "a=1"}
    assert params.meta == own
    bare: Any = mcp.with_trace_context(mcp.ToolListChangedNotification(), {"baggage": "a=1"})
    assert bare.params.meta == {"baggage": "a=1"}
