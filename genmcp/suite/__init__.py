"""The Suite and its providers: tools, resources, prompts, extensions and the subscription handler.

One behaviour a file. Nothing here knows of HTTP; what a provider needs of its request is in the channel.
"""

from genmcp.suite.changes import Changes
from genmcp.suite.directory import DirectoryResources
from genmcp.suite.extension import Extension
from genmcp.suite.function_prompt import FunctionPrompt, prompt
from genmcp.suite.function_resource import FunctionResource, resource
from genmcp.suite.function_tool import FunctionTool, tool
from genmcp.suite.page import Page
from genmcp.suite.prompt import PromptRepo, check_arguments
from genmcp.suite.providers import Offers
from genmcp.suite.resource import ResourceRepo
from genmcp.suite.subscription import SubscriptionCapabilities, SubscriptionHandler
from genmcp.suite.suite import BUILT_IN, Suite
from genmcp.suite.tool import Tool

__all__ = [
    "BUILT_IN",
    "Changes",
    "DirectoryResources",
    "Extension",
    "FunctionPrompt",
    "FunctionResource",
    "FunctionTool",
    "Offers",
    "Page",
    "PromptRepo",
    "ResourceRepo",
    "SubscriptionCapabilities",
    "SubscriptionHandler",
    "Suite",
    "Tool",
    "check_arguments",
    "prompt",
    "resource",
    "tool",
]
