"""Functions that leave NaNs out: recorded ops on arrays in which zeros, say, stand for NaNs.

NumPy's warnings of slices that are all NaN come when the values are known, of the caller's line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions import statistics
from lazyarray.functions.complex_numbers import imag, real
from lazyarray.functions.manipulation import copy as copied
from lazyarray.functions.quantiles import check_points, points, summarized
from lazyarray.functions.searching import extremum
from lazyarray.functions.searching import where as select
from lazyarray.functions.sums import cumprod, cumsum
from lazyarray.lazy._lazy import Tensor, Unheld, returned
from lazyarray.ops import elementwise
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows
from lazyarray.ops._rows import (
    Choice,
    asarray,
    assign_to,
    clamp,
    fill_where,
    holds_scalar,
    out_array,
    warn_where,
    writable,
)
from lazyarray.ops.gradients import teach
from lazyarray.ops.reductions import extreme_rule

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Axis, DTypeLike

__all__ = [
    "nansum",
    "nanprod",
    "nanmax",
    "nanmin",
    "nanmean",
    "nanvar",
    "nanstd",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "nanargmax",
    "nanargmin",
    "nancumsum",
    "nancumprod",
    "nan_to_num",
]

_MISSING: Any = np._NoValue  # what help() shows: <no value>
_sum, _prod = op.sum, op.prod
_max = Choice(np.fmax, name="nanmax", largest=True, skips_nan=True)
_min = Choice(np.fmin, name="nanmin", largest=False, skips_nan=True)
teach({"nanmax": (extreme_rule,), "nanmin": (extreme_rule,)})
_isnan, _divide, _subtract, _multiply = op.isnan, op.divide, op.subtract, op.multiply


def _replaced(a: Any, value: float) -> tuple[NDArray, NDArray | None]:
    """``a`` with ``value`` for its NaNs, and where these are (None if its dtype has no NaN)."""
    x = asarray(a)
    if x.dtype.kind not in "fc":
        return x, None
    gaps = _isnan(x)
    filled = copied(x)
    fill_where(filled, gaps, value)
    return filled, gaps


def _divided(x: NDArray, count: NDArray) -> NDArray:
    """``x`` divided in place, without warnings."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result: NDArray = _divide(x, count, out=writable(x))
    return result


def _given(result: NDArray, out: NDArray | None) -> NDArray:
    """``result`` as NumPy returns it; it is ``out`` if that was given."""
    return returned(result) if out is None else result


# ---- sums, products, extrema --------------------------------------------------------------------


def nansum(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: NDArray | None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = _MISSING,
    where: ArrayLike = True,
) -> NDArray:
    """Sum over axes, NaNs being zeros.

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes.

    >>> import lazyarray as la
    >>> la.nansum(la.array([1, la.nan])).item()
    1.0
    """
    x, _ = _replaced(a, 0)
    result: NDArray = _sum(x, axis, dtype, out, keepdims, initial=initial, where=where)
    return result


def nanprod(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: NDArray | None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = _MISSING,
    where: ArrayLike = True,
) -> NDArray:
    """Product over axes, NaNs being ones.

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes.

    >>> import lazyarray as la
    >>> la.nanprod(la.array([2, la.nan])).item()
    2.0
    """
    x, _ = _replaced(a, 1)
    result: NDArray = _prod(x, axis, dtype, out, keepdims, initial=initial, where=where)
    return result


def nanmax(
    a: ArrayLike,
    axis: Axis = None,
    out: NDArray | None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = _MISSING,
    where: ArrayLike = True,
) -> NDArray:
    """Maximum over axes of what is no NaN; NaN where there is nothing else.

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes; a RuntimeWarning when it runs, where all are NaN.
    Raises: ValueError if there is no element to choose from.

    >>> import lazyarray as la
    >>> la.nanmax(la.array([[1, la.nan], [3, 2]]), axis=0).asnumpy()
    array([3., 2.])
    """
    return _extreme(_max(a, axis, out, keepdims, initial=initial, where=where))


