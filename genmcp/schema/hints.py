"""Resolve a function's annotations, also where they are strings (`from __future__ import annotations`)."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from genmcp.schema.errors import SignatureError

__all__ = ["name_of", "resolve_hints"]


def name_of(fn: Callable[..., Any]) -> str:
    """Name a callable for an error message."""
    return f"{getattr(_function(fn), '__name__', type(fn).__name__)}()"


def resolve_hints(fn: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function by parameter (and `return`), as types, with their `Annotated` metadata.

    Names are looked up in the function's module, in its closure, and in the local names of the function or class
    body that defines it, as long as that is still running, which it is when a decorator is applied.

    Raises:
        SignatureError: A name cannot be found, or an annotation is no type.
    """
    function = _function(fn)
    names = _local_names(function)
    hints = {}
    for parameter, annotation in inspect.get_annotations(function).items():
        try:
            hints[parameter] = _resolve(annotation, function, names)
        except Exception as error:
            raise SignatureError(f"{name_of(fn)}: {_place(parameter)}: {_reason(annotation, error)}") from error
    return hints


def _resolve(annotation: Any, function: Any, names: Mapping[str, Any]) -> Any:
    # One annotation at a time, on a bearer of its own: the error then belongs to one parameter.
    bearer = types.SimpleNamespace(__annotations__={"it": annotation})
    hints = get_type_hints(bearer, getattr(function, "__globals__", {}), dict(names), include_extras=True)
    return hints["it"]


def _place(parameter: str) -> str:
    return "return annotation" if parameter == "return" else f"parameter {parameter!r}"


def _reason(annotation: object, error: Exception) -> str:
    if isinstance(error, NameError):
        return (
            f"the annotation {annotation!r} cannot be resolved: {error}; define or import the name where the module "
            "has it when it runs, not under `if TYPE_CHECKING:`"
        )
    return f"the annotation {annotation!r} is no type: {error}"


def _local_names(function: Any) -> dict[str, Any]:
    """The names that a function's annotations may use beside those of its module."""
    names = {parameter.__name__: parameter for parameter in getattr(function, "__type_params__", ())}
    code = getattr(function, "__code__", None)
    if code is None:
        return names
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if code in frame.f_code.co_consts:
            names = {**frame.f_locals, **names}
            break
        frame = frame.f_back
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # the cell of a name that is not bound yet
            names[name] = cell.cell_contents
    return names


def _function(fn: Any) -> Any:
    """The function that carries the annotations: under partial objects, wrappers, methods and callable instances."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    fn = inspect.unwrap(fn)
    if not isinstance(fn, types.FunctionType | types.MethodType | types.BuiltinFunctionType | type):
        fn = type(fn).__call__
    return getattr(fn, "__func__", fn)
