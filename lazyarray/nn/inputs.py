"""What the functions of ``lazyarray.nn`` share: checks of what they are given, sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import names as op
from lazyarray.ops._layout import operands
from lazyarray.ops._rows import asarray, astype

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__: list[str] = []

_F2, _F4, _F8 = map(np.dtype, (np.float16, np.float32, np.float64))
_sum: Any = op.sum


def floats(name: str, *objects: Any, optional: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """All of the objects as arrays of one dtype with native loops, float32 or float64.

    Of the ``optional`` ones, which come after the others, None stays None. float16 is computed as
    float32: the result is for ``narrowed``. TypeError for other dtypes, and for no array.
    """
    for o in objects:
        if o is None:
            raise TypeError(f"{name} takes arrays, not None")
    objects += optional
    arrays = operands(*[o for o in objects if o is not None])
    dtype = arrays[0].dtype
    for x in arrays:
        if x.dtype not in (_F2, _F4, _F8):
            raise TypeError(f"{name} takes arrays of float16, float32 or float64, not of {x.dtype}")
        dtype = np.promote_types(dtype, x.dtype) if x.dtype != dtype else dtype
    wide = _F4 if dtype == _F2 else dtype
    left = iter([x if x.dtype == wide else astype(x, wide) for x in arrays])
    return (*[None if o is None else next(left) for o in objects], dtype)


def reals(x: Any) -> NDArray:
    """``x`` as an array; TypeError for complex numbers, which have no order."""
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"a function of real numbers, called on {x.dtype}")
    result: NDArray = x
    return result


def real_floats(x: Any) -> NDArray:
    """:func:`reals`; integers and bools become the floats that ``la.exp`` makes of them."""
    x = reals(x)
    return astype(x, np.result_type(x.dtype, _F2)) if x.dtype.kind in "biu" else x


def widened(x: NDArray) -> NDArray:
    """``x``, or float16 as float32, in which it is summed: the result is for ``narrowed``."""
    return astype(x, _F4) if x.dtype == _F2 else x


def narrowed(x: NDArray, dtype: np.dtype[Any]) -> NDArray:
    """``x`` as ``dtype``: itself, unless that is float16."""
    return x if x.dtype == dtype else astype(x, dtype)


def inverse(name: str, what: str, value: Any) -> Any:
    """1 / value; ValueError for the number 0."""
    try:
        return 1.0 / value
    except ZeroDivisionError:
        raise ValueError(f"{name}: {what} is not 0, by which it divides") from None


def integers(name: str, index: Any, like: Any = None) -> NDArray:
    """``index`` as an array of integers, on the device of ``like``; TypeError for other numbers."""
    x = index if isinstance(index, Tensor) else operands(index, *[] if like is None else [like])[0]
    if x.dtype.kind not in "iu":
        raise TypeError(f"{name} takes indices of an integer dtype, not of {x.dtype}")
    return x


def listed(value: Any) -> Any:
    """Numbers in an array or a list as a tuple, one as itself; anything else as it is."""
    if isinstance(value, (Tensor, np.ndarray)):
        value = value.tolist()
    return tuple(value) if isinstance(value, list) else value


def pair(name: str, what: str, value: Any, axes: int, least: int) -> tuple[int, int]:
    """A number for each of one or two axes as (rows, columns); one axis has one row."""
    value = listed(value)
    both = value if isinstance(value, tuple) else (value,) * axes
    if not all(isinstance(v, (int, np.integer)) for v in both):
        raise TypeError(f"{name}: {what} is an integer or {axes} of them, not {value!r}")
    if len(both) != axes or min(both) < least or max(both) >= 1 << 31:
        raise ValueError(f"{name}: {what} is {axes} numbers of at least {least}, not {value!r}")
    return (int(both[0]), int(both[1])) if axes == 2 else (1 if least else 0, int(both[0]))


def reduced(losses: NDArray, reduction: str) -> NDArray:
    """The losses themselves, their sum or their mean; ValueError for any other word."""
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    return losses


def known(reduction: str) -> str:
    """``reduction``; ValueError for what is none."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is one of 'mean', 'sum', 'none', not {reduction!r}")
    return reduction


def channels_first(x: NDArray) -> bool:
    """Whether x (n, c, ...) lies in memory by channels first, as convolutions leave it."""
    return x.ndim > 2 and x.shape[0] > 1 and x.strides[0] < x.strides[1]


def channel_sums(x: NDArray) -> NDArray:
    """The sums of x (n, c, ...) over all axes but the second, which are kept with length 1.

    Rows are added first and then their sums: both are native reductions, in either memory order.
    """
    n, c = x.shape[:2]
    kept = (1, c, *(1,) * (x.ndim - 2))
    if x.ndim == 2:
        return _sum(x, 0, None, None, True)
    if channels_first(x):
        return _sum(x.swapaxes(0, 1).reshape(c, -1), 1).reshape(kept)
    return _sum(_sum(x.reshape(n, c, -1 if x.size else 0), 2), 0).reshape(kept)
