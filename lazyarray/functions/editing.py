"""Elements repeated, added and removed, in new arrays: written part by part, or gathered."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from lazyarray.functions._checks import as_dtype_of, one_axis, whole
from lazyarray.functions.creation import shape_of
from lazyarray.functions.joining import concatenate
from lazyarray.functions.manipulation import copy, ravel, reshape
from lazyarray.lazy._lazy import Tensor, note_constant
from lazyarray.ops import _layout
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import looked_at
from lazyarray.ops._moves import picked
from lazyarray.ops._rows import (
    asarray,
    assign_to,
    at_once,
    empty,
    full,
    places_repeated,
    probe,
    take_along,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Places

__all__ = ["tile", "repeat", "append", "insert", "delete", "resize", "trim_zeros"]


def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> NDArray:
    """``arr`` with ``values`` after it along an axis (both flattened if ``axis`` is None).

    Args:
        arr: the array.
        values: what comes after it, with the same lengths along all other axes.
        axis: the axis; None: both are flattened.
    Returns: an array, along the axis as long as both together.
    Raises: ValueError if the numbers of axes, or other lengths, differ.

    >>> import lazyarray as la
    >>> la.append(la.array([1, 2]), 3).asnumpy()
    array([1, 2, 3])
    """
    a, b = _layout.operands(arr, values)
    if axis is None:
        a, b, axis = ravel(a), ravel(b), 0
    return concatenate((a, b), axis)


# ---- repeating ----------------------------------------------------------------------------------


def tile(A: ArrayLike, reps: int | Sequence[int]) -> NDArray:
    """``A`` repeated ``reps`` times along each axis; the shorter of shape and reps gets ones.

    Args:
        A: an array.
        reps: how often along each axis: a number, or one for each.
    Returns: an array, each axis as many times as long.
    Raises: ValueError for a negative number.

    >>> import lazyarray as la
    >>> la.tile(la.array([1, 2]), (2, 2)).asnumpy()
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    x = asarray(A)
    given: Any = reps
    if isinstance(given, (Tensor, np.ndarray)):
        given = _layout.values(given, "tile()").tolist()  # bools are numbers then, as to NumPy
    times = tuple([operator.index(t) for t in (given if np.ndim(given) else (given,))])
    ndim = max(x.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    x = x[(None,) * (ndim - x.ndim) + (...,)]
    if all(t == 1 for t in times):
        return copy(x)
    out = empty(tuple([n * t for n, t in zip(x.shape, times, strict=True)]), x.dtype, x.device)
    pairs = [d for n, t in zip(x.shape, times, strict=True) for d in (t, n)]
    assign_to(reshape(out, pairs, copy=False), x[(None, slice(None)) * ndim])
    return out


def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None) -> NDArray:
    """Each element ``repeats`` times along an axis (of the flattened array if it is None).

    Waits for ``repeats``, if it is an NDArray: the result's length is its sum.

    Args:
        repeats: how often: an int, or one for each entry along the axis.
        axis: the axis; None: of the flattened array.
    Returns: an array, along the axis as long as the sum of ``repeats``.
    Raises: ValueError for a negative number, or if there are not as many as entries.

    >>> import lazyarray as la
    >>> la.repeat(la.array([1, 2]), 2).asnumpy()
    array([1, 1, 2, 2])
    """
    x = asarray(a)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(one_axis(axis), max(x.ndim, 1))
    x = x.reshape(1) if x.ndim == 0 else x
    given: Any = whole(repeats)
    if type(given) is int and given > 0:
        times = given
        total = x.shape[axis] * times
    else:
        found: NDArray | None = at_once(np.repeat, (x, given, axis), hosted=True)
        if found is not None:
            return found
        given = _layout.values(given, "repeat()") if isinstance(given, Tensor) else given
        each = np.asarray(given)
        counts = each.astype(np.intp, copy=False)
        times = counts.item() if counts.size == 1 else 0
        fits = np.can_cast(each.dtype, np.intp) and each.shape == x.shape[axis : axis + 1]
        if fits and counts.min(initial=0) >= 0:
            total = int(counts.sum())
            if (about := counts.sum(dtype=float)) >= 2**63:  # the sum has wrapped round
                total = int(about)
        else:  # NumPy's own errors, and the length: on one byte an entry
            total = np.repeat(np.zeros(x.shape[axis], bool), given).size
    out = empty(
        shape_of((*x.shape[:axis], total, *x.shape[axis + 1 :]), x.dtype), x.dtype, x.device
    )
    if out.size == 0 and not follows(x):
        return out
    if times:
        to = reshape(out, (*x.shape[: axis + 1], times, *x.shape[axis + 1 :]), copy=False)
        assign_to(to, x[(slice(None),) * (axis + 1) + (None, ...)])
        return out
    if follows(x):
        return picked(x, lambda n: repeat(n, counts, axis))
    places = places_repeated(counts, total, x.device)
    found = take_along(x, places, axis)
    if found is None:  # what is behind the axis lies apart
        found = take_along(copy(x, "C"), places, axis)
    assert found is not None
    return found


