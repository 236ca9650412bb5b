"""What is raised when the author's schema or function cannot be served: always at start-up, never on a request."""

from __future__ import annotations

from genmcp.errors import ConfigurationError

__all__ = ["SchemaError", "SignatureError"]


class SchemaError(ConfigurationError):
    """A schema is not valid, not local, too large, or not allowed in its place; the text says where and what to do."""


class SignatureError(ConfigurationError):
    """A decorated function cannot become a tool; the text names the function, the parameter and what was expected."""
