"""From a validator's errors to sentences that a model can act on.

The libraries' own messages name their internals, leave out the path, and answer a wrong union with "not valid under any
of the schemas". Here each error becomes a `Problem`: the path of the argument, what was expected, what was given. For a
union the branch that was meant is found first: the one whose kind of value was given, or whose tag was.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jsonschema_rs import ValidationError

from genmcp.schema.expectation import alternatives, bound, expectation, format_text, one_of, types_text
from genmcp.schema.problem import Problem, path_text, quote, shorten
from genmcp.schema.walk import Schema, look_up

__all__ = ["describe", "problems_of"]

MOST_TOLD = 10
MOST_NAMES = 20

# Schemas under these keywords are about another value than the schema that holds them.
_DESCENDING = (
    "$defs",
    "additionalProperties",
    "definitions",
    "items",
    "patternProperties",
    "prefixItems",
    "properties",
)


def describe(problems: Sequence[Problem], *, subject: str = "arguments") -> str:
    """Write problems for the model that made them, to stand behind a colon.

    Args:
        problems: What `Validator.problems` found; at least one.
        subject: What is called wrong where a problem has no path, in the plural.

    Returns:
        One problem as it is; several as their number and the first ten, one a line, and how many more there are.
    """
    told = [_sentence(problem, subject) for problem in problems[:MOST_TOLD]]
    if len(problems) < 2:
        return "".join(told)
    more = f"\nand {len(problems) - MOST_TOLD} more" if len(problems) > MOST_TOLD else ""
    return f"{len(problems)} problems\n- " + "\n- ".join(told) + more


def _sentence(problem: Problem, subject: str) -> str:
    return str(problem) if problem.path or problem.kind == "refused" else f"the {subject}: {problem}"


def problems_of(errors: Iterable[ValidationError], schema: Schema) -> list[Problem]:
    """Translate a validator's errors, in their order and without repeating any.

    Args:
        errors: The errors of one value.
        schema: The schema that the value was checked against.
    """
    return list(dict.fromkeys(problem for error in errors for problem in _translate(error, schema)))


def _translate(error: ValidationError, root: Schema) -> Iterator[Problem]:
    kind = type(error.kind).__name__
    if kind in ("AnyOf", "OneOfNotValid"):
        yield from _union(error, root)
    elif kind == "Required":
        yield _missing(error, root)
    elif kind in ("AdditionalProperties", "UnevaluatedProperties"):
        yield from _unknown(error, root)
    else:
        yield Problem(path_text(error.instance_path), _expected(error), shorten(error.instance))


def _missing(error: ValidationError, root: Schema) -> Problem:
    name = _detail(error).property
    expected = expectation(_member(error, name, root), root)
    return Problem(path_text([*error.instance_path, name]), expected, kind="missing")


def _detail(error: ValidationError) -> Any:
    """The error's kind, whose fields depend on the keyword that failed."""
    return error.kind


def _known_members(error: ValidationError, root: Schema) -> Mapping[str, Any]:
    """The `properties` beside the keyword that failed; none if the keyword stands in a schema of its own."""
    members = look_up(root, (*error.schema_path[:-1], "properties"))
    return members if isinstance(members, Mapping) else {}


def _member(error: ValidationError, name: str, root: Schema) -> object:
    """The schema of a member: beside the keyword, or around the branch (`then`, `allOf`, …) that the keyword is in."""
    for end in range(len(error.schema_path) - 1, -1, -1):
        members = look_up(root, (*error.schema_path[:end], "properties"))
        if isinstance(members, Mapping) and name in members:
            return members[name]
        if end and error.schema_path[end - 1] in _DESCENDING:
            break
    return None


def _unknown(error: ValidationError, root: Schema) -> Iterator[Problem]:
    known = _known_members(error, root)
    given: Any = error.instance
    free = [name for name in known if name not in given]
    for name in _detail(error).unexpected:
        path = path_text([*error.instance_path, name])
        yield Problem(path, _meant(name, list(known), free), shorten(given[name]), kind="unknown")


def _meant(name: str, known: list[str], free: list[str]) -> str:
    folded = {candidate.replace("_", "").lower(): candidate for candidate in free}
    close = difflib.get_close_matches(name.replace("_", "").lower()[:100], folded, n=1, cutoff=0.7)
    if close:
        return f"did you mean {quote(folded[close[0]])}?"
    if not known:
        return "no names are known here"
    return f"the names are {', '.join(known[:MOST_NAMES])}{' and others' if len(known) > MOST_NAMES else ''}"


