"""The shelf: who owns a name, in which order, and what is refused."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genmcp import ConfigurationError, PromptRepo, prompt, resource
from genmcp.suite.provider import Provider, Shelf, instance_of


class Named(Provider):
    def __init__(self, prefix: str = "", exact: str | None = None) -> None:
        self.prefix = prefix
        self._exact = exact


def shelf_of(*providers: Named) -> Shelf[Named]:
    shelf: Shelf[Named] = Shelf("things")
    for provider in providers:
        shelf.add(provider)
    return shelf


@given(
    prefixes=st.lists(st.text("ab", max_size=4), unique=True, max_size=6),
    exact=st.lists(st.text("ab", max_size=4), unique=True, max_size=3),
    name=st.text("ab", max_size=5),
)
def test_owner_is_the_exact_one_or_has_the_longest_prefix(prefixes: list[str], exact: list[str], name: str) -> None:
    owner = shelf_of(*map(Named, prefixes), *(Named(exact=text) for text in exact)).owner(name)
    fitting = [prefix for prefix in prefixes if name.startswith(prefix)]
    if name in exact:
        assert owner is not None
        assert owner._exact == name
    elif fitting:
        assert owner is not None
        assert owner.prefix == max(fitting, key=len)
    else:
        assert owner is None


def test_providers_are_gone_through_in_the_order_given() -> None:
    made = [Named("b"), Named("bbb"), Named(exact="x"), Named("a")]
    assert list(shelf_of(*made)) == made


def test_equal_prefixes_and_names_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="things: Named and Named have the same prefix 'a'"):
        shelf_of(Named("a"), Named("a"))
    with pytest.raises(ConfigurationError, match="things: there are two 'a'"):
        shelf_of(Named(exact="a"), Named(exact="a"))


def test_refused_provider_leaves_no_trace() -> None:
    shelf = shelf_of(Named("a"))
    with pytest.raises(ConfigurationError):
        shelf.add(Named("a"))
    assert len(list(shelf)) == 1


def test_first_of_several_extensions_stays() -> None:
    direct, first, second, exact = Named("a"), Named("ab"), Named("ab"), Named(exact="x")
    shelf = shelf_of(direct)
    shelf.add_missing([Named("a"), first, exact])
    shelf.add_missing([second, Named(exact="x")])
    assert list(shelf) == [direct, first, exact]
    assert (shelf.owner("abc"), shelf.owner("ac"), shelf.owner("x")) == (first, direct, exact)


def test_copy_is_changed_alone() -> None:
    shelf = shelf_of(Named("a"))
    copy = shelf.copy()
    copy.add_missing([Named("b"), Named(exact="x")])
    assert (shelf.owner("b"), shelf.owner("x")) == (None, None)
    assert copy.owner("b") is not None


def test_removal_is_by_exact_name_before_prefix() -> None:
    shelf = shelf_of(Named("a"), Named(exact="a"))
    assert shelf.remove("a")
    assert shelf.owner("a") is not None
    assert shelf.remove("a")
    assert shelf.owner("a") is None
    assert not shelf.remove("a")
    assert not shelf


def test_missing_description_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    async def bare() -> str:
        return ""

    shelf: Shelf[Provider] = Shelf("things")
    with caplog.at_level(logging.WARNING):
        shelf.add(prompt(bare))
        shelf.add(resource("a://b")(bare))
    assert [record.message.split(",")[0] for record in caplog.records] == [
        "things: prompt 'bare': no description",
        "things: resource 'a://b': no description",
    ]


def test_option_takes_instances_classes_and_nothing_else() -> None:
    assert isinstance(instance_of(PromptRepo, PromptRepo, "prompts", "@prompt"), PromptRepo)
    repo = PromptRepo()
    assert instance_of(repo, PromptRepo, "prompts", "@prompt") is repo
    with pytest.raises(ConfigurationError, match=r"prompts: expected a PromptRepo, .* got 7$"):
        instance_of(7, PromptRepo, "prompts", "@prompt")
