"""What the builders build is what the official models and the official schema call valid."""

import json
from typing import Any

import pytest
from mcp_types import methods

from genmcp.mcp import v2607 as mcp

VERSION = "2026-07-28"
ICON = mcp.Icon("https://example.com/i.png", mime_type="image/png", sizes=["48x48"], theme="dark")
TOOL = mcp.Tool(
    "run",
    "Runs.",
    {"type": "object", "properties": {"q": {"type": "string"}}},
    {"type": "object"},
    title="Run",
    icons=[ICON],
    annotations=mcp.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    meta={"com.example/x": 1},
)
FORM = mcp.elicit_form(
    "Which?",
    {
        "type": "object",
        "properties": {
            "a": mcp.StringSchema(min_length=1, format="email", default="a@b.c"),
            "b": mcp.NumberSchema(type="integer", minimum=1, maximum=3),
            "c": mcp.BooleanSchema(default=False),
            "d": mcp.UntitledSingleSelectEnumSchema(enum=["x"]),
            "e": mcp.TitledSingleSelectEnumSchema(one_of=[mcp.TitledOption("x", "X")]),
            "f": mcp.UntitledMultiSelectEnumSchema(items=mcp.UntitledItems(["x"]), min_items=1),
            "g": mcp.TitledMultiSelectEnumSchema(items=mcp.TitledItems([mcp.TitledOption("x", "X")]), default=["x"]),
        },
        "required": ["a"],
    },
)
SAMPLE = mcp.create_message(
    [
        mcp.SamplingMessage("user", mcp.text("hi")),
        mcp.SamplingMessage("assistant", [mcp.ToolUseContent("1", "run", {})]),
        mcp.SamplingMessage("user", [mcp.ToolResultContent("1", [mcp.text("ok")], structured_content=None)]),
    ],
    max_tokens=5,
    model_preferences=mcp.ModelPreferences(hints=[mcp.ModelHint("m")], cost_priority=0.5),
    system_prompt="Be brief.",
    temperature=0.5,
    stop_sequences=["."],
    tools=[TOOL],
    tool_choice=mcp.ToolChoice("auto"),
)
QUESTIONS: dict[str, mcp.InputRequest] = {
    "form": FORM,
    "page": mcp.elicit_url("Please", "https://example.com/x"),
    "model": SAMPLE,
    "roots": mcp.list_roots(),
}
MARKED = mcp.Annotations(audience=["user"], priority=0.5, last_modified="2026-01-01T00:00:00Z")

RESULTS: list[tuple[str, mcp.ServerResult]] = [
    (
        "server/discover",
        mcp.discover_result(
            name="s",
            version="1",
            title="S",
            description="d",
            website_url="https://example.com",
            icons=[ICON],
            capabilities={"tools": True, "resources": {"subscribe": True}, "logging": True, "extensions": {"a/b": {}}},
            instructions="Use it.",
            cache_scope="public",
            ttl_ms=5,
        ),
    ),
    ("tools/list", mcp.list_tools_result([TOOL, mcp.Tool("bare")], "next", ttl_ms=7)),
    ("resources/list", mcp.list_resources_result([mcp.Resource("a:b", "n", size=3, icons=[ICON], annotations=MARKED)])),
    ("resources/templates/list", mcp.list_resource_templates_result([mcp.ResourceTemplate("a:{b}", "n")], "c")),
    ("prompts/list", mcp.list_prompts_result([mcp.Prompt("p", arguments=[mcp.PromptArgument("a", required=True)])])),
    (
        "tools/call",
        mcp.call_tool_result(
            mcp.image(b"\x89PNG", "image/png", annotations=MARKED),
            mcp.audio(b"RIFF", "audio/wav"),
            mcp.resource("a:b", text="t"),
            mcp.resource("a:b", blob=b"\0", meta={"x": 1}),
            mcp.link("a:b", "n", size=0),
            text="hello",
            data=[1, None, {"a": 1.5}],
        ),
    ),
    ("tools/call", mcp.call_tool_result(data=None)),
    ("tools/call", mcp.call_tool_result(error="no")),
    ("tools/call", mcp.call_tool_result()),
    ("tools/call", mcp.input_required_result(QUESTIONS, "state")),
    ("prompts/get", mcp.input_required_result(request_state="later")),
    ("resources/read", mcp.input_required_result(QUESTIONS)),
    ("resources/read", mcp.read_resource_result("a:b", text="t", mime_type="text/plain", content_meta={"ui": {}})),
    ("resources/read", mcp.read_resource_result(contents=[mcp.resource_contents("a:b", blob=b"x")])),
    ("prompts/get", mcp.get_prompt_result(mcp.user("hi"), mcp.assistant(mcp.text("yes")), description="d")),
    ("completion/complete", mcp.complete_result(["a", "b"], total=5, has_more=True)),
    ("subscriptions/listen", mcp.listen_result(7)),
]


