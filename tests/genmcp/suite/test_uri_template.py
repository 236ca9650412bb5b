"""URI templates: the RFC's own examples, matching back, what is refused, and that no URI takes long."""

from __future__ import annotations

import re
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genmcp import ConfigurationError
from genmcp.suite.uri_template import UriTemplate

# RFC 6570, sections 1.2 and 3.2: variables and expansions.
VALUES = {
    "var": "value",
    "hello": "Hello World!",
    "half": "50%",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "v": "6",
    "x": "1024",
    "y": "768",
    "empty": "",
    "dub": "me/too",
}
EXPANSIONS = [
    ("{var}", "value"),
    ("{hello}", "Hello%20World%21"),
    ("{half}", "50%25"),
    ("O{empty}X", "OX"),
    ("O{undef}X", "OX"),
    ("{x,y}", "1024,768"),
    ("{x,hello,y}", "1024,Hello%20World%21,768"),
    ("?{x,empty}", "?1024,"),
    ("?{x,undef}", "?1024"),
    ("?{undef,y}", "?768"),
    ("{+var}", "value"),
    ("{+hello}", "Hello%20World!"),
    ("{+half}", "50%25"),
    ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
    ("{+base}index", "http://example.com/home/index"),
    ("O{+empty}X", "OX"),
    ("{+path}/here", "/foo/bar/here"),
    ("up{+path}value/here", "up/foo/barvalue/here"),
    ("{+x,hello,y}", "1024,Hello%20World!,768"),
    ("{+path,x}/here", "/foo/bar,1024/here"),
    ("{#var}", "#value"),
    ("{#hello}", "#Hello%20World!"),
    ("{#half}", "#50%25"),
    ("foo{#empty}", "foo#"),
    ("foo{#undef}", "foo"),
    ("{#x,hello,y}", "#1024,Hello%20World!,768"),
    ("{#path,x}/here", "#/foo/bar,1024/here"),
    ("{.who}", ".fred"),
    ("{.half,who}", ".50%25.fred"),
    ("X{.var}", "X.value"),
    ("X{.empty}", "X."),
    ("X{.undef}", "X"),
    ("{/who}", "/fred"),
    ("{/half,who}", "/50%25/fred"),
    ("{/who,dub}", "/fred/me%2Ftoo"),
    ("{/var,empty}", "/value/"),
    ("{/var,undef}", "/value"),
    ("{/var,x}/here", "/value/1024/here"),
    ("{;who}", ";who=fred"),
    ("{;half}", ";half=50%25"),
    ("{;empty}", ";empty"),
    ("{;v,empty,who}", ";v=6;empty;who=fred"),
    ("{;v,undef,who}", ";v=6;who=fred"),
    ("{;x,y,empty}", ";x=1024;y=768;empty"),
    ("{?who}", "?who=fred"),
    ("{?half}", "?half=50%25"),
    ("{?x,y,empty}", "?x=1024&y=768&empty="),
    ("{?x,y,undef}", "?x=1024&y=768"),
    ("{&who}", "&who=fred"),
    ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
    ("{&x,y,empty}", "&x=1024&y=768&empty="),
]


@pytest.mark.parametrize(("template", "expansion"), EXPANSIONS)
def test_expands_as_the_rfc_says(template: str, expansion: str) -> None:
    assert UriTemplate(template).expand(VALUES) == expansion


# An absent or empty value leaves no trace where it has no name.
UNDONE = [case for case in EXPANSIONS if not re.search(r"undef|\{[+#./]?[^};?&]*empty", case[0])]


@pytest.mark.parametrize(("template", "expansion"), UNDONE)
def test_matches_its_own_expansion_back(template: str, expansion: str) -> None:
    made = UriTemplate(template)
    assert made.match(expansion) == {name: VALUES[name] for name in made.names}


