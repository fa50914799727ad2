"""Joining, splitting and repeating: new arrays written part by part with native copies."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from copy import deepcopy
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from lazyarray.lazy._lazy import Tensor, note_constant
from lazyarray.ops import _layout
from lazyarray.ops._differentiable import follows
from lazyarray.ops._moves import picked
from lazyarray.ops._rows import (
    asarray,
    assign_to,
    contiguous_signature,
    empty,
    full,
    join,
    out_array,
    probe,
    rolled,
)
from lazyarray.ops.creation import shape_of
from lazyarray.ops.manipulation import atleast_1d, atleast_2d, atleast_3d, copy, ravel, reshape

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = [
    "concatenate",
    "concat",
    "stack",
    "hstack",
    "vstack",
    "dstack",
    "column_stack",
    "array_split",
    "split",
    "hsplit",
    "vsplit",
    "dsplit",
    "unstack",
    "tile",
    "repeat",
    "roll",
    "append",
    "insert",
    "delete",
    "resize",
]


# ---- joining ------------------------------------------------------------------------------------


def concatenate(
    arrays: Sequence[Any],
    /,
    axis: int | None = 0,
    out: NDArray | None = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> NDArray:
    """Arrays one after the other along an axis; all other lengths must be equal (ValueError).

    Args:
        arrays: a sequence of arrays with the same lengths along all other axes.
        axis: the axis; None joins them flattened.
        dtype: the result's dtype; None: the common one.
    Returns: an array, along ``axis`` as long as all together.
    Raises: ValueError for no arrays, for other lengths, or for arrays without axes.

    >>> import lazyarray as la
    >>> la.concatenate([la.array([1, 2]), la.array([3.5])]).asnumpy()
    array([1. , 2. , 3.5])
    """
    if dtype is None and out is None:
        simple = join(arrays, axis)
        if simple is not None:
            return simple
    if dtype is not None and out is not None:
        raise TypeError(
            "concatenate() only takes `out` or `dtype` as an argument, but both were provided."
        )
    objects = list(arrays)
    if not objects:
        raise ValueError("need at least one array to concatenate")
    parts = _layout.operands(*objects)
    if axis is None:
        parts = [ravel(x) for x in parts]
        axis = 0
    shape, axis = _layout.joined_shape(parts, axis)
    if out is not None:
        out = out_array(out)
        if out.ndim != len(shape):
            raise ValueError("Output array has wrong dimensionality")
        if out.shape != shape:
            raise ValueError("Output array is the wrong shape")
        joined = out
    else:
        wanted = _common_dtype(objects, parts) if dtype is None else np.dtype(dtype)
        in_c_order = None not in [contiguous_signature(x) for x in parts]
        order = None if in_c_order else _layout.k_order(parts, len(shape))
        joined = _layout.new(shape, wanted, order, parts[0].device)
    for x in parts:
        if x.dtype != joined.dtype and not np.can_cast(x.dtype, joined.dtype, casting):  # type: ignore[arg-type]
            raise TypeError(
                f"Cannot cast array data from {x.dtype!r} to {joined.dtype!r} according to the "
                f"rule {casting!r}"
            )
    lead = (slice(None),) * axis
    start = 0
    for x in parts:
        stop = start + x.shape[axis]
        assign_to(joined[(*lead, slice(start, stop))], x)
        start = stop
    if any(x.size == 0 for x in parts):
        note_constant(parts, [joined])  # of parts without elements nothing was written
    return joined


concat = concatenate


def _common_dtype(objects: list[Any], parts: list[NDArray]) -> np.dtype[Any]:
    kinds = [x.dtype for x in parts]
    if kinds.count(kinds[0]) == len(kinds):
        return kinds[0]
    weak = (int, float, complex)  # Python scalars, which only axis=None allows, are weak
    pairs = zip(objects, kinds, strict=True)
    return np.result_type(*[o if type(o) in weak else kind for o, kind in pairs])


def stack(
    arrays: Sequence[Any],
    axis: int = 0,
    out: NDArray | None = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> NDArray:
    """Arrays of one shape along a new axis of the result; ValueError if their shapes differ.

    Args:
        arrays: a sequence of arrays of one shape.
        axis: where the new axis is in the result.
        dtype: the result's dtype; None: the common one.
    Returns: an array with one axis more.
    Raises: ValueError for no arrays, or different shapes.

    >>> import lazyarray as la
    >>> la.stack([la.array([1, 2]), la.array([3, 4])], axis=1).asnumpy()
    array([[1, 3],
           [2, 4]])
    """
    parts = _layout.operands(*_sequence(arrays))
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({x.shape for x in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis_index(axis, parts[0].ndim + 1)
    key = (slice(None),) * axis + (None, ...)
    return concatenate([x[key] for x in parts], axis, out, dtype=dtype, casting=casting)


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> NDArray:
    """Arrays one below the other: along axis 0, a vector being one row.

    Args:
        tup: a sequence of arrays.
        dtype: the result's dtype; None: the common one.
    Returns: an array of two axes or more.
    Raises: ValueError for no arrays, or lengths along other axes that differ.

    >>> import lazyarray as la
    >>> la.vstack([la.array([1, 2]), la.array([3, 4])]).asnumpy()
    array([[1, 2],
           [3, 4]])
    """
    parts = [atleast_2d(x) for x in _layout.operands(*_sequence(tup))]
    return concatenate(parts, 0, dtype=dtype, casting=casting)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> NDArray:
    """Arrays side by side: along axis 1, vectors along axis 0.

    Args:
        tup: a sequence of arrays.
        dtype: the result's dtype; None: the common one.
    Returns: an array; of vectors a vector.
    Raises: ValueError for no arrays, or lengths along other axes that differ.

    >>> import lazyarray as la
    >>> la.hstack([la.array([1, 2]), la.array([3])]).asnumpy()
    array([1, 2, 3])
    """
    if dtype is None and type(tup) in (list, tuple) and tup and isinstance(tup[0], Tensor):
        simple = join(tup, int(tup[0].ndim != 1))
        if simple is not None:
            return simple
    parts = [atleast_1d(x) for x in _layout.operands(*_sequence(tup))]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


def dstack(tup: Sequence[Any]) -> NDArray:
    """Arrays along the third axis: (M, N) is (M, N, 1), (N,) is (1, N, 1).

    Args:
        tup: a sequence of arrays.
    Returns: an array of three axes or more.
    Raises: ValueError for no arrays, or lengths along other axes that differ.

    >>> import lazyarray as la
    >>> la.dstack([la.array([1, 2]), la.array([3, 4])]).asnumpy()
    array([[[1, 3],
            [2, 4]]])
    """
    return concatenate([atleast_3d(x) for x in _layout.operands(*_sequence(tup))], 2)


def column_stack(tup: Sequence[Any]) -> NDArray:
    """Arrays side by side, vectors as columns.

    Args:
        tup: a sequence of vectors and matrices.
    Returns: a matrix.
    Raises: ValueError for no arrays, or numbers of rows that differ.

    >>> import lazyarray as la
    >>> la.column_stack([la.array([1, 2]), la.array([3, 4])]).asnumpy()
    array([[1, 3],
           [2, 4]])
    """
    parts = _layout.operands(*_sequence(tup))
    return concatenate([x if x.ndim >= 2 else x.reshape(-1, 1) for x in parts], 1)


def _sequence(arrays: Any) -> list[Any]:
    if not hasattr(arrays, "__getitem__"):
        raise TypeError(
            'arrays to stack must be passed as a "sequence" type such as list or tuple.'
        )
    return list(arrays)


def append(arr: Any, values: Any, axis: int | None = None) -> NDArray:
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


# ---- splitting ----------------------------------------------------------------------------------


def array_split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[NDArray]:
    """Views of parts along an axis: so many, as equal as can be, or cut at the indices given.

    Args:
        ary: the array.
        indices_or_sections: how many parts, or the indices at which each but the first begins.
    Returns: a list of views.
    Raises: ValueError unless there is at least one part.

    >>> import lazyarray as la
    >>> [x.asnumpy().tolist() for x in la.array_split(la.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    x = asarray(ary)
    axis = normalize_axis_index(axis, x.ndim)
    total = x.shape[axis]
    given: Any = indices_or_sections
    if np.ndim(given):
        cuts = [0, *[operator.index(i) for i in given], total]
    else:
        sections = int(given)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(total, sections)
        cuts = [i * each + min(i, extra) for i in range(sections + 1)]
    lead = (slice(None),) * axis
    return [x[(*lead, slice(start, stop), ...)] for start, stop in pairwise(cuts)]


def split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[NDArray]:
    """Views of equal parts along an axis, or of parts cut at indices.

    Args:
        ary: the array.
        indices_or_sections: how many parts, or the indices at which each but the first begins.
    Returns: a list of views.
    Raises: ValueError if the length does not divide by the number of parts.

    >>> import lazyarray as la
    >>> [x.asnumpy().tolist() for x in la.split(la.arange(6), [1, 4])]
    [[0], [1, 2, 3], [4, 5]]
    """
    x = asarray(ary)
    if not np.ndim(indices_or_sections):
        axis = normalize_axis_index(axis, x.ndim)
        if x.shape[axis] % int(indices_or_sections):  # type: ignore[arg-type]
            raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[NDArray]:
    """:func:`split` along axis 1 (axis 0 of a vector).

    Args:
        ary: an array of one axis at least.
        indices_or_sections: how many parts, or the indices at which each but the first begins.
    Returns: a list of views.
    Raises: ValueError for an array without axes, and if the length does not divide.

    >>> import lazyarray as la
    >>> [x.shape for x in la.hsplit(la.zeros((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    x = asarray(ary)
    if x.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[NDArray]:
    """:func:`split` along axis 0 of an array of two or more dimensions.

    Args:
        ary: the array.
        indices_or_sections: how many parts, or the indices at which each but the first begins.
    Returns: a list of views.
    Raises: ValueError for fewer axes, and if the length does not divide.

    >>> import lazyarray as la
    >>> [x.shape for x in la.vsplit(la.zeros((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    x = asarray(ary)
    if x.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(x, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[NDArray]:
    """:func:`split` along axis 2 of an array of three or more dimensions.

    Args:
        ary: the array.
        indices_or_sections: how many parts, or the indices at which each but the first begins.
    Returns: a list of views.
    Raises: ValueError for fewer axes, and if the length does not divide.

    >>> import lazyarray as la
    >>> [x.shape for x in la.dsplit(la.zeros((2, 2, 4)), 2)]
    [(2, 2, 2), (2, 2, 2)]
    """
    x = asarray(ary)
    if x.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(x, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[NDArray, ...]:
    """The entries along an axis, each a view without it (copies, if ``x`` is a vector).

    Returns: a tuple of as many arrays as the axis is long.
    Raises: ValueError for an array without axes.

    >>> import lazyarray as la
    >>> [x.asnumpy().tolist() for x in la.unstack(la.array([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    lead = (slice(None),) * normalize_axis_index(axis, x.ndim)
    return tuple(x if not lead else [x[(*lead, i)] for i in range(x.shape[len(lead)])])


# ---- repeating ----------------------------------------------------------------------------------


def tile(A: Any, reps: int | Sequence[int]) -> NDArray:
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


def repeat(a: Any, repeats: Any, axis: int | None = None) -> NDArray:
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
    axis = normalize_axis_index(axis, max(x.ndim, 1))
    x = x.reshape(1) if x.ndim == 0 else x
    if type(repeats) is int and repeats > 0:
        times = repeats
        total = x.shape[axis] * times
    else:
        given = _layout.values(repeats, "repeat()") if isinstance(repeats, Tensor) else repeats
        counts = np.array(given).astype(np.intp)
        times = counts.item() if counts.size == 1 else 0
        # NumPy's own errors, and the length: on one byte an entry.
        total = np.repeat(np.zeros(x.shape[axis], bool), given).size
    out = empty(
        shape_of((*x.shape[:axis], total, *x.shape[axis + 1 :]), x.dtype), x.dtype, x.device
    )
    if out.size == 0 and not follows(x):
        return out
    if times:
        to = reshape(out, (*x.shape[: axis + 1], times, *x.shape[axis + 1 :]), copy=False)
        short = axis == x.ndim - 1 and times < 16  # copied with long inner loops
        for i in range(times) if short else ():
            assign_to(to[..., i], x)
        if not short:
            assign_to(to, x[(slice(None),) * (axis + 1) + (None, ...)])
        return out
    if follows(x):
        return picked(x, lambda n: repeat(n, counts, axis))
    return _layout.gil_op(
        "repeat",
        lambda v: np.repeat(v, counts, axis),
        [x],
        out.shape,
        axis,
        mini=lambda v: np.repeat(v, 1, axis),
    )


def resize(a: Any, new_shape: int | Sequence[int]) -> NDArray:
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


# ---- moving, inserting, deleting ----------------------------------------------------------------


def roll(a: Any, shift: Any, axis: int | Sequence[int] | None = None) -> NDArray:
    """Elements shifted along axes; what leaves at one end enters at the other.

    Args:
        shift: by how many places; several for several axes.
        axis: the axis, or several; None: of the flattened array, whose shape is put back.
    Returns: an array of a's shape.
    Raises: ValueError if ``shift`` and ``axis`` do not broadcast.

    >>> import lazyarray as la
    >>> la.roll(la.arange(5), 2).asnumpy()
    array([3, 4, 0, 1, 2])
    """
    x = asarray(a)
    simple = rolled(x, shift, axis)
    if simple is not None:
        return simple
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    pairs = np.broadcast(shift, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts = dict.fromkeys(range(x.ndim), 0)
    for by, along in pairs:
        shifts[int(along)] += int(by)
    # Along each axis: (where from, where to) of the part that stays and of the part that wraps.
    moves = []
    for d, by in shifts.items():
        by %= x.shape[d] or 1
        whole = [(slice(None), slice(None))]
        parts = [(slice(None, -by), slice(by, None)), (slice(-by, None), slice(None, by))]
        moves.append(parts if by else whole)
    out = _layout.new_like(x)
    for move in product(*moves):
        source, target = tuple([m[0] for m in move]), tuple([m[1] for m in move])
        assign_to(out[(*target, ...)], x[(*source, ...)])
    return out


def delete(arr: Any, obj: Any, axis: int | None = None) -> NDArray:
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
    obj = _layout.values(obj, "delete()") if isinstance(obj, Tensor) else deepcopy(obj)
    if follows(x):
        return picked(x, lambda n: delete(n, obj, axis))
    n = x.shape[axis]
    # NumPy lays out what one entry or a slice is missing from in another way than it does else.
    few = isinstance(obj, slice) or (np.size(obj) == 1 and np.asarray(obj).dtype.kind in "iu")
    if isinstance(obj, slice):
        left = n - len(range(*obj.indices(n)))
    elif few and -n <= np.ravel(obj)[0] < n:
        left = n - 1
    else:  # also NumPy's errors
        left = np.delete(np.empty(n, np.bool_), obj).size
    alike: Any = slice(0, 0) if few else []
    return _layout.gil_op(
        "delete",
        lambda v: np.delete(v, obj, axis),
        [x],
        (*x.shape[:axis], left, *x.shape[axis + 1 :]),
        (axis, few),
        mini=lambda v: np.delete(v, alike, axis),
        cost=3000 + 0.1 * (x.nbytes if few else 10 * x.nbytes),
    )


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> NDArray:
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
    x, new = _layout.operands(arr, values)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(axis, x.ndim)
    n = x.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(*obj.indices(n))
    where = np.array(_layout.values(obj, "insert()"))
    if where.dtype == bool:
        where = np.flatnonzero(where)
    # As numpy.insert: the place of one scalar index gets all of the first axis of the values.
    added = probe(new, contiguous=True).reshape((1,) * (x.ndim - new.ndim) + new.shape)
    if where.ndim == 0:
        added = np.moveaxis(added, 0, axis)
    count = added.shape[axis] if where.size == 1 else where.size
    if where.size == 1 and where.dtype.kind in "iu" and -n <= where.ravel()[0] <= n:
        total = n + count
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
