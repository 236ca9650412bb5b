"""Compile a JSON Schema once, at start-up, and check values against it fast.

What the specification demands is met here (B-31 to B-38, T-08, T-10): 2020-12 unless `$schema` names another dialect,
the schema itself valid under its dialect, `format` asserted, no reference ever fetched from the network or a file, and
depth, number of parts, size and the time of a check bounded.

Supported dialects: draft 4, draft 6, draft 7, 2019-09 and 2020-12.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import msgspec

from genmcp.schema.errors import SchemaError
from genmcp.schema.messages import problems_of
from genmcp.schema.problem import Problem, path_text, quote, shorten
from genmcp.schema.sample import Sample
from genmcp.schema.walk import Place, Schema, subschemas

__all__ = ["DIALECTS", "Validator", "compile_schema"]

MAX_DEPTH = 64
MAX_PARTS = 10_000
MAX_BYTES = 1_048_576

# Regular expressions with look-around or back references are matched by trial; what takes more steps does not match.
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)

DIALECTS = {
    "http://json-schema.org/draft-04/schema": "draft 4",
    "http://json-schema.org/draft-06/schema": "draft 6",
    "http://json-schema.org/draft-07/schema": "draft 7",
    "https://json-schema.org/draft/2019-09/schema": "2019-09",
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
}


class Validator:
    """A compiled schema. Stateless: one serves every request.

    Attributes:
        schema: The schema as the author wrote it; not to be changed.
    """

    __slots__ = ("_compiled", "schema")

    def __init__(self, schema: Schema, compiled: jsonschema_rs.Validator) -> None:
        self.schema = schema
        self._compiled = compiled

    def is_valid(self, value: object) -> bool:
        """Whether a JSON value fits the schema; a value that JSON cannot hold does not."""
        try:
            return self._compiled.is_valid(value)
        except ValueError:
            return False

    def problems(self, value: object) -> list[Problem]:
        """Return everything that is wrong with a JSON value; an empty list if it is valid.

        A valid value costs one native check. Of a value that is both wrong and large only a part is searched for
        everything that is wrong, so that no request can hold the server: see `Sample`.
        """
        try:
            if self._compiled.is_valid(value):
                return []
            return self._search(value)
        except ValueError:
            return [Problem("", "a value that JSON can hold", shorten(value))]

    def _search(self, value: object) -> list[Problem]:
        sample = Sample(value)
        errors = (error for error in self._compiled.iter_errors(sample.value) if _is_of_value(error, sample))
        return problems_of(errors, self.schema) or self._first(value, sample)

    def _first(self, value: object, sample: Sample) -> list[Problem]:
        """Find one error of a large value whose beginning has none."""
        if sample.is_searchable:
            try:
                self._compiled.validate(value)
            except jsonschema_rs.ValidationError as error:
                return problems_of([error], self.schema)
        return [Problem("", "a value that fits the schema", "one too large to say where it does not")]


def _is_of_value(error: jsonschema_rs.ValidationError, sample: Sample) -> bool:
    """Whether an error of a sample is one of the whole value: a cut container keeps its type and its members."""
    return sample.is_whole(error.instance_path) or type(error.kind).__name__ in ("Type", "AdditionalProperties")


def compile_schema(schema: Mapping[str, Any], *, where: str, output: bool = False) -> Validator:
    """Compile a schema, or say why it cannot be served.

    Args:
        schema: The schema, as it will go to the client. It is not changed.
        where: What the schema belongs to, as `tool "weather": input_schema`; every error begins with it.
        output: Whether it describes results. Arguments are always objects, so other schemas must have
            `"type": "object"` at their root; results may be anything.

    Raises:
        SchemaError: The schema is a boolean, not JSON, too large, of an unknown dialect, not valid under its dialect,
            has a reference that leads outside itself, or (arguments) is not of type object.
    """
    if not isinstance(schema, Mapping):
        raise SchemaError(f"{where}: expected a JSON Schema object, got {shorten(schema)}")
    if not output and schema.get("type") != "object":
        raise SchemaError(f'{where}: arguments are an object, so the root of the schema must have "type": "object"')
    _bound(schema, where)
    _require_known_dialects(schema, where)
    try:
        compiled = jsonschema_rs.validator_for(
            dict(schema), validate_formats=True, offline=True, pattern_options=_PATTERNS
        )
    except jsonschema_rs.ValidationError as error:
        raise SchemaError(f"{where}: {_fault(error)}") from None
    except ValueError as error:
        raise SchemaError(f"{where}: {error}") from None
    return Validator(schema, compiled)


def _fault(error: jsonschema_rs.ValidationError) -> str:
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Referencing):
        return (
            f"a $ref cannot be resolved: {error.message.splitlines()[0]}. References are never fetched; "
            "put what they name under $defs of the same schema"
        )
    problems = problems_of([error], {})
    return f"not a valid JSON Schema: {'; '.join(str(problem) for problem in problems)}"


def _require_known_dialects(schema: Schema, where: str) -> None:
    for place, part in subschemas(schema):
        if "$schema" not in part:
            continue
        declared = part["$schema"]
        if not isinstance(declared, str) or declared.removesuffix("#") not in DIALECTS:
            known = ", ".join(DIALECTS)
            at = path_text((*place, "$schema"))
            raise SchemaError(f"{where}: {at} is {quote(declared)}, which is not supported; the dialects are {known}")


def _bound(schema: Schema, where: str) -> None:
    """Refuse what is not JSON or too large, before anything that recurses looks at it."""
    pending: list[tuple[Place, object]] = [((), schema)]
    parts = 0
    while pending:
        place, part = pending.pop()
        if isinstance(part, Mapping):
            _require_string_keys(part, place, where)
            pending.extend(((*place, name), child) for name, child in part.items())
        elif isinstance(part, list | tuple):
            pending.extend(((*place, index), child) for index, child in enumerate(part))
        elif not (part is None or isinstance(part, str | int | float)):
            raise SchemaError(f"{where}: {path_text(place)} is a {type(part).__name__}, which JSON does not have")
        parts += 1
        if len(place) > MAX_DEPTH or parts > MAX_PARTS:
            raise SchemaError(f"{where}: more than {MAX_DEPTH} levels deep, or more than {MAX_PARTS:,} parts")
    if len(msgspec.json.encode(schema)) > MAX_BYTES:
        raise SchemaError(f"{where}: larger than {MAX_BYTES:,} bytes as JSON")


def _require_string_keys(part: Mapping[Any, object], place: Place, where: str) -> None:
    for name in part:
        if not isinstance(name, str):
            at = path_text(place) or "the root"
            raise SchemaError(f"{where}: {at} has the key {name!r}; keys of JSON objects are strings")
