"""Functions that build what handlers return, with the work that is easy to get wrong done inside.

They encode Base64, mirror structured values as text, fill in cache hints and spell `_meta` keys.
"""

from genmcp.mcp.v2607.builders.blocks import (
    ContentLike,
    audio,
    content_block,
    image,
    link,
    resource,
    resource_contents,
    text,
)
from genmcp.mcp.v2607.builders.calls import PromptLike, ResultPart, assistant, call_tool_result, get_prompt_result, user
from genmcp.mcp.v2607.builders.discovery import capabilities, discover_result, server_info
from genmcp.mcp.v2607.builders.lists import (
    default_cache_control,
    list_prompts_result,
    list_resource_templates_result,
    list_resources_result,
    list_tools_result,
)
from genmcp.mcp.v2607.builders.questions import (
    create_message,
    elicit_form,
    elicit_url,
    input_required_result,
    list_roots,
)
from genmcp.mcp.v2607.builders.results import complete_result, read_resource_result
from genmcp.mcp.v2607.builders.streams import (
    SUBSCRIPTION_NOTIFICATIONS,
    listen_result,
    requires_subscription_id,
    with_subscription_id,
)

__all__ = [
    "SUBSCRIPTION_NOTIFICATIONS",
    "ContentLike",
    "PromptLike",
    "ResultPart",
    "assistant",
    "audio",
    "call_tool_result",
    "capabilities",
    "complete_result",
    "content_block",
    "create_message",
    "default_cache_control",
    "discover_result",
    "elicit_form",
    "elicit_url",
    "get_prompt_result",
    "image",
    "input_required_result",
    "link",
    "list_prompts_result",
    "list_resource_templates_result",
    "list_resources_result",
    "list_roots",
    "list_tools_result",
    "listen_result",
    "read_resource_result",
    "requires_subscription_id",
    "resource",
    "resource_contents",
    "server_info",
    "text",
    "user",
    "with_subscription_id",
]
