"""Medians, quantiles and percentiles: instructions with the GIL that call NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.manipulation import permute_dims
from lazyarray.functions.selecting import take_along_axis
from lazyarray.functions.sorting import argsort
from lazyarray.functions.statistics import check_weights, in_order
from lazyarray.lazy._lazy import Tensor, Unheld, paused
from lazyarray.ops import hosts
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import refuse
from lazyarray.ops._layout import cut_apart, gil_op, operands
from lazyarray.ops._moves import numbers
from lazyarray.ops._rows import (
    asarray,
    holdable,
    middle_ones,
    normalize_axes,
    quantiles_of,
    reduced_shape,
    scatter,
    select,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Axis

__all__ = ["quantile", "percentile", "median"]

_isnan, _floor, _minimum, _invert = op.isnan, op.floor, op.minimum, op.invert
_SORTED = 1024  # numbers of a line that are sorted in less time than NumPy takes to partition them


def by_rank(axes: tuple[int, ...], ranked: Callable[[NDArray], NDArray]) -> Callable[..., Any]:
    """The gradient rule of medians and quantiles over ``axes``: what lies between two ranks.

    ``ranked`` is the function itself; of the ranks of x's elements in place of these it gives the
    rank, or where between two ranks, each result is found at.
    """

    def rule(g: NDArray, a: NDArray) -> NDArray:
        rest = [i for i in range(a.ndim) if i not in axes]
        n = math.prod([a.shape[i] for i in axes])

        def rows(x: NDArray) -> NDArray:
            return permute_dims(x, [*rest, *axes]).reshape(-1, n)

        with paused():
            order = argsort(rows(a), -1)
            ranks = argsort(order, -1).astype(np.float64)
            gaps = _isnan(rows(a))  # they come last, and have no rank
            inverse = np.argsort([*rest, *axes]).tolist()
            lengths = [a.shape[i] for i in (*rest, *axes)]
            ranks = select(gaps, np.nan, ranks)
            ranks = permute_dims(ranks.reshape(lengths), inverse)
            count = order.shape[0]
            at = ranked(ranks).reshape(-1, count).T  # for each row of x its results
            known = _invert(_isnan(at))
            # A NaN that makes a result one has no slope.
            lost = gaps & _invert(known.all(axis=1, keepdims=True))
            lost = permute_dims(lost.reshape(lengths), inverse)
            at = select(known, at, 0.0)
            low = _floor(at)
            elements = take_along_axis(rows(numbers(a)), order, -1)
            below = low.astype(np.intp)
            above = _minimum(below + 1, n - 1)
        share = (at - low).astype(g.dtype)
        g = select(known, g.reshape(-1, count).T, 0.0)
        total: Any = 0
        for places, part in ((below, g * (1 - share)), (above, g * share)):
            index = take_along_axis(elements, places, -1).reshape(-1)
            total = total + scatter(part.reshape(-1), index, 0, (a.size,))
        found: NDArray = select(lost, a.detach(), total.reshape(a.shape))
        return found

    return rule


def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: NDArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
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
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: NDArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
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
    lazy = isinstance(q, Tensor)
    at = q if lazy else np.array(q)  # a copy: it is looked at when the instruction runs
    if not holdable(at):
        raise Unheld(f"{name}() for q of {at.dtype}")
    x, *more = operands(a, *([weights] if weighted else []))
    check_points(name, x, q, method, weighted)
    given = in_order(axis, x.ndim)
    if weighted:
        check_weights(x, more[0], given)
    if lazy:
        more.append(q)
    plain = method == "linear" and not weighted and not name.startswith("nan")
    function = getattr(np, name)
    weak = type(q) in (int, float)  # then the result has a's dtype

    def run(v: np.ndarray, *arrays: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        where: Any = arrays[-1] if lazy else q if weak else at
        if plain and out is None:
            found = _selected(name, v, where, axes)
            if found is not None:
                ends = tuple(i - v.ndim for i in axes) if keepdims else ()
                return np.expand_dims(found, ends)[()]
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

    axes = normalize_axes(given, x.ndim)
    shape = reduced_shape(x.shape, axes, keepdims)
    if isinstance(out, Tensor) and out.shape != (*at.shape, *shape):
        named = {"method": method, "keepdims": keepdims, "weights": weights}
        return into_another_shape(name, (x, q, given), {"out": out, **named})
    if lazy:
        refuse(f"{name}() for q", q)
    key = (given, method, keepdims, weighted, lazy, weak, at.dtype, at.ndim)

    def ranked(ranks: NDArray) -> NDArray:
        return points(name, ranks, fixed_q, given, None, method, keepdims, fixed_w)

    # Held by autograd, if it records this: must not have a history.
    fixed_q, fixed_w = (o.detach() if isinstance(o, Tensor) else o for o in (q, weights))
    result: NDArray = gil_op(
        name,
        run,
        [x, *more],
        (*at.shape, *shape),
        key,
        into=out,
        cost=3000 + (5.0 if plain and _are_short(x, axes) else 20.0) * x.size,
        gradient=(by_rank(axes, ranked),),
        # Those without NaNs warn, once for all.
        cut=None if more or name.startswith("nan") else cut_apart(x.shape, axes, keepdims, at.ndim),
    )
    return result if out is None else out


def _selected(name: str, v: np.ndarray, q: Any, axes: tuple[int, ...]) -> np.ndarray | None:
    """NumPy's quantiles, of all of ``v`` or along one axis; None where NumPy must compute them."""
    shares: np.ndarray = np.asarray(q)
    if name == "percentile" and shares.dtype.char in "dlq":
        shares = np.asarray(shares / 100)
    elif name != "quantile" or shares.dtype.char != "d":
        return None
    if len(axes) == v.ndim:
        return quantiles_of(v, shares)
    if not _are_short(v, axes) or shares.ndim > 1 or not np.all((shares >= 0) & (shares <= 1)):
        return None
    last = v.shape[axes[0]] - 1
    low = np.floor(last * shares)
    gamma = (last * shares - low).reshape(shares.shape + (1,) * (v.ndim - 1))
    below = low.astype(np.intp)
    lines = _in_order(v, axes[0], [below, np.minimum(below + 1, last)])
    if lines is None:
        return None
    first, second = (np.moveaxis(line, -1, 0) if shares.ndim else line for line in lines)
    with np.errstate(invalid="ignore", over="ignore"):
        step = second - first
        found: np.ndarray = np.where(
            gamma >= 0.5, second - step * (1 - gamma), first + step * gamma
        )
    return found if np.isfinite(step).all() else None


