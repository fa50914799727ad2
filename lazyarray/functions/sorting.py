"""Sorting: instructions that take the GIL and call NumPy's sorts, which let it go inside.

``order``, which names fields of a structured dtype, is there for NumPy's positions: only None fits.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.functions._checks import one_axis
from lazyarray.functions.manipulation import ravel
from lazyarray.functions.selecting import take_along_axis
from lazyarray.lazy._lazy import is_capturing, paused
from lazyarray.ops._differentiable import follows, note
from lazyarray.ops._layout import cut_apart, gil_op, gil_write, infer, operands, signature
from lazyarray.ops._rows import asarray, assign_to, astype, ordered, ordered_in_place

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["sort", "argsort", "lexsort", "partition", "argpartition", "sort_complex"]
METHODS = ["sort_inplace", "partition_inplace"]


def sort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> NDArray:
    """A sorted copy along an axis (None: of the flattened array). NaN comes last.

    Args:
        axis: the axis; None: of the flattened array.
        kind: NumPy's algorithm: "quicksort", "heapsort", "mergesort" or "stable".
        order: for NumPy's signature: arrays here have no fields.
        stable: whether equal elements keep their order.
        descending: whether the largest comes first, and NaN before it (array API).
    Returns: an array of a's shape; for ``axis=None`` a vector.
    Raises: ValueError for another ``kind``, for ``kind`` and ``stable`` together, and for an
        ``order``.

    >>> import lazyarray as la
    >>> la.sort(la.array([3, 1, 2])).asnumpy()
    array([1, 2, 3])
    """
    return _sorted("sort", a, axis, kind, order, stable, descending)


def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> NDArray:
    """The indices that sort the array along an axis (None: the flattened array); see :func:`sort`.

    Args:
        axis: the axis; None: of the flattened array.
        kind: NumPy's algorithm: "quicksort", "heapsort", "mergesort" or "stable".
        order: for NumPy's signature: arrays here have no fields.
        stable: whether equal elements keep their order.
        descending: whether the largest comes first, and NaN before it (array API).
    Returns: an array of integers of a's shape; for ``axis=None`` a vector.
    Raises: ValueError for another ``kind``, for ``kind`` and ``stable`` together, and for an
        ``order``.

    >>> import lazyarray as la
    >>> la.argsort(la.array([3, 1, 2])).asnumpy()
    array([1, 2, 0])
    """
    return _sorted("argsort", a, axis, kind, order, stable, descending)


def _sorted(
    name: str, a: Any, axis: int | None, kind: Any, order: Any, stable: Any, descending: bool
) -> NDArray:
    x, axis = _along(name, a, axis)
    _check_order(order)
    if name == "sort" and follows(x):
        with paused():
            found = _sorted(name, x, axis, kind, order, stable, descending)
            places = _sorted("argsort", x, axis, kind, order, stable, descending)
        return _moved(name, x, places, axis, found)
    if not descending:
        result = _natively(x, name == "argsort", axis, kind, stable)
        if result is not None:
            return result
    function = getattr(np, name)

    def run(v: np.ndarray) -> np.ndarray:
        if not descending:
            return function(v, axis, kind, stable=stable)
        result = function(np.flip(v, axis), axis, kind, stable=stable)  # ties stay in order
        return np.flip(result if name == "sort" else v.shape[axis] - 1 - result, axis)

    key = (axis, kind, stable, descending)
    cut = cut_apart(x.shape, [axis])
    return gil_op(name, run, [x], x.shape, key, cost=3000 + 20.0 * x.size, cut=cut)


def _moved(name: str, x: NDArray, places: NDArray, axis: int, found: NDArray) -> NDArray:
    """``found``, x's elements at these places along an axis, with its gradient.

    Picked from x it would be others of what is equal: zeros have signs, and not-a-numbers bits.
    """

    def back(g: NDArray, b: NDArray) -> NDArray:
        return take_along_axis(g, argsort(b, axis), axis)

    note(name, [back], [x, places], [found])
    return found


def _natively(x: NDArray, indices: bool, axis: int, kind: Any, stable: Any) -> NDArray | None:
    """By NumPy's loops without the GIL, which threads share; None where there are none."""
    how = _plainly(x, axis, kind, stable)
    return None if how is None else ordered(x, how[0], indices, how[1])


def _plainly(x: NDArray, axis: int, kind: Any, stable: Any) -> tuple[int, bool] | None:
    """The axis, from the front, and whether equals keep their order; None for another kind."""
    if not -x.ndim <= axis < x.ndim or (kind is not None and stable is not None):
        return None
    lasting = bool(stable) or kind in ("stable", "mergesort")
    return (axis % x.ndim, lasting) if lasting or kind in (None, "quicksort") else None


def _check_order(order: object) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


def _along(name: str, a: Any, axis: int | None) -> tuple[NDArray, int]:
    x = asarray(a)
    indices = name.startswith("arg")
    if x.ndim == 0 and axis in (0, -1) and indices:
        x = ravel(x)  # as NumPy
    if axis is None:
        return ravel(x), 0
    return x, one_axis(axis) if indices else operator.index(axis)


