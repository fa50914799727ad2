"""Ranges of numbers: evenly spaced by step or by count, linearly or logarithmically."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from lazyarray.context import chosen
from lazyarray.functions._checks import is_weak
from lazyarray.functions.conversion import place_of
from lazyarray.lazy._lazy import Giving, Tensor, paused
from lazyarray.ops import _layout, _rows
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows, note, refuse, summed_to

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike
    from lazyarray.engine import Device

__all__ = ["arange", "linspace", "logspace", "geomspace"]

# Up to this many elements NumPy makes them at the call: a copy of a cached range is sooner than
# an op. Longer ones are made by an instruction that takes the GIL.
_AT_CALL = 8192
_EXACT = 1 << 53
_MOST = np.iinfo(np.intp).max


def known(value: Any) -> Any:
    """A number from a 0-d array: lengths must be known at the call, so this waits for it."""
    value = _rows.own_array(value)
    if not isinstance(value, Tensor):
        return value
    refuse("a number that must be known at the call", value)
    return np.asarray(value)[()]


def arange(
    start: ArrayLike | None = None,
    stop: ArrayLike | None = None,
    step: ArrayLike | None = None,
    dtype: DTypeLike = None,
    ctx: DeviceLike = None,
    *,
    device: DeviceLike = None,
    like: ArrayLike | None = None,
) -> NDArray:
    """Numbers from ``start`` (default 0) up to, without, ``stop`` in steps of ``step``.

    Args:
        start: the first number; alone it is ``stop``.
        stop: where it ends.
        step: the distance of neighbours; None: 1.
        dtype: the dtype; None: that of the numbers given.
    Returns: a vector of ceil((stop - start) / step) numbers, of none if that is negative.
    Raises: ZeroDivisionError for a step of 0; TypeError without ``stop``.

    >>> import lazyarray as la
    >>> la.arange(3).asnumpy(), la.arange(0, 1, 0.25).asnumpy()
    (array([0, 1, 2]), array([0.  , 0.25, 0.5 , 0.75]))
    """
    if type(start) is int and start > 0 and stop is step is dtype is ctx is device is like is None:  # type: ignore[unreachable]
        if start > _MOST:  # type: ignore[unreachable]
            raise ValueError("Maximum allowed size exceeded")
        simple = _rows.ramp(0, 1, start)  # the commonest
        if simple is not None:
            return simple
    place = place_of(ctx, device, like)
    start, stop, step = known(start), known(stop), known(step)
    dtype = _rows.dtype_of(dtype)
    if stop is None:
        start, stop = None, start
    if stop is None:
        raise TypeError("arange() requires stop to be specified.")
    length = _length(0 if start is None else start, stop, 1 if step is None else step)
    values = [0 if start is None else start, stop, 1 if step is None else step]
    if length and place is None and (real := _is_real(values, dtype)) is not None:
        if real:
            values[0] = float(values[0])
        simple = _rows.ramp(values[0], values[2], length)
        if simple is not None:
            return simple
    if length is None or length <= _AT_CALL:
        return _rows.array(np.arange(*values, dtype=dtype), None, place)
    if dtype is None:
        # The first two elements have the range's dtype: all three numbers take part in it.
        dtype = np.result_type(np.intp, *[np.asarray(v).dtype for v in values])
    dtype = np.dtype(dtype)
    np.arange(3, dtype=dtype)  # raises if there are no ranges of that dtype

    run = Giving(lambda: (np.arange(*values, dtype=dtype),))
    out = _rows.empty((length,), dtype, place)
    return _rows.call("arange", run, [], [out], cost=5000 + 2.0 * length)[0]


def _is_real(values: list[Any], dtype: Any) -> bool | None:
    """Whether a range of Python's numbers is one of floats; None: it is of another dtype."""
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        return None
    if any(type(v) is int and not -_MOST <= v <= _MOST for v in values):
        return None  # floats, unsigned or objects to NumPy
    if dtype is None:
        return float in kinds
    # As floats larger integers are others.
    if dtype == np.float64 and max(map(abs, values)) <= _EXACT:
        return True
    return False if dtype == np.intp and float not in kinds else None


