"""Types and JSON Schema: what a tool takes and gives, checked, converted and explained.

`compile` checks values against a schema; `messages` says what is wrong with them so that a model can put it right;
`derive` makes schemas from types, `convert` makes values of those types from JSON; `signature` does both for a
decorated function; `headers` reads `x-mcp-header`; `elicitation` has the restricted schemas of forms.

Nothing here knows of channels, requests or HTTP, and nothing is ever fetched.
"""

from genmcp.schema.compile import DIALECTS, Validator, compile_schema
from genmcp.schema.convert import Converter, InvalidValueError
from genmcp.schema.derive import schema_for
from genmcp.schema.elicitation import check_elicitation, elicitation_schema
from genmcp.schema.errors import SchemaError, SignatureError
from genmcp.schema.headers import HeaderParam, HeaderType, header_parameters, matches
from genmcp.schema.messages import describe
from genmcp.schema.problem import Problem
from genmcp.schema.signature import Parameter, Signature, read_signature

__all__ = [
    "DIALECTS",
    "Converter",
    "HeaderParam",
    "HeaderType",
    "InvalidValueError",
    "Parameter",
    "Problem",
    "SchemaError",
    "Signature",
    "SignatureError",
    "Validator",
    "check_elicitation",
    "compile_schema",
    "describe",
    "elicitation_schema",
    "header_parameters",
    "matches",
    "read_signature",
    "schema_for",
]
