"""Joining and splitting: new arrays written part by part with native copies; parts are views."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.functions._checks import common_dtype, is_weak
from lazyarray.functions.manipulation import atleast_1d, atleast_2d, atleast_3d, ravel
from lazyarray.functions.manipulation import copy as copied
from lazyarray.lazy._lazy import Tensor, note_constant
from lazyarray.ops import _layout, hosts
from lazyarray.ops._layout import operands
from lazyarray.ops._rows import asarray, assign_to, join, out_array, unwritten_joined

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike

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
    "block",
]


# Elements times depth from which on NumPy writes a block part by part, in C or F order, in place of
# joining its lists in their own order (``numpy/_core/shape_base.py``).
MOST_JOINED = 2 * 512 * 512


# ---- joining ------------------------------------------------------------------------------------


def concatenate(
    arrays: Sequence[ArrayLike],
    /,
    axis: int | None = 0,
    out: NDArray | None = None,
    *,
    dtype: DTypeLike = None,
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
    if isinstance(axis, bool):
        raise TypeError("an integer is required for the axis")
    if dtype is None and out is None and casting == "same_kind":
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
        joined = unwritten_joined(parts, shape, wanted)
    for o, x in zip(objects, parts, strict=True):
        if dtype is None and out is None and is_weak(o):
            continue
        asked = casting != "same_kind" or x.dtype != joined.dtype
        if asked and not np.can_cast(x.dtype, joined.dtype, casting):  # type: ignore[arg-type]
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
    return common_dtype(objects, parts)


def stack(
    arrays: Sequence[ArrayLike],
    axis: int = 0,
    out: NDArray | None = None,
    *,
    dtype: DTypeLike = None,
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


def vstack(
    tup: Sequence[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> NDArray:
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


def hstack(
    tup: Sequence[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> NDArray:
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
    plain = dtype is None and casting == "same_kind" and type(tup) in (list, tuple)
    if plain and tup and isinstance(tup[0], Tensor):
        simple = join(tup, int(tup[0].ndim != 1))
        if simple is not None:
            return simple
    parts = [atleast_1d(x) for x in _layout.operands(*_sequence(tup))]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


def dstack(tup: Sequence[ArrayLike]) -> NDArray:
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


def column_stack(tup: Sequence[ArrayLike]) -> NDArray:
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


# ---- splitting ----------------------------------------------------------------------------------


def _is_count(indices_or_sections: Any) -> bool:
    """Whether it says how many parts, not where to cut."""
    if type(indices_or_sections) in (int, list, tuple):
        return type(indices_or_sections) is int
    if isinstance(indices_or_sections, str):
        raise TypeError(f"indices_or_sections is a number or indices, not {indices_or_sections!r}")
    return not np.ndim(indices_or_sections)


def array_split(
    ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0
) -> list[NDArray]:
    """Views of parts along an axis: so many, as equal as can be, or cut at the indices given.

    Args:
        ary: the array.
        indices_or_sections: how many parts, or the indices at which each but the first begins.
    Returns: a list of views.
    Raises: ValueError unless there is at least one part; TypeError for a string.

    >>> import lazyarray as la
    >>> [x.asnumpy().tolist() for x in la.array_split(la.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    x = asarray(ary)
    axis = normalize_axis_index(axis, x.ndim)
    total = x.shape[axis]
    given: Any = indices_or_sections
    if not _is_count(given):
        cuts = [0, *[i if i is None else operator.index(i) for i in given], total]
    else:
        sections = int(given)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(total, sections)
        # As NumPy: a list of so many at once is a MemoryError, where it can't be.
        cuts = [0, *accumulate([each + 1] * extra + [each] * (sections - extra))]
    lead = (slice(None),) * axis
    return [x[(*lead, slice(start, stop), ...)] for start, stop in pairwise(cuts)]


def split(ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[NDArray]:
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
    if _is_count(indices_or_sections):
        axis = normalize_axis_index(axis, x.ndim)
        if x.shape[axis] % indices_or_sections:  # type: ignore[operator]
            raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[NDArray]:
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


def vsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[NDArray]:
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


def dsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int]) -> list[NDArray]:
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


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[NDArray, ...]:
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


def block(arrays: ArrayLike) -> NDArray:
    """Arrays joined as nested lists say: the innermost along the last axis, and so on outwards.

    Args:
        arrays: an array, or nested lists of arrays.
    Returns: an array of as many axes as the lists are deep, at least.
    Raises: ValueError for lists that are uneven or empty, or lengths that do not fit; TypeError for
        tuples.

    >>> import lazyarray as la
    >>> la.block([[la.ones((2, 2)), la.zeros((2, 1))], [la.zeros((1, 3))]]).asnumpy()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 0.]])
    """
    nested: Any = arrays
    depth, first = 0, nested
    while isinstance(first, list) and first:
        depth, first = depth + 1, first[0]
        if depth > hosts.MOST_AXES:  # perhaps a list that is in itself
            raise ValueError(f"maximum supported dimension for an ndarray is {hosts.MOST_AXES}")
    leaves: list[Any] = []
    if not _gathered(nested, depth, leaves):
        np.block(_hollow(nested, np.empty((0,) * max(depth, 1), np.bool_)))  # its error
    parts = operands(*leaves)
    ndim = max([depth, *[x.ndim for x in parts]])
    lifted = iter([x if x.ndim == ndim else x[(None,) * (ndim - x.ndim) + (...,)] for x in parts])

    def joined(o: Any, left: int) -> NDArray:
        """What a list makes, with ``left`` levels of lists in it."""
        return concatenate([joined(p, left - 1) for p in o], -left) if left else next(lifted)

    if depth * sum(x.size for x in parts) <= MOST_JOINED:
        return joined(nested, depth) if depth else copied(next(lifted), "C")
    shape, places = _laid_out(nested, depth, ndim, lifted)
    in_f, in_c = (all(x.flags[f"{c}_CONTIGUOUS"] for x in parts) for c in "FC")
    order = range(ndim)[::-1] if in_f and not in_c else None
    whole = _layout.new(tuple(shape), _common_dtype(parts, parts), order, parts[0].device)
    for start, x in places:
        to = tuple([slice(s, s + n) for s, n in zip(start, x.shape, strict=True)])
        assign_to(whole[to], x)
    if any(x.size == 0 for x in parts):
        note_constant(parts, [whole])  # of parts without elements nothing was written
    return whole


def _gathered(o: Any, depth: int, leaves: list[Any]) -> bool:
    """Puts what is in lists of lists in ``leaves``; whether all of it is at that depth."""
    if isinstance(o, list):
        return depth > 0 and bool(o) and all(_gathered(p, depth - 1, leaves) for p in o)
    leaves.append(o)
    return depth == 0 and not isinstance(o, tuple)


def _hollow(o: Any, leaf: np.ndarray) -> Any:
    """The same lists (and tuples) with ``leaf`` for all that is in them."""
    if isinstance(o, list):
        return [_hollow(part, leaf) for part in o]
    return o if isinstance(o, tuple) else leaf


def _laid_out(
    o: Any, left: int, ndim: int, parts: Iterator[NDArray]
) -> tuple[list[int], list[tuple[list[int], NDArray]]]:
    """The shape of what a list makes, with ``left`` levels of lists in it, and where each begins.

    NumPy's error if they do not fit.
    """
    if not left:
        x = next(parts)
        return list(x.shape), [([0] * ndim, x)]
    axis = ndim - left
    shape: list[int] = []
    places: list[tuple[list[int], NDArray]] = []
    for part in o:
        more, inside = _laid_out(part, left - 1, ndim, parts)
        if not shape:
            shape = [*more[:axis], 0, *more[axis + 1 :]]
        if more[:axis] != shape[:axis] or more[axis + 1 :] != shape[axis + 1 :]:
            raise ValueError(f"Mismatched array shapes in block along axis {axis}.")
        for start, _ in inside:
            start[axis] = shape[axis]
        shape[axis] += more[axis]
        places += inside
    return shape, places
