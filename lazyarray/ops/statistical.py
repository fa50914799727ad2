"""Statistics beyond the reductions: running sums, limits, rounding, median, average, diff."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.lazy._lazy import Tensor, paused
from lazyarray.lazy._lazy import returned as as_numpys
from lazyarray.ops import elementwise, reductions
from lazyarray.ops._differentiable import follows, note
from lazyarray.ops._layout import check_shape, deliver, gil_op, k_order, new, operands
from lazyarray.ops._ranks import by_rank
from lazyarray.ops._rows import (
    Ufunc,
    accumulated,
    asarray,
    assign_to,
    clamp,
    dtype_of,
    full,
    normalize_axes,
    out_array,
    public,
    reduced_shape,
    select,
    writable,
)
from lazyarray.ops.joining import concatenate
from lazyarray.ops.manipulation import (
    atleast_1d,
    broadcast_to,
    diagonal,
    flip,
    permute_dims,
    ravel,
)
from lazyarray.ops.reductions import mean

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = [
    "cumsum",
    "cumprod",
    "cumulative_sum",
    "cumulative_prod",
    "clip",
    "round",
    "around",
    "ptp",
    "median",
    "average",
    "diff",
    "trace",
]

_ufuncs = elementwise.TABLE
_max, _min, _sum = [reductions.TABLE[name] for name in ("max", "min", "sum")]


# ---- running sums -------------------------------------------------------------------------------


def cumsum(
    a: Any, axis: int | None = None, dtype: Any = None, out: NDArray | None = None
) -> NDArray:
    """Running sum along an axis (None: of the flattened array).

    Args:
        axis: the axis; None: of the flattened array.
        dtype: what is added in, and the result's dtype; None: as NumPy, at least 64 bits for
            integers.
    Returns: an array of a's shape; for ``axis=None`` a vector.

    >>> import lazyarray as la
    >>> la.cumsum(la.array([1, 2, 3])).asnumpy()
    array([1, 3, 6])
    """
    return _running("cumsum", a, axis, dtype, out)


def cumprod(
    a: Any, axis: int | None = None, dtype: Any = None, out: NDArray | None = None
) -> NDArray:
    """Running product along an axis (None: of the flattened array).

    Args:
        axis: the axis; None: of the flattened array.
        dtype: what is multiplied in, and the result's dtype; None: as NumPy, at least 64 bits for
            integers.
    Returns: an array of a's shape; for ``axis=None`` a vector.

    >>> import lazyarray as la
    >>> la.cumprod(la.array([1, 2, 3])).asnumpy()
    array([1, 2, 6])
    """
    return _running("cumprod", a, axis, dtype, out)


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    include_initial: bool = False,
) -> NDArray:
    """Running sum along an axis, which only a vector may leave out (array API).

    Args:
        dtype: what is added in, and the result's dtype; None: as NumPy, at least 64 bits for
            integers.
        include_initial: whether a zero is put in front.
    Returns: an array of x's shape, along the axis longer by one with ``include_initial``.
    Raises: ValueError without ``axis``, unless ``x`` is a vector.

    >>> import lazyarray as la
    >>> la.cumulative_sum(la.array([1, 2, 3]), include_initial=True).asnumpy()
    array([0, 1, 3, 6])
    """
    return _cumulative("cumsum", 0, x, axis, dtype, out, include_initial)


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    include_initial: bool = False,
) -> NDArray:
    """Running product along an axis, which only a vector may leave out (array API).

    Args:
        dtype: what is multiplied in, and the result's dtype; None: as NumPy, at least 64 bits for
            integers.
        include_initial: whether a one is put in front.
    Returns: an array of x's shape, along the axis longer by one with ``include_initial``.
    Raises: ValueError without ``axis``, unless ``x`` is a vector.

    >>> import lazyarray as la
    >>> la.cumulative_prod(la.array([2, 3]), include_initial=True).asnumpy()
    array([1, 2, 6])
    """
    return _cumulative("cumprod", 1, x, axis, dtype, out, include_initial)


@lru_cache(maxsize=64)
def _running_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.cumsum(np.zeros(1, dtype)).dtype


def _running(name: str, a: Any, axis: int | None, dtype: Any, out: NDArray | None) -> NDArray:
    x = asarray(a)
    if axis is None:
        x, axis = ravel(x), 0
    x, axis = atleast_1d(x), operator.index(axis)
    wanted = dtype_of(dtype)
    summed = _running_dtype(x.dtype) if wanted is None else wanted
    # NumPy multiplies complex numbers with other last bits where an output goes backwards.
    plain = out is None or summed.kind != "c" or name == "cumsum" or out.flags["C_CONTIGUOUS"]
    alike = out is None or (out_array(out).dtype == summed and plain)
    if alike and follows(x):
        with paused():
            found = _running(name, x, axis, dtype, None)
        note(name, [(_sums if name == "cumsum" else _products)(axis)], [x], [found])
        return deliver(found, out, name)
    if alike and -x.ndim <= axis < x.ndim and np.can_cast(x.dtype, summed, "same_kind"):
        row = _ufuncs["add" if name == "cumsum" else "multiply"]
        assert isinstance(row, Ufunc)
        result = accumulated(row, x, axis % x.ndim, summed)
        if result is not None:
            return deliver(result, out, name)
    function = getattr(np, name)

    def run(v: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return function(v, axis, wanted, out=out)

    rule = (_sums if name == "cumsum" else _products)(axis)
    found = gil_op(name, run, [x], x.shape, (axis, wanted), out=True, into=out, gradient=(rule,))
    return found


def _from_the_end(g: NDArray, axis: int) -> NDArray:
    """The sums of each element and all behind it."""
    return flip(cumsum(flip(g, axis), axis), axis)


def _sums(axis: int) -> Any:
    """The gradient rule of cumsum."""
    return lambda g: _from_the_end(g, axis)


def _products(axis: int) -> Any:
    """The gradient rule of cumprod; the products behind the first zero are those without it."""

    def rule(g: NDArray, a: NDArray, y: NDArray) -> NDArray:
        zero = _ufuncs["equal"](a, 0)
        first = zero & _ufuncs["equal"](cumsum(zero, axis), 1)
        without = cumprod(select(first, 1.0, a), axis)
        conj = _ufuncs["conjugate"]
        before = _from_the_end(g * conj(y), axis) / conj(select(zero, 1.0, a))
        return select(first, _from_the_end(g * conj(without), axis), before)

    return rule


def _cumulative(
    name: str, start: int, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool
) -> NDArray:
    x = atleast_1d(x)
    if axis is None:
        if x.ndim >= 2:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        axis = 0
    if not include_initial:
        return _running(name, x, axis, dtype, out)
    at = normalize_axis_index(axis, x.ndim)
    lead = (slice(None),) * at
    if out is not None:
        check_shape(out_array(out), (*x.shape[:at], x.shape[at] + 1, *x.shape[at + 1 :]), name)
        _running(name, x, axis, dtype, out[(*lead, slice(1, None), ...)])
        assign_to(out[(*lead, slice(1), ...)], start)
        return out
    result = _running(name, x, axis, dtype, None)
    shape = (*x.shape[:at], 1, *x.shape[at + 1 :])
    edge = new(shape, result.dtype, k_order([result], x.ndim), x.device)
    assign_to(edge, start)
    return concatenate([edge, result], at)


# ---- limits and rounding ------------------------------------------------------------------------


_MISSING: Any = object()


def clip(
    a: Any,
    min: Any = None,
    max: Any = None,
    out: Any = None,
    *,
    a_min: Any = _MISSING,
    a_max: Any = _MISSING,
) -> NDArray:
    """Values limited to [min, max]; a limit of None is none. The limits broadcast.

    Args:
        min: the least value; None: no limit.
        max: the greatest value; None: no limit.
        a_min: NumPy's older name of ``min``.
        a_max: NumPy's older name of ``max``.
    Returns: an array of the shape to which array and limits broadcast.
    Raises: ValueError if they do not broadcast, and for a limit by both names.

    >>> import lazyarray as la
    >>> la.clip(la.array([-2, 0, 9]), 0, 5).asnumpy()
    array([0, 0, 5])
    """
    given = [name for name, v in (("a_min", a_min), ("a_max", a_max)) if v is not _MISSING]
    if given and not (min is None and max is None):
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is "
            "forbidden."
        )
    if len(given) == 1:
        lacking = "a_max" if given == ["a_min"] else "a_min"
        raise TypeError(f"clip() missing 1 required positional argument: {lacking!r}")
    low, high = (a_min, a_max) if given else (min, max)
    x = asarray(a)
    if isinstance(out, Tensor) and follows(x) and out.var == x.var:
        x = x.copy()  # the gradient looks at it
    if x.dtype.kind in "iu":
        # As NumPy: a limit beyond the dtype's range is none.
        if type(low) is int and low <= np.iinfo(x.dtype).min:
            low = None
        if type(high) is int and high >= np.iinfo(x.dtype).max:
            high = None
    if low is None and high is None:
        return _ufuncs["positive"](x, out=out)
    if low is None:
        return _ufuncs["minimum"](x, high, out=out)
    if high is None:
        return _ufuncs["maximum"](x, low, out=out)
    found = clamp(x, low, high)
    return writable(found) if out is Ellipsis else deliver(found, out, "clip", broadcasts=True)


def round(a: Any, decimals: int = 0, out: NDArray | None = None) -> NDArray:
    """Values rounded to ``decimals`` decimals, halves to the even neighbour.

    Args:
        decimals: how many; negative ones round before the point.
    Returns: an array of a's shape and dtype.
    Raises: TypeError if ``decimals`` is no integer.

    >>> import lazyarray as la
    >>> la.round(la.array([0.5, 1.5, 2.25]), 1).asnumpy()
    array([0.5, 1.5, 2.2])
    """
    x, decimals = asarray(a), operator.index(decimals)
    if out is not None:
        check_shape(out_array(out), x.shape, "round")
        if (
            out is a and x.dtype.kind in "iu" and decimals >= 0
        ):  # it may be read-only: nothing is written
            return out
    if decimals == 0 and x.dtype.kind == "f":
        return _ufuncs["rint"](x, out=out)
    result: NDArray = gil_op(
        "round",
        lambda v, **to: np.round(v, decimals, **to),
        [x],
        x.shape,
        decimals,
        into=out,
        gradient=(None,),
    )
    return result


around = round


# ---- summaries ----------------------------------------------------------------------------------


def ptp(a: Any, axis: Any = None, out: NDArray | None = None, keepdims: bool = False) -> NDArray:
    """Range of values over the axes: maximum minus minimum.

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes.
    Raises: ValueError if there is no element; TypeError for bools.

    >>> import lazyarray as la
    >>> la.ptp(la.array([3, 9, 5])).item()
    6
    """
    x = asarray(a)
    if out is None:
        return _max(x, axis, keepdims=keepdims) - _min(x, axis, keepdims=keepdims)
    # As NumPy: ``out`` is a maximum first. What may be wrong is found before.
    np.subtract.resolve_dtypes((out_array(out).dtype, x.dtype, out.dtype))
    _max(x, axis, out, keepdims)
    return _ufuncs["subtract"](out, _min(x, axis, keepdims=keepdims), out=out)


def median(
    a: Any,
    axis: Any = None,
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
    given = tuple(axis) if isinstance(axis, list) else axis
    function = getattr(np, name)
    axes = normalize_axes(axis, x.ndim)

    def ranked(ranks: NDArray) -> NDArray:
        return summarized(name, ranks, axis, None, keepdims, cost)

    result: NDArray = gil_op(
        name,
        lambda v, **to: function(v, given, keepdims=keepdims, **to),
        [x],
        reduced_shape(x.shape, axes, keepdims),
        (given, keepdims),
        into=out,
        cost=3000 + cost * x.size,
        gradient=(by_rank(axes, ranked),),
    )
    return result


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Weighted mean over the axes, and, if ``returned``, the sum of the weights.

    Args:
        axis: the axis, or several as a tuple; None: all.
        weights: what each element counts: an array of a's shape, or of the lengths of the axes;
            None: 1.
        returned: whether to give the sum of the weights, too.
    Returns: an array without these axes; if ``returned`` the pair (average, sum of the weights).
    Raises: TypeError or ValueError for weights of another shape; ZeroDivisionError at the wait if
        they sum to zero.

    >>> import lazyarray as la
    >>> la.average(la.array([1.0, 4.0]), weights=[2, 1]).item()
    2.0
    """
    x = asarray(a)
    axes = normalize_axes(axis, x.ndim)
    shape = reduced_shape(x.shape, axes, keepdims)
    if weights is None:
        result = mean(x, axes, keepdims=keepdims)
        count = x.size / max(result.size, 1)
        total = full(shape, count, result.dtype, x.device)
    else:
        x, w = operands(x, weights)
        check_weights(x, w, axis)
        given = None if axis is None else _order(axis, x.ndim)
        result, total = gil_op(
            "average",
            lambda v, u: np.average(v, given, u, True, keepdims=keepdims),  # type: ignore[call-overload]
            [x, w],
            [shape, shape],
            (given, keepdims),
            gradient=_averaged(x, w, axes, given),
        )
    return (result, as_numpys(total)) if returned else result


