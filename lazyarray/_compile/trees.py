"""Arguments, results and state of compiled functions as trees of arrays, numbers and constants."""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from lazyarray.engine import Device
from lazyarray.lazy._lazy import Number, Tensor, TracingError
from lazyarray.ops._rows import array, holdable

# What never changes, and is the same whoever made it.
ATOMS = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(...),
    type(NotImplemented),
    slice,
    range,
    np.generic,
    np.dtype,
    type,
    enum.Enum,
    Device,
    types.ModuleType,
    types.BuiltinFunctionType,
    np.ufunc,
)


def is_atom(x: Any) -> bool:
    """Whether it is a value without parts. A Scalar is an array, though it passes for a number."""
    return not isinstance(x, Tensor) and isinstance(x, ATOMS)


class _Leaf:
    """A mark for the place of an array in a tree."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "array"


LEAF = _Leaf()


def is_named(tree: Any) -> bool:
    """Whether it is a named tuple."""
    return isinstance(tree, tuple) and hasattr(tree, "_fields")


def mapped(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """A copy of nested lists, tuples and dicts with ``leaf(x)`` in the place of each x in them."""
    if type(tree) in (list, tuple):
        return type(tree)([mapped(t, leaf) for t in tree])
    if is_named(tree):
        return type(tree)(*[mapped(t, leaf) for t in tree])
    if type(tree) is dict:
        return {key: mapped(t, leaf) for key, t in tree.items()}
    return leaf(tree)


def flattened(tree: Any, leaves: list[Any]) -> Any:
    """A copy of the tree with marks for its arrays, which go to ``leaves``."""
    # For each call with more than arrays: no functions inside.
    if isinstance(tree, (Tensor, np.ndarray)):
        leaves.append(tree)
        return LEAF
    if type(tree) in (list, tuple):
        return type(tree)([flattened(t, leaves) for t in tree])
    if is_named(tree):
        return type(tree)(*[flattened(t, leaves) for t in tree])
    if type(tree) is dict:
        return {key: flattened(t, leaves) for key, t in tree.items()}
    return tree


def filled(tree: Any, leaves: Iterator[Any]) -> Any:
    """The tree with the next of ``leaves`` in the place of each mark."""
    return mapped(tree, lambda x: next(leaves) if x is LEAF else x)


def exchanged(tree: Any, leaves: Iterator[Any]) -> Any:
    """The tree with the next of ``leaves`` in the place of each array; what holds none is kept."""
    if isinstance(tree, (Tensor, np.ndarray)):
        return next(leaves)
    if type(tree) in (list, tuple) or is_named(tree):
        new = [exchanged(t, leaves) for t in tree]
        if all(a is b for a, b in zip(new, tree, strict=True)):
            return tree
        return type(tree)(*new) if is_named(tree) else type(tree)(new)
    if type(tree) is dict:
        items = {key: exchanged(t, leaves) for key, t in tree.items()}
        return tree if all(items[key] is t for key, t in tree.items()) else items
    return tree


class _Same:
    """A key that is equal for the same object alone."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


def same_tree(tree: Any, like: Any, leaves: Iterator[Any]) -> bool:
    """Whether ``tree`` still is what ``filled(like, leaves)`` gave."""
    if like is LEAF:
        return tree is next(leaves, None)
    if type(tree) is not type(like):
        return False
    if type(like) in (list, tuple) or is_named(like):
        return len(tree) == len(like) and all(
            same_tree(a, b, leaves) for a, b in zip(tree, like, strict=True)
        )
    if type(like) is dict:
        return [*tree] == [*like] and all(same_tree(tree[key], like[key], leaves) for key in like)
    return tree is like


def frozen(tree: Any, numbers: list[Any] | None = None) -> Hashable:
    """A key for a tree: its structure, and the values that are no arrays.

    With ``numbers`` the floats and ints in it go there, and the key says their type alone.
    """
    kind = type(tree)
    if kind is _Leaf:
        return tree
    if numbers is not None and (kind is float or kind is int):
        numbers.append(tree)
        return (kind,)
    if kind is list or isinstance(tree, tuple):
        return (kind, tuple([frozen(t, numbers) for t in tree]))
    if kind is dict:
        return (dict, tuple([(frozen(key), frozen(t, numbers)) for key, t in tree.items()]))
    if kind is Number:
        return (Number,)
    if isinstance(tree, np.generic):
        return (kind, tree.dtype, tree.tobytes())
    if isinstance(tree, (float, complex)):
        return (kind, repr(tree))  # 0.0 and -0.0 are not the same, and NaN is
    if is_atom(tree):
        return (kind, tree)  # nor are 1, 1.0 and True
    if _is_value(tree):
        return (kind, tuple([frozen(getattr(tree, f.name)) for f in fields(tree)]))
    hash(tree)  # TypeError for what may not be an argument
    if kind is frozenset:
        return (kind, frozenset([frozen(t) for t in tree]))
    return (kind, _Same(tree))


