"""What only the wire shows of resources, prompts, completion, pages, questions and subscriptions."""

from __future__ import annotations

import base64
import contextlib
import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.interop.wire import CAPABILITIES, META, Json, call, headers_for, post, request, result_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.interop.process import ServerProcess

pytestmark = pytest.mark.slow

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
ABLE = {**META, CAPABILITIES: {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}}
ASKING = "test_input_required_result_multiple_inputs"
PROMPT = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
WATCHED = "test://watched-resource"


def error_of(response: httpx.Response) -> Json:
    error: Json = response.json()["error"]
    return error


# -- caching and pages


@pytest.mark.parametrize(
    "body",
    [
        request("server/discover"),
        request("tools/list"),
        request("prompts/list"),
        request("resources/list"),
        request("resources/templates/list"),
        request("resources/read", {"uri": "test://static-text"}),
        request("resources/read", {"uri": "test://library/1"}),
    ],
    ids=lambda body: body["method"],
)
def test_what_may_be_kept_says_how_long_and_by_whom(everything: ServerProcess, body: Json) -> None:
    result = result_of(post(everything.url, body))
    assert result["cacheScope"] in ("public", "private")
    assert type(result["ttlMs"]) is int
    assert result["ttlMs"] >= 0


@pytest.mark.parametrize(
    "body",
    [
        call("test_simple_text"),
        request("prompts/get", {"name": "test_simple_prompt"}),
        request("completion/complete", {"ref": PROMPT, "argument": {"name": "arg1", "value": "t"}}),
    ],
    ids=lambda body: body["method"],
)
def test_what_may_not_be_kept_says_nothing_of_it(everything: ServerProcess, body: Json) -> None:
    assert not {"ttlMs", "cacheScope"} & set(result_of(post(everything.url, body)))


def pages_of(url: str) -> list[Json]:
    pages = [result_of(post(url, request("resources/list")))]
    while cursor := pages[-1].get("nextCursor"):
        pages.append(result_of(post(url, request("resources/list", {"cursor": cursor}))))
    return pages


def test_last_page_has_no_cursor_and_all_have_one_scope(everything: ServerProcess) -> None:
    pages = pages_of(everything.url)
    assert [len(page["resources"]) for page in pages] == [3, 2, 2, 1]
    assert ["nextCursor" in page for page in pages] == [True, True, True, False]
    assert {page["cacheScope"] for page in pages} == {"private"}
    assert pages_of(everything.url)[2]["resources"] == pages[2]["resources"]


def test_cursor_may_be_used_again(everything: ServerProcess) -> None:
    cursor = result_of(post(everything.url, request("resources/list")))["nextCursor"]
    answers = [result_of(post(everything.url, request("resources/list", {"cursor": cursor}))) for _ in range(2)]
    assert answers[0]["resources"] == answers[1]["resources"]


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
def test_foreign_cursor_is_invalid_params_in_every_list(everything: ServerProcess, method: str) -> None:
    cursor = result_of(post(everything.url, request("resources/list")))["nextCursor"]
    foreign = ["", "made up", "5", cursor[:-1], f"{cursor}A"] + ([] if method == "resources/list" else [cursor])
    for given in foreign:
        assert error_of(post(everything.url, request(method, {"cursor": given})))["code"] == -32602
    assert error_of(post(everything.url, request(method, {"cursor": 5})))["code"] == -32602


# -- resources, prompts, completion


def test_contents_are_a_text_or_a_blob_with_their_uri(everything: ServerProcess) -> None:
    [text] = result_of(post(everything.url, request("resources/read", {"uri": "test://static-text"})))["contents"]
    [blob] = result_of(post(everything.url, request("resources/read", {"uri": "test://static-binary"})))["contents"]
    assert set(text) == {"uri", "mimeType", "text"}
    assert set(blob) == {"uri", "mimeType", "blob"}
    assert base64.b64decode(blob["blob"], validate=True).startswith(b"\x89PNG")


