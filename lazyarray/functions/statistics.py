"""Means, variances, averages, ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from lazyarray.functions.broadcasting import broadcast_to
from lazyarray.functions.manipulation import permute_dims
from lazyarray.functions.ranges import known
from lazyarray.lazy._lazy import Tensor, paused
from lazyarray.lazy._lazy import returned as as_numpys
from lazyarray.ops import elementwise
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows, note, refuse
from lazyarray.ops._layout import gil_op, operands
from lazyarray.ops._rows import (
    asarray,
    at_once,
    call,
    dtype_of,
    full,
    mask_of,
    normalize_axes,
    out_array,
    reduced_like,
    reduced_shape,
    select,
    writable,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Axis, DTypeLike, Out

__all__ = ["mean", "std", "var", "ptp", "average"]

_max, _min, _sum, _multiply = op.max, op.min, op.sum, op.multiply


def _count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    count = 1
    for axis in axes:
        count *= shape[axis]
    return count


def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> NDArray:
    """Arithmetic mean over ``axis``, in NumPy's order of operations (``numpy._core._methods``).

    Args:
        axis: the axis, or several as a tuple; None: all.
        dtype: what is added in, and the result's dtype; None: that of floats, float64 for integers.
    Returns: an array without these axes; NaN, and a RuntimeWarning when it runs, where there is no
        element.

    >>> import lazyarray as la
    >>> la.mean(la.array([[1.0, 2.0], [3.0, 5.0]]), axis=0).asnumpy()
    array([2. , 3.5])
    """
    return _moment("mean", a, axis, dtype, out, keepdims, where, {})


def var(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> NDArray:
    """Variance over ``axis`` with ``n - ddof`` in the denominator.

    Args:
        axis: the axis, or several as a tuple; None: all.
        dtype: what is computed in, and the result's dtype; None: that of floats, float64 for
            integers.
        ddof: what is subtracted from the number n of elements in the denominator, ``n - ddof``.
        mean: the mean, where it is known, with ``keepdims``; its gradient is refused.
        correction: another name of ``ddof``.
    Returns: an array without these axes; NaN, and a RuntimeWarning when it runs, where n is not
        over ddof.
    Raises: ValueError for both ddof and correction.

    >>> import lazyarray as la
    >>> la.var(la.array([1.0, 2.0, 3.0, 4.0])).item()
    1.25
    """
    return _moment(
        "var",
        a,
        axis,
        dtype,
        out,
        keepdims,
        where,
        {"ddof": _correction(ddof, correction)},
        mean,
    )


def std(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> NDArray:
    """Standard deviation over ``axis``: the square root of :func:`var`.

    Args:
        axis: the axis, or several as a tuple; None: all.
        dtype: what is computed in, and the result's dtype; None: that of floats, float64 for
            integers.
        ddof: what is subtracted from the number n of elements in the denominator, ``n - ddof``.
        mean: the mean, where it is known, with ``keepdims``; its gradient is refused.
        correction: another name of ``ddof``.
    Returns: an array without these axes; NaN, and a RuntimeWarning when it runs, where n is not
        over ddof.
    Raises: ValueError for both ddof and correction.

    >>> import lazyarray as la
    >>> la.std(la.array([1.0, 1.0, 3.0, 3.0])).item()
    1.0
    """
    return _moment(
        "std",
        a,
        axis,
        dtype,
        out,
        keepdims,
        where,
        {"ddof": _correction(ddof, correction)},
        mean,
    )


# As numpy/_core/_methods.py writes them, so that the bits are the same.


def _correction(ddof: float, correction: float | None) -> float:
    if correction is None:
        return known(ddof)
    if known(ddof) != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return known(correction)


def _divisor(x: Any, n: float) -> float:
    """``n`` as NumPy divides by it.

    There it is an intp or a double, so that complex64 and float32 are divided as doubles. For
    float32 this gives other bits only where it can't hold ``n``.
    """
    char = x.dtype.char
    exact = char not in "fF" or (char == "f" and float(np.float32(n)) == n)
    return n if exact else np.float64(n)


def _mean(x: Any, axes: tuple[int, ...], count: int, keepdims: bool) -> Any:
    if x.dtype.kind in "biu":
        # NumPy adds doubles. Up to here their sums are exact, in any order, as integers' are.
        exact = x.dtype.itemsize <= 4 and count <= 1 << 21
        return _sum(x, axes, np.int64 if exact else np.float64, None, keepdims) / count
    return _divided(_sum(x, axes, None, None, keepdims), count)


def _divided(total: NDArray, count: int) -> NDArray:
    total = writable(total)
    total /= _divisor(total, count)
    return as_numpys(total)


def _holds_floats(a: Any) -> bool:
    """Whether it is a list of arrays whose sums are of their dtype, if they are all of one."""
    listed = isinstance(a, (list, tuple)) and len(a) > 1 and isinstance(a[0], Tensor)
    return listed and a[0].dtype.char in "fdFD"


def _variance(
    name: str, x: Any, axes: tuple[int, ...], count: int, keepdims: bool, ddof: float
) -> Any:
    off = writable(x - _mean(x, axes, count, True))
    off *= off
    result = writable(_sum(off, axes, None, None, keepdims))
    result /= _divisor(x, count - ddof)
    return as_numpys(elementwise.root(result, out=result) if name == "std" else result)


def _moment(
    name: str,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    keepdims: bool,
    where: Any,
    more: dict[str, Any],
    middle: Any = None,
) -> NDArray:
    if where is None:
        raise TypeError("where must be an array of booleans, not None")
    where = None if where is True else where
    if name == "mean" and out is where is None and _holds_floats(a):
        total = _sum.folded(a, axis, dtype, keepdims)
        if total is not None:
            return _divided(total, len(a))
    if isinstance(axis, list):  # as NumPy: axes in a list are for others
        raise TypeError("'list' object cannot be interpreted as an integer")
    x = asarray(a)
    axes = normalize_axes(axis, x.ndim)
    count = _count(x.shape, axes)
    given = dtype_of(dtype)
    whole = x.dtype.kind in "biu" and (given is None or given == np.float64)
    if where is middle is out is None and count and (given is None or given == x.dtype or whole):
        if name == "mean" and (x.dtype.char in "fdFD" or whole):
            return _mean(x, axes, count, keepdims)
        if name != "mean" and (x.dtype.char in "fd" or whole) and count > more["ddof"]:
            return _variance(name, x, axes, count, keepdims, **more)
    function = getattr(np, name)
    if isinstance(middle, (int, float, complex)):  # as a number its dtype would not count
        middle = asarray(middle, x.device).astype(np.result_type(x.dtype, middle))
    if where is not None:
        if not isinstance(where, (Tensor, np.ndarray)):
            where = np.asarray(where, np.bool_)
        if where.shape != x.shape:
            np.broadcast_to(np.broadcast_to(True, where.shape), x.shape)  # NumPy's error, if any
        where = mask_of(where, x.device)
    others = {k: v for k, v in (("mean", middle), ("where", where)) if v is not None}
    inputs = [x, *[asarray(v, x.device) for v in others.values()]]
    if middle is not None:
        refuse(name, *inputs)
    plain = {"axis": axes, "dtype": given, "keepdims": keepdims}

    def run(v: np.ndarray, *given: np.ndarray, **to: Any) -> np.ndarray:
        return function(v, **plain, **dict(zip(others, given, strict=True)), **more, **to)

    if out is None:
        found = at_once(run, tuple(inputs))
        if found is not None:
            return found
    shape = reduced_shape(x.shape, axes, keepdims)
    cost = 3000 + 2.0 * x.size
    rule = _moment_rule(name, axes, more.get("ddof", 0))
    rules = [rule if len(inputs) > 1 else lambda g, a, y: rule(g, a, None, y)]
    if out is not None:

        def mini(v: np.ndarray, *masks: np.ndarray, **to: Any) -> np.ndarray:
            # An integer dtype has no root: an output of floats may make it another loop.
            loop = plain if to or np.dtype(given).kind not in "biu" else {**plain, "dtype": None}
            return function(np.ones([max(n, 1) for n in v.shape], v.dtype), **loop, **to)

        key = tuple(plain.values())
        return gil_op(name, run, inputs, shape, key, mini=mini, into=out, cost=cost, gradient=rules)

    def into(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        # NumPy's own output: its layout and its dtype while summing decide the bits.
        outs[0][...] = run(*ins)

    mean = {} if middle is None else {"mean": np.ones(1, inputs[1].dtype)}
    made = function(np.ones(2, x.dtype), dtype=given, **mean).dtype
    target = reduced_like(x, axes, keepdims, made)
    if follows(*inputs):
        with paused():
            (result,) = call(name, into, inputs, [target], cost=cost)
        note(name, rules, inputs, [result])
    else:
        (result,) = call(name, into, inputs, [target], cost=cost)
    return as_numpys(result)


def _moment_rule(name: str, axes: tuple[int, ...], ddof: float) -> Any:
    """The gradient rule of a moment over the elements, or those where a mask is true."""

    def rule(g: Any, a: Any, b: Any, y: Any) -> Any:
        kept = reduced_shape(a.shape, axes, True)
        every = full(a.shape, True, np.bool_, a.device)
        mask = every if b is None else every & b
        g = g.reshape(kept) / (_sum(mask, axes, np.intp, keepdims=True).astype(y.real.dtype) - ddof)
        if name != "mean":
            g = g * (a - mean(a, axes, None, None, True, where=True if b is None else b))
            if name == "var":
                g = 2 * g
            else:  # of equal elements it is 0
                y = y.reshape(kept)
                g = g / select(op.equal(y, 0), 1.0, y)
        return select(mask, g, 0.0)

    return rule


def ptp(
    a: ArrayLike, axis: Axis = None, out: NDArray | None = None, keepdims: bool = False
) -> NDArray:
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
        result: NDArray = op.subtract(
            _max(x, axis, keepdims=keepdims), _min(x, axis, keepdims=keepdims)
        )
        return result
    # As NumPy: ``out`` is a maximum first. What may be wrong is found before.
    np.subtract.resolve_dtypes((out_array(out).dtype, x.dtype, out.dtype))
    _max(x, axis, out, keepdims)
    return op.subtract(out, _min(x, axis, keepdims=keepdims), out=out)


@overload
def average(
    a: ArrayLike,
    axis: Axis = ...,
    weights: ArrayLike | None = ...,
    returned: Literal[False] = ...,
    *,
    keepdims: bool = ...,
) -> NDArray: ...
@overload
def average(
    a: ArrayLike,
    axis: Axis,
    weights: ArrayLike | None,
    returned: Literal[True],
    *,
    keepdims: bool = ...,
) -> tuple[NDArray, NDArray]: ...
@overload
def average(
    a: ArrayLike,
    axis: Axis = ...,
    weights: ArrayLike | None = ...,
    *,
    returned: Literal[True],
    keepdims: bool = ...,
) -> tuple[NDArray, NDArray]: ...
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> NDArray | tuple[NDArray, NDArray]:
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
    given = in_order(axis, x.ndim)
    axes = normalize_axes(given, x.ndim)
    shape = reduced_shape(x.shape, axes, keepdims)
    if weights is None:
        result = x.mean(axes, keepdims=keepdims)  # a derived class may have one of its own
        count = x.size / max(result.size, 1)
        total = full(shape, count, result.dtype, x.device)
    else:
        x, w = operands(x, weights)
        check_weights(x, w, given)
        if given is not None and w.shape != x.shape:
            along = tuple([n if i in axes else 1 for i, n in enumerate(x.shape)])
            w = permute_dims(w, np.argsort(given).tolist()).reshape(along)
        least = [np.float64] if x.dtype.kind in "biu" else []
        dtype = np.result_type(x.dtype, w.dtype, *least)
        total = _sum(w, axes, dtype, None, keepdims)
        result = _sum(_multiply(x, w, dtype=dtype), axes, None, None, keepdims)
        if result.size:
            result = elementwise.weighted(result, total)
        else:  # what it is not divided by may be zero, too
            result = gil_op("average", _weighted, [result, total], shape, gradient=(None, None))
        if returned and total.shape != shape:
            total = broadcast_to(total, shape).copy()
    return (result, as_numpys(total)) if returned else result


def _weighted(result: np.ndarray, total: np.ndarray) -> np.ndarray:
    if np.any(total == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return result / total


def check_weights(x: NDArray, weights: NDArray, axes: tuple[int, ...] | None) -> None:
    """Raises if the weights have neither x's shape nor the lengths of the axes, in their order."""
    if weights.shape == x.shape:
        return
    if axes is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.shape != tuple([x.shape[i] for i in axes]):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )


def in_order(axis: Any, ndim: int) -> tuple[int, ...] | None:
    """The axes in the order given, by whatever can be gone through; None: all."""
    return None if axis is None else normalize_axis_tuple(axis, ndim)