def _averaged(x: NDArray, w: NDArray, axes: tuple[int, ...], given: Any) -> Any:
    """The gradient rules of average: of the values, and of the weights."""
    kept = tuple([1 if i in axes else n for i, n in enumerate(x.shape)])
    along = tuple([n if i in axes else 1 for i, n in enumerate(x.shape)])
    shape, lengths, narrow = x.shape, w.shape, w.shape != x.shape
    order = [] if given is None else list(np.argsort(given))

    def spread(v: NDArray) -> NDArray:
        return broadcast_to(v.reshape(kept), shape)

    def over(w: NDArray) -> NDArray:
        """The weights over the values' axes."""
        return permute_dims(w, order).reshape(along) if narrow else w

    def of_weights(g: NDArray, h: NDArray, a: NDArray, y: NDArray, z: NDArray) -> NDArray:
        found = spread(g) * (a - spread(y)) / spread(z) + spread(h)
        if not narrow:
            return found
        found = _sum(found, tuple([i for i in range(len(shape)) if i not in axes]))
        return permute_dims(found, [sorted(given).index(i) for i in given]).reshape(lengths)

    return (lambda g, b, z: spread(g) * over(b) / spread(z), of_weights)


def check_weights(x: NDArray, weights: NDArray, axis: Any) -> None:
    """Raises if the weights have neither x's shape nor the lengths of the axes."""
    if weights.shape == x.shape:
        return
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.shape != tuple([x.shape[i] for i in _order(axis, x.ndim)]):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )


