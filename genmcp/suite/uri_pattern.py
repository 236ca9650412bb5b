"""Matching a URI against a template: which values of the variables would have expanded to it.

Theory. A template becomes a row of nodes: literals, runs (the value of one variable), forks (what follows may be
absent) and pairs (named variables: a query). From the last node to the first, each node's table says for every place
in the URI where the node would end if it began there, so that the rest fits as well; then one walk from the start
reads the values off. Every node looks at every place once: the time is the product of both lengths, whatever the URI,
and a match that exists is found. Where several exist, each run is as short as it can be, from left to right.

A place is before a character or a percent-encoded octet, so an octet is never split.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias
from urllib.parse import quote, unquote

import msgspec

LONGEST_URI = 8192
"""Characters; a longer URI matches nothing."""

UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
RESERVED = frozenset(":/?#[]@!$&'()*+,;=")
ANYTHING = UNRESERVED | RESERVED
SEGMENT = ANYTHING - frozenset("/?#")
"""What a plain variable may hold: also what a client should have encoded, as long as it cannot be a separator."""

_TOKEN = re.compile(r"%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")

NOWHERE = -1
Tokens: TypeAlias = "list[str]"
Table: TypeAlias = "list[int]"


class Literal(msgspec.Struct, frozen=True):
    """A text that must be there, as tokens."""

    tokens: Sequence[str]


class Run(msgspec.Struct, frozen=True):
    """The value of a variable: one token at least, of `allowed` or percent-encoded."""

    name: str
    allowed: frozenset[str]


class Fork(msgspec.Struct, frozen=True):
    """What lies between here and the node `skip` may be absent."""

    skip: int


class Pairs(msgspec.Struct, frozen=True):
    """Named variables in any order, each at most once, or none of them: `;a=1`, `?a=1&b=2`.

    Attributes:
        names: The variables.
        first: What the first pair may begin with.
        between: What each further pair begins with.
        stops: What ends a value.
    """

    names: frozenset[str]
    first: str
    between: str
    stops: str


Node: TypeAlias = Literal | Run | Fork | Pairs


def tokenize(uri: str) -> Tokens | None:
    """Split a URI into characters and percent-encoded octets; None if it is no URI.

    Characters outside ASCII count as encoded, as in an IRI.
    """
    if len(uri) > LONGEST_URI:
        return None
    try:
        plain = uri if uri.isascii() else _FOREIGN.sub(lambda found: quote(found[0]), uri)
    except UnicodeEncodeError:  # a lone surrogate
        return None
    tokens = _TOKEN.findall(plain)
    if "%" not in plain:
        return tokens if len(tokens) == len(plain) else None
    return [token.upper() if len(token) == 3 else token for token in tokens] if "".join(tokens) == plain else None


def match(nodes: Sequence[Node], tokens: Tokens) -> dict[str, str] | None:
    """Return the values of the variables, decoded; None if the URI is no expansion of the template."""
    tables = _tables(nodes, tokens)
    if tables[0][0] == NOWHERE:
        return None
    found: dict[str, str] = {}
    number = place = 0
    while number < len(nodes):
        node, end = nodes[number], tables[number][place]
        if isinstance(node, Run):
            found[node.name] = "".join(tokens[place:end])
        elif isinstance(node, Pairs):
            found.update(_read_pairs(node, tokens, place)[1])
        skips = isinstance(node, Fork) and tables[number + 1][place] == NOWHERE
        number = node.skip if isinstance(node, Fork) and skips else number + 1
        place = end
    try:
        return {name: unquote(value, errors="strict") for name, value in found.items()}
    except UnicodeDecodeError:
        return None


def _tables(nodes: Sequence[Node], tokens: Tokens) -> list[Table]:
    """Return each node's table, and one more for the end of the URI."""
    size = len(tokens) + 1
    last = [NOWHERE] * size
    last[-1] = size - 1
    tables: list[Table] = [[]] * len(nodes) + [last]
    for number in range(len(nodes) - 1, -1, -1):
        node, after = nodes[number], tables[number + 1]
        match node:
            case Literal():
                tables[number] = _literal_table(node, tokens, after)
            case Run():
                tables[number] = _run_table(node, tokens, after)
            case Fork():
                other = tables[node.skip]
                tables[number] = [
                    place if after[place] != NOWHERE or other[place] != NOWHERE else NOWHERE for place in range(size)
                ]
            case Pairs():
                tables[number] = _pairs_table(node, tokens, after)
    return tables


def _literal_table(node: Literal, tokens: Tokens, after: Table) -> Table:
    text, length = list(node.tokens), len(node.tokens)
    table = [NOWHERE] * len(after)
    for place in range(len(after) - length):
        if after[place + length] != NOWHERE and tokens[place : place + length] == text:
            table[place] = place + length
    return table


def _run_table(node: Run, tokens: Tokens, after: Table) -> Table:
    allowed = node.allowed
    table = [NOWHERE] * len(after)
    nearest = NOWHERE  # the nearest end that a run from here may have
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place]
        if token not in allowed and len(token) == 1:
            nearest = NOWHERE
        elif after[place + 1] != NOWHERE:
            nearest = place + 1
        table[place] = nearest
    return table


def _pairs_table(node: Pairs, tokens: Tokens, after: Table) -> Table:
    table = [place if after[place] != NOWHERE else NOWHERE for place in range(len(after))]
    query = tokens.index("?") if "?" in tokens else NOWHERE  # a later ? belongs to a value
    for place, token in enumerate(tokens):
        if token in node.first and (token != "?" or place == query):
            end, _ = _read_pairs(node, tokens, place)
            if end != place and after[end] != NOWHERE:
                table[place] = end
    return table


def _read_pairs(node: Pairs, tokens: Tokens, place: int) -> tuple[int, dict[str, str]]:
    """Read pairs as long as they are some of the node's; return where they end and their values.

    An unknown or repeated name ends the reading before its pair, which then fits nothing else.
    """
    found: dict[str, str] = {}
    begin = node.first
    while place < len(tokens) and tokens[place] in begin and len(found) < len(node.names):
        end = place + 1
        while end < len(tokens) and tokens[end] not in node.stops:
            end += 1
        name, _, value = "".join(tokens[place + 1 : end]).partition("=")
        if name not in node.names or name in found:
            break
        found[name] = value
        place, begin = end, node.between
    return place, found