def _union(error: ValidationError, root: Schema) -> Iterator[Problem]:
    """Tell the errors of the branch that was meant, or else all that would have been taken."""
    branches: list[list[ValidationError]] = _detail(error).context
    depth = len(error.instance_path)
    meant = [branch for branch in branches if branch and all(_is_inside(inner, depth) for inner in branch)]
    tagged = [branch for branch in meant if not any(_is_tag(inner, depth) for inner in branch)]
    if len(tagged) == 1 or len(meant) == 1:
        yield from problems_of((tagged if len(tagged) == 1 else meant)[0], root)
    elif meant and not tagged and (tag := _wrong_tag(meant, depth)) is not None:
        yield tag
    else:
        yield Problem(path_text(error.instance_path), _any_branch(error, branches, root), shorten(error.instance))


def _is_inside(error: ValidationError, depth: int) -> bool:
    """Whether the branch took the kind of value and only found fault with what it holds."""
    inside = ("Required", "AdditionalProperties", "UnevaluatedProperties", "AnyOf", "OneOfNotValid")
    return len(error.instance_path) > depth or type(error.kind).__name__ in inside


def _is_tag(error: ValidationError, depth: int) -> bool:
    """Whether a member that tells the branches apart names another branch."""
    return type(error.kind).__name__ in ("Enum", "Constant") and len(error.instance_path) == depth + 1


def _wrong_tag(branches: list[list[ValidationError]], depth: int) -> Problem | None:
    """Merge what the branches expect of their common tag; None if they do not have one."""
    tags = [inner for branch in branches for inner in branch if _is_tag(inner, depth)]
    paths = {path_text(tag.instance_path) for tag in tags}
    if len(paths) != 1:
        return None
    options = [option for tag in tags for option in _options(tag)]
    return Problem(paths.pop(), one_of(options), shorten(tags[0].instance))


def _options(error: ValidationError) -> list[Any]:
    kind = _detail(error)
    return list(kind.options) if type(kind).__name__ == "Enum" else [kind.expected_value]


def _any_branch(error: ValidationError, branches: list[list[ValidationError]], root: Schema) -> str:
    schemas = look_up(root, tuple(error.schema_path))
    texts = [expectation(branch, root) for branch in schemas] if isinstance(schemas, list) else []
    if not texts or "a value" in texts:
        texts = [" and ".join(dict.fromkeys(_expected(inner) for inner in branch)) for branch in branches]
    return alternatives(texts)


def _limit(error: ValidationError) -> str:
    kind = _detail(error)
    return bound(kind.name, kind.multiple_of if kind.name == "multipleOf" else kind.limit)


_PHRASES: dict[str, Callable[[Any], str]] = {
    "Type": lambda kind: types_text(kind.types),
    "Enum": lambda kind: one_of(kind.options),
    "Constant": lambda kind: quote(kind.expected_value),
    "Format": lambda kind: format_text(kind.format),
    "Pattern": lambda kind: f"a string that matches {quote(kind.pattern)}",
    "UniqueItems": lambda kind: "items that all differ",
    "Contains": lambda kind: "an array with more of the items that the schema asks for",
    "AdditionalItems": lambda kind: bound("maxItems", kind.limit),
    "UnevaluatedItems": lambda kind: "no further items",
    "FalseSchema": lambda kind: "nothing here",
    "OneOfMultipleValid": lambda kind: "a value that fits only one of the alternatives",
    "PropertyNames": lambda kind: f"names that are {_expected(kind.error)}",
    "Not": lambda kind: f"anything but {expectation(kind.schema, {})}",
    "ContentEncoding": lambda kind: f"a string in {kind.content_encoding}",
    "ContentMediaType": lambda kind: f"a string that holds {kind.content_media_type}",
    "Required": lambda kind: f"an object with {quote(kind.property)}",
    "AdditionalProperties": lambda kind: "an object without other members",
    "UnevaluatedProperties": lambda kind: "an object without other members",
}


def _expected(error: ValidationError) -> str:
    kind = type(error.kind).__name__
    if kind in _PHRASES:
        return _PHRASES[kind](error.kind)
    if hasattr(error.kind, "limit") or kind == "MultipleOf":
        return _limit(error)
    return "a simpler value" if kind in ("BacktrackLimitExceeded", "RegexEngineFailure") else "a valid value"