def _are_short(x: Any, axes: tuple[int, ...]) -> bool:
    """Whether these are lines along one axis that had better be sorted; no miniature is."""
    if len(axes) != 1 or x.ndim == 1 or x.size == 0 or x.dtype.char != "d":
        return False
    return bool(2 < x.shape[axes[0]] <= _SORTED)


def _in_order(v: np.ndarray, axis: int, ranks: list[Any]) -> list[np.ndarray] | None:
    """Of each line along the axis the numbers of these ranks, which come last.

    None where NumPy must look: there are NaNs, or zeros of both signs, whose order could be seen.
    """
    lines = np.sort(np.moveaxis(v, axis, -1), -1)
    found = [lines[..., rank] for rank in ranks]
    if np.isnan(lines[..., -1]).any():
        return None
    if not all(np.all(ones) for ones in found) and np.signbit(lines[lines == 0]).any():
        return None
    return found


def into_another_shape(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NDArray:
    """NumPy itself, at once: most methods spread a result over a larger ``out``, some don't."""
    why = ValueError(f"output parameter for {name} has another shape than the result")
    found: NDArray = hosts.handed_over(getattr(np, name), args, kwargs, why)
    return found


def check_points(name: str, x: NDArray, q: Any, method: str, weighted: bool) -> None:
    """NumPy's own errors about q, method and weights, which the values of ``x`` don't change."""
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    one = np.ones(1)
    known = np.ones(q.shape) if isinstance(q, Tensor) else q
    getattr(np, name)(one, known, method=method, weights=one if weighted else None)


def median(
    a: ArrayLike,
    axis: Axis = None,
    out: NDArray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> NDArray:
    """The middle value over the axes (the mean of the middle two, for an even number).

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array of floats without these axes; NaN where one of the elements is.

    >>> import lazyarray as la
    >>> la.median(la.array([3, 1, 2, 10])).item()
    2.5
    """
    return summarized("median", a, axis, out, keepdims, 10.0)


def summarized(
    name: str, a: Any, axis: Any, out: NDArray | None, keepdims: bool, cost: float
) -> NDArray:
    """NumPy's ``name``, which leaves one value of ``axis``, as one instruction with the GIL.

    ``cost`` is in nanoseconds an element.
    """
    x = asarray(a)
    given = in_order(axis, x.ndim)
    function = getattr(np, name)
    axes = normalize_axes(given, x.ndim)
    shape = reduced_shape(x.shape, axes, keepdims)
    if isinstance(out, Tensor) and out.shape != shape:
        return into_another_shape(name, (x, given), {"out": out, "keepdims": keepdims})

    def ranked(ranks: NDArray) -> NDArray:
        return summarized(name, ranks, given, None, keepdims, cost)

    def run(v: np.ndarray, **to: Any) -> np.ndarray:
        if name == "median" and not to and v.ndim and len(axes) == v.ndim:
            few = middle_ones(v)
            if few is not None:
                v = few.reshape((1,) * (v.ndim - 1) + few.shape)
        elif name == "median" and not to and _are_short(v, axes):
            n = v.shape[axes[0]]
            lines = _in_order(v, axes[0], [slice((n - 1) // 2, n // 2 + 1)])
            if lines is not None:
                found = lines[0].mean(-1)  # as NumPy's median ends
                return np.expand_dims(found, axes) if keepdims else np.asarray(found)
        return function(v, given, keepdims=keepdims, **to)

    result: NDArray = gil_op(
        name,
        run,
        [x],
        shape,
        (given, keepdims),
        into=out,
        cost=3000 + cost * x.size,
        gradient=(by_rank(axes, ranked),),
        cut=None if name.startswith("nan") else cut_apart(x.shape, axes, keepdims),
    )
    return result