@pytest.mark.parametrize(("method", "result"), RESULTS, ids=[f"{kind}-{i}" for i, (kind, _) in enumerate(RESULTS)])
def test_result_is_read_by_the_official_models_without_loss(method: str, result: mcp.ServerResult) -> None:
    wire = json.loads(mcp.encode(result))
    methods.validate_server_result(method, VERSION, wire)
    model = methods.parse_server_result(method, VERSION, wire)
    assert model.model_dump(by_alias=True, mode="json", exclude_unset=True) == wire


@pytest.mark.parametrize(("method", "result"), RESULTS, ids=[f"{kind}-{i}" for i, (kind, _) in enumerate(RESULTS)])
def test_result_fits_the_schema_of_its_definition(method: str, result: mcp.ServerResult, check_schema: Any) -> None:
    check_schema(type(result).__name__, json.loads(mcp.encode(result)))
    check_schema("ServerResult", json.loads(mcp.encode(result)))


@pytest.mark.parametrize(("method", "result"), RESULTS, ids=[f"{kind}-{i}" for i, (kind, _) in enumerate(RESULTS)])
def test_result_decodes_to_what_was_built(method: str, result: mcp.ServerResult) -> None:
    again = mcp.decode_as(type(result), json.loads(mcp.encode(result)))
    assert mcp.encode(again) == mcp.encode(result)


NOTIFICATIONS: list[mcp.ServerNotification] = [
    mcp.with_subscription_id(mcp.ToolListChangedNotification(), 1),
    mcp.with_subscription_id(mcp.PromptListChangedNotification(), "s"),
    mcp.with_subscription_id(mcp.ResourceListChangedNotification(), 1),
    mcp.with_subscription_id(
        mcp.ResourceUpdatedNotification(params=mcp.ResourceUpdatedNotificationParams(uri="a:b")), 1
    ),
    mcp.SubscriptionsAcknowledgedNotification(
        params=mcp.SubscriptionsAcknowledgedNotificationParams(
            notifications=mcp.SubscriptionFilter(tools_list_changed=True, resource_subscriptions=["a:b"])
        )
    ),
    mcp.ProgressNotification(
        params=mcp.ProgressNotificationParams(progress_token="t", progress=1, total=2.5, message="m")
    ),
    mcp.LoggingMessageNotification(
        params=mcp.LoggingMessageNotificationParams(level="alert", data={"a": None}, logger="l")
    ),
    mcp.CancelledNotification(params=mcp.CancelledNotificationParams(request_id=1, reason="r")),
]


@pytest.mark.parametrize("sent", NOTIFICATIONS, ids=lambda sent: type(sent).__name__)
def test_notification_is_read_by_the_official_models(sent: mcp.ServerNotification, check_schema: Any) -> None:
    wire = json.loads(mcp.encode(sent))
    model = methods.parse_server_notification(wire["method"], VERSION, wire.get("params"))
    assert model.model_dump(by_alias=True, mode="json", exclude_unset=True).get("params") == wire.get("params")
    check_schema(type(sent).__name__, wire)


def test_error_structs_fit_the_schema_of_their_definitions(check_schema: Any) -> None:
    missing = mcp.MissingRequiredClientCapabilityError(
        id=1,
        error=mcp.MissingCapabilityDetail(
            code=-32021,
            message="m",
            data=mcp.RequiredCapabilities(required_capabilities=mcp.ClientCapabilities(roots={})),
        ),
    )
    check_schema("MissingRequiredClientCapabilityError", json.loads(mcp.encode(missing)))
    check_schema("JSONRPCErrorResponse", json.loads(mcp.encode(missing)))
    check_schema("ParseError", json.loads(mcp.encode(mcp.ParseError(code=-32700, message="m"))))
