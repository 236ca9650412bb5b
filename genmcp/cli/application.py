"""``APP`` on the command line: find the server that ``module:name`` or ``file.py[:name]`` means.

The name defaults to ``suite``. It may mean a `Server`, a `Server` class, or a function without arguments that
returns one. Whatever is wrong is said in one sentence that says what to write instead; only an exception of the
application's own code is shown with its traceback, from its own first line on.
"""

import difflib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from types import ModuleType
from typing import Any

from genmcp import Server, Tool

__all__ = ["DEFAULT_NAME", "AppError", "load"]

DEFAULT_NAME = "suite"
FORMS = "a Server, a Server class, or a function without arguments that returns one"


class AppError(Exception):
    """The application cannot be loaded; the text is for the person who typed its name."""


def load(app: str) -> Server[Any]:
    """Return the server that ``APP`` means. The current directory is importable.

    Raises:
        AppError: The module, file or name is missing, its code raised, or it is not a server.
    """
    place, name = _split(app)
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    module = _load_file(place) if place.endswith(".py") else _import(place)
    return _as_server(_find(module, place, name), f"{place}:{name}")


def _split(app: str) -> tuple[str, str]:
    place, colon, name = app.rpartition(":")
    # "C:\app.py" has a colon that separates nothing.
    if not colon or "/" in name or "\\" in name:
        place, name = app, DEFAULT_NAME
    if not place or not name or not all(part.isidentifier() for part in name.split(".")):
        raise AppError(f"{app!r} is not module:name or file.py:name, for example app:suite")
    return place, name


def _load_file(path: str) -> ModuleType:
    if not os.path.isfile(path):
        raise AppError(f"there is no file {path} (looked from {os.getcwd()})")
    directory, file = os.path.split(os.path.abspath(path))
    if directory not in sys.path:
        sys.path.insert(0, directory)  # as `python file.py` does, so that it can import its neighbours
    name = file.removesuffix(".py")
    if name in sys.modules:
        name = f"genmcp_app_{name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AppError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are looked up there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise AppError(_its_own_fault(f"{path} could not be loaded", error)) from error
    return module


def _import(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise AppError(f"{name!r} is neither a module nor a file that ends in .py")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            file = name.replace(".", os.sep) + ".py"
            hint = f"; there is a file {file}: write {file}" if os.path.isfile(file) else ""
            raise AppError(
                f"there is no module {error.name!r} (looked in {os.getcwd()} and on sys.path){hint}"
            ) from None
        raise AppError(_its_own_fault(f"the module {name} could not be imported", error)) from error
    except (Exception, SystemExit) as error:
        raise AppError(_its_own_fault(f"the module {name} could not be imported", error)) from error


def _find(module: ModuleType, place: str, name: str) -> object:
    found: object = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise AppError(_missing(found, place, name, part)) from None
    return found


def _missing(owner: object, place: str, name: str, part: str) -> str:
    public = [known for known, value in _own_names(owner) if not known.startswith("_")]
    servers = [known for known in public if isinstance(getattr(owner, known), Server)]
    close = difflib.get_close_matches(part, public, n=3, cutoff=0.6)
    # Whoever left the name out wants the server; who misspelt one wants the name that looks like it.
    likely = close if close and part != DEFAULT_NAME else servers or close
    hint = f"; did you mean {' or '.join(f'{place}:{known}' for known in likely[:3])}?" if likely else ""
    return f"{place} has no {name!r}{hint}"


def _own_names(owner: object) -> list[tuple[str, object]]:
    """Return what a module defines, without the classes and functions that it imported."""
    own = (None, getattr(owner, "__name__", None))
    names = vars(owner).items() if hasattr(owner, "__dict__") else []
    return [
        (name, value) for name, value in names if isinstance(value, Server) or getattr(value, "__module__", None) in own
    ]


def _as_server(found: object, called: str) -> Server[Any]:
    if isinstance(found, Server):
        return found
    if isinstance(found, Tool) or (isinstance(found, type) and issubclass(found, Tool)):
        raise AppError(
            f"{called} is a tool; put it into a suite: suite = Suite(…, tools=[{called.rpartition(':')[2]}])"
        )
    if not inspect.isclass(found) and not inspect.isroutine(found):
        raise AppError(f"{called} is {_a(found)}; {FORMS} is expected")
    if inspect.isclass(found) and not issubclass(found, Server):
        raise AppError(f"{called} is the class {found.__name__}, which is not a Server; {FORMS} is expected")
    if inspect.iscoroutinefunction(found):
        raise AppError(f"{called} is an async function; {FORMS} is expected (for start-up work use Suite(lifespan=…))")
    return _made_by(found, called)


def _made_by(factory: Any, called: str) -> Server[Any]:
    try:
        inspect.signature(factory).bind()
    except TypeError as error:
        raise AppError(f"{called} cannot be called without arguments ({error}); {FORMS} is expected") from None
    try:
        made = factory()
    except Exception as error:
        raise AppError(_its_own_fault(f"{called} raised when it was called", error)) from error
    if not isinstance(made, Server):
        raise AppError(f"{called} returned {_a(made)}; a Server is expected")
    return made


def _a(value: object) -> str:
    if value is None:
        return "None"
    kind = type(value).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def _its_own_fault(what: str, error: BaseException) -> str:
    """Show an exception of the application from its own first line on, without this module and the import machinery."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__ and "importlib" not in frame.filename]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(own)] if own else []
    return f"{what}:\n\n{''.join([*lines, *traceback.format_exception_only(error)]).rstrip()}"