@pytest.mark.parametrize("uri", ["test://library/99", "nobody://x", "test://static-text/", "no uri", "%zz", ""])
def test_absent_resource_is_an_error_and_never_empty(everything: ServerProcess, uri: str) -> None:
    error = error_of(post(everything.url, request("resources/read", {"uri": uri})))
    assert (error["code"], error["data"]) == (-32602, {"uri": uri})


@pytest.mark.parametrize(
    "params",
    [
        {"name": "nowhere"},
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "one"}},
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "one", "arg2": 2}},
        {"name": "test_prompt_with_arguments", "arguments": ["one", "two"]},
        {"name": "test_prompt_with_embedded_resource", "arguments": {"resourceUri": "no uri"}},
    ],
)
def test_prompt_that_cannot_be_filled_in_is_invalid_params(everything: ServerProcess, params: Json) -> None:
    assert error_of(post(everything.url, request("prompts/get", params)))["code"] == -32602


def test_messages_hold_one_block_each(everything: ServerProcess) -> None:
    params = {"name": "test_prompt_with_embedded_resource", "arguments": {"resourceUri": "test://x"}}
    result = result_of(post(everything.url, request("prompts/get", params)))
    assert [(message["role"], message["content"]["type"]) for message in result["messages"]] == [
        ("user", "resource"),
        ("user", "text"),
    ]
    assert result["messages"][0]["content"]["resource"] == {
        "uri": "test://x",
        "mimeType": "text/plain",
        "text": "Embedded resource content for testing.",
    }


def test_completion_holds_values_and_nothing_it_does_not_know(everything: ServerProcess) -> None:
    params = {"ref": PROMPT, "argument": {"name": "arg1", "value": "te"}, "context": {"arguments": {"arg2": "x"}}}
    result = result_of(post(everything.url, request("completion/complete", params)))
    assert result["completion"] == {"values": ["test", "testing", "tested", "text"]}
    assert result["resultType"] == "complete"


@pytest.mark.parametrize(
    "params",
    [
        {"ref": {"type": "ref/prompt", "name": "nowhere"}, "argument": {"name": "x", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "nobody://{x}"}, "argument": {"name": "x", "value": ""}},
        {"ref": {"type": "ref/tool", "name": "x"}, "argument": {"name": "x", "value": ""}},
        {"ref": PROMPT, "argument": {"name": "arg9", "value": ""}},
        {"ref": PROMPT, "argument": {"name": "arg1"}},
        {"ref": PROMPT},
        {"ref": PROMPT, "argument": {"name": "arg1", "value": ""}, "context": {"arguments": {"arg2": 2}}},
    ],
)
def test_what_cannot_be_completed_is_invalid_params(everything: ServerProcess, params: Json) -> None:
    assert error_of(post(everything.url, request("completion/complete", params)))["code"] == -32602


# -- questions


def test_question_is_a_result_with_bare_requests(everything: ServerProcess) -> None:
    result = result_of(post(everything.url, call(ASKING, meta=ABLE)))
    assert set(result) == {"resultType", "inputRequests", "requestState", "_meta"}
    assert result["resultType"] == "input_required"
    asked = result["inputRequests"]
    assert set(asked) == {"user_name", "greeting", "client_roots"}
    assert [set(item) - {"params"} for item in asked.values()] == [{"method"}] * 3
    assert asked["user_name"]["params"]["mode"] == "form"
    assert {"messages", "maxTokens"} <= set(asked["greeting"]["params"])


def test_retry_has_an_id_of_its_own_and_the_last_word(everything: ServerProcess) -> None:
    tool = "test_input_required_result_elicitation"
    state = result_of(post(everything.url, call(tool, meta=ABLE, id=1)))["requestState"]
    answer = {"user_name": {"action": "accept", "content": {"name": "Ada"}}, "unheard_of": {"action": "cancel"}}
    retry = request(
        "tools/call",
        {"name": tool, "arguments": {}, "inputResponses": answer, "requestState": state},
        meta=ABLE,
        id="2",
    )
    response = post(everything.url, retry)
    assert response.json()["id"] == "2"
    assert result_of(response)["content"] == [{"type": "text", "text": "Hello, Ada!"}]
    assert error_of(post(everything.url, retry))["code"] == -32602  # the round is over