def nanmin(
    a: ArrayLike,
    axis: Axis = None,
    out: NDArray | None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = _MISSING,
    where: ArrayLike = True,
) -> NDArray:
    """Minimum over axes of what is no NaN; NaN where there is nothing else.

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes; a RuntimeWarning when it runs, where all are NaN.
    Raises: ValueError if there is no element to choose from.

    >>> import lazyarray as la
    >>> la.nanmin(la.array([[1, la.nan], [3, 2]]), axis=0).asnumpy()
    array([1., 2.])
    """
    return _extreme(_min(a, axis, out, keepdims, initial=initial, where=where))


def _extreme(result: NDArray) -> NDArray:
    if isinstance(result, Tensor) and result.dtype.kind in "fc":  # not what NumPy made of objects
        warn_where(result, _isnan(result), "All-NaN slice encountered")
    return result


# ---- moments, as numpy/lib/_nanfunctions_impl.py writes them, so that the bits are the same -----


def _check_inexact(dtype: Any, out: NDArray | None) -> None:
    for name, given in (("dtype", dtype), ("out", getattr(out, "dtype", None))):
        if given is not None and np.dtype(given).kind not in "fc":
            raise TypeError(f"If a is inexact, then {name} must be inexact")


def nanmean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: NDArray | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> NDArray:
    """Arithmetic mean over axes of what is no NaN; NaN where there is nothing else.

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes; a RuntimeWarning when it runs, where all are NaN.

    >>> import lazyarray as la
    >>> la.nanmean(la.array([[1, la.nan], [3, 4]]), axis=0).asnumpy()
    array([2., 4.])
    """
    x, gaps = _replaced(a, 0)
    if gaps is None:
        result: NDArray = statistics.mean(x, axis, dtype, out, keepdims, where=where)
        return result
    _check_inexact(dtype, out)
    count = _sum(~gaps, axis, np.intp, None, keepdims, where=where)
    total = _divided(_sum(x, axis, dtype, out, keepdims, where=where), count)
    warn_where(total, count == 0, "Mean of empty slice")
    return _given(total, out)


