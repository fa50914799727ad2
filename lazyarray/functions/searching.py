"""Searching: where, the indices of true elements (which wait for the values), argmax, argmin,
places in a sorted vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from lazyarray.functions._checks import one_axis
from lazyarray.functions.manipulation import ravel
from lazyarray.ops import _rows
from lazyarray.ops import names as op
from lazyarray.ops._layout import cut_apart, cut_places, deliver, gil_op, looked_at, operands
from lazyarray.ops._rows import (
    arg_extremum,
    asarray,
    astype,
    kept,
    normalize_axes,
    reduced_shape,
    select,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Axis

__all__ = [
    "where",
    "nonzero",
    "argwhere",
    "flatnonzero",
    "count_nonzero",
    "argmax",
    "argmin",
    "searchsorted",
]

_MISSING: Any = np._NoValue  # what help() shows: <no value>


@overload
def where(condition: ArrayLike, /) -> tuple[NDArray, ...]: ...
@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> NDArray: ...
def where(
    condition: ArrayLike, x: ArrayLike = _MISSING, y: ArrayLike = _MISSING, /
) -> NDArray | tuple[NDArray, ...]:
    """Elements of ``x`` where ``condition`` is true, of ``y`` elsewhere; the three broadcast.

    Without ``x`` and ``y`` it is :func:`nonzero`. Waits for the values then.

    Args:
        condition: an array of bools.
        x: what is taken where it is true.
        y: what is taken where it is false.
    Returns: an array of the common shape and dtype; without ``x`` and ``y`` a tuple of index
        vectors.
    Raises: ValueError if the shapes do not broadcast, or if one of ``x`` and ``y`` is given alone.

    >>> import lazyarray as la
    >>> la.where(la.array([True, False]), la.array([1, 2]), 0).asnumpy()
    array([1, 0])
    """
    if x is _MISSING and y is _MISSING:
        return nonzero(condition)
    if x is _MISSING or y is _MISSING:
        raise ValueError("either both or neither of x and y should be given")
    return select(condition, x, y)


def nonzero(a: ArrayLike) -> tuple[NDArray, ...]:
    """The indices of the elements that are not zero, one array for each axis.

    Waits for the values: how many they are is the result's shape.

    Returns: a tuple of vectors of equal length, one for each axis.
    Raises: ValueError for an array without axes.

    >>> import lazyarray as la
    >>> la.nonzero(la.array([0, 3, 0, 4]))[0].asnumpy()
    array([1, 3])
    """
    x = asarray(a)
    device = x.device
    return tuple([kept(i, device) for i in looked_at(x, "nonzero()", _rows.nonzero)])


def argwhere(a: ArrayLike) -> NDArray:
    """The indices of the elements that are not zero, one row each. Waits for the values.

    Returns: a matrix (number of such elements, number of axes).

    >>> import lazyarray as la
    >>> la.argwhere(la.array([[0, 3], [4, 0]])).asnumpy()
    array([[0, 1],
           [1, 0]])
    """
    x = asarray(a)
    return kept(looked_at(x, "argwhere()", _rows.argwhere), x.device)


def flatnonzero(a: ArrayLike) -> NDArray:
    """The indices, in the flattened array, of the elements that are not zero.

    Waits for the values: how many they are is the result's shape.

    Returns: a vector.

    >>> import lazyarray as la
    >>> la.flatnonzero(la.array([[0, 3], [4, 0]])).asnumpy()
    array([1, 2])
    """
    x = asarray(a)
    return kept(looked_at(x, "flatnonzero()", _rows.flatnonzero), x.device)


def count_nonzero(a: ArrayLike, axis: Axis = None, *, keepdims: bool = False) -> NDArray:
    """How many elements over the axes are not zero.

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array of integers without these axes.

    >>> import lazyarray as la
    >>> la.count_nonzero(la.array([[0, 3], [4, 5]]), axis=0).asnumpy()
    array([1, 2])
    """
    x = asarray(a)
    return op.sum(astype(x, np.bool_, copy=False), axis, np.intp, None, keepdims)


def argmax(
    a: ArrayLike, axis: int | None = None, out: NDArray | None = None, *, keepdims: bool = False
) -> NDArray:
    """Index of the first maximum along an axis (of the flattened array by default).

    Args:
        axis: the axis; None: of the flattened array.
    Returns: an array of integers without that axis.
    Raises: ValueError if there is no element to choose from.

    >>> import lazyarray as la
    >>> la.argmax(la.array([[1, 5], [7, 2]]), axis=1).asnumpy()
    array([1, 0])
    """
    return extremum("argmax", a, axis, out, keepdims)


def argmin(
    a: ArrayLike, axis: int | None = None, out: NDArray | None = None, *, keepdims: bool = False
) -> NDArray:
    """Index of the first minimum along an axis (of the flattened array by default).

    Args:
        axis: the axis; None: of the flattened array.
    Returns: an array of integers without that axis.
    Raises: ValueError if there is no element to choose from.

    >>> import lazyarray as la
    >>> la.argmin(la.array([[1, 5], [7, 2]]), axis=1).asnumpy()
    array([0, 1])
    """
    return extremum("argmin", a, axis, out, keepdims)


def extremum(name: str, a: Any, axis: Any, out: NDArray | None, keepdims: bool) -> NDArray:
    """NumPy's ``name``, which gives indices along an axis, as one instruction."""
    x = asarray(a)
    axis = None if axis is None else one_axis(axis)
    if x.ndim == 0 and axis in (0, -1):
        axis = None  # as NumPy
    shape = reduced_shape(x.shape, normalize_axes(axis, x.ndim), keepdims)
    result = None
    if name in ("argmax", "argmin"):
        line = ravel(x) if axis is None else x
        result = arg_extremum(line, (axis or 0) % max(line.ndim, 1), name == "argmin")
        if result is not None and keepdims:
            result = result.reshape(shape)
    if result is None:
        function = getattr(np, name)
        result = gil_op(
            name,
            lambda v: function(v, axis, keepdims=keepdims),
            [x],
            shape,
            (axis, keepdims),
            cost=2000 + 0.2 * x.size,
            cut=None if axis is None else cut_apart(x.shape, [axis], keepdims),
        )
    return deliver(result, out, name, back="safe")


