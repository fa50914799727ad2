"""Values rounded, and limited."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.manipulation import copy
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import check_shape, deliver, gil_op, order_of
from lazyarray.ops._rows import (
    asarray,
    astype,
    clamp,
    lies_in,
    out_array,
    select,
    sole_out,
    writable,
)

if TYPE_CHECKING:
    from types import EllipsisType

    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Casting, DTypeLike, Out

__all__ = ["clip", "round", "around", "fix"]

_MISSING: Any = np._NoValue  # what help() shows: <no value>


def clip(
    a: ArrayLike,
    a_min: ArrayLike | None = _MISSING,
    a_max: ArrayLike | None = _MISSING,
    out: Out | EllipsisType = None,
    *,
    min: ArrayLike | None = _MISSING,
    max: ArrayLike | None = _MISSING,
    casting: Casting = "same_kind",
    dtype: DTypeLike = None,
    where: ArrayLike = True,
    order: str | None = "K",
    subok: bool = True,
) -> NDArray:
    """Values limited to [min, max]; a limit of None is none. The limits broadcast.

    Args:
        a_min: the least value; None: no limit.
        a_max: the greatest value; None: no limit.
        min: the array API's name of ``a_min``.
        max: the array API's name of ``a_max``.
        casting: which casts of the operands and to ``out`` are allowed.
        dtype: what the operands are cast to first.
        where: the places of ``out`` that are written.
        order: how the result lies.
        subok: has no meaning here.
    Returns: an array of the shape to which array and limits broadcast.
    Raises: ValueError if they do not broadcast, and for limits by both names; TypeError for one
        limit by place, and for a cast that ``casting`` forbids.

    >>> import lazyarray as la
    >>> la.clip(la.array([-2, 0, 9]), 0, 5).asnumpy()
    array([0, 0, 5])
    """
    low: Any = a_min
    high: Any = a_max
    to: Any = out if out is ... else sole_out(out)
    mask: Any = where
    if low is _MISSING and high is _MISSING:
        low, high = [None if v is _MISSING else v for v in (min, max)]
    elif low is _MISSING or high is _MISSING:
        lacking = "a_min" if low is _MISSING else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: {lacking!r}")
    elif not (min is _MISSING and max is _MISSING):
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is "
            "forbidden."
        )
    x = asarray(a)
    if isinstance(to, Tensor) and follows(x) and to.var == x.var:
        x = x.copy()  # the gradient looks at it
    if x.dtype.kind in "iu":
        # As NumPy: a limit beyond the dtype's range is none.
        if type(low) is int and low <= np.iinfo(x.dtype).min:
            low = None
        if type(high) is int and high >= np.iinfo(x.dtype).max:
            high = None
    order = order_of(order, "K")
    if casting != "same_kind" or dtype is not None or mask is not True or order != "K":
        low, high = [asarray(v) if isinstance(v, list | tuple) else v for v in (low, high)]
        operands: list[Any] = [x, low, high, to]
        ones = [np.ones(1, v.dtype) if hasattr(v, "dtype") else v for v in operands]
        np.clip(*ones, casting=casting, dtype=dtype)  # its errors
        if dtype is not None:
            x, low, high = [_as(v, dtype) for v in (x, low, high)]
        found = clip(x, low, high)
        if mask is not True:
            found = select(asarray(mask), found, to if isinstance(to, Tensor) else found)
        if order != "K" and to is None:
            found = copy(found, order)
        if to is Ellipsis:
            return writable(found)
        return deliver(found, to, "clip", broadcasts=True, back="unsafe")
    if low is None:
        return op.positive(x, out=to) if high is None else op.minimum(x, high, out=to)
    if high is None:
        return op.maximum(x, low, out=to)
    found = clamp(x, low, high, to if isinstance(to, Tensor) else None)
    if found is to:
        return found
    return writable(found) if to is Ellipsis else deliver(found, to, "clip", broadcasts=True)


def _as(v: Any, dtype: Any) -> Any:
    """An operand of clip as one of this dtype, by any cast; None stays None."""
    if v is None or isinstance(v, Tensor):
        return None if v is None else astype(v, dtype, copy=False)
    return np.array(v, dtype)[()] if type(v) is int else np.asarray(v).astype(dtype)[()]


def round(a: ArrayLike, decimals: int = 0, out: NDArray | None = None) -> NDArray:
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
    if (
        x.dtype.kind == "f"
        and out is None
        and 0 < abs(decimals) < 1 << 31  # NumPy's error for more
        and x.ndim
        and (lies_in(x, "C") or lies_in(x, "F"))
    ):
        # The powers of ten that NumPy multiplies and divides by.
        power = 10.0 ** min(abs(decimals), 9)
        for _ in range(min(abs(decimals), 330) - 9):
            power *= 10.0
        first, last = (op.multiply, op.divide) if decimals > 0 else (op.divide, op.multiply)
        return last(op.rint(first(x, power)), power)
    if decimals == 0 and x.dtype.kind == "f":
        return op.rint(x, out=out)
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


def fix(x: ArrayLike, out: NDArray | None = None) -> NDArray:
    """Values rounded towards zero.

    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.fix(la.array([2.9, -2.9])).asnumpy()
    array([ 2., -2.])
    """
    return op.trunc(x, out=out)