def _is_value(x: Any) -> bool:
    """Whether equal ones are the same for all that can be done with them."""
    return is_dataclass(x) and getattr(type(x), "__dataclass_params__").frozen  # noqa: B009


def with_numbers(tree: Any, numbers: Iterator[Any]) -> Any:
    """The tree with the next of ``numbers`` in the place of each that :func:`frozen` finds."""
    return mapped(tree, lambda x: next(numbers) if type(x) in (float, int) else x)


def number_paths(tree: Any, function: Any) -> list[str]:
    """How one writes each of the numbers among the arguments, ``(args, kwargs)``, of a function."""
    found: list[str] = []

    def walk(t: Any, path: str) -> None:
        if isinstance(t, (list, tuple)):
            for i, x in enumerate(t):
                walk(x, f"{path}[{i}]")
        elif type(t) is dict:
            for key, x in t.items():
                walk(x, f"{path}[{key!r}]")
        elif type(t) in (float, int):
            found.append(path)

    args, kwargs = tree
    try:
        names = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.kind < p.VAR_POSITIONAL
        ]
    except (TypeError, ValueError):
        names = []
    for i, x in enumerate(args):
        walk(x, names[i] if i < len(names) else f"argument {i + 1}")
    for name, x in kwargs.items():
        walk(x, name)
    return found


def taken(tree: Any, leaves: list[Any]) -> Hashable:
    """A key for a tree whose arrays go to ``leaves``; None if it holds what has none."""
    try:
        return frozen(flattened(tree, leaves))
    except TypeError:
        return None


# ---- what a replay gives or stores --------------------------------------------------------------


class Source:
    """A place in a result: what goes there is ``index`` in the list of a call that ``of`` says."""

    __slots__ = ("index", "of")

    def __init__(self, of: int, index: int) -> None:
        self.of, self.index = of, index

    def __repr__(self) -> str:
        return f"{('output', 'array', 'number')[self.of]} {self.index}"


OUTPUT, GIVEN, NUMBER = range(3)


class Known:
    """A place in a result where a list, dict or tuple is that was there before: itself, no copy."""

    __slots__ = ("container",)

    def __init__(self, container: Any) -> None:
        self.container = container


def built(tree: Any, sources: tuple[list[Any], Any, list[Any]]) -> Any:
    """The tree with what its sources stand for."""

    def leaf(x: Any) -> Any:
        if type(x) is Source:
            return sources[x.of][x.index]
        return x.container if type(x) is Known else x

    return mapped(tree, leaf)


class Encoder:
    """Makes trees with :class:`Source` out of what a captured function returned or stored."""

    def __init__(self, given: list[Any], known: Callable[[Any], bool]) -> None:
        self.outputs: list[Any] = []
        self.handed_on: set[int] = set()  # which of the given ones are somewhere in it
        self._given = {id(x): i for i, x in enumerate(given)}
        self._outputs: dict[int, int] = {}
        self._known = known
        self._containers: dict[int, Any] = {}  # keeps them, so that their ids stay theirs

    def output(self, x: Any) -> Source:
        """The source that is an array of the program."""
        index = self._outputs.setdefault(id(x), len(self.outputs))
        if index == len(self.outputs):
            self.outputs.append(x)
        return Source(OUTPUT, index)

    def close(self) -> None:
        """Lets go of what was encoded."""
        self._containers.clear()

    def encoded(self, x: Any, what: str, strict: bool) -> Any:
        """The tree of a value. TracingError for an object that a call would have to make anew."""
        if type(x) is Number:
            return Source(NUMBER, x.index)
        if isinstance(x, Tensor):
            if id(x) in self._given:
                self.handed_on.add(self._given[id(x)])
                return Source(GIVEN, self._given[id(x)])
            return x if self._known(x) else self.output(x)
        if not holdable(x):
            raise TracingError(f"{what} is a NumPy array of what lazyarray can't hold ({x.dtype})")
        if isinstance(x, np.ndarray) and not strict:
            return self.output(array(x))
        if self._known(x):
            return Known(x) if isinstance(x, (list, tuple, dict)) else x
        if is_atom(x):
            return x
        if type(x) in (list, dict):
            if id(x) in self._containers:
                raise TracingError(f"{what} is a {type(x).__name__} that is kept in two places")
            self._containers[id(x)] = x
        if type(x) in (list, tuple):
            return type(x)([self.encoded(t, what, strict) for t in x])
        if is_named(x):
            return type(x)(*[self.encoded(t, what, strict) for t in x])
        if type(x) is dict:
            return {key: self.encoded(t, what, strict) for key, t in x.items()}
        if isinstance(x, frozenset) or _is_value(x):
            return x
        raise TracingError(
            f"{what} is a new object of {type(x).__qualname__}, which a replay can't make anew"
        )
