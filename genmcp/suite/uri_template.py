"""URI templates (RFC 6570, levels 1 to 3): expanding, and matching a URI back to its variables.

| written | expands to | matches |
|---|---|---|
| `{x}`, `{x,y}` | the value, encoded; with commas | one segment: anything but `/ ? #`, not nothing |
| `{+x}` | the value, reserved characters kept | anything, not nothing; also `/` |
| `{#x}` | `#` and the value | the same, or nothing: then `x` is absent |
| `{.x}`, `{/x}` | `.x`, `/x` | the same, or nothing |
| `{;x}` | `;x=value` | parameters in any order; what is not there is absent |
| `{?x,y}`, `{&x}` | `?x=…&y=…` | a query in any order; what is not there is absent; an unknown name does not match |

A matched value is percent-decoded once. A template whose variables could not be told apart is refused when it is made.
Where a separator may be part of a value, as in `{name}.{extension}`, the first variable is as short as possible. (R-04)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

import msgspec

from genmcp.errors import ConfigurationError
from genmcp.suite.uri_pattern import (
    ANYTHING,
    RESERVED,
    SEGMENT,
    Fork,
    Literal,
    Node,
    Pairs,
    Run,
    match,
    tokenize,
)

NAME = re.compile(r"(?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*", re.ASCII)
TRIPLET = re.compile(r"(%[0-9A-Fa-f]{2})")


class Operator(msgspec.Struct, frozen=True):
    """How the variables of an expression are written: a row of the table in RFC 6570, appendix A."""

    first: str
    between: str
    named: bool = False
    if_empty: str = ""
    keeps_reserved: bool = False


OPERATORS: Mapping[str, Operator] = {
    "": Operator("", ","),
    "+": Operator("", ",", keeps_reserved=True),
    "#": Operator("#", ",", keeps_reserved=True),
    ".": Operator(".", "."),
    "/": Operator("/", "/"),
    ";": Operator(";", ";", named=True),
    "?": Operator("?", "&", named=True, if_empty="="),
    "&": Operator("&", "&", named=True, if_empty="="),
}


class Expression(msgspec.Struct, frozen=True):
    """One `{…}` of a template."""

    operator: str
    names: tuple[str, ...]


class UriTemplate:
    """A URI template.

    Args:
        text: The template.

    Attributes:
        text: The template as it was given.
        names: Its variables, in order.
        optional: The variables that may be absent from a matching URI.
        prefix: What every matching URI begins with.

    Raises:
        ConfigurationError: It is broken, uses a level 4 modifier, or could not be matched unambiguously.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = list(_parse(text))
        expressions = [part for part in self._parts if isinstance(part, Expression)]
        self.names = tuple(name for part in expressions for name in part.names)
        self.optional = frozenset(name for part in expressions if part.operator not in ("", "+") for name in part.names)
        for name in self.names:
            if self.names.count(name) > 1:
                raise _refused(text, f"the variable {name!r} is there twice, so a URI could give it two values")
        self._nodes = _compile(text, self._parts)
        first = self._parts[0] if self._parts else ""
        self.prefix = first if isinstance(first, str) else ""

    def __repr__(self) -> str:
        return f"UriTemplate({self.text!r})"

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the variables of a URI, decoded, without those that are absent; None if it does not match."""
        if not uri.startswith(self.prefix) and "%" not in self.prefix:  # encoded, the prefix has several spellings
            return None
        tokens = tokenize(uri)
        return None if tokens is None else match(self._nodes, tokens)

    def expand(self, values: Mapping[str, str]) -> str:
        """Return the URI for some values; a variable that has none is left out (RFC 6570, section 3.2.1)."""
        return "".join(part if isinstance(part, str) else _expanded(part, values) for part in self._parts)

    def covers(self, other: UriTemplate) -> bool:
        """Tell whether this template matches what the other one expands to, going by an example."""
        return self.match(other.expand({name: f"x{number}" for number, name in enumerate(other.names)})) is not None


def _parse(text: str) -> Iterator[str | Expression]:
    """Yield the literals, encoded, and the expressions of a template."""
    place = 0
    while place < len(text):
        begin = text.find("{", place)
        literal = text[place:] if begin < 0 else text[place:begin]
        if "}" in literal:
            raise _refused(text, "a } has no { before it")
        if literal:
            yield _literal(text, literal)
        if begin < 0:
            return
        end = text.find("}", begin)
        if end < 0:
            raise _refused(text, "a { is not closed")
        yield _expression(text, text[begin + 1 : end])
        place = end + 1


def _literal(text: str, literal: str) -> str:
    tokens = tokenize(literal)
    if tokens is None:
        raise _refused(text, f"{literal!r} has a character that no URI may have; encode it")
    return "".join(tokens)


def _expression(text: str, inside: str) -> Expression:
    operator = inside[:1] if inside[:1] in OPERATORS and inside else ""
    if inside[:1] in ("=", "!", "@", "|"):
        raise _refused(text, f"the operator {inside[0]!r} is reserved")
    names = tuple(inside[len(operator) :].split(","))
    for name in names:
        if name.endswith("*") or ":" in name:
            raise _refused(text, f"{{{inside}}} uses a modifier (level 4); values are texts, so leave it out")
        if not NAME.fullmatch(name):
            raise _refused(text, f"{{{inside}}}: {name!r} is no name of a variable; use letters, digits, _ and .")
    return Expression(operator, names)


def _refused(text: str, problem: str) -> ConfigurationError:
    return ConfigurationError(f"URI template {text!r}: {problem}")


# -- expanding


def _expanded(part: Expression, values: Mapping[str, str]) -> str:
    operator = OPERATORS[part.operator]
    written = [_written(operator, name, values[name]) for name in part.names if values.get(name) is not None]
    return operator.first + operator.between.join(written) if written else ""


def _written(operator: Operator, name: str, value: str) -> str:
    if operator.keeps_reserved:
        pieces = TRIPLET.split(value)  # every second piece is an encoded octet, which stays
        encoded = "".join(piece if odd % 2 else quote(piece, safe=_KEPT) for odd, piece in enumerate(pieces))
    else:
        encoded = quote(value, safe="")
    if not operator.named:
        return encoded
    return f"{name}={encoded}" if encoded else f"{name}{operator.if_empty}"


_KEPT = "".join(RESERVED)


# -- compiling


def _compile(text: str, parts: list[str | Expression]) -> list[Node]:
    nodes: list[Node] = []
    for number, part in enumerate(parts):
        if isinstance(part, str):
            nodes.append(Literal(tokenize(part) or []))
        elif part.operator == "?" and any("?" in item for item in parts[:number] if isinstance(item, str)):
            raise _refused(text, "there is a ? before {?…}; go on with {&…}")
        elif OPERATORS[part.operator].named:
            _add_pairs(nodes, part)
        else:
            _add_runs(nodes, part, _allowed(part, parts[number + 1 :]))
    for number, node in enumerate(nodes):
        if isinstance(node, Run | Pairs):
            _check_followers(text, node, list(_followers(nodes, number + 1)))
    return nodes


def _allowed(part: Expression, rest: list[str | Expression]) -> frozenset[str]:
    """Return what a value may hold; a `{+x}` before a `{?y}` ends where the query begins."""
    if not OPERATORS[part.operator].keeps_reserved:
        return SEGMENT
    later = {item.operator for item in rest if isinstance(item, Expression)}
    return ANYTHING - (frozenset("?#") if "?" in later else frozenset("#") if "#" in later else frozenset())


def _add_pairs(nodes: list[Node], part: Expression) -> None:
    names, stops = frozenset(part.names), ";/?#" if part.operator == ";" else "&#"
    before = nodes[-1] if nodes else None
    if part.operator == "&" and isinstance(before, Pairs) and before.between == "&":
        nodes[-1] = Pairs(before.names | names, "?&" if "?" in before.first else "&", "&", stops)
    else:
        nodes.append(Pairs(names, part.operator, OPERATORS[part.operator].between, stops))


def _add_runs(nodes: list[Node], part: Expression, allowed: frozenset[str]) -> None:
    operator = OPERATORS[part.operator]
    each = operator.first == operator.between  # `{/x,y}`: y may be absent where x is there
    end = len(nodes) + 2 * len(part.names) + (len(part.names) if each else 1)
    for number, name in enumerate(part.names):
        if operator.first and (each or not number):
            nodes.append(Fork(end))
        before = operator.between if number else operator.first
        if before:
            nodes.append(Literal([before]))
        nodes.append(Run(name, allowed))


def _followers(nodes: list[Node], number: int) -> Iterator[Node | None]:
    """Yield every node that may be the next to take something; None for the end."""
    node = nodes[number] if number < len(nodes) else None
    if isinstance(node, Fork):
        yield from _followers(nodes, number + 1)
        yield from _followers(nodes, node.skip)
        return
    yield node
    if isinstance(node, Pairs):
        yield from _followers(nodes, number + 1)


def _check_followers(text: str, node: Run | Pairs, followers: list[Node | None]) -> None:
    """Refuse what leaves open where a value ends.

    Raises:
        ConfigurationError: It names the variable, and what could stand between.
    """
    for follower in followers:
        if isinstance(node, Run):
            if isinstance(follower, Run):
                problem = f"nothing separates {node.name!r} and {follower.name!r}; put a / or another text between them"
                raise _refused(text, problem)
        elif not _ends(node, follower):
            what = "a query runs to the end or to a #" if node.between == "&" else "put a / after path parameters"
            raise _refused(text, f"what follows {', '.join(sorted(node.names))!r} could be part of it: {what}")


def _ends(node: Pairs, follower: Node | None) -> bool:
    ending = "#" if node.between == "&" else "/?#"
    match follower:
        case None:
            return True
        case Literal(tokens=tokens):
            return tokens[0] in ending
        case Pairs(first=first):
            return first in ending
    return False