def _length(start: Any, stop: Any, step: Any) -> int | None:
    """NumPy's ``_calc_length``; None where NumPy itself must be asked."""
    try:
        delta = stop - start
        ratio = delta / step
        if isinstance(ratio, complex) or (ratio == 0) != (delta == 0):
            return None
        length = max(0, math.ceil(ratio))
        return length if length <= _MOST else None
    except (TypeError, ValueError, ArithmeticError):
        return None


def _space(
    name: str, start: Any, stop: Any, num: int, axis: int, place: Device | None, **kwargs: Any
) -> NDArray:
    """One of NumPy's three functions, at the call or, if large or of arrays, as an op."""
    function = getattr(np, name)
    kwargs["dtype"] = _rows.dtype_of(kwargs["dtype"])
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    ends = [start, stop]
    arrays = [e for e in ends if isinstance(e, Tensor)]
    if not arrays:
        ends = [np.array(e) if isinstance(e, (list, tuple, np.ndarray)) else e for e in ends]
        if num * max(np.size(e) for e in ends) <= _AT_CALL:
            return _rows.array(function(*ends, num, axis=axis, **kwargs), None, place)
        if name == "linspace" and axis == 0 and {type(start), type(stop)} <= {int, float}:
            line = _line(start, stop, num, place, **kwargs)
            if line is not None:
                return line
    # Two samples show shape and dtype, and raise what is wrong with the arguments.
    mini = [np.ones(e.shape, e.dtype) if isinstance(e, Tensor) else e for e in ends]
    shown = function(*mini, 2, axis=axis, **kwargs)
    shape = list(shown.shape)
    shape[axis] = num
    order = None if shown.flags.c_contiguous else _layout.k_order(shown)
    if place is None and arrays:
        place = arrays[0].device
    out = _layout.new(tuple(shape), shown.dtype, order, place)
    fixed = [None if isinstance(e, Tensor) else e for e in ends]

    def make(*ins: np.ndarray) -> tuple[np.ndarray]:
        rest = iter(ins)
        given = [next(rest) if e is None else e for e in fixed]
        return (function(*given, num, axis=axis, **kwargs),)

    run = Giving(make)
    cost = 5000 + 2.0 * out.size
    if name != "linspace" or not follows(*arrays):
        return _rows.call(name, run, arrays, [out], cost=cost)[0]
    with paused():
        _rows.call(name, run, arrays, [out], cost=cost)
    note(
        name, _weighted(start, stop, num, axis, kwargs["endpoint"], out.ndim), [start, stop], [out]
    )
    return out


def _line(
    start: float, stop: float, num: int, place: Device | None, endpoint: bool, dtype: Any
) -> NDArray | None:
    """linspace by arithmetic of arrays, as NumPy does it; None for numbers of another dtype."""
    parts = num - 1 if endpoint else num
    if any(type(end) is int and abs(end) > 2**53 for end in (start, stop)):
        return None
    start, stop = float(start), float(stop)
    distance = stop - start
    if dtype not in (None, float, np.float64) or not 0 < abs(distance) < math.inf or parts < 1:
        return None
    line = arange(0.0, float(num), device=place)
    if distance / parts == 0.0:
        line /= parts
        line *= distance
    else:
        line *= distance / parts
    line += start
    if endpoint:
        line[-1] = stop
    return line


