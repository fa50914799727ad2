"""Quantiles and percentiles: instructions with the GIL that call NumPy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._layout import gil_op, operands
from lazyarray.ops._ranks import by_rank
from lazyarray.ops._rows import normalize_axes, reduced_shape
from lazyarray.ops.statistical import check_weights

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["quantile", "percentile"]


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: NDArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> NDArray:
    """The q-th quantiles over the axes.

    Args:
        q: a number within [0, 1], or an array of them.
        axis: the axis, or several as a tuple; None: all.
        method: one of NumPy's ways between two elements.
        weights: what each element counts: an array of a's shape, or of the lengths of the axes;
            only for "inverted_cdf".
    Returns: an array: q's shape, then what is left of a's.
    Raises: ValueError for a ``q`` out of range: at the wait if it is an NDArray, as for negative
        weights; ValueError for another ``method``.

    >>> import lazyarray as la
    >>> la.quantile(la.array([1.0, 2.0, 4.0]), [0.5, 0.75]).asnumpy()
    array([2., 3.])
    """
    return points("quantile", a, q, axis, out, method, keepdims, weights)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: NDArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> NDArray:
    """The q-th percentiles over the axes; as :func:`quantile`.

    Args:
        q: a number within [0, 100], or an array of them.
        axis: the axis, or several as a tuple; None: all.
        method: one of NumPy's ways between two elements.
        weights: what each element counts: an array of a's shape, or of the lengths of the axes;
            only for "inverted_cdf".
    Returns: an array: q's shape, then what is left of a's.
    Raises: ValueError for a ``q`` out of range: at the wait if it is an NDArray, as for negative
        weights; ValueError for another ``method``.

    >>> import lazyarray as la
    >>> la.percentile(la.array([1.0, 2.0, 4.0]), 75).item()
    3.0
    """
    return points("percentile", a, q, axis, out, method, keepdims, weights)


def points(
    name: str,
    a: Any,
    q: Any,
    axis: Any,
    out: NDArray | None,
    method: str,
    keepdims: bool,
    weights: Any,
) -> NDArray:
    """NumPy's ``name``, one of the functions that take ``q``, as one instruction with the GIL."""
    weighted = weights is not None
    x, *more = operands(a, *([weights] if weighted else []))
    check_points(name, x, q, method, weighted)
    if weighted:
        check_weights(x, more[0], axis)
    lazy = isinstance(q, Tensor)
    if lazy:
        more.append(q)
    function = getattr(np, name)
    given = tuple(axis) if isinstance(axis, list) else axis
    weak = type(q) in (int, float)  # then the result has a's dtype
    at = q if lazy else np.array(q)  # a copy: it is looked at when the instruction runs

    def run(v: np.ndarray, *arrays: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        where: Any = arrays[-1] if lazy else q if weak else at
        several, to = np.shape(where), out
        # Flat, since NumPy's nanquantile mixes up the axes of a q of two.
        if len(several) > 1:
            where = where.ravel()
            if out is not None:
                to = np.empty((where.size, *out.shape[len(several) :]), out.dtype)
        w = arrays[0] if weighted else None
        found = function(v, where, given, out=to, method=method, keepdims=keepdims, weights=w)
        if len(several) > 1:
            found = found.reshape(several + found.shape[1:])
            if out is not None:
                out[...] = found
        return found if out is None else out

    axes = normalize_axes(axis, x.ndim)
    shape = reduced_shape(x.shape, axes, keepdims)
    key = (given, method, keepdims, weighted, lazy, weak, at.dtype, at.ndim)

    def ranked(ranks: NDArray) -> NDArray:
        return points(name, ranks, fixed_q, axis, None, method, keepdims, fixed_w)

    # Held by autograd, if it records this: must not have a history.
    fixed_q, fixed_w = (o.detach() if isinstance(o, Tensor) else o for o in (q, weights))
    result: NDArray = gil_op(
        name,
        run,
        [x, *more],
        (*at.shape, *shape),
        key,
        into=out,
        cost=3000 + 20.0 * x.size,
        gradient=(by_rank(axes, ranked),),
    )
    return result


def check_points(name: str, x: NDArray, q: Any, method: str, weighted: bool) -> None:
    """NumPy's own errors about q, method and weights, which the values of ``x`` don't change."""
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    one = np.ones(1)
    known = np.ones(q.shape) if isinstance(q, Tensor) else q
    getattr(np, name)(one, known, method=method, weights=one if weighted else None)
