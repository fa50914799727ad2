"""Bits packed into bytes, and unpacked."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.functions._checks import one_axis
from lazyarray.functions.manipulation import atleast_1d, ravel
from lazyarray.ops._layout import gil_op
from lazyarray.ops._rows import asarray, probe

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["packbits", "unpackbits"]


def packbits(
    a: ArrayLike, /, axis: int | None = None, bitorder: Literal["big", "little"] = "big"
) -> NDArray:
    """The truth of eight elements in each byte, along an axis or of the flattened array.

    Args:
        a: an array of integers or bools.
        axis: the axis; None: of the flattened array.
        bitorder: "big": the first of eight is the highest bit; "little": the lowest.
    Returns: an array of uint8, along the axis an eighth as long; zeros fill up the last byte.
    Raises: TypeError for other dtypes; ValueError for another ``bitorder``.

    >>> import lazyarray as la
    >>> la.packbits(la.array([1, 0, 0, 0, 0, 0, 1, 1, 1])).asnumpy()
    array([131, 128], dtype=uint8)
    """
    x, axis = _along(a, axis)
    length = (x.shape[axis] + 7) // 8
    return _op("packbits", lambda v: np.packbits(v, axis, bitorder), x, axis, bitorder, length)


def unpackbits(
    a: ArrayLike,
    /,
    axis: int | None = None,
    count: int | None = None,
    bitorder: Literal["big", "little"] = "big",
) -> NDArray:
    """The bits of bytes as zeros and ones, along an axis or of the flattened array.

    Args:
        a: an array of uint8.
        axis: the axis; None: of the flattened array.
        count: how many to keep along the axis (zeros fill it up); a negative one, how many to leave
            out at the end; None: all.
        bitorder: "big": the first of eight is the highest bit; "little": the lowest.
    Returns: an array of uint8, along the axis ``count`` or eight times as long.
    Raises: TypeError for other dtypes; ValueError for another ``bitorder``.

    >>> import lazyarray as la
    >>> la.unpackbits(la.array([131], la.uint8), count=7).asnumpy()
    array([1, 0, 0, 0, 0, 0, 1], dtype=uint8)
    """
    x, axis = _along(a, axis)
    bits = 8 * x.shape[axis]
    length = bits if count is None else operator.index(count)
    if length < 0:
        length += bits
        if length < 0:
            raise ValueError("-count larger than number of elements")
    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    return _op(
        "unpackbits",
        # Of nothing, NumPy's leaves the result unwritten.
        lambda v: np.unpackbits(v, axis, count, bitorder) if bits else np.zeros(shape, np.uint8),
        x,
        axis,
        bitorder,
        length,
    )


def _op(
    name: str,
    function: Callable[[np.ndarray], np.ndarray],
    x: NDArray,
    axis: int,
    bitorder: Any,
    length: int,
) -> NDArray:
    if not isinstance(bitorder, str):  # an array would be compared with others' keys
        getattr(np, name)(np.zeros(1, np.uint8), bitorder=bitorder)  # its error
    order: Any = "F" if probe(x).flags.fnc else "C"  # of NumPy's results

    def mini(v: np.ndarray) -> np.ndarray:
        getattr(np, name)(v, axis, bitorder=bitorder)  # its errors
        return np.empty(v.shape, np.uint8, order)

    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    many = max(x.size, math.prod(shape))
    cost = 3000 + 0.03 * many  # along the last axis; NumPy has vector loops for that
    return gil_op(name, function, [x], shape, (axis, bitorder, order), mini=mini, cost=cost)


def _along(a: Any, axis: int | None) -> tuple[NDArray, int]:
    """The array of at least one axis, flattened if no axis is given; and the axis."""
    x = atleast_1d(asarray(a))
    if axis is None:
        return ravel(x), 0
    return x, normalize_axis_index(one_axis(axis), x.ndim)