def _order(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes in the order given."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple([normalize_axis_index(i, ndim) for i in axes])


# ---- differences and diagonals ------------------------------------------------------------------


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> NDArray:
    """The n-th difference of neighbours along an axis, which gets shorter by ``n``.

    Args:
        n: how often differences are taken.
        prepend: what is joined to the front first.
        append: what is joined to the end first.
    Returns: an array, along the axis shorter by ``n``.
    Raises: ValueError for a negative ``n``, or an array without axes.

    >>> import lazyarray as la
    >>> la.diff(la.array([1, 4, 9])).asnumpy()
    array([3, 5])
    """
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = asarray(a)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, x.ndim)
    if prepend is not None or append is not None:
        edge = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        parts = operands(*[p for p in (prepend, x, append) if p is not None])
        x = concatenate([p if p.ndim else broadcast_to(p, edge) for p in parts], axis)
    lead = (slice(None),) * axis
    later, earlier = (*lead, slice(1, None), ...), (*lead, slice(None, -1), ...)
    row = _ufuncs["not_equal" if x.dtype.kind == "b" else "subtract"]
    for _ in range(n):
        x = row(x[later], x[earlier])
    return x


@public("trace")
def trace(
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: NDArray | None = None,
) -> NDArray:
    """The sum of a diagonal of two axes.

    Args:
        a: an array of two axes at least.
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        axis1: the rows' axis.
        axis2: the columns' axis.
        dtype: what is added in, and the result's dtype.
    Returns: an array without the two axes.
    Raises: ValueError for an array of fewer than two axes.

    >>> import lazyarray as la
    >>> la.trace(la.array([[1, 2], [3, 4]])).item()
    5
    """
    return _sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)
