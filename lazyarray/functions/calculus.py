"""Derivatives and integrals of sampled functions, interpolation, phases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from lazyarray.functions._checks import one_axis
from lazyarray.functions.manipulation import reshape
from lazyarray.functions.rounding import clip
from lazyarray.functions.searching import searchsorted, where
from lazyarray.functions.sums import cumsum, diff
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import cut_places, gil_op, new_like, operands
from lazyarray.ops._rows import array, asarray, assign_to, astype, scatter

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["gradient", "trapezoid", "interp", "unwrap"]

_sum = op.sum
_remainder, _absolute, _minimum = op.remainder, op.absolute, op.minimum


# ---- derivatives, as numpy/lib/_function_base_impl.py writes them, so that the bits are the same -


def gradient(
    f: ArrayLike,
    *varargs: ArrayLike,
    axis: int | tuple[int, ...] | None = None,
    edge_order: int = 1,
) -> NDArray | tuple[NDArray, ...]:
    """The derivative along each axis: central differences inside, one-sided ones at the ends.

    Args:
        f: the samples.
        varargs: the distances of neighbours: one number for all axes, or for each axis a number or
            the coordinates along it.
        axis: the axis, or several; None: all.
        edge_order: the order at the ends, 1 or 2.
    Returns: an array of floats of f's shape; for several axes a tuple of them.
    Raises: ValueError if an axis is shorter than ``edge_order + 1``, or coordinates do not fit it;
        TypeError for a wrong number of ``varargs``.

    >>> import lazyarray as la
    >>> la.gradient(la.array([1.0, 2.0, 4.0, 7.0])).asnumpy()
    array([1. , 1.5, 2.5, 3. ])
    """
    x = asarray(f)
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim)
    if not varargs:
        steps: list[Any] = [1.0] * len(axes)
    elif len(varargs) == 1 and _ndim(varargs[0]) == 0:
        steps = list(varargs) * len(axes)
    elif len(varargs) == len(axes):
        steps = [_spacing(v, x.shape[along]) for v, along in zip(varargs, axes, strict=True)]
    else:
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    for along in axes:
        if x.shape[along] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
    if x.dtype.kind in "iu":
        x = astype(x, np.float64)
    results = []
    for along, step in zip(axes, steps, strict=True):
        if isinstance(step, Tensor) and step.ndim and follows(x, step):
            results.append(_derivative(x, diff(step), along, edge_order))
        elif isinstance(step, Tensor) and step.ndim:
            results.append(_by_numpy(x, step, along, edge_order))
        else:
            results.append(_derivative(x, step, along, edge_order))
    return results[0] if len(results) == 1 else tuple(results)


def _ndim(v: Any) -> int:
    return v.ndim if isinstance(v, Tensor) else np.ndim(v)


def _spacing(given: Any, length: int) -> Any:
    """The distances: a number, a NumPy array of them, or, not known yet, the coordinates."""
    if _ndim(given) == 0:
        return given
    if _ndim(given) != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(given) != length:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if isinstance(given, Tensor):
        return given
    places = np.asarray(given)
    gaps = np.diff(places.astype(np.float64) if places.dtype.kind in "iu" else places)
    return gaps[0] if (gaps == gaps[0]).all() else gaps


def _by_numpy(x: NDArray, places: NDArray, axis: int, edge_order: Any) -> NDArray:
    """With coordinates not known yet: whether they are evenly spaced decides the formula."""

    def mini(v: np.ndarray, p: np.ndarray) -> Any:
        if v.shape[axis] < 2:
            return np.gradient(v, p, axis=axis)
        shape = [*v.shape]
        shape[axis] = 4  # miniatures are too short for the second order
        like = np.zeros_like(v, shape=tuple(shape))
        uneven = np.array([0, 1, 3, 7]).astype(p.dtype)
        return np.gradient(like, uneven, axis=axis, edge_order=edge_order)

    return gil_op(
        "gradient",
        lambda v, p: np.gradient(v, p, axis=axis, edge_order=edge_order),
        [x, places],
        x.shape,
        axis,
        mini=mini,
        cost=3000 + 10.0 * x.size,
    )


def _derivative(x: NDArray, step: Any, axis: int, edge_order: int) -> NDArray:
    lead = (slice(None),) * axis

    def at(k: Any) -> tuple[Any, ...]:
        return (*lead, k, ...)

    before, middle, after = at(slice(None, -2)), at(slice(1, -1)), at(slice(2, None))
    # What is no float fails in the subtraction, as NumPy's.
    out = new_like(x if x.dtype.kind in "fc" else astype(x, np.float64))
    even = _ndim(step) == 0
    if even:
        assign_to(out[middle], (x[after] - x[before]) / (2.0 * step))
    else:
        one, two = step[:-1], step[1:]
        weights = (
            -two / (one * (one + two)),
            (two - one) / (one * two),
            one / (two * (one + two)),
        )
        along = [1] * x.ndim
        along[axis] = -1
        a, b, c = [array(v.reshape(along), None, x.device) for v in weights]
        assign_to(out[middle], a * x[before] + b * x[middle] + c * x[after])
    if edge_order == 1:
        assign_to(out[at(0)], (x[at(1)] - x[at(0)]) / (step if even else step[0]))
        assign_to(out[at(-1)], (x[at(-1)] - x[at(-2)]) / (step if even else step[-1]))
        return out
    for place, near, sign in ((0, (0, 1, 2), 1), (-1, (-3, -2, -1), -1)):
        if even:
            edge = [-1.5 / step, 2.0 / step, -0.5 / step]
            if sign < 0:
                edge = [0.5 / step, -2.0 / step, 1.5 / step]
        elif sign > 0:
            one, two = step[0], step[1]
            edge = [
                -(2.0 * one + two) / (one * (one + two)),
                (one + two) / (one * two),
                -one / (two * (one + two)),
            ]
        else:
            one, two = step[-2], step[-1]
            edge = [
                two / (one * (one + two)),
                -(two + one) / (one * two),
                (2.0 * two + one) / (two * (one + two)),
            ]
        a, b, c = edge
        first, second, third = [x[at(k)] for k in near]
        assign_to(out[at(place)], a * first + b * second + c * third)
    return out


# ---- integrals ----------------------------------------------------------------------------------


def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> NDArray:
    """The integral along an axis by the trapezoidal rule.

    Args:
        y: the samples.
        x: where they are: an array of y's shape, or a vector as long as the axis; None: ``dx``
            apart.
        dx: the distance of neighbours.
    Returns: an array without that axis.
    Raises: ValueError if ``x`` does not broadcast; IndexError if there is no such axis.

    >>> import lazyarray as la
    >>> la.trapezoid(la.array([1.0, 2.0, 3.0])).item()
    4.0
    """
    values, *places = operands(y, *([] if x is None else [x]))
    along = [slice(None)] * values.ndim
    steps = dx
    if places and places[0].ndim == 1:
        shape = [1] * values.ndim
        steps = diff(places[0])
        shape[axis] = steps.shape[0]
        steps = reshape(steps, shape)
    elif places:
        steps = diff(places[0], axis=axis)
    along[axis] = slice(1, None)
    later = values[tuple(along)]
    along[axis] = slice(None, -1)
    result: NDArray = _sum(steps * (later + values[tuple(along)]) / 2.0, axis)
    return result


# ---- interpolation ------------------------------------------------------------------------------


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
    period: float | None = None,
) -> NDArray:
    """The piecewise linear function through the points (xp, fp), ``xp`` increasing, at ``x``.

    Args:
        x: where it is asked for.
        xp: the points' coordinates, a vector.
        fp: the points' values, a vector.
        left: the value before the first point; None: the first of ``fp``.
        right: the value after the last point; None: the last of ``fp``.
        period: after how much it repeats itself; ``left`` and ``right`` are ignored then.
    Returns: an array of x's shape, of floats or complex numbers.
    Raises: ValueError if the points are none, or no vectors of one length, or for a period of 0.

    >>> import lazyarray as la
    >>> la.interp(la.array([0.5, 2.0]), [0, 1, 2], [0, 10, 5]).asnumpy()
    array([5., 5.])
    """
    options = {"left": left, "right": right, "period": period}
    late = [name for name, v in options.items() if isinstance(v, Tensor)]
    known = {name: v for name, v in options.items() if name not in late}
    inputs = operands(x, xp, fp, *[options[name] for name in late])
    if inputs[1].ndim == inputs[2].ndim == 1 and inputs[1].size not in (0, inputs[2].size):
        raise ValueError("fp and xp are not of the same length.")

    def run(at: np.ndarray, where: np.ndarray, what: np.ndarray, *more: np.ndarray) -> Any:
        options: Any = {**known, **dict(zip(late, more, strict=True))}
        return _rows.interp(at, where, what, **options)

    kinds = [(type(v), name == "period" and v == 0) for name, v in known.items()]
    cost = 3000 + 20.0 * inputs[0].size
    rules = () if period is not None or follows(*inputs[3:]) else _interpolated(options)
    cut = cut_places(inputs[0].shape, len(inputs))
    return gil_op(
        "interp", run, inputs, inputs[0].shape, (*late, *kinds), cost=cost, gradient=rules, cut=cut
    )


def _interpolated(options: dict[str, Any]) -> Any:
    """The gradient rules of interp: of places, points and values."""
    ends = [options[name] is None for name in ("left", "right")]

    def found(x: NDArray, xp: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
        """The points on both sides, their distance, the share of the second, and what is inside."""
        n = xp.size
        first, last = xp[0], xp[n - 1]
        low = clip(searchsorted(xp, x, "right") - 1, 0, max(n - 2, 0))
        high = _minimum(low + 1, n - 1)
        gap = xp[high] - xp[low]
        gap = where(gap == 0, 1.0, gap)
        return low, high, gap, clip((x - xp[low]) / gap, 0.0, 1.0), (x >= first) & (x <= last)

    def slope(g: NDArray, a: NDArray, b: NDArray, c: NDArray) -> Any:
        low, high, gap, share, inside = found(a, b)
        by = (g.conj() * (c[high] - c[low])).real / gap
        return where(inside, by, 0.0), low, high, share

    def of_places(g: NDArray, a: NDArray, b: NDArray, c: NDArray) -> NDArray:
        by: NDArray = slope(g, a, b, c)[0]
        return by

    def spread(g: NDArray, low: NDArray, high: NDArray, share: NDArray, n: int) -> NDArray:
        parts = ((low, g * (1 - share)), (high, g * share))
        first, second = [scatter(v.reshape(-1), i.reshape(-1), 0, (n,)) for i, v in parts]
        return first + second

    def of_points(g: NDArray, a: NDArray, b: NDArray, c: NDArray) -> NDArray:
        by, low, high, share = slope(g, a, b, c)
        return spread(-by, low, high, share, b.size)

    def of_values(g: NDArray, a: NDArray, b: NDArray) -> NDArray:
        low, high, _, share, _ = found(a, b)
        if not ends[0]:
            g = where(a < b[0], 0.0, g)
        if not ends[1]:
            g = where(a > b[b.size - 1], 0.0, g)
        return spread(g, low, high, share, b.size)

    return of_places, of_points, of_values


# ---- phases -------------------------------------------------------------------------------------


def unwrap(
    p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi
) -> NDArray:
    """Phases along an axis without jumps.

    What is too far from its neighbour is brought within half a period by whole periods.

    Args:
        p: the phases.
        discont: how far is too far; None: half a period.
        period: the period.
    Returns: an array of p's shape.

    >>> import lazyarray as la
    >>> la.unwrap(la.array([0, 1, 2, -1, 0]), period=4).asnumpy()
    array([0, 1, 2, 3, 4])
    """
    x = asarray(p)
    steps, axis = diff(x, axis=axis), one_axis(axis)
    discont = period / 2 if discont is None else discont
    kinds = [v.dtype if isinstance(v, Tensor) else v for v in (steps, period)]
    dtype = np.result_type(*kinds)
    if dtype.kind in "iu":
        high, odd = divmod(period, 2)
    else:
        high, odd = period / 2, 0
    low = -high
    wrapped = _remainder(steps - low, period) + low
    if not odd:  # else nothing is half a period away
        wrapped = where((wrapped == low) & (steps > 0), high, wrapped)
    correction = where(_absolute(steps) < discont, 0, wrapped - steps)
    lead = (slice(None),) * (axis % x.ndim)
    rest = (*lead, slice(1, None), ...)
    result = astype(x, dtype)
    assign_to(result[rest], x[rest] + cumsum(correction, axis))
    return result
