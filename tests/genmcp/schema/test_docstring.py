"""Docstrings: the description before the sections, and each argument's words."""

from __future__ import annotations

import pytest

from genmcp.schema.docstring import read_docstring

FULL = """Books a room.

    It is held for a day.

    Args:
        city (str): Where,
            with the country.
        nights: How many: at least one.

            More when it is cheap.
        guests (list[str], optional):
            Their names.

    Returns:
        number: not an argument.

    Raises:
        FullError: never shown.
    """


def test_description_ends_at_the_first_section() -> None:
    assert read_docstring(FULL).description == "Books a room.\n\nIt is held for a day."


def test_arguments_are_read_over_several_lines() -> None:
    assert read_docstring(FULL).arguments == {
        "city": "Where, with the country.",
        "nights": "How many: at least one. More when it is cheap.",
        "guests": "Their names.",
    }


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_docstring_says_nothing(text: str | None) -> None:
    assert read_docstring(text).description == ""
    assert read_docstring(text).arguments == {}


def test_sections_alone_leave_no_description() -> None:
    read = read_docstring("\n    Args:\n        a: First.\n        *rest: Others.\n    ")
    assert (read.description, read.arguments) == ("", {"a": "First.", "rest": "Others."})


def test_colon_in_the_description_begins_no_section() -> None:
    assert read_docstring("Books:\n\nrooms: and halls\n").description == "Books:\n\nrooms: and halls"


@pytest.mark.parametrize("heading", ["Args", "Arguments", "Parameters", "Keyword Args"])
def test_every_heading_for_arguments_is_known(heading: str) -> None:
    assert read_docstring(f"X.\n\n{heading}:\n  a: First.\n").arguments == {"a": "First."}


def test_entry_without_a_colon_is_passed_over() -> None:
    assert read_docstring("X.\n\nArgs:\n    see above\n    a: First.\n").arguments == {"a": "First."}
