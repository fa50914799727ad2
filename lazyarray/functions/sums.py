"""Running sums and products, and differences of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.functions._checks import one_axis
from lazyarray.functions.broadcasting import broadcast_to
from lazyarray.functions.joining import concatenate
from lazyarray.functions.manipulation import atleast_1d, ravel
from lazyarray.functions.rearranging import flip
from lazyarray.lazy._lazy import paused
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows, note
from lazyarray.ops._layout import check_shape, deliver, gil_op, k_order, new, operands
from lazyarray.ops._rows import (
    Ufunc,
    accumulated,
    asarray,
    assign_to,
    astype,
    dtype_of,
    out_array,
    select,
    sole_out,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike

_MISSING: Any = np._NoValue  # what help() shows: <no value>

__all__ = ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "diff", "ediff1d"]


def cumsum(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: NDArray | None = None
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
    return _running(_SUM, a, axis, dtype, out)


def cumprod(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: NDArray | None = None
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
    return _running(_PRODUCT, a, axis, dtype, out)


def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
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
    return _cumulative(_SUM, x, axis, dtype, out, include_initial)


def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
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
    return _cumulative(_PRODUCT, x, axis, dtype, out, include_initial)


@lru_cache(maxsize=64)
def _running_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.cumsum(np.zeros(1, dtype)).dtype


def _running(kind: _Kind, a: Any, axis: int | None, dtype: Any, out: NDArray | None) -> NDArray:
    x = asarray(a)
    if axis is None:
        x, axis = ravel(x), 0
    x, axis = atleast_1d(x), one_axis(axis)
    wanted = dtype_of(dtype)
    summed = _running_dtype(x.dtype) if wanted is None else wanted
    # NumPy multiplies complex numbers with other last bits where an output goes backwards.
    plain = out is None or summed.kind != "c" or kind is _SUM or out.flags["C_CONTIGUOUS"]
    alike = out is None or (out_array(out).dtype == summed and plain)
    if alike and follows(x):
        with paused():
            found = _running(kind, x, axis, dtype, None)
        note(kind.name, [kind.rule(axis)], [x], [found])
        return deliver(found, out, kind.name)
    if alike and -x.ndim <= axis < x.ndim and np.can_cast(x.dtype, summed, "same_kind"):
        result = accumulated(kind.row, x, axis % x.ndim, summed)
        if result is not None:
            return deliver(result, out, kind.name)
    function = getattr(np, kind.name)

    def run(v: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return function(v, axis, wanted, out=out)

    key, rule = (axis, wanted), kind.rule(axis)
    return gil_op(kind.name, run, [x], x.shape, key, out=True, into=out, gradient=(rule,))


def _from_the_end(g: NDArray, axis: int) -> NDArray:
    """The sums of each element and all behind it."""
    return flip(cumsum(flip(g, axis), axis), axis)


def _sums(axis: int) -> Any:
    """The gradient rule of cumsum."""
    return lambda g: _from_the_end(g, axis)


def _products(axis: int) -> Any:
    """The gradient rule of cumprod; the products behind the first zero are those without it."""

    def rule(g: NDArray, a: NDArray, y: NDArray) -> NDArray:
        zero = op.equal(a, 0)
        first = zero & op.equal(cumsum(zero, axis), 1)
        without = cumprod(select(first, 1.0, a), axis)
        conj = op.conjugate
        before = _from_the_end(g * conj(y), axis) / conj(select(zero, 1.0, a))
        return select(first, _from_the_end(g * conj(without), axis), before)

    return rule


class _Kind(NamedTuple):
    """A running op: its function, the row between elements, its rule, what a line starts with."""

    name: str
    row: Ufunc
    rule: Callable[[int], Any]
    start: int


_SUM = _Kind("cumsum", op.add, _sums, 0)
_PRODUCT = _Kind("cumprod", op.multiply, _products, 1)


def _cumulative(
    kind: _Kind, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool
) -> NDArray:
    x = atleast_1d(x)
    if axis is None:
        if x.ndim >= 2:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        axis = 0
    if not include_initial:
        return _running(kind, x, axis, dtype, sole_out(out))
    at = normalize_axis_index(axis, x.ndim)
    lead = (slice(None),) * at
    if out is not None:
        check_shape(out_array(out), (*x.shape[:at], x.shape[at] + 1, *x.shape[at + 1 :]), kind.name)
        _running(kind, x, axis, dtype, out[(*lead, slice(1, None), ...)])
        assign_to(out[(*lead, slice(1), ...)], kind.start)
        return out
    result = _running(kind, x, axis, dtype, None)
    shape = (*x.shape[:at], 1, *x.shape[at + 1 :])
    edge = new(shape, result.dtype, k_order(result), x.device)
    assign_to(edge, kind.start)
    return concatenate([edge, result], at)


def diff(
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike = _MISSING,
    append: ArrayLike = _MISSING,
) -> NDArray:
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
        return a  # type: ignore[return-value]  # as NumPy: what was given
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = asarray(a)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, x.ndim)
    if prepend is not _MISSING or append is not _MISSING:
        edge = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        parts = operands(*[p for p in (prepend, x, append) if p is not _MISSING])
        x = concatenate([p if p.ndim else broadcast_to(p, edge) for p in parts], axis)
    lead = (slice(None),) * axis
    later, earlier = (*lead, slice(1, None), ...), (*lead, slice(None, -1), ...)
    row = op.not_equal if x.dtype.kind == "b" else op.subtract
    for _ in range(n):
        x = row(x[later], x[earlier])
    return x


def ediff1d(
    ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> NDArray:
    """The differences of neighbours of the flattened array, between ``to_begin`` and ``to_end``.

    Does not wait.

    Args:
        to_end: what comes after the differences.
        to_begin: what comes before them.
    Returns: a vector.
    Raises: TypeError if their dtypes can't be cast to the array's.

    >>> import lazyarray as la
    >>> la.ediff1d(la.array([1, 2, 4]), to_begin=-99).asnumpy()
    array([-99,   1,   2])
    """
    given = {"to_begin": to_begin, "to_end": to_end}
    x, *ends = operands(ary, *[v for v in given.values() if v is not None])
    x = ravel(x)
    parts = {"steps": x[1:] - x[:-1]}
    for name, end in zip([n for n, v in given.items() if v is not None], ends, strict=True):
        if not np.can_cast(end.dtype, x.dtype, "same_kind"):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        parts[name] = astype(end, x.dtype, copy=False)
    if not ends:
        return parts["steps"]
    order = [parts[name] for name in ("to_begin", "steps", "to_end") if name in parts]
    return concatenate(order, None)
