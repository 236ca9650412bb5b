import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from genmcp import Server
from genmcp.cli.application import AppError, load

GOOD = """
    from genmcp import Server, Suite, tool

    class Mine(Server[None]):
        pass

    class Picky(Server[None]):
        def __init__(self, url):
            self.url = url

    suite = Suite(server_name="app", server_version="1")
    other = Mine()
    number = 3
    nothing = None

    @tool
    async def add(a: int) -> int:
        "Adds."
        return a

    def make():
        return Mine()

    def make_of(url):
        return Mine()

    def make_wrong():
        return {}

    def make_badly():
        raise LookupError("no configuration")

    async def make_async():
        return Mine()
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], str]]:
    """Write a module into an empty current directory; modules are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    before, path = set(sys.modules), list(sys.path)

    def write(name: str, text: str) -> str:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
        return name

    yield write
    sys.path[:] = path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def good(write: Callable[[str, str], str]) -> None:
    write("app_of_test.py", GOOD)


@pytest.mark.parametrize(
    ("app", "kind"),
    [
        ("app_of_test", "Suite"),
        ("app_of_test:suite", "Suite"),
        ("app_of_test:other", "Mine"),
        ("app_of_test:Mine", "Mine"),
        ("app_of_test:make", "Mine"),
        ("app_of_test.py", "Suite"),
        ("./app_of_test.py:other", "Mine"),
    ],
)
def test_every_form_finds_its_server(good: None, app: str, kind: str) -> None:
    server = load(app)
    assert isinstance(server, Server)
    assert type(server).__name__ == kind


@pytest.mark.parametrize(
    ("app", "sentence"),
    [
        ("app_of_test:other:more", "'app_of_test:other' is neither a module nor a file"),
        (":suite", "':suite' is not module:name or file.py:name"),
        ("app_of_test:", "is not module:name or file.py:name"),
        ("app_of_test:not-a-name", "is not module:name or file.py:name"),
        ("missing_module", "there is no module 'missing_module'"),
        ("app_of_test.inner", "there is no module 'app_of_test.inner'"),
        ("missing.py", "there is no file missing.py (looked from "),
        ("app_of_test:othr", "app_of_test has no 'othr'; did you mean app_of_test:other?"),
        ("app_of_test:zzz", "did you mean app_of_test:suite or app_of_test:other?"),
        ("app_of_test:number", "app_of_test:number is an int; a Server, a Server class"),
        ("app_of_test:nothing", "app_of_test:nothing is None"),
        ("app_of_test:add", "app_of_test:add is a tool; put it into a suite: suite = Suite(…, tools=[add])"),
        ("app_of_test:Picky", "cannot be called without arguments (missing a required argument: 'url')"),
        ("app_of_test:make_of", "cannot be called without arguments"),
        ("app_of_test:make_wrong", "app_of_test:make_wrong returned a dict; a Server is expected"),
        ("app_of_test:make_async", "is an async function"),
        ("app_of_test:make_badly", "raised when it was called:"),
        ("app_of_test:Suite", "cannot be called without arguments"),
    ],
)
def test_wrong_form_is_explained(good: None, app: str, sentence: str) -> None:
    with pytest.raises(AppError) as refused:
        load(app)
    assert sentence in str(refused.value)


def test_file_of_that_name_is_proposed(write: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    write("folder_of_test/app.py", "suite = 1")
    write("folder_of_test/__init__.py", "raise ModuleNotFoundError(name='folder_of_test')")
    with pytest.raises(AppError, match=r"there is a file folder_of_test/app\.py: write folder_of_test/app\.py"):
        load("folder_of_test.app")


def test_own_error_shows_only_its_own_lines(write: Callable[[str, str], str]) -> None:
    write("broken_of_test.py", "import os\nimport module_that_is_not_there\n")
    with pytest.raises(AppError) as refused:
        load("broken_of_test")
    text = str(refused.value)
    assert "the module broken_of_test could not be imported" in text
    assert "line 2" in text
    assert "No module named 'module_that_is_not_there'" in text
    assert "application.py" not in text


def test_error_of_a_file_does_not_leave_it_loaded(write: Callable[[str, str], str]) -> None:
    write("broken_file_of_test.py", "1 / 0")
    with pytest.raises(AppError, match="division by zero"):
        load("broken_file_of_test.py")
    assert "broken_file_of_test" not in sys.modules


def test_file_may_import_its_neighbours(write: Callable[[str, str], str]) -> None:
    write("folder/neighbour_of_test.py", "NAME = 'next door'")
    write(
        "folder/main_of_test.py",
        """
        import neighbour_of_test
        from genmcp import Suite

        suite = Suite(server_name=neighbour_of_test.NAME, server_version="1")
        """,
    )
    assert load("folder/main_of_test.py").identity.name == "next door"  # type: ignore[attr-defined]  # it is a Suite


def test_file_named_like_a_library_is_loaded(write: Callable[[str, str], str]) -> None:
    write("json.py", "from genmcp import Suite\nsuite = Suite(server_name='json', server_version='1')")
    assert type(load("json.py")).__name__ == "Suite"
    assert hasattr(sys.modules["json"], "dumps")