def _weighted(start: Any, stop: Any, num: int, axis: int, endpoint: bool, ndim: int) -> Any:
    """The gradient rules of linspace: each sample is a weighted mean of the two ends."""
    along = [1] * ndim
    along[axis] = num
    share = np.linspace(0.0, 1.0, num, endpoint=endpoint).reshape(along)

    def rule(end: Any, share: np.ndarray) -> Any:
        shape = np.shape(end)

        def gradient(g: NDArray) -> NDArray:
            part = g * _rows.array(share.astype(g.real.dtype), None, g.device)
            return summed_to(part.sum(axis=axis), shape)

        return gradient

    return rule(start, 1 - share), rule(stop, share)


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = ...,
    endpoint: bool = ...,
    retstep: Literal[False] = ...,
    dtype: DTypeLike = ...,
    axis: int = ...,
    ctx: DeviceLike = ...,
    *,
    device: DeviceLike = ...,
) -> NDArray: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = ...,
    endpoint: bool = ...,
    *,
    retstep: Literal[True],
    dtype: DTypeLike = ...,
    axis: int = ...,
    ctx: DeviceLike = ...,
    device: DeviceLike = ...,
) -> tuple[NDArray, NDArray | np.ndarray | np.inexact]: ...
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    ctx: DeviceLike = None,
    *,
    device: DeviceLike = None,
) -> NDArray | tuple[NDArray, NDArray | np.ndarray | np.inexact]:
    """``num`` evenly spaced numbers from ``start`` to ``stop`` (without it if not ``endpoint``).

    Args:
        start: the first number, or an array of first ones.
        stop: the last number, or an array.
        num: how many.
        endpoint: whether ``stop`` is the last one; else they end before it.
        retstep: whether to give the distance of neighbours, too.
        dtype: the dtype; None: float64, or complex128, or that of the arrays.
        axis: where the samples lie in the result, if ``start`` and ``stop`` are arrays.
    Returns: a vector (num,), or for arrays ``num`` with their shape; with ``retstep`` the pair
        (samples, distance).
    Raises: ValueError for a negative ``num``.

    >>> import lazyarray as la
    >>> la.linspace(0, 1, 5).asnumpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    place = chosen(ctx, device)
    out = _space("linspace", start, stop, num, axis, place, endpoint=endpoint, dtype=dtype)
    if not retstep:
        return out
    return out, _step(start, stop, operator.index(num), endpoint)


def _step(start: Any, stop: Any, num: int, endpoint: bool) -> Any:
    parts = num - 1 if endpoint else num
    # Python's numbers are weak; all else has a dtype, or is a sequence.
    ends = [e if is_weak(e) or hasattr(e, "dtype") else np.array(e) for e in (stop, start)]
    if isinstance(start, Tensor) or isinstance(stop, Tensor):
        if parts <= 0:
            return math.nan
        known = [e.dtype if isinstance(e, (Tensor, np.ndarray)) else e for e in ends]
        return op.subtract(*ends, dtype=np.result_type(*known, 1.0)) / parts
    if parts < 2:
        return np.linspace(start, stop, num, endpoint=endpoint, retstep=True)[1]
    common = np.result_type(*ends, 1.0)
    last, first = [np.asanyarray(e) * 1.0 for e in ends]
    return np.subtract(last, first, dtype=common) / parts


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
    ctx: DeviceLike = None,
    *,
    device: DeviceLike = None,
) -> NDArray:
    """``num`` numbers from ``base ** start`` to ``base ** stop``, evenly spaced in the logarithm.

    Args:
        start: the exponent of the first number, or an array.
        stop: the exponent of the last number, or an array.
        num: how many.
        endpoint: whether ``base ** stop`` is the last one; else they end before it.
        base: the base of the powers.
        dtype: the dtype; None: float64, or complex128, or that of the arrays.
        axis: where the samples lie in the result, if arguments are arrays.
    Returns: a vector (num,), or for arrays ``num`` with their shape.
    Raises: ValueError for a negative ``num``.

    >>> import lazyarray as la
    >>> la.logspace(0, 2, 3).asnumpy()
    array([  1.,  10., 100.])
    """
    place = chosen(ctx, device)
    return _space(
        "logspace", start, stop, num, axis, place, endpoint=endpoint, base=known(base), dtype=dtype
    )


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
    ctx: DeviceLike = None,
    *,
    device: DeviceLike = None,
) -> NDArray:
    """``num`` numbers from ``start`` to ``stop``, each the same multiple of the one before.

    Args:
        start: the first number, or an array.
        stop: the last number, or an array.
        num: how many.
        endpoint: whether ``stop`` is the last one; else they end before it.
        dtype: the dtype; None: float64, or complex128, or that of the arrays.
        axis: where the samples lie in the result, if arguments are arrays.
    Returns: a vector (num,), or for arrays ``num`` with their shape.
    Raises: ValueError if ``start`` or ``stop`` is 0, or ``num`` is negative.

    >>> import lazyarray as la
    >>> la.geomspace(1, 8, 4).asnumpy()
    array([1., 2., 4., 8.])
    """
    place = chosen(ctx, device)
    return _space("geomspace", start, stop, num, axis, place, endpoint=endpoint, dtype=dtype)