@pytest.mark.parametrize(
    ("template", "uri", "found"),
    [
        ("test://template/{id}/data", "test://template/123/data", {"id": "123"}),
        ("docs://{name}", "docs://a%20b%2Fc", {"name": "a b/c"}),
        ("docs://{name}", "docs://%2541", {"name": "%41"}),
        ("docs://{name}", "docs://caf%C3%A9", {"name": "café"}),
        ("docs://{name}", "docs://caf%c3%a9", {"name": "café"}),
        ("docs://{name}", "docs://café", {"name": "café"}),
        ("docs://café/{name}", "docs://caf%C3%A9/x", {"name": "x"}),
        ("users://{mail}", "users://a@b.c", {"mail": "a@b.c"}),
        ("file:///{+path}", "file:///a/b%20c/d.txt", {"path": "a/b c/d.txt"}),
        ("file:///{+path}", "file:///..%2F..%2Fetc", {"path": "../../etc"}),
        ("{+path}/end/{id}", "a/end/b/end/c", {"path": "a/end/b", "id": "c"}),
        ("f:{name}.{extension}", "f:a.tar.gz", {"name": "a", "extension": "tar.gz"}),
        ("f:{name}{.extension}", "f:README", {"name": "README"}),
        ("f:{name}{.extension}-{v}", "f:a-b.c", {"name": "a", "v": "b.c"}),
        ("r:{owner}{/repo,path}", "r:me", {"owner": "me"}),
        ("r:{owner}{/repo,path}", "r:me/it/x", {"owner": "me", "repo": "it", "path": "x"}),
        ("r:{x}{#part}", "r:a#b/c?d", {"x": "a", "part": "b/c?d"}),
        ("s:{x}{?q,lang}", "s:a?lang=de&q=b%26c", {"x": "a", "q": "b&c", "lang": "de"}),
        ("s:{x}{?q,lang}", "s:a?lang=", {"x": "a", "lang": ""}),
        ("s:{x}{?q,lang}", "s:a", {"x": "a"}),
        ("s:{x}{?q}", "s:a?q=b/c?d=e", {"x": "a", "q": "b/c?d=e"}),
        ("s:{+x}{?q}", "s:a/b?q=1", {"x": "a/b", "q": "1"}),
        ("s:x{?a}{&b}", "s:x?b=2&a=1", {"a": "1", "b": "2"}),
        ("s:x?fixed=1{&a}", "s:x?fixed=1&a=2", {"a": "2"}),
        ("p:{x}{;a,b}/z", "p:q;b=1;a/z", {"x": "q", "a": "", "b": "1"}),
        ("{a}2{b}", "%E2%82%AC2x", {"a": "€", "b": "x"}),
    ],
)
def test_match_finds_the_values(template: str, uri: str, found: dict[str, str]) -> None:
    assert UriTemplate(template).match(uri) == found


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("docs://{name}", "docs://"),
        ("docs://{name}", "docs://a/b"),
        ("docs://{name}", "docs://a?b"),
        ("docs://{name}", "docs://a#b"),
        ("docs://{name}", "DOCS://a"),
        ("docs://{name}", "docs://a b"),
        ("docs://{name}", "docs://a\n"),
        ("docs://{name}", "docs://a\0"),
        ("docs://{name}", "docs://100%"),
        ("docs://{name}", "docs://%zz"),
        ("docs://{name}", "docs://%C3"),
        ("docs://{name}", "docs://\ud800"),
        ("docs://{name}", "docs://" + "a" * 9000),
        ("docs://{name}/x", "docs://a/x/"),
        ("file:///{+path}", "file:///"),
        ("s:{x}{?q}", "s:a?other=1"),
        ("s:{x}{?q}", "s:a?q=1&q=2"),
        ("s:{x}{?q}", "s:a?q=1#x"),
        ("s:{x}{?q}", "s:a?"),
    ],
)
def test_what_is_no_expansion_does_not_match(template: str, uri: str) -> None:
    assert UriTemplate(template).match(uri) is None


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("docs://{name", "not closed"),
        ("docs://name}", "no { before"),
        ("docs://{}", "no name of a variable"),
        ("docs://{a{b}}", "no name of a variable"),
        ("docs://{a-b}", "no name of a variable"),
        ("docs://{a,}", "no name of a variable"),
        ("docs://{a b}", "no name of a variable"),
        ("docs://{ä}", "no name of a variable"),
        ("docs://{?}", "no name of a variable"),
        ("docs://{list*}", "level 4"),
        ("docs://{name:3}", "level 4"),
        ("docs://{=x}", "reserved"),
        ("docs://{|x}", "reserved"),
        ("docs://a b/{x}", "no URI may have"),
        ("docs://100%/{x}", "no URI may have"),
        ("docs://{x}/{x}", "twice"),
        ("docs://{a}{b}", "nothing separates 'a' and 'b'"),
        ("docs://{a}{+b}", "nothing separates 'a' and 'b'"),
        ("docs://{/a}{b}", "nothing separates 'a' and 'b'"),
        ("docs://{a}{;p}{b}", "nothing separates 'a' and 'b'"),
        ("docs://{a}{.b}{c}", "nothing separates 'a' and 'c'"),
        ("docs://{?q}/x", "a query runs to the end"),
        ("docs://{?q}{x}", "a query runs to the end"),
        ("docs://{;p}x", "put a / after path parameters"),
        ("docs://?a=1{?b}", "go on with {&"),
    ],
)
def test_broken_template_is_refused_with_a_sentence(template: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(problem)) as caught:
        UriTemplate(template)
    assert str(caught.value).startswith(f"URI template {template!r}: ")


def test_attributes_say_what_is_inside() -> None:
    template = UriTemplate("repo://{owner}/{+path}{?ref,raw}")
    assert template.prefix == "repo://"
    assert template.names == ("owner", "path", "ref", "raw")
    assert template.optional == {"ref", "raw"}
    assert UriTemplate("{x}").prefix == ""
    assert UriTemplate("plain://text").match("plain://text") == {}


def test_more_general_template_covers_the_special_one() -> None:
    special, general = UriTemplate("a://{x}-{y}"), UriTemplate("a://{z}")
    assert general.covers(special)
    assert not special.covers(general)


