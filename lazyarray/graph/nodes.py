"""Nodes: calls of public functions, and what they take; the order in which they can run."""

from __future__ import annotations

import itertools
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyarray.context import Context
from lazyarray.engine._engine import native_files
from lazyarray.lazy._lazy import Tensor

if TYPE_CHECKING:
    from lazyarray._types import DTypeLike

Shape = tuple[int | None, ...]
Shapes = list[tuple[int, ...]]
SomeShapes = list[tuple[int, ...] | None]
DTypes = list[np.dtype]
Tree = Any  # a leaf, or a tuple, list or dict of trees; leaves are entries, and what JSON can hold


class Spec(NamedTuple):
    """Shape and dtype of an array that isn't there; what is None is not known yet.

    >>> import lazyarray as la
    >>> la.spec((2, 3), "float32")
    Spec(shape=(2, 3), dtype=dtype('float32'))
    """

    shape: Shape | None = None
    dtype: np.dtype | None = None

    @property
    def complete(self) -> bool:
        """Whether every length is known."""
        return self.shape is not None and None not in self.shape

    @property
    def known(self) -> tuple[int, ...]:
        """The shape, which is complete."""
        if self.shape is None or None in self.shape:
            raise ValueError(f"the shape {self} is not known")
        return tuple([n for n in self.shape if n is not None])

    def __str__(self) -> str:
        dtype = "" if self.dtype is None else f"{self.dtype} "
        return f"{dtype}{'' if self.shape is None else self.shape}".replace("None", "?").strip()


def spec(shape: int | Iterable[int], dtype: DTypeLike = float) -> Spec:
    """What :func:`lazyarray.trace` takes in place of an example: a shape and a dtype.

    Args:
        shape: the lengths of the axes.
        dtype: the dtype, by default float64.
    Returns: an object with ``shape`` and ``dtype``, without values.
    Raises: TypeError for what is no dtype of arrays.

    >>> import lazyarray as la
    >>> la.trace(la.exp, la.spec(3))
    Graph(x: float64 (3,)):
        %0 = exp(x)
        return %0
    """
    if isinstance(dtype, int):
        raise TypeError(
            f"spec() takes a shape and a dtype, not the number {dtype!r}: a shape of several axes "
            f"is one tuple, spec(({shape!r}, {dtype!r}))"
        )
    return Spec(shape_of(shape), np.dtype(dtype))


def shape_of(shape: Any, partial: bool = False) -> tuple[Any, ...]:
    """A shape as a tuple; ValueError for negative lengths, TypeError for what is no shape.

    Where ``partial``, a length may be None.
    """
    lengths = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    found: list[Any] = []
    for n in lengths:
        if n is None and partial:
            found.append(None)
            continue
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
            raise TypeError(f"a shape is made of integers, not {type(n).__name__}: {shape!r}")
        if n < 0:
            raise ValueError(f"a length can't be negative: {shape!r}")
        found.append(int(n))
    return tuple(found)


class Entry(NamedTuple):
    """One output of a node: what nodes take, and what graphs give."""

    node: Node
    output: int = 0


VAR, CONST, OPAQUE = "variable", "constant", "opaque"  # no function is called so
SERIALS = itertools.count()


@dataclass(eq=False, slots=True)
class Node:
    """A call of a public function, ``op``, or (without a function) a variable or a constant.

    ``args`` and ``kwargs`` are what is passed: trees whose leaves are entries of older nodes (so no
    node is reached from itself), or what JSON can hold. ``outputs`` is how many arrays it gives, 0
    if it is one that is no tuple.
    """

    op: str
    name: str
    args: tuple[Tree, ...] = ()
    kwargs: dict[str, Tree] = field(default_factory=dict)
    outputs: int = 0
    attributes: dict[str, str] = field(default_factory=dict)
    line: str | None = None  # where it was built
    spec: Spec = field(default_factory=Spec)  # of a variable: what is known of it
    aux: bool = False  # a variable that the graph writes
    value: Any = None  # a constant's array; what an opaque node runs
    serial: int = field(default_factory=SERIALS.__next__)  # they run in this order

    @property
    def inputs(self) -> list[Entry]:
        """The entries that it takes, in order."""
        return [*entries((self.args, self.kwargs))]

    @property
    def results(self) -> list[Entry]:
        """Its outputs."""
        places = [None] * (self.outputs or 1)  # a MemoryError at once, where they are too many
        return [Entry(self, i) for i, _ in enumerate(places)]


