"""Which function an op's name stands for, and the one form in which a node keeps its arguments."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from lazyarray import _public
from lazyarray._ndarray import NDArray
from lazyarray.graph import operators
from lazyarray.graph.nodes import Tree, entries

SPACES = ("linalg", "fft", "random", "nn", "lib.stride_tricks")
# What a graph that somebody sent must not do, and what recording an op itself may call.
_NO_OPS = set(
    """fromfile genfromtxt load loadtxt save savetxt savez savez_compressed ndarray.dump
    fromregex frompyfunc nditer nested_iters memmap ndarray.tofile geterr seterr geterrcall
    seterrcall getbufsize setbufsize""".split()
)


def function_of(op: str) -> Callable[..., Any]:
    """The function that runs op ``"add"``, ``"linalg.inv"``, ``"getitem"``, ...

    ValueError, with the nearest name, if there is none.
    """
    found = _found(op)
    if found is None:
        near = difflib.get_close_matches(op, names(), 1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"lazyarray has no op {op!r}{hint}")
    return found


@cache
def _found(op: str) -> Callable[..., Any] | None:
    if op in operators.__all__:
        own: Callable[..., Any] = getattr(operators, op)
        return own
    space, _, name = op.rpartition(".")
    if op in _NO_OPS or name.startswith("_"):
        return None
    if space == "ndarray":
        return getattr(NDArray, name, None)
    place = place_of(space)
    if place is None or name not in place.__all__:
        return None
    thing = getattr(place, name)
    return thing if callable(thing) and not isinstance(thing, type) else None


def known(op: str) -> bool:
    """Whether there is a function of this name."""
    return _found(op) is not None


@cache
def canonical(op: str) -> str:
    """The name of an op that has several: NumPy's, of the function that they all are."""
    function = function_of(op)
    space = op.rpartition(".")[0]
    place = place_of(space)
    if place is None or op in operators.__all__ or not hasattr(function, "__name__"):
        return op
    first = function.__name__
    numpys: Any = np
    for part in space.split(".") if space else ():
        numpys = getattr(numpys, part, None)
    first = getattr(getattr(numpys, first, None), "__name__", first)
    same = first in place.__all__ and getattr(place, first) is function
    return (f"{space}.{first}" if space else first) if same else op


def place_of(space: str) -> Any:
    """The module that holds the ops of a space ("" for lazyarray itself), or None."""
    place: Any = _public.namespace
    if not space:
        return place
    if space not in SPACES:
        return None
    for part in space.split("."):
        place = getattr(place, part, None)
    return place


def names(space: str | None = None) -> list[str]:
    """The ops of a space, or of all, with the space's name before."""
    found: list[str] = [] if space else list(operators.__all__)
    for s in ("", *SPACES) if space is None else (space,):
        place = place_of(s)
        for name in getattr(place, "__all__", ()):
            op = f"{s}.{name}" if s else name
            if _found(op) is not None:
                found.append(op)
    return found


@cache
def signature_of(op: str) -> inspect.Signature | None:
    """The signature of an op's function, if it tells it."""
    try:
        return inspect.signature(function_of(op))
    except (TypeError, ValueError):
        return None


def normal_form(
    op: str, args: tuple[Tree, ...], kwargs: dict[str, Tree]
) -> tuple[tuple[Tree, ...], dict[str, Tree]]:
    """The arguments of a call in the form that is the same however they were passed.

    What holds arrays comes by position as far as it can, all else by name; what has its default is
    left out. TypeError for arguments that the function doesn't take, or lacks, and for an ``out``.
    """
    signature = signature_of(op)
    try:
        given = kwargs if signature is None else signature.bind(*args, **kwargs).arguments
    except TypeError as exc:
        raise TypeError(f"{op}: {exc}") from None
    if given.get("out") is not None:
        raise TypeError(f"{op}: a node of a graph gives new arrays, so it takes no out=")
    if signature is None:
        return args, kwargs
    parameters = list(signature.parameters.values())
    last = _last_by_position(parameters, given)
    positional: list[Tree] = []
    named: dict[str, Tree] = {}
    for i, p in enumerate(parameters):
        if p.kind is p.VAR_POSITIONAL:
            positional += given.get(p.name, ())
        elif p.kind is p.VAR_KEYWORD:
            named.update(given.get(p.name, {}))
        elif i <= last:
            positional.append(given.get(p.name, p.default))
        elif p.name in given and not _same(given[p.name], p.default):
            named[p.name] = given[p.name]
    return tuple(positional), named


def _last_by_position(parameters: list[inspect.Parameter], given: dict[str, Any]) -> int:
    """The index of the last parameter that is passed by position; -1 if there is none."""
    last, leading = -1, True
    for i, p in enumerate(parameters):
        if p.kind is p.VAR_POSITIONAL and given.get(p.name):
            return i
        if p.kind is p.POSITIONAL_ONLY and p.name in given:
            if p.default is p.empty or not _same(given[p.name], p.default):
                last = i
            leading = leading and _holds_entries(given[p.name])
        elif p.kind is p.POSITIONAL_OR_KEYWORD and leading:
            leading = p.name in given and _holds_entries(given[p.name])
            last = i if leading else last
        else:
            leading = False
    return last


def _holds_entries(tree: Tree) -> bool:
    return next(entries(tree), None) is not None


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    plain = (bool, int, float, str, tuple)
    return type(value) is type(default) and isinstance(value, plain) and bool(value == default)
