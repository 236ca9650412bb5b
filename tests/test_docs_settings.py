import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from actors import Child, Node, Registry
from genmcp import Channel, tokens
from genmcp.settings import TABLE, Setting
from transport.connection import Connection
from transport.listeners import RESERVED_DESCRIPTORS
from transport.serve import USER_TIMEOUT_SLACK
from transport.stopping import ALARM, NOTICE

DOCS = Path(__file__).parent.parent / "docs" / "settings.md"


def rows() -> dict[str, list[str]]:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in DOCS.read_text().splitlines()
        if line.startswith("| `") and len(line.strip("|").split("|")) == 5
    ]
    return {row[0].strip("`"): row for row in cells}


def test_docs_list_every_setting_in_order() -> None:
    assert list(rows()) == [setting.name for setting in TABLE]


@pytest.mark.parametrize("setting", TABLE, ids=lambda setting: setting.name)
def test_docs_row_says_what_the_code_does(setting: Setting) -> None:
    name, default, option, env, text = rows()[setting.name]
    assert name == f"`{setting.name}`"
    assert default == setting.show(setting.default)
    assert option == f"`{setting.option}`"
    assert env == f"`{setting.env}`"
    assert text == setting.help


def test_docs_name_no_unknown_variable() -> None:
    known = {setting.env for setting in TABLE} | {"GENMCP_ADMIN_TOKEN", "GENMCP_SECRET_KEY"}
    assert set(re.findall(r"GENMCP_[A-Z_]+", DOCS.read_text())) == known


@pytest.mark.parametrize(
    ("argument", "function", "default"),
    [
        ("registry.call(timeout=)", Registry.call, "5 s"),
        ("Child(shutdown=)", Child, "5 s"),
        ("Node.supervise(max_restarts=)", Node.supervise, "3"),
        ("Node.supervise(period=)", Node.supervise, "5 s"),
        ("channel.receive(timeout=)", Channel.receive, "none"),
        ("genmcp.tokens.seal(max_age=)", tokens.seal, "`token_age`"),
    ],
)
def test_docs_say_the_defaults_of_arguments(argument: str, function: Callable[..., object], default: str) -> None:
    name = argument.partition("(")[2].removesuffix("=)")
    value = inspect.signature(function).parameters[name].default
    assert value == (None if default in ("none", "`token_age`") else float(default.removesuffix(" s")))
    assert f"| `{argument}` | {default} |" in DOCS.read_text()


def test_docs_say_the_fixed_limits() -> None:
    text = DOCS.read_text()
    assert f"open files less {RESERVED_DESCRIPTORS} " in text
    assert f"`write_deadline` + {USER_TIMEOUT_SLACK:g} s" in text
    assert f"| notice of a stop | {NOTICE:g} s |" in text
    assert f"`grace` + {ALARM:g} s" in text
    linger = inspect.signature(Connection).parameters["linger"].default
    assert f"| the rest of a refused body | {linger:g} s |" in text
