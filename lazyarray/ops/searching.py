"""Searching: where, the indices of true elements (which wait for the values), argmax, argmin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.ops._layout import deliver, gil_op, operands, values
from lazyarray.ops._rows import array, asarray, astype, normalize_axes, reduced_shape, select
from lazyarray.ops.reductions import TABLE

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

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

_MISSING: Any = object()


def where(condition: Any, x: Any = _MISSING, y: Any = _MISSING, /) -> Any:
    """Elements of ``x`` where ``condition`` is true, of ``y`` elsewhere; the three broadcast.

    Without ``x`` and ``y`` it is :func:`nonzero`, which waits.

    >>> import lazyarray as la
    >>> la.where(la.array([True, False]), la.array([1, 2]), 0).asnumpy()
    array([1, 0])
    """
    if x is _MISSING and y is _MISSING:
        return nonzero(condition)
    if x is _MISSING or y is _MISSING:
        raise ValueError("either both or neither of x and y should be given")
    return select(condition, x, y)


def nonzero(a: Any) -> tuple[NDArray, ...]:
    """The indices of the elements that are not zero, one array for each axis; waits for them.

    ValueError for an array without axes.

    >>> import lazyarray as la
    >>> la.nonzero(la.array([0, 3, 0, 4]))[0].asnumpy()
    array([1, 3])
    """
    x = asarray(a)
    device = x.device
    return tuple([array(i, None, device) for i in np.nonzero(values(x, "nonzero()"))])


def argwhere(a: Any) -> NDArray:
    """The indices of the elements that are not zero, one row each; waits for them.

    >>> import lazyarray as la
    >>> la.argwhere(la.array([[0, 3], [4, 0]])).asnumpy()
    array([[0, 1],
           [1, 0]])
    """
    x = asarray(a)
    return array(np.argwhere(values(x, "argwhere()")), None, x.device)


def flatnonzero(a: Any) -> NDArray:
    """The indices, in the flattened array, of the elements that are not zero; waits for them.

    >>> import lazyarray as la
    >>> la.flatnonzero(la.array([[0, 3], [4, 0]])).asnumpy()
    array([1, 2])
    """
    x = asarray(a)
    return array(np.flatnonzero(values(x, "flatnonzero()")), None, x.device)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> NDArray:
    """How many elements over the axes are not zero.

    >>> import lazyarray as la
    >>> la.count_nonzero(la.array([[0, 3], [4, 5]]), axis=0).asnumpy()
    array([1, 2])
    """
    x = astype(asarray(a), np.bool_, copy=False)
    if axis is None and x.size > 4096:  # NumPy's own is several times as fast as a sum
        shape = (1,) * x.ndim if keepdims else ()
        return gil_op("count_nonzero", np.count_nonzero, [x], shape, cost=2000 + 0.05 * x.size)
    return TABLE["sum"](x, axis, np.intp, None, keepdims)


def argmax(
    a: Any, axis: int | None = None, out: NDArray | None = None, *, keepdims: bool = False
) -> NDArray:
    """Index of the first maximum along an axis (of the flattened array by default).

    ValueError if there is no element to choose from.

    >>> import lazyarray as la
    >>> la.argmax(la.array([[1, 5], [7, 2]]), axis=1).asnumpy()
    array([1, 0])
    """
    return _extremum("argmax", a, axis, out, keepdims)


def argmin(
    a: Any, axis: int | None = None, out: NDArray | None = None, *, keepdims: bool = False
) -> NDArray:
    """Index of the first minimum along an axis (of the flattened array by default).

    ValueError if there is no element to choose from.

    >>> import lazyarray as la
    >>> la.argmin(la.array([[1, 5], [7, 2]]), axis=1).asnumpy()
    array([0, 1])
    """
    return _extremum("argmin", a, axis, out, keepdims)


def _extremum(name: str, a: Any, axis: Any, out: NDArray | None, keepdims: bool) -> NDArray:
    x = asarray(a)
    if x.ndim == 0 and axis in (0, -1):
        axis = None  # as NumPy
    result = gil_op(
        name,
        lambda v: getattr(v, name)(axis, keepdims=keepdims),
        [x],
        reduced_shape(x.shape, normalize_axes(axis, x.ndim), keepdims),
        (axis, keepdims),
        cost=2000 + 0.2 * x.size,
    )
    return deliver(result, out, name)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> NDArray:
    """Where to insert each of ``v`` into the sorted vector ``a`` so that it stays sorted.

    ``side`` "left" puts it before equal elements, "right" after; ``sorter`` are the indices that
    sort ``a``. Shape: that of ``v``.

    >>> import lazyarray as la
    >>> la.searchsorted(la.array([1, 3, 5]), la.array([0, 3, 9])).asnumpy()
    array([0, 1, 3])
    """
    inputs = operands(a, v) if sorter is None else operands(a, v, sorter)
    return gil_op(
        "searchsorted",
        lambda x, value, *order: np.searchsorted(x, value, side, *order),  # type: ignore[call-overload]
        inputs,
        inputs[1].shape,
        side,
        mini=lambda x, value, *order: np.searchsorted(x, value, side),  # type: ignore[call-overload]
    )