def test_changed_state_is_an_error_and_asks_nobody(everything: ServerProcess) -> None:
    tool = "test_input_required_result_tampered_state"
    state = result_of(post(everything.url, call(tool, meta=ABLE)))["requestState"]
    answer = {"confirm": {"action": "accept", "content": {"ok": True}}}
    for changed in (f"{state}-TAMPERED", state.swapcase(), state[1:], ""):
        params = {"name": tool, "arguments": {}, "inputResponses": answer, "requestState": changed}
        response = post(everything.url, request("tools/call", params, meta=ABLE))
        assert error_of(response)["code"] == -32602
        assert "result" not in response.json()


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "server/discover"])
def test_other_requests_neither_ask_nor_read_answers(everything: ServerProcess, method: str) -> None:
    params = {"inputResponses": {"x": {"action": "accept"}}, "requestState": "made up"}
    assert result_of(post(everything.url, request(method, params, meta=ABLE)))["resultType"] == "complete"


# -- subscriptions


@contextlib.contextmanager
def listening(url: str, wanted: Json, id: object) -> Iterator[Iterator[Json]]:
    """Open a stream; yields its messages as they come."""
    body = request("subscriptions/listen", {"notifications": wanted}, id=id)
    with (
        httpx.Client(timeout=10) as client,
        client.stream("POST", url, json=body, headers=headers_for(body)) as response,
    ):
        assert response.headers["Content-Type"].startswith("text/event-stream")
        yield (json.loads(line.removeprefix("data:")) for line in response.iter_lines() if line.startswith("data:"))


@pytest.mark.parametrize("id", [0, 7, "", "7"])
def test_acknowledgement_is_first_and_events_carry_the_id(everything: ServerProcess, id: Any) -> None:
    wanted = {
        "toolsListChanged": False,
        "promptsListChanged": True,
        "resourceSubscriptions": [WATCHED, "nobody://x"],
        "com.example/unheardOf": True,
    }
    with listening(everything.url, wanted, id) as events:
        first = next(events)
        post(everything.url, call("test_trigger_tool_change"))
        post(everything.url, call("test_trigger_resource_update", {"uri": "test://static-text"}))
        post(everything.url, call("test_trigger_resource_update", {"uri": f"{WATCHED}/part"}))
        post(everything.url, call("test_trigger_prompt_change"))
        heard = [next(events), next(events)]
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"] == {"promptsListChanged": True, "resourceSubscriptions": [WATCHED]}
    assert [event["method"] for event in heard] == [
        "notifications/resources/updated",
        "notifications/prompts/list_changed",
    ]
    assert heard[0]["params"]["uri"] == f"{WATCHED}/part"
    ids = [event["params"]["_meta"][SUBSCRIPTION] for event in (first, *heard)]
    assert ids == [id] * 3
    assert {type(found) for found in ids} == {type(id)}


def test_filter_of_nothing_is_acknowledged_as_nothing(everything: ServerProcess) -> None:
    with listening(everything.url, {}, 1) as events:
        assert next(events)["params"]["notifications"] == {}


@pytest.mark.parametrize(
    "params",
    [{}, {"notifications": None}, {"notifications": []}, {"notifications": {"toolsListChanged": "yes"}}],
)
def test_listening_to_what_is_no_filter_is_invalid_params(everything: ServerProcess, params: Json) -> None:
    assert error_of(post(everything.url, request("subscriptions/listen", params)))["code"] == -32602


def test_cancelled_by_a_notification_over_http_is_nobodys(everything: ServerProcess) -> None:
    with listening(everything.url, {"toolsListChanged": True}, 5) as events:
        next(events)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
        assert httpx.post(everything.url, json=cancel).status_code == 202
        post(everything.url, call("test_trigger_tool_change"))
        assert next(events)["method"] == "notifications/tools/list_changed"
