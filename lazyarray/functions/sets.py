"""Sets: distinct elements, membership, unions and the like.

All but ``isin`` wait for their arrays' values: these decide the result's shape.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray import _numpy_facts
from lazyarray.functions._checks import is_weak
from lazyarray.functions.manipulation import ravel
from lazyarray.functions.sorting import argsort, sort
from lazyarray.ops import _rows
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import refuse
from lazyarray.ops._layout import gil_op, looked_at, operands, values
from lazyarray.ops._rows import asarray, full, kept, writable

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = [
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "isin",
    "intersect1d",
    "union1d",
    "setdiff1d",
    "setxor1d",
]

_equal, _not_equal, _and, _or = op.equal, op.not_equal, op.logical_and, op.logical_or


def _waited(name: str, *arrays: Any, **options: Any) -> Any:
    """What NumPy's function of that name gives of the arrays' values, as arrays."""
    xs = operands(*arrays)
    refuse(name, *xs)
    function = getattr(np, name)
    # Python's numbers stay what they are: to NumPy, too, they are weak.
    others = [
        o if is_weak(o) else values(x, f"{name}()") for o, x in zip(arrays[1:], xs[1:], strict=True)
    ]

    def run(v: Any) -> Any:
        return function(arrays[0] if is_weak(arrays[0]) else v, *others, **options)

    found = looked_at(xs[0], f"{name}()", run)
    if isinstance(found, tuple):
        return tuple([kept(r, xs[0].device) for r in found])
    return kept(found, xs[0].device)


# ---- distinct elements --------------------------------------------------------------------------


if TYPE_CHECKING:  # with lazyarrays in them

    class UniqueAllResult(NamedTuple):
        """What :func:`unique_all` returns."""

        values: NDArray
        indices: NDArray
        inverse_indices: NDArray
        counts: NDArray

    class UniqueCountsResult(NamedTuple):
        """What :func:`unique_counts` returns."""

        values: NDArray
        counts: NDArray

    class UniqueInverseResult(NamedTuple):
        """What :func:`unique_inverse` returns."""

        values: NDArray
        inverse_indices: NDArray

else:  # programs ask whether a result is one of NumPy's
    from numpy.lib._arraysetops_impl import (
        UniqueAllResult,
        UniqueCountsResult,
        UniqueInverseResult,
    )


@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = ...,
    return_inverse: Literal[False] = ...,
    return_counts: Literal[False] = ...,
    axis: int | None = ...,
    *,
    equal_nan: bool = ...,
    sorted: bool = ...,
) -> NDArray: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: bool = ...,
    return_inverse: bool = ...,
    return_counts: bool = ...,
    axis: int | None = ...,
    *,
    equal_nan: bool = ...,
    sorted: bool = ...,
) -> tuple[NDArray, ...]: ...
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> NDArray | tuple[NDArray, ...]:
    """The distinct elements (or, along an axis, the distinct entries), sorted.

    Waits for the values: the result's shape depends on them.

    Args:
        ar: an array.
        return_index: whether to give the index of the first of each.
        return_inverse: whether to give the index of each element's value among them.
        return_counts: whether to give how often each occurs.
        axis: along which entries are compared; None: elements.
        equal_nan: whether NaNs are one element.
        sorted: for NumPy's signature: they are sorted in any case.
    Returns: a vector, or for an axis an array; with what is asked for a tuple of arrays.

    >>> import lazyarray as la
    >>> [x.tolist() for x in la.unique(la.array([3, 1, 3]), return_counts=True)]
    [[1, 3], [1, 2]]
    """
    x = asarray(ar)
    if axis is not None:
        normalize_axis_index(axis, x.ndim)
    if axis is None and not return_index and x.size and x.dtype.kind in "iu":
        found = _by_counting(x, return_inverse, return_counts)
        if found is not None:
            return found
    # NumPy puts integers into a hash table, if only their values are asked for.
    kinds = "iuf" if return_index or return_inverse or return_counts else "f"
    if axis is None and x.size >= _MANY and x.dtype.kind in kinds and x.dtype.char not in "eg":
        return _by_sorting(x, return_index, return_inverse, return_counts, equal_nan)
    return _waited(
        "unique",
        x,
        return_index=return_index,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=axis,
        equal_nan=equal_nan,
        **({"sorted": False} if _numpy_facts.UNIQUE_UNSORTED and not sorted else {}),
    )


_MANY = 1 << 17  # elements: threads share the sort of so many
# Where each integer of a range occurs so often on average, counting is quicker than sorting.
_OFTEN = 8


def _by_counting(x: NDArray, inverse: bool, counts: bool) -> Any:
    """``unique`` of integers from a short range; None for others."""
    refuse("unique", x)

    def found(v: np.ndarray) -> list[np.ndarray] | None:
        low, high = v.min(), v.max()
        if (int(high) - int(low)) * _OFTEN >= v.size:
            return None
        first = low.astype(np.intp)
        places = v.astype(np.intp, copy=False)
        times = _rows.of_each(places, int(first), int(high) - int(low) + 1)
        there = np.flatnonzero(times)
        results = [(there + first).astype(v.dtype)]
        if inverse:
            results.append((np.cumsum(times > 0) - 1)[places - first].reshape(x.shape))
        if counts:
            results.append(times[there])
        return results

    made = looked_at(ravel(x), "unique()", found)
    if made is None:
        return None
    arrays = tuple([kept(r, x.device) for r in made])
    return arrays if len(arrays) > 1 else arrays[0]


def _by_sorting(x: NDArray, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> Any:
    """``unique`` as numpy/lib/_arraysetops_impl.py has it, but for who sorts."""
    refuse("unique", x)
    line = ravel(x)
    if index or inverse:
        order = argsort(line, kind="stable" if index else None)
        line, perm = line[order], values(order, "unique()")
    else:
        line, perm = sort(line), np.empty(0, np.intp)

    def found(v: np.ndarray) -> list[np.ndarray]:
        first = np.empty(v.shape, np.bool_)
        first[0] = True
        np.not_equal(v[1:], v[:-1], out=first[1:])
        if equal_nan and np.isnan(v[-1]):
            first[np.searchsorted(v, v[-1]) + 1 :] = False
        results = [v[first]]
        if index:
            results.append(perm[first])
        if inverse:
            places = np.empty(len(v), np.intp)
            places[perm] = np.cumsum(first) - 1
            results.append(places.reshape(x.shape))
        if counts:
            results.append(np.diff(np.append(np.flatnonzero(first), len(v))))
        return results

    made = [kept(r, x.device) for r in looked_at(line, "unique()", found)]
    return tuple(made) if len(made) > 1 else made[0]


def unique_all(x: ArrayLike, /) -> UniqueAllResult:
    """The distinct elements, the indices of their first occurrences, of each element's value, and
    their counts (array API). Each NaN is distinct. Waits for the values, as :func:`unique`.

    Returns: the four (values, indices, inverse_indices, counts), a named tuple.

    >>> import lazyarray as la
    >>> la.unique_all(la.array([3, 1, 3])).inverse_indices.tolist()
    [1, 0, 1]
    """
    return UniqueAllResult(*_waited("unique_all", x))


def unique_counts(x: ArrayLike, /) -> UniqueCountsResult:
    """The distinct elements and how often each occurs (array API). Each NaN is distinct.

    Waits for the values, as :func:`unique`.

    Returns: the pair (values, counts), a named tuple of vectors.

    >>> import lazyarray as la
    >>> la.unique_counts(la.array([3, 1, 3])).counts.tolist()
    [1, 2]
    """
    return UniqueCountsResult(*_waited("unique_counts", x))


def unique_inverse(x: ArrayLike, /) -> UniqueInverseResult:
    """The distinct elements and the index of each element's value among them (array API).

    Each NaN is distinct. Waits for the values, as :func:`unique`.

    Returns: the pair (values, inverse_indices), a named tuple; the second of x's shape.

    >>> import lazyarray as la
    >>> la.unique_inverse(la.array([3, 1, 3])).inverse_indices.tolist()
    [1, 0, 1]
    """
    return UniqueInverseResult(*_waited("unique_inverse", x))


def unique_values(x: ArrayLike, /) -> NDArray:
    """The distinct elements, sorted: others rely on it, though any order would do (array API).

    Each NaN is distinct. Waits for the values, as :func:`unique`.

    Returns: a vector.

    >>> import lazyarray as la
    >>> la.unique_values(la.array([3, 1, 3])).asnumpy()
    array([1, 3])
    """
    (x,) = operands(x)
    unique = functools.partial(np.unique, equal_nan=False)
    return kept(looked_at(x, "unique_values()", unique), x.device)


# ---- membership ---------------------------------------------------------------------------------


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> NDArray:
    """Whether each element is among others. Does not wait.

    Args:
        element: an array.
        test_elements: the others.
        assume_unique: that both are without doubles: it only lets NumPy be faster.
        invert: whether it is not among them.
        kind: how NumPy finds out: "sort", "table", or None: as it likes.
    Returns: an array of bools, of element's shape.
    Raises: ValueError for another ``kind``, and for "table" with what are no integers.

    >>> import lazyarray as la
    >>> la.isin(la.array([[1, 2], [3, 4]]), [2, 3]).asnumpy()
    array([[False,  True],
           [ True, False]])
    """
    x, among = operands(element, test_elements)
    if kind in (None, "sort") and among.size < 10 * x.size**0.145:
        # As NumPy compares with few elements one by one; here in one pass.
        among = ravel(among)
        compare, join = (_not_equal, _and) if invert else (_equal, _or)
        found = full(x.shape, invert, np.bool_, x.device)
        for i in range(among.size):
            found = join(found, compare(x, among[i]))
        return writable(found)
    return gil_op(
        "isin",
        lambda v, w: np.isin(v, w, assume_unique, invert, kind=kind),  # type: ignore[arg-type]
        [x, among],
        x.shape,
        kind,
        cost=3000 + 20.0 * (x.size + among.size),
    )


# ---- two sets -----------------------------------------------------------------------------------


@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = ..., return_indices: Literal[False] = ...
) -> NDArray: ...
@overload
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = ..., *, return_indices: Literal[True]
) -> tuple[NDArray, NDArray, NDArray]: ...
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> NDArray | tuple[NDArray, NDArray, NDArray]:
    """The distinct elements that both arrays have, sorted. Waits for the values.

    Args:
        assume_unique: that each array is without doubles.
        return_indices: whether to give the indices of their first occurrences in each array.
    Returns: a vector, or the three (values, indices in ar1, indices in ar2).

    >>> import lazyarray as la
    >>> la.intersect1d(la.array([1, 3, 4, 3]), [3, 1, 2, 1]).asnumpy()
    array([1, 3])
    """
    return _waited(
        "intersect1d", ar1, ar2, assume_unique=assume_unique, return_indices=return_indices
    )


def union1d(ar1: ArrayLike, ar2: ArrayLike) -> NDArray:
    """The distinct elements that either array has, sorted. Waits for the values.

    Returns: a vector.

    >>> import lazyarray as la
    >>> la.union1d(la.array([-1, 0, 1]), [-2, 0, 2]).asnumpy()
    array([-2, -1,  0,  1,  2])
    """
    result: NDArray = _waited("union1d", ar1, ar2)
    return result


def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> NDArray:
    """The distinct elements of ``ar1`` that ``ar2`` lacks, sorted. Waits for the values.

    Args:
        assume_unique: that each array is without doubles; they stay in ar1's order then.
    Returns: a vector.

    >>> import lazyarray as la
    >>> la.setdiff1d(la.array([1, 2, 3, 2, 4]), [3, 4, 5]).asnumpy()
    array([1, 2])
    """
    result: NDArray = _waited("setdiff1d", ar1, ar2, assume_unique=assume_unique)
    return result


def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> NDArray:
    """The distinct elements that one of the arrays has, sorted. Waits for the values.

    Args:
        assume_unique: that each array is without doubles.
    Returns: a vector.

    >>> import lazyarray as la
    >>> la.setxor1d(la.array([1, 2, 3]), [2, 3, 5]).asnumpy()
    array([1, 5])
    """
    result: NDArray = _waited("setxor1d", ar1, ar2, assume_unique=assume_unique)
    return result