def nanvar(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: NDArray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> NDArray:
    """Variance over axes of what is no NaN, with ``n - ddof`` in the denominator.

    NaN where the denominator is not positive.

    Args:
        axis: the axis, or several as a tuple; None: all.
        mean: the mean, if it is known (computed with ``keepdims=True``).
    Returns: an array without these axes; a RuntimeWarning when it runs, where it is undefined.

    >>> import lazyarray as la
    >>> la.nanvar(la.array([[1, la.nan], [3, 4]]), axis=0).asnumpy()
    array([1., 0.])
    """
    x, gaps = _replaced(a, 0)
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    if gaps is None:
        known: dict[str, Any] = {} if mean is None else {"mean": mean}
        result: NDArray = statistics.var(x, axis, dtype, out, ddof, keepdims, where=where, **known)
        return result
    _check_inexact(dtype, out)
    count = _sum(~gaps, axis, np.intp, None, True, where=where)
    if mean is not None:
        average = asarray(mean, x.device)
    else:
        average = _divided(_sum(x, axis, dtype, None, True, where=where), count)
    masked: dict[str, Any] = {} if where is True else {"where": where}
    casting: dict[str, Any] = (
        {} if np.can_cast(average.dtype, x.dtype, "same_kind") else {"casting": "unsafe"}
    )
    _subtract(x, average, out=x, **masked, **casting)
    fill_where(x, gaps, 0)
    if x.dtype.kind == "c":
        x = real(_multiply(x, x.conj(), out=x, **masked))
    else:
        _multiply(x, x, out=x, **masked)
    result = _sum(x, axis, dtype, out, keepdims, where=where)
    freedom = count.reshape(result.shape) - ddof
    _divided(result, freedom)
    undefined = freedom <= 0
    fill_where(result, undefined, np.nan)
    warn_where(result, undefined, "Degrees of freedom <= 0 for slice.")
    return _given(result, out)


def nanstd(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: NDArray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | None = None,
    correction: float | None = None,
) -> NDArray:
    """Standard deviation over axes of what is no NaN: the square root of :func:`nanvar`.

    Args:
        axis: the axis, or several as a tuple; None: all.
        mean: the mean, if it is known (computed with ``keepdims=True``).
    Returns: an array without these axes; a RuntimeWarning when it runs, where it is undefined.

    >>> import lazyarray as la
    >>> la.nanstd(la.array([[1, la.nan], [3, 4]]), axis=0).asnumpy()
    array([1., 0.])
    """
    if out is not None:  # what is wrong is found before it is written
        np.sqrt.resolve_dtypes((out_array(out).dtype, out.dtype))
    result = nanvar(
        a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    to = None if holds_scalar(result) else result
    deviation: NDArray = elementwise.root(result, out=to)
    return deviation if deviation.dtype == result.dtype else deviation.astype(result.dtype)


# ---- order --------------------------------------------------------------------------------------


def nanmedian(
    a: ArrayLike,
    axis: Axis = None,
    out: NDArray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> NDArray:
    """The middle value over axes of what is no NaN; NaN where there is nothing else.

    Args:
        axis: the axis, or several as a tuple; None: all.
    Returns: an array of floats without these axes.

    >>> import lazyarray as la
    >>> la.nanmedian(la.array([1, la.nan, 4, 2])).item()
    2.0
    """
    return summarized("nanmedian", a, axis, out, keepdims, 20.0)


def nanquantile(
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
    """:func:`quantile` of what is no NaN; NaN where there is nothing else.

    Args:
        q: the quantiles, within [0, 1].
        axis: the axis, or several as a tuple; None: all.
        method: one of NumPy's ways between two elements.
        weights: what each element counts; only for "inverted_cdf".
    Returns: an array: q's shape, then what is left of a's.
    Raises: ValueError for a ``q`` out of range: at the wait if it is an NDArray.

    >>> import lazyarray as la
    >>> la.nanquantile(la.array([1, la.nan, 2]), 0.5).item()
    1.5
    """
    return _points("nanquantile", a, q, axis, out, method, keepdims, weights)


def nanpercentile(
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
    """:func:`percentile` of what is no NaN; NaN where there is nothing else.

    Args:
        q: the percentiles, within [0, 100].
        axis: the axis, or several as a tuple; None: all.
        method: one of NumPy's ways between two elements.
        weights: what each element counts; only for "inverted_cdf".
    Returns: an array: q's shape, then what is left of a's.
    Raises: ValueError for a ``q`` out of range: at the wait if it is an NDArray.

    >>> import lazyarray as la
    >>> la.nanpercentile(la.array([1, la.nan, 2]), 50).item()
    1.5
    """
    return _points("nanpercentile", a, q, axis, out, method, keepdims, weights)


def _points(
    name: str,
    a: Any,
    q: Any,
    axis: Any,
    out: NDArray | None,
    method: str,
    keepdims: bool,
    weights: Any,
) -> NDArray:
    x = asarray(a)
    if x.size == 0:
        check_points(name, x, q, method, weights is not None)
        return nanmean(x, axis, None, out, keepdims)  # as NumPy, whatever q
    return points(name, x, q, axis, out, method, keepdims, weights)


def nanargmax(
    a: ArrayLike, axis: int | None = None, out: NDArray | None = None, *, keepdims: bool = False
) -> NDArray:
    """Index of the first maximum along an axis of what is no NaN.

    Args:
        axis: the axis; None: of the flattened array.
    Returns: an array of integers without that axis.
    Raises: ValueError if there is no element, and at the wait if a slice is all NaN.

    >>> import lazyarray as la
    >>> la.nanargmax(la.array([[la.nan, 4], [2, 3]]), axis=0).asnumpy()
    array([1, 0])
    """
    return extremum("nanargmax", a, axis, out, keepdims)


def nanargmin(
    a: ArrayLike, axis: int | None = None, out: NDArray | None = None, *, keepdims: bool = False
) -> NDArray:
    """Index of the first minimum along an axis of what is no NaN.

    Args:
        axis: the axis; None: of the flattened array.
    Returns: an array of integers without that axis.
    Raises: ValueError if there is no element, and at the wait if a slice is all NaN.

    >>> import lazyarray as la
    >>> la.nanargmin(la.array([[la.nan, 4], [2, 3]]), axis=0).asnumpy()
    array([1, 1])
    """
    return extremum("nanargmin", a, axis, out, keepdims)


# ---- running sums, NaNs replaced ----------------------------------------------------------------


def nancumsum(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: NDArray | None = None
) -> NDArray:
    """Running sum along an axis (None: of the flattened array), NaNs being zeros.

    Args:
        axis: the axis; None: of the flattened array.
    Returns: an array of a's shape; for ``axis=None`` a vector.

    >>> import lazyarray as la
    >>> la.nancumsum(la.array([1, la.nan, 2])).asnumpy()
    array([1., 1., 3.])
    """
    return cumsum(_replaced(a, 0)[0], axis, dtype, out)


def nancumprod(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: NDArray | None = None
) -> NDArray:
    """Running product along an axis (None: of the flattened array), NaNs being ones.

    Args:
        axis: the axis; None: of the flattened array.
    Returns: an array of a's shape; for ``axis=None`` a vector.

    >>> import lazyarray as la
    >>> la.nancumprod(la.array([3, la.nan, 2])).asnumpy()
    array([3., 3., 6.])
    """
    return cumprod(_replaced(a, 1)[0], axis, dtype, out)


def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> NDArray:
    """NaNs and infinities replaced by numbers.

    Args:
        copy: False changes the array itself.
        nan: what replaces NaN.
        posinf: what replaces infinity; None: the largest finite number.
        neginf: what replaces negative infinity; None: the least finite number.
    Returns: an array of x's shape.
    Raises: TypeError for a complex number in their place.

    >>> import lazyarray as la
    >>> la.nan_to_num(la.array([1, la.nan, la.inf]), posinf=9).asnumpy()
    array([1., 0., 9.])
    """
    if not copy and isinstance(x, np.ndarray):
        raise Unheld("an array that is changed in place is NumPy's")
    given = asarray(x)
    y = copied(given) if copy or holds_scalar(given) else given
    if y.dtype.kind not in "fc":
        return _apart(y, given)
    limits = np.finfo(y.dtype)
    fills: list[Any] = [nan, posinf, neginf]
    fills = [asarray(v, y.device) if isinstance(v, (list, tuple)) else v for v in fills]
    for value in [v for v in fills if v is not None and type(v) is not float]:
        if type(value) is int:
            np.array(value, limits.dtype)  # its OverflowError
            continue
        dtype = value.dtype if isinstance(value, Tensor) else np.result_type(value)
        if not np.can_cast(dtype, limits.dtype, "same_kind"):
            raise TypeError(
                f"Cannot cast {value!r} to {y.dtype!r} according to the rule 'same_kind'"
            )
    number = fills[0]
    high = limits.max if posinf is None else fills[1]
    low = limits.min if neginf is None else fills[2]
    for part in (real(y), imag(y)) if y.dtype.kind == "c" else (y,):
        if posinf is None and neginf is None and not follows(part):  # its rule would look at part
            finite = clamp(part, low, high)
        else:
            finite = select(part == np.inf, high, select(part == -np.inf, low, part))
        assign_to(part, select(_isnan(part), number, finite))
    return _apart(y, given)


def _apart(y: NDArray, given: NDArray) -> NDArray:
    """``y`` as NumPy returns it, which may be what was given."""
    if y is not given:
        return returned(y)
    return y if y.ndim else y[()]
