"""What becomes of a message once it has passed the checks: workers, callers, limits, clients that leave."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.transport.calls import META, Answer, Call, Site, open_site, request

CANCELLED = "notifications/cancelled"


def note(reason: str, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": 7, "reason": reason}, **members}


# -- requests


async def test_a_client_that_leaves_cancels_its_json_call(site: Site, autojump_clock: MockClock) -> None:
    before = trio.current_time()
    call = Call(message=request("tools/call", name="sleep", arguments={"seconds": 10}), leave_after=0.3)
    answer = await site.call(call)
    await trio.testing.wait_all_tasks_blocked()
    assert (answer.status, site.server.notes) == (0, ["cancelled", "closed client_gone"])
    assert trio.current_time() - before < 1
    assert (site.node.snapshot(), site.app.live_workers) == ((), 0)


async def test_a_client_that_leaves_cancels_its_stream(autojump_clock: MockClock) -> None:
    async with open_site(keep_alive=1) as site:
        call = Call(message=request("tools/call", name="sleep", arguments={"seconds": 100}), leave_after=3.5)
        answer = await site.call(call)
        await trio.testing.wait_all_tasks_blocked()
        assert (answer.body, answer.complete) == (b":\n\n" * 3, False)
        assert site.server.notes == ["cancelled", "closed client_gone"]


async def test_a_message_to_the_worker_ends_its_stream(site: Site, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:

        async def push() -> None:
            await trio.sleep(2)
            site.node.registry.send(site.server.channels[0].pid, "pushed")

        nursery.start_soon(push)
        answer = await site.tool("stream")
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.events[-1]["result"]["content"][0]["text"] == "pushed"


async def test_workers_over_the_limit_are_refused_before_they_exist(autojump_clock: MockClock) -> None:
    async with open_site(max_workers=2) as site, trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(site.tool, "sleep", {"seconds": 5})
        await trio.sleep(1)
        refused = await site.tool("add")
        noted = await site.post(note("x"))
        assert site.app.live_workers == 2
        await trio.sleep(5)
        served = await site.tool("add")
    for answer in (refused, noted):
        assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, -32603, "1")
    assert refused.json["id"] == 7
    assert "id" not in noted.json
    assert (served.status, site.app.live_workers) == (200, 0)


async def test_a_stopping_node_refuses_with_503(site: Site) -> None:
    await site.node.stop()
    for message in (request("tools/list"), note("x")):
        answer = await site.post(message)
        assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, -32603, "1")


async def test_a_killed_worker_is_answered(site: Site, autojump_clock: MockClock) -> None:
    answers: list[Answer] = []
    async with trio.open_nursery() as nursery:

        async def call() -> None:
            answers.append(await site.tool("sleep", {"seconds": 100}))

        nursery.start_soon(call)
        await trio.sleep(1)
        site.node.registry.kill(site.server.channels[0].pid)
    assert (answers[0].status, answers[0].code) == (200, -32603)


# -- conversations


def asked(rounds: int = 2, seconds: float = 0, **params: Any) -> dict[str, Any]:
    meta: dict[str, Any] = {f"{META}clientCapabilities": {"elicitation": {}}}
    return request("tools/call", meta=meta, name="ask", arguments={"rounds": rounds, "seconds": seconds}, **params)


def answers_to(result: dict[str, Any]) -> dict[str, Any]:
    """The params with which a client retries a request whose questions it has answered."""
    answers = {key: {"action": "accept", "content": {"ok": True}} for key in result["inputRequests"]}
    return {"requestState": result["requestState"], "inputResponses": answers}


async def test_a_retry_goes_to_the_worker_that_waits_and_counts_once(site: Site, autojump_clock: MockClock) -> None:
    result = (await site.post(asked())).json["result"]
    for _ in range(2):
        assert (result["resultType"], site.app.live_workers) == ("input_required", 1)
        result = (await site.post(asked(**answers_to(result)))).json["result"]
    assert (result["resultType"], site.app.live_workers) == ("complete", 0)
    assert len(site.server.channels) == 1


async def test_a_request_state_that_is_refused_is_200(site: Site) -> None:
    answer = await site.post(asked(requestState="forged", inputResponses={}))
    assert (answer.status, answer.code, answer.json["id"]) == (200, -32602, 7)


async def test_leaving_a_retry_cancels_the_worker_that_waited(site: Site, autojump_clock: MockClock) -> None:
    result = (await site.post(asked(1, 30))).json["result"]
    await trio.sleep(100)
    assert site.app.live_workers == 1
    await site.call(Call(message=asked(1, 30, **answers_to(result)), leave_after=0.3))
    await trio.testing.wait_all_tasks_blocked()
    assert (site.server.notes, site.app.live_workers) == (["closed client_gone"], 0)


# -- who calls


async def test_the_principal_is_the_states_by_default(site: Site) -> None:
    call = Call(message=request("tools/call", name="whoami"), state={"principal": "ada"})
    answer = await site.call(call)
    assert answer.json["result"]["content"][0]["text"] == "ada"


async def test_a_principal_function_replaces_the_state() -> None:
    async with open_site(principal=lambda scope: scope["path"]) as site:
        answer = await site.call(Call(message=request("tools/call", name="whoami"), state={"principal": "ada"}))
        assert answer.json["result"]["content"][0]["text"] == "/mcp"


async def test_copied_assigns_override_those_of_the_mount() -> None:
    async with open_site(assigns={"a": 1, "b": 2}, copy_assigns=["b", "c", "absent"]) as site:
        await site.call(Call(message=request("tools/list"), state={"b": 3, "c": 4, "other": 5}))
        assert site.server.channels[0].meta.assigns == {"a": 1, "b": 3, "c": 4}


async def test_a_host_without_state_is_served() -> None:
    async with open_site(copy_assigns=["b"]) as site:
        answer = await site.call(Call(message=request("tools/list"), scope={"state": None}))
        assert answer.status == 200


# -- notifications


async def test_a_notification_is_answered_after_its_handler(site: Site, autojump_clock: MockClock) -> None:
    before = trio.current_time()
    answer = await site.post(note("slow"))
    assert (answer.status, answer.body, answer.headers["content-length"]) == (202, b"", "0")
    assert trio.current_time() - before >= 5
    assert site.server.notes == ["notified slow", "done"]


async def test_a_posted_cancellation_cancels_nothing(site: Site, autojump_clock: MockClock) -> None:
    answers: list[Answer] = []
    async with trio.open_nursery() as nursery:

        async def call() -> None:
            answers.append(await site.tool("sleep", {"seconds": 3}))

        nursery.start_soon(call)
        await trio.sleep(1)
        assert (await site.post(note("stop"))).status == 202
    assert (answers[0].status, site.server.notes) == (200, ["notified stop"])


async def test_a_notification_works_on_when_its_client_leaves(site: Site, autojump_clock: MockClock) -> None:
    answer = await site.call(Call(message=note("slow"), leave_after=1))
    assert answer.status == 0
    await trio.sleep(5)
    assert site.server.notes == ["notified slow", "done"]


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/roots/list_changed", "no/such"])
async def test_unknown_notifications_are_taken_without_a_worker(site: Site, method: str) -> None:
    answer = await site.post({"jsonrpc": "2.0", "method": method})
    assert (answer.status, answer.body, site.server.notes) == (202, b"", [])


async def test_a_malformed_cancellation_is_ignored(site: Site) -> None:
    answer = await site.post({"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": {}}})
    assert (answer.status, site.server.notes) == (202, [])


@pytest.mark.parametrize(
    ("version", "status", "code"),
    [("2026-07-28", 202, None), (None, 202, None), ("2099-01-01", 400, -32022), ("\x01", 400, -32020)],
)
async def test_only_the_version_of_a_notification_is_checked(
    site: Site, version: str | None, status: int, code: int | None
) -> None:
    answer = await site.post(note("x"), mcp_protocol_version=version, mcp_method="something/else")
    assert (answer.status, answer.code) == (status, code)
    assert answer.status == 202 or "id" not in answer.json


async def test_a_crash_in_a_notification_is_500_without_an_id(site: Site) -> None:
    answer = await site.post(note("crash"))
    assert (answer.status, answer.code, "id" in answer.json) == (500, -32603, False)
    assert b"secret" not in answer.body


async def test_a_notification_may_be_refused_by_its_handler(site: Site) -> None:
    answer = await site.post(note("refuse"))
    assert (answer.status, answer.code, "id" in answer.json) == (400, -32602, False)


async def test_nothing_is_left_after_many_requests(site: Site, autojump_clock: MockClock) -> None:
    before = site.node.counts()
    async with trio.open_nursery() as nursery:
        for number in range(200):
            message = request("tools/call", number, name="sleep", arguments={"seconds": number % 7 / 10})
            nursery.start_soon(site.call, Call(message=message, leave_after=number % 11 / 10))
    await trio.testing.wait_all_tasks_blocked()
    assert (site.node.counts(), site.app.live_workers) == (before, 0)
