import re
from pathlib import Path

import pytest

from genmcp.settings import TABLE, Setting

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