def sort_inplace(x: NDArray, axis: int = -1, kind: str | None = None, stable: Any = None) -> None:
    """Sorts ``x`` itself along an axis."""
    normalize_axis_index(axis, x.ndim)
    infer(
        ("sort", axis, kind, stable),
        lambda v: np.sort(v, axis, kind, stable=stable),  # type: ignore[arg-type]
        (signature(x),),
    )
    if follows(x):
        return assign_to(x, sort(x, axis, kind, stable=stable))
    if not is_capturing():  # a graph knows the call by its name
        how = _plainly(x, axis, kind, stable)
        if how is not None and ordered_in_place(x, *how):
            return
    gil_write("sort", lambda v: v.sort(axis, kind, stable=stable), x, [], 3000 + 20.0 * x.size)


def partition(
    a: ArrayLike,
    kth: int | Sequence[int],
    axis: int | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> NDArray:
    """A copy in which the ``kth`` element along an axis is where sorting would put it.

    Smaller ones come before it, the others after.

    Args:
        kth: the place, or several.
        axis: the axis; None: of the flattened array.
        kind: "introselect", NumPy's only one.
        order: for NumPy's signature: arrays here have no fields.
    Returns: an array of a's shape; for ``axis=None`` a vector.
    Raises: ValueError if ``kth`` is out of bounds.

    >>> import lazyarray as la
    >>> la.partition(la.array([3, 1, 2]), 1)[1].item()
    2
    """
    return _partitioned("partition", a, kth, axis, kind, order)


def argpartition(
    a: ArrayLike,
    kth: int | Sequence[int],
    axis: int | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> NDArray:
    """The indices that would :func:`partition` the array.

    Args:
        kth: the place, or several.
        axis: the axis; None: of the flattened array.
        kind: "introselect", NumPy's only one.
        order: for NumPy's signature: arrays here have no fields.
    Returns: an array of integers of a's shape; for ``axis=None`` a vector.
    Raises: ValueError if ``kth`` is out of bounds.

    >>> import lazyarray as la
    >>> la.argpartition(la.array([3, 1, 2]), 1)[1].item()
    2
    """
    return _partitioned("argpartition", a, kth, axis, kind, order)


def partition_inplace(x: NDArray, kth: Any, axis: int = -1, kind: str = "introselect") -> None:
    """Partitions ``x`` itself along an axis."""
    normalize_axis_index(axis, x.ndim)
    places = _places(x, kth, axis)
    infer(
        ("partition", axis, kind, places.dtype.char, places.ndim),
        lambda v: np.partition(v, np.zeros_like(places), axis, kind),  # type: ignore[call-overload]
        (signature(x),),
    )
    if follows(x):
        return assign_to(x, partition(x, kth, axis, kind))
    gil_write("partition", lambda v: v.partition(places, axis, kind), x, [], 3000 + 2.0 * x.size)


def _places(x: NDArray, kth: Any, axis: int) -> np.ndarray:
    """``kth`` as NumPy takes it; its error where one is out of bounds."""
    places: np.ndarray = np.array(kth)
    n = x.shape[axis] if x.size and -x.ndim <= axis < x.ndim else 0
    if n and places.dtype.kind in "iu":
        for k in places.ravel().tolist():
            if not -n <= k < n:
                raise ValueError(f"kth(={k + n if k < 0 else k}) out of bounds ({n})")
    return places


def _partitioned(name: str, a: Any, kth: Any, axis: int | None, kind: str, order: None) -> NDArray:
    x, axis = _along(name, a, axis)
    _check_order(order)
    function = getattr(np, name)
    places = _places(x, kth, axis)
    if name == "partition" and follows(x):
        with paused():
            found = _partitioned(name, x, kth, axis, kind, None)
            # Each is the element of x that has its rank.
            ranks = argsort(argsort(found, axis, stable=True), axis)
            at = take_along_axis(argsort(x, axis, stable=True), ranks, axis)
        return _moved(name, x, at, axis, found)
    return gil_op(
        name,
        lambda v: function(v, places, axis, kind),
        [x],
        x.shape,
        (axis, kind, places.dtype.char, places.ndim),
        mini=lambda v: function(v, np.zeros_like(places), axis, kind),
        cost=3000 + 2.0 * x.size,
        cut=cut_apart(x.shape, [axis]),
    )


def lexsort(keys: ArrayLike, axis: int = -1) -> NDArray:
    """The indices that sort by several keys, the last one first.

    Args:
        keys: a sequence of arrays of one shape, or an array whose first axis holds them.
    Returns: an array of integers, of one key's shape.
    Raises: ValueError if the shapes differ; TypeError without keys.

    >>> import lazyarray as la
    >>> la.lexsort([la.array([2, 1, 0]), la.array([0, 0, 1])]).asnumpy()
    array([1, 0, 2])
    """
    xs = operands(*keys) if np.iterable(keys) else []
    if len({x.shape for x in xs}) > 1:
        raise ValueError("all keys need to be the same shape")
    if not xs:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    return gil_op(
        "lexsort",
        lambda *k: np.lexsort(k, axis),
        xs,
        xs[0].shape,
        axis,
        cost=3000 + 20.0 * xs[0].size,
    )


def sort_complex(a: ArrayLike) -> NDArray:
    """A sorted copy along the last axis, as complex numbers: by real parts, then imaginary ones.

    Returns: a complex array of a's shape.

    >>> import lazyarray as la
    >>> la.sort_complex(la.array([2, 1])).asnumpy()
    array([1.+0.j, 2.+0.j])
    """
    x = sort(a)
    if x.dtype.kind == "c":
        return x
    return astype(x, {"g": "G"}.get(x.dtype.char, "F" if x.dtype.char in "bhBH" else "D"))
