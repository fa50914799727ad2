"""Softmax and its kin: each is one pass over the rows, forwards and backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.functions.conversion import ascontiguousarray
from lazyarray.functions.creation import zeros_like
from lazyarray.nn.inputs import narrowed, real_floats, widened
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import differentiable
from lazyarray.ops._rows import full, normalize_axes, reduced_shape, select

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Axis

__all__ = ["softmax", "log_softmax", "logsumexp"]

_exp, _log, _isfinite = op.exp, op.log, op.isfinite
_max, _sum = op.max, op.sum


def _rows(x: Any, axis: int) -> tuple[NDArray, int, np.dtype[Any]]:
    """x in C order, whose reductions are native, the axis, and the result's dtype.

    AxisError for an axis out of range.
    """
    x = real_floats(x)
    axis = normalize_axis_index(axis, x.ndim)
    return widened(ascontiguousarray(x)), axis, x.dtype


def _softmax_gradient(g: Any, y: Any, axis: int) -> Any:
    dtype, y = g.dtype, widened(y)
    t = widened(g) * y
    return narrowed(t - y * _sum(t, axis, None, None, True), dtype)


@differentiable(x=_softmax_gradient)
def softmax(x: ArrayLike, axis: int = -1) -> NDArray:
    """exp(x) / sum(exp(x)) along an axis, without overflow.

    Args:
        x: an array.
        axis: the axis.
    Returns: an array of x's shape.
    Raises: AxisError if there is no such axis; TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.softmax([0.0, 0.0, 1000.0]).asnumpy()
    array([0., 0., 1.])
    """
    x, axis, dtype = _rows(x, axis)
    if x.size == 0:
        return zeros_like(x, dtype)
    e = _exp(x - _max(x, axis, None, True))
    return narrowed(e / _sum(e, axis, None, None, True), dtype)


def _log_softmax_gradient(g: Any, y: Any, axis: int) -> Any:
    dtype, g = g.dtype, widened(g)
    return narrowed(g - _exp(widened(y)) * _sum(g, axis, None, None, True), dtype)


@differentiable(x=_log_softmax_gradient)
def log_softmax(x: ArrayLike, axis: int = -1) -> NDArray:
    """x - log(sum(exp(x))) along an axis, without overflow.

    Args:
        x: an array.
        axis: the axis.
    Returns: an array of x's shape.
    Raises: AxisError if there is no such axis; TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.log_softmax([0.0, 0.0]).asnumpy()
    array([-0.69314718, -0.69314718])
    """
    x, axis, dtype = _rows(x, axis)
    if x.size == 0:
        return zeros_like(x, dtype)
    x = x - _max(x, axis, None, True)
    return narrowed(x - _log(_sum(_exp(x), axis, None, None, True)), dtype)


def _logsumexp_gradient(g: Any, y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    if not keepdims:
        kept = reduced_shape(x.shape, normalize_axes(axis, x.ndim), True)
        g, y = g.reshape(kept), y.reshape(kept)
    return g * _exp(x - y)


@differentiable(x=_logsumexp_gradient)
def logsumexp(x: ArrayLike, axis: Axis = -1, keepdims: bool = False) -> NDArray:
    """log(sum(exp(x))) over an axis or several, without overflow; -inf of -inf, or of nothing.

    Args:
        x: an array.
        axis: the axis, or several as a tuple.
        keepdims: whether these axes stay, with length one.
    Returns: an array without these axes.
    Raises: AxisError if there is no such axis; TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.logsumexp([1000.0, 1000.0]).item()
    1000.6931471805599
    """
    x = real_floats(x)
    axes, dtype = normalize_axes(axis, x.ndim), x.dtype
    if x.size == 0:
        return full(reduced_shape(x.shape, axes, keepdims), -np.inf, dtype, x.device)
    rows = widened(ascontiguousarray(x) if x.ndim else x)
    top = _max(rows, axes, None, True)
    top = select(_isfinite(top), top, 0.0)
    total = _sum(_exp(rows - top), axes, None, None, True)
    with np.errstate(divide="ignore"):  # the logarithm of 0 is meant
        y = narrowed(_log(total) + top, dtype)
    return y if keepdims else y.reshape(reduced_shape(x.shape, axes, False))