# -- properties

SEGMENT_VALUE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
PATH_VALUE = st.text("abé /.-%:", min_size=1, max_size=8).filter(lambda text: not re.search("%[0-9A-Fa-f]{2}", text))


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A template whose expressions stand between texts that no value holds, and values for its variables."""
    template, values = "t://", dict[str, str]()
    operators = draw(st.lists(st.sampled_from(["", "+", ".", "/", ";"]), max_size=4))
    operators += draw(st.sampled_from([[], ["?"], ["#"], ["?", "#"], ["?", "&"]]))
    for number, operator in enumerate(operators):
        names = [f"v{number}"] if operator in ("", "+", ".", "/", "#") else [f"v{number}", f"w{number}"]
        template += ("" if operator in ("?", "&", "#") else "/~") + "{" + operator + ",".join(names) + "}"
        template += "" if operator in ("?", "&", "#") else "/~"
        for name in names:
            value = PATH_VALUE if operator in ("+", "#") else SEGMENT_VALUE
            if operator in ("", "+") or draw(st.booleans()):
                values[name] = draw(value.filter(lambda text: "~" not in text))
    return template, values


@given(case=cases())
def test_matching_undoes_expanding(case: tuple[str, dict[str, str]]) -> None:
    template, values = case
    made = UriTemplate(template)
    assert made.match(made.expand(values)) == values


@given(parts=st.lists(st.sampled_from(["{}", "{+}", "-", "/", "ab", "a"]), min_size=1, max_size=6), data=st.data())
def test_match_is_found_exactly_where_one_exists(parts: list[str], data: st.DataObject) -> None:
    template, pattern = "", ""
    for number, part in enumerate(parts):
        if part in ("{}", "{+}"):
            if number and parts[number - 1] in ("{}", "{+}"):
                continue
            parts[number] = part
            template += part.replace("}", f"v{number}" + "}")
            pattern += "[ab-]+?" if part == "{}" else "[ab/-]+?"
        else:
            template, pattern = template + part, pattern + part
    uri = data.draw(st.text("ab-/", max_size=10))
    try:
        made = UriTemplate(template)
    except ConfigurationError:
        return
    assert (made.match(uri) is not None) == (re.fullmatch(pattern, uri) is not None)


ANY_VALUE = st.text("ab/-.~%é ☃", min_size=1, max_size=5).filter(lambda text: not re.search("%[0-9A-Fa-f]{2}", text))


LOOSE_PARTS = ["-", "/", "a", ".", "{}", "{+}", "{.}", "{/}", "{;}", "{?}", "{#}"]


@st.composite
def loose_cases(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """Any row of texts and expressions, and values that may hold the texts, so that several matches may exist."""
    template, values = "t:", dict[str, str]()
    for number, part in enumerate(draw(st.lists(st.sampled_from(LOOSE_PARTS), max_size=6))):
        if not part.startswith("{"):
            template += part
            continue
        names = [f"v{number}", f"w{number}"][: draw(st.integers(1, 2))]
        template += part[:-1] + ",".join(names) + "}"
        if part in ("{}", "{+}", "{#}"):  # between commas all are there; of a fragment none may be
            given = names if part != "{#}" or draw(st.booleans()) else []
        else:
            given = [name for name in names if draw(st.booleans())]
        values |= {name: draw(ANY_VALUE) for name in given}
    return template, values


@given(case=loose_cases())
def test_every_expansion_matches_and_means_itself(case: tuple[str, dict[str, str]]) -> None:
    template, values = case
    try:
        made = UriTemplate(template)
    except ConfigurationError:
        return  # nothing would tell its values apart
    uri = made.expand(values)
    found = made.match(uri)
    assert found is not None
    if "+" not in template and "#" not in template:
        assert made.expand(found) == uri  # whichever values were found, they stand for this URI
    if not any(re.search("%[0-9A-Fa-f]{2}", value) for value in found.values()):  # which {+x} takes for encoded
        assert made.match(made.expand(found)) == found


@given(uri=st.text(max_size=20))
def test_any_text_is_matched_without_a_crash(uri: str) -> None:
    found = UriTemplate("{+all}{?q}").match(uri)
    assert found is None or quote(found["all"])


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("{a}-{b}-{c}-{d}-{e}/!", "-" * 8000),
        ("{+a}/{+b}/{+c}/{+d}/{+e}/!", "/a" * 4000),
        ("x{/a,b,c,d,e}/!", "x" + "/" * 8000),
        ("x{;a,b,c,d,e}/!", "x" + ";a=1" * 2000),
        ("x{?a,b,c,d,e}", "x" + "?" * 8000),
        ("x{y}{&a,b}", "x" + "&a=" * 2600 + "#"),
        ("{a}{.b,c,d,e}!", "." * 8000),
    ],
)
def test_no_uri_takes_long(template: str, uri: str) -> None:
    begin = time.perf_counter()
    assert UriTemplate(template).match(uri) is None
    assert time.perf_counter() - begin < 1.0