def resize(a: ArrayLike, new_shape: int | Sequence[int]) -> NDArray:
    """A new array of ``new_shape``, filled with a's elements over and over.

    Args:
        new_shape: the lengths: an int or a tuple.
    Returns: an array of that shape; zeros, if ``a`` has no elements.
    Raises: ValueError for a negative length.

    >>> import lazyarray as la
    >>> la.resize(la.array([1, 2, 3]), (2, 2)).asnumpy()
    array([[1, 2],
           [3, 1]])
    """
    given: Any = new_shape
    several = type(given) in (tuple, list) or np.ndim(given)
    shape = tuple([operator.index(n) for n in (given if several else (given,))])
    x = ravel(asarray(a))
    size = 1
    for n in shape:
        size *= n
        if n < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    if x.size == 0 or size == 0:
        zeros = full(shape, 0, x.dtype, x.device)
        note_constant([x], [zeros])
        return zeros
    return reshape(concatenate([x] * -(-size // x.size))[:size], shape)


def delete(arr: ArrayLike, obj: Places, axis: int | None = None) -> NDArray:
    """A copy without the entries ``obj`` (an index, a slice, several, or a mask) along an axis.

    Waits for ``obj``, if it is an NDArray: how many entries are left depends on it.

    Args:
        arr: the array.
        obj: an index, a slice, several indices, or a mask.
        axis: the axis; None: of the flattened array.
    Returns: an array, shorter along the axis by what was left out.
    Raises: IndexError for an index out of bounds; ValueError for a mask of another length.

    >>> import lazyarray as la
    >>> la.delete(la.array([1, 2, 3]), 1).asnumpy()
    array([1, 3])
    """
    x = asarray(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(axis, x.ndim)
    # The user's own may change before the op has run.
    where: Any = _layout.values(obj, "delete()") if isinstance(obj, Tensor) else deepcopy(obj)
    if follows(x):
        return picked(x, lambda n: delete(n, where, axis))
    n = x.shape[axis]
    # NumPy lays out what one entry or a slice is missing from in another way than it does else.
    few = isinstance(where, slice) or (np.size(where) == 1 and np.asarray(where).dtype.kind in "iu")
    if isinstance(where, slice):
        left = n - len(range(*where.indices(n)))
    elif few and -n <= np.ravel(where)[0] < n:
        left = n - 1
    elif _are_places(where, -n, n - 1):
        kept = np.ones(n, np.bool_)
        kept[where] = False
        return x[(slice(None),) * axis + (kept,)]
    elif np.shape(where) == (n,) and np.asarray(where).dtype == np.bool_:
        return x[(slice(None),) * axis + (~np.asarray(where),)]
    else:  # also NumPy's errors
        left = np.delete(np.empty(n, np.bool_), where).size
    alike: Any = slice(0, 0) if few else []
    return _layout.gil_op(
        "delete",
        lambda v: np.delete(v, where, axis),
        [x],
        (*x.shape[:axis], left, *x.shape[axis + 1 :]),
        (axis, few),
        mini=lambda v: np.delete(v, alike, axis),
        cost=3000 + 0.1 * (x.nbytes if few else 10 * x.nbytes),
    )


def _are_places(given: Any, least: int, most: int) -> bool:
    """Whether it is a vector of some integers, all of them between two."""
    v = np.asarray(given)
    plain = v.ndim == 1 and v.size > 0 and v.dtype.kind in "iu"
    return plain and bool(least <= v.min() and v.max() <= most)


def insert(arr: ArrayLike, obj: Places, values: ArrayLike, axis: int | None = None) -> NDArray:
    """A copy with ``values`` put in before the entries ``obj`` along an axis.

    Waits for ``obj``, if it is an NDArray: how many entries are put in depends on it.

    Args:
        arr: the array.
        obj: an index, a slice, or several indices, of the array before anything is put in.
        values: what is put in, broadcast to the places.
        axis: the axis; None: of the flattened array.
    Returns: an array, longer along the axis by what was put in.
    Raises: IndexError for an index out of bounds; ValueError if ``values`` do not broadcast.

    >>> import lazyarray as la
    >>> la.insert(la.array([1, 2, 3]), 1, 9).asnumpy()
    array([1, 9, 2, 3])
    """
    x = asarray(arr)
    x, new = _layout.operands(x, as_dtype_of(x, values))
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(axis, x.ndim)
    n = x.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(*obj.indices(n))
    where = np.array(_layout.values(obj, "insert()"))
    if where.dtype == bool:
        if where.ndim != 1:
            raise ValueError("boolean array argument obj to insert must be one dimensional")
        where = np.flatnonzero(where)
    if where.size == 0 and not isinstance(obj, (np.ndarray, Tensor)):
        where = where.astype(np.intp)  # an empty list's are floats
    # As numpy.insert: the place of one scalar index gets all of the first axis of the values.
    added = probe(new, contiguous=True).reshape((1,) * (x.ndim - new.ndim) + new.shape)
    if where.ndim == 0:
        added = np.moveaxis(added, 0, axis)
    count = added.shape[axis] if where.size == 1 else where.size
    if where.size == 1 and where.dtype.kind in "iu" and -n <= where.ravel()[0] <= n:
        total = n + count
    elif where.size > 1 and _are_places(where, -n, n):
        total = n + where.size
    else:  # also NumPy's errors
        total = np.insert(np.empty(n, np.bool_), where, np.zeros(count, np.bool_)).size
    while added.ndim > x.ndim and added.shape[0] == 1:  # as in any assignment
        added = added[0]
    np.broadcast_to(added, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    if follows(x, new):
        m = x.size
        both = concatenate([ravel(x), ravel(new.astype(x.dtype, copy=False))])

        def select(n: NDArray) -> NDArray:
            return insert(n[:m].reshape(x.shape), where, n[m:].reshape(new.shape), axis)

        return picked(both, select)
    return _layout.gil_op(
        "insert",
        lambda v, w: np.insert(v, where, w, axis),
        [x, new],
        (*x.shape[:axis], total, *x.shape[axis + 1 :]),
        axis,
        mini=lambda v, w: np.insert(v, [], 0, axis),
        cost=3000 + 0.1 * (x.nbytes if where.size == 1 else 10 * x.nbytes),
    )


def _bounds(v: np.ndarray) -> tuple[list[int], list[int] | None]:
    """The first indices of the box of what is not zero, and those behind it (None: no box)."""
    first, last = [], []
    for axis in range(v.ndim):
        others = tuple([i for i in range(v.ndim) if i != axis])
        along: Any = v.any(axis=others) if others else v
        along = along.astype(np.bool_, copy=False)
        start = int(along.argmax()) if along.size else 0
        if not along.size or not along[start]:
            return [0] * v.ndim, None
        first.append(start)
        last.append(along.size - int(along[::-1].argmax()))
    return first, last


def trim_zeros(
    filt: ArrayLike, trim: str = "fb", axis: int | tuple[int, ...] | None = None
) -> NDArray:
    """A view without the zeros before the first and after the last element that is not zero.

    Waits for the values: the result's shape depends on them.

    Args:
        filt: an array.
        trim: which ends: "f" the front, "b" the back, "fb" both.
        axis: the axis, or several; None: all.
    Returns: a view of as many axes; a part of ``filt`` if that is a list or tuple of numbers.
    Raises: ValueError for another ``trim``.

    >>> import lazyarray as la
    >>> la.trim_zeros(la.array([0, 1, 0, 2, 0])).asnumpy()
    array([1, 0, 2])
    """
    x = asarray(filt)
    ends = trim.lower()
    if ends not in {"fb", "bf", "f", "b"}:
        raise ValueError(f"unexpected character(s) in `trim`: {ends!r}")
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim, argname="axis")
    if not axes:
        return x
    first, last = looked_at(x, "trim_zeros()", _bounds)
    if last is not None and "f" not in ends:
        first = [None] * x.ndim
    if last is not None and "b" not in ends:
        last = [None] * x.ndim
    last = last or first
    every = slice(None)
    if isinstance(filt, (list, tuple)) and x.ndim == 1:
        return filt[first[0] : last[0]]  # type: ignore[return-value]
    return x[tuple([slice(first[d], last[d]) if d in axes else every for d in range(x.ndim)])]