def output_name(entry: Entry) -> str:
    """The name of one output of a node."""
    node = entry.node
    if node.op in (VAR, CONST):
        return node.name
    return f"{node.name}_output{entry.output if node.outputs else ''}"


def entries(tree: Tree) -> Iterator[Entry]:
    """The entries among the leaves of a tree."""
    if isinstance(tree, Entry):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for part in tree:
            yield from entries(part)
    elif isinstance(tree, dict):
        for part in tree.values():
            yield from entries(part)
    elif isinstance(tree, slice):
        yield from entries((tree.start, tree.stop, tree.step))


def mapped(tree: Tree, leaf: Callable[[Any], Any]) -> Any:
    """The tree with ``leaf(x)`` in place of each leaf x."""
    if isinstance(tree, (Entry, Spec)):
        return leaf(tree)
    if isinstance(tree, (tuple, list)):
        parts = [mapped(part, leaf) for part in tree]
        if hasattr(tree, "_fields"):  # a named tuple
            return type(tree)(*parts)
        return tuple(parts) if isinstance(tree, tuple) else parts
    if isinstance(tree, dict):
        return {key: mapped(part, leaf) for key, part in tree.items()}
    if isinstance(tree, slice):
        return slice(*[mapped(part, leaf) for part in (tree.start, tree.stop, tree.step)])
    return leaf(tree)


def in_order(heads: Iterable[Entry]) -> list[Node]:
    """The nodes that the heads need, inputs before what takes them, left before right."""
    found: list[Node] = []
    done: set[int] = set()
    stack = [head.node for head in heads][::-1]
    while stack:
        node = stack[-1]
        waiting = [e.node for e in node.inputs if id(e.node) not in done]
        if waiting:
            stack += waiting[::-1]
            continue
        stack.pop()
        if id(node) not in done:
            done.add(id(node))
            found.append(node)
    return found


# Frames of compiled code have relative paths.
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGE = (_ROOT + os.sep, *native_files())


def caller() -> str:
    """``file:line in function`` of the innermost frame that is not this package's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return _line(frame.f_code, frame.f_lineno)


def place_of(exc: BaseException) -> str:
    """``file:line in function`` of an exception's innermost frame outside this package."""
    frames = [(f.f_code, line) for f, line in traceback.walk_tb(exc.__traceback__)]
    theirs = [f for f in frames if not f[0].co_filename.startswith(_PACKAGE)]
    return _line(*(theirs or frames)[-1])


def _line(code: CodeType, line: int) -> str:
    return f"{code.co_filename}:{line} in {code.co_name}"


def checked_leaf(x: Any) -> Any:
    """A leaf of a call as nodes keep it, or TypeError."""
    number = not isinstance(x, Tensor) and isinstance(x, (bool, int, float, complex, np.generic))
    if number or x is None or x is Ellipsis or isinstance(x, (str, Entry, np.dtype, Context)):
        return x
    if isinstance(x, type) and issubclass(x, np.generic):
        return np.dtype(x)
    if x in _TYPES:
        return np.dtype(x)
    raise TypeError(
        f"a graph's node can't hold {type(x).__name__} {x!r}: its arguments are Symbols, arrays, "
        "numbers, strings, dtypes, slices, devices, and tuples, lists and dicts of these"
    )


_TYPES = (bool, int, float, complex)
