"""The Suite and its providers: tools, extensions and the subscription handler.

One behaviour a file. Nothing here knows of HTTP; what a provider needs of its request is in the channel.
"""

from genmcp.suite.changes import Changes
from genmcp.suite.extension import Extension
from genmcp.suite.function_tool import FunctionTool, tool
from genmcp.suite.subscription import SubscriptionCapabilities, SubscriptionHandler
from genmcp.suite.suite import BUILT_IN, Suite
from genmcp.suite.tool import Tool

__all__ = [
    "BUILT_IN",
    "Changes",
    "Extension",
    "FunctionTool",
    "SubscriptionCapabilities",
    "SubscriptionHandler",
    "Suite",
    "Tool",
    "tool",
]