def searchsorted(
    a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None
) -> NDArray:
    """Where to insert each of ``v`` into the sorted vector ``a`` so that it stays sorted.

    Args:
        a: a vector, sorted.
        v: a number, or an array of them.
        side: "left" puts it before equal elements, "right" after.
        sorter: the indices that sort ``a``, if it is not sorted.
    Returns: an array of integers, of the shape of ``v``.
    Raises: ValueError unless ``a`` is a vector, and for another ``side``.

    >>> import lazyarray as la
    >>> la.searchsorted(la.array([1, 3, 5]), la.array([0, 3, 9])).asnumpy()
    array([0, 1, 3])
    """
    inputs = operands(a, v) if sorter is None else operands(a, v, sorter)
    if sorter is not None and inputs[2].dtype.kind not in "biu":
        raise TypeError("sorter must only contain integers")
    if sorter is not None and inputs[2].ndim == 1 and inputs[2].size != inputs[0].size:
        raise ValueError("sorter.size must equal a.size")
    return gil_op(
        "searchsorted",
        lambda x, value, *order: _rows.searchsorted(x, value, side, *order),
        inputs,
        inputs[1].shape,
        side,
        cut=cut_places(inputs[1].shape, len(inputs), 1),
        cost=3000 + (5 + 3.0 * inputs[0].size.bit_length()) * inputs[1].size,
        mini=lambda x, value, *order: np.searchsorted(  # type: ignore[call-overload]
            x, value, side, *[np.zeros_like(o) for o in order]
        ),
    )
