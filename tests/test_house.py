"""The rules of the house, measured: floors, cycles, sizes, documentation, faces, leftovers, an import's cost."""

from __future__ import annotations
import __future__

import ast
import functools
import importlib
import re
import subprocess
import sys
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
FLOORS = (("actors",), ("genmcp.mcp",), ("genmcp",), ("transport",), ("genmcp.cli", "genmcp.__main__"))
LONGEST_MODULE, LONGEST_FUNCTION = 400, 60
SLOWEST_IMPORT = 0.25

# What a floor may take from others' packages; a floor may also take what the floors below it take.
LIBRARIES = (
    {"trio", "outcome", "msgspec", "typing_extensions"},
    {"msgspec", "typing_extensions"},
    {"jsonschema_rs", "cryptography"},
    {"hypercorn", "quart", "quart_trio", "werkzeug", "h11", "h2", "priority", "wsproto"},
    {"click", "rich"},
)
# What someone who only imports `genmcp` must not wait for.
NOT_FOR_AUTHORS = ("click", "cryptography", "hypercorn", "quart", "quart_trio", "rich", "transport")

LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\bNotImplementedError\b")
# An ignore names its rule and then, after a second mark, says why.
IGNORE = re.compile(r"#\s*(type:\s*ignore|pyright:\s*ignore|noqa|pragma:\s*no cover)(?P<rest>.*)")
EXPLAINED = re.compile(r"(\[[\w\-, ]+\]|:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*)?\s+(#|-|—|\()\s*\w.{5,}")


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, its text and its tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def place(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def floor(self) -> int:
        return floor_of(self.name)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def floor_of(module: str) -> int:
    """The floor whose longest prefix names the module."""
    fits = [
        (len(prefix), floor)
        for floor, prefixes in enumerate(FLOORS)
        for prefix in prefixes
        if module == prefix or module.startswith(prefix + ".")
    ]
    return max(fits)[1]


@functools.cache
def house() -> dict[str, Module]:
    """Every module of the distribution by name."""
    found = {}
    for package in ("actors", "genmcp", "transport"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text()
            found[name] = Module(name, path, text, ast.parse(text))
    return found


def imported_names(module: Module) -> Iterator[str]:
    """Every dotted name that a module imports anywhere, under TYPE_CHECKING and inside functions too."""
    package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                member = f"{source}.{alias.name}"
                yield member if member in house() else source


@functools.cache
def own_imports(module: str) -> frozenset[str]:
    """The modules of the house that a module imports."""
    return frozenset(name for name in imported_names(house()[module]) if name in house() and name != module)


def functions(module: Module) -> Iterator[Function]:
    return (node for node in ast.walk(module.tree) if isinstance(node, Function))


def length_of(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def is_public(name: str) -> bool:
    return not name.startswith("_")


def is_overload(node: ast.stmt) -> bool:
    return isinstance(node, Function) and any("overload" in ast.dump(decorator) for decorator in node.decorator_list)


def undocumented(module: Module) -> Iterator[str]:
    """The module itself, its public classes and functions, and their public methods that carry no docstring."""
    if ast.get_docstring(module.tree) is None:
        yield module.place
    pending: list[tuple[str, ast.stmt]] = [("", node) for node in module.tree.body]
    for prefix, node in pending:
        if not isinstance(node, ast.ClassDef | Function) or not is_public(node.name) or is_overload(node):
            continue
        if ast.get_docstring(node) is None:
            yield f"{module.place}:{node.lineno} {prefix}{node.name}"
        if isinstance(node, ast.ClassDef):
            pending += [(f"{node.name}.", member) for member in node.body]


def cycle_through(start: str) -> list[str] | None:
    """A way from a module back to itself along imports, if there is one."""
    ways: list[list[str]] = [[start]]
    seen: set[str] = set()
    for way in ways:
        for target in sorted(own_imports(way[-1])):
            if target == start:
                return [*way, start]
            if target not in seen:
                seen.add(target)
                ways.append([*way, target])
    return None


def is_borrowed(name: str, value: object) -> bool:
    """Whether a name is one that a module imports for its own use: from `typing` or `__future__`."""
    return any(vars(lender).get(name, house) is value for lender in (typing, __future__))


def as_lines(found: list[str]) -> str:
    """What was found, a line each, for a failure that hides nothing."""
    return "\n".join(["", *found])


def run_python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout


def test_the_house_is_not_empty() -> None:
    assert {"actors", "genmcp", "genmcp.mcp", "transport"} <= set(house())


def test_imports_only_run_downwards() -> None:
    climbing = [
        f"{module.name} (floor {module.floor}) imports {target} (floor {floor_of(target)})"
        for module in house().values()
        for target in own_imports(module.name)
        if floor_of(target) > module.floor
    ]
    assert not climbing, as_lines(climbing)


def test_no_module_imports_itself_by_detour() -> None:
    cycles = [" -> ".join(way) for name in house() if (way := cycle_through(name)) is not None]
    assert not cycles, as_lines(cycles)


def test_floors_take_only_their_own_libraries() -> None:
    known = set(sys.stdlib_module_names) | {"actors", "genmcp", "transport"}
    foreign = [
        f"{module.name} imports {top}"
        for module in house().values()
        for top in sorted({name.partition(".")[0] for name in imported_names(module)} - known)
        if not any(top in libraries for libraries in LIBRARIES[: module.floor + 1])
    ]
    assert not foreign, as_lines(foreign)


def test_no_module_is_too_long() -> None:
    sizes = {module.place: module.text.count("\n") for module in house().values()}
    assert {place: lines for place, lines in sizes.items() if lines > LONGEST_MODULE} == {}


def test_no_function_is_too_long() -> None:
    long = [
        f"{module.place}:{node.lineno} {node.name} has {length_of(node)} lines"
        for module in house().values()
        for node in functions(module)
        if length_of(node) > LONGEST_FUNCTION
    ]
    assert not long, as_lines(long)


def test_every_public_name_is_documented() -> None:
    bare = [name for module in house().values() for name in undocumented(module)]
    assert not bare, as_lines(bare)


def test_nothing_unfinished_was_left_behind() -> None:
    left = [
        f"{module.place}:{number} {line.strip()}"
        for module in house().values()
        for number, line in enumerate(module.text.splitlines(), 1)
        if LEFTOVER.search(line)
    ]
    assert not left, as_lines(left)


def test_every_ignored_rule_says_why() -> None:
    places = [module.path for module in house().values()]
    places += [path for folder in ("tests", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]
    silent = [
        f"{path.relative_to(ROOT)}:{number} {line.strip()}"
        for path in places
        if "node_modules" not in path.parts and path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := IGNORE.search(line)) and not EXPLAINED.match(match["rest"])
    ]
    assert not silent, as_lines(silent)


@pytest.mark.parametrize("package", sorted(name for name, module in house().items() if module.is_package))
def test_a_face_lists_exactly_its_public_names(package: str) -> None:
    face = importlib.import_module(package)
    listed = list(getattr(face, "__all__", ()))
    bound = {
        name
        for name, value in vars(face).items()
        if is_public(name) and not isinstance(value, types.ModuleType) and not is_borrowed(name, value)
    }
    assert len(listed) == len(set(listed))
    assert [name for name in listed if not hasattr(face, name)] == []
    assert sorted(bound - set(listed)) == []


def test_importing_genmcp_is_fast() -> None:
    # Processor time: other work on the machine must not decide.
    clock = "import time; start = time.process_time(); import genmcp; print(time.process_time() - start)"
    attempts: list[float] = []
    while len(attempts) < 5 and min(attempts, default=1.0) > SLOWEST_IMPORT:
        attempts.append(float(run_python(clock)))
    assert min(attempts) < SLOWEST_IMPORT


def test_importing_genmcp_brings_no_front() -> None:
    loaded = run_python("import sys, genmcp; print(*sys.modules)").split()
    assert [name for name in NOT_FOR_AUTHORS if name in loaded] == []


def test_every_test_checks_something() -> None:
    checking = re.compile(r"Assert\(|attr='(raises|warns)'|'(assert|check|expect|verify|perform)_?\w*'")
    idle = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "node_modules" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, Function) and node.name.startswith("test_") and not checking.search(ast.dump(node))
    ]
    assert not idle, as_lines(idle)
