"""Elements selected by index, by mask or by condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray import _numpy_facts
from lazyarray.functions._checks import (
    along,
    check_bounds,
    common_dtype,
    goes_natively,
    is_weak,
    key_along,
    listed,
    one_axis,
    wrapped,
)
from lazyarray.functions.broadcasting import broadcast_arrays
from lazyarray.functions.creation import full
from lazyarray.functions.joining import stack
from lazyarray.functions.manipulation import ravel
from lazyarray.functions.storing import copyto
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import deliver, gil_op, looked_at, operands
from lazyarray.ops._moves import picked
from lazyarray.ops._rows import astype, take_along

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["take", "take_along_axis", "compress", "extract", "choose", "select"]
_INTO: Literal["safe", "unsafe"] = "unsafe" if _numpy_facts.TAKES_INTO_ANY else "safe"


def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    out: NDArray | None = None,
    mode: str = "raise",
) -> NDArray:
    """The elements at ``indices`` along an axis, or of the flattened array.

    Args:
        indices: integers, in an array of any shape.
        axis: the axis; None: of the flattened array.
        mode: for indices out of bounds: "raise", "wrap" (start again) or "clip" (the nearest).
    Returns: an array of a's shape, with the axis replaced by the shape of ``indices``.
    Raises: IndexError for an index out of bounds: at the wait if the indices are an NDArray that is
        not computed yet; TypeError for indices that are no integers; ValueError for another
        ``mode``.

    >>> import lazyarray as la
    >>> la.take(la.array([10, 20, 30]), [2, 0]).asnumpy()
    array([30, 10])
    """
    indices = listed(indices)
    x: NDArray = a if isinstance(a, Tensor) else operands(a, indices)[0]
    x = ravel(x) if axis is None or x.ndim == 0 else x
    axis = 0 if axis is None else normalize_axis_index(one_axis(axis), x.ndim)
    if mode == "wrap" and not x.shape[axis]:
        mode = "clip"  # nothing is nearest either; NumPy (2.4) would never end
    # (Where nothing leads to the axis, no index is looked at, as in NumPy.)
    if mode == "raise" and 0 not in x.shape[: axis + 1]:
        native = take_along(x, indices, axis)
        if native is not None:
            return deliver(native, out, "take", back=_INTO)
        check_bounds(indices, x.shape, axis)
    if follows(x):
        return deliver(
            picked(x, lambda a: take(a, indices, axis, None, mode)), out, "take", back=_INTO
        )
    _, index = operands(x, indices)

    def function(v: np.ndarray, i: np.ndarray, out: np.ndarray) -> None:
        i = wrapped(i, v.shape[axis], mode)
        out[...] = np.take(v, i, axis, mode=mode)  # type: ignore[call-overload]

    result = gil_op(
        "take",
        function,
        [x, index],
        (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]),
        (axis, mode),
        out=True,
        mini=lambda v, i: np.take(v, np.zeros_like(i), axis, mode=mode),  # type: ignore[call-overload]
    )
    return deliver(result, out, "take", back=_INTO)


def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> NDArray:
    """Elements by an index array that matches ``arr`` in all axes but one (as argsort gives).

    Args:
        arr: the array.
        indices: integers: an array with as many axes, which broadcasts to ``arr`` in all but one.
        axis: that axis; None: of the flattened array.
    Returns: an array of the shape of ``indices``, broadcast.
    Raises: ValueError for another number of axes; IndexError for indices that are no integers, and
        at the wait if one is out of bounds.

    >>> import lazyarray as la
    >>> x = la.array([[3, 1, 2]])
    >>> la.take_along_axis(x, la.argsort(x, axis=1), axis=1).asnumpy()
    array([[1, 2, 3]])
    """
    x, index = operands(arr, indices)
    if index.ndim == 1 and index.dtype.kind == "i" and (axis is None or x.ndim == 1):
        return take(x, index, axis)
    shape = along(x, index, axis) if axis is None or index.ndim == x.ndim else ()
    native = goes_natively(x, index, axis)
    if (native or follows(x)) and axis is not None and index.dtype.kind in "iu":
        return x[key_along(x.shape, index, axis)]
    return gil_op(
        "take_along_axis",
        lambda v, i: np.take_along_axis(v, i, axis),
        [x, index],
        shape,
        axis,
        mini=lambda v, i: np.take_along_axis(v, np.zeros_like(i), axis),
    )


def compress(
    condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: NDArray | None = None
) -> NDArray:
    """The entries along an axis for which a vector of conditions is true.

    Waits for the conditions, if they are an NDArray: the result's shape depends on them.

    Args:
        condition: a vector of bools, no longer than the axis.
        axis: the axis; None: of the flattened array.
    Returns: an array, along the axis as long as there are true conditions.
    Raises: ValueError unless the conditions are a vector; IndexError if one beyond the axis is
        true.

    >>> import lazyarray as la
    >>> la.compress([True, False, True], la.array([1, 2, 3])).asnumpy()
    array([1, 3])
    """
    if np.ndim(condition) != 1:  # type: ignore[arg-type]
        raise ValueError("condition must be a 1-d array")
    along_it = axis is None or (type(axis) is int and axis in (0, -1))
    if out is None and along_it and _is_mask(condition, a):
        return ravel(a)[condition]
    return take(a, looked_at(condition, "compress()", _rows.flatnonzero), axis, out)


def _is_mask(condition: ArrayLike, a: ArrayLike) -> bool:
    """Whether both are our arrays, of one shape, and a mask selects with one pass over both."""
    return (
        isinstance(condition, Tensor)
        and isinstance(a, Tensor)
        and condition.dtype == np.bool_
        and condition.shape == a.shape
        and condition.device == a.device
    )


def extract(condition: ArrayLike, arr: ArrayLike) -> NDArray:
    """The elements at which a condition is true, flattened.

    Waits for the condition, if it is an NDArray: the result's shape depends on it.

    Args:
        condition: an array of bools, of arr's size.
        arr: the array.
    Returns: a vector.
    Raises: IndexError if the condition is true beyond the array.

    >>> import lazyarray as la
    >>> la.extract([True, False, True], la.array([1, 2, 3])).asnumpy()
    array([1, 3])
    """
    if _is_mask(condition, arr):
        return ravel(arr)[ravel(condition)]
    return take(ravel(arr), looked_at(condition, "extract()", _rows.flatnonzero))


def choose(
    a: ArrayLike, choices: ArrayLike, out: NDArray | None = None, mode: str = "raise"
) -> NDArray:
    """At each place the element of that array of ``choices`` which ``a`` names there.

    Args:
        a: integers from 0 to n - 1.
        choices: n arrays, which broadcast with ``a``; an array counts by its first axis.
        mode: for integers out of bounds: "raise", "wrap" (start again) or "clip" (the nearest).
    Returns: an array of the common shape.
    Raises: ValueError if the shapes do not broadcast, without choices, and at the wait for an
        integer out of bounds.

    >>> import lazyarray as la
    >>> la.choose(la.array([0, 1]), [la.array([1, 2]), la.array([3, 4])]).asnumpy()
    array([1, 4])
    """
    given: list[Any] = list(choices)  # type: ignore[arg-type]
    x, *options = operands(a, *given)
    if any(is_weak(c) for c in given):
        dtype = common_dtype(given, options)
        options = [astype(o, dtype, False) for o in options]
    if follows(*options):
        together = stack(broadcast_arrays(*options))
        return deliver(
            picked(together, lambda n: choose(x, list(n), mode=mode)), out, "choose", back="unsafe"
        )
    result = gil_op(
        "choose",
        lambda i, *arrays: np.choose(wrapped(i, len(arrays), mode), arrays, mode=mode),  # type: ignore[call-overload]
        [x, *options],
        np.broadcast_shapes(*[o.shape for o in (x, *options)]),
        mode,
        mini=lambda i, *arrays: np.choose(np.zeros_like(i), arrays, mode=mode),  # type: ignore[call-overload]
    )
    return deliver(result, out, "choose", back="unsafe")


def select(
    condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0
) -> NDArray:
    """At each place the element of that array whose condition is the first true one there.

    Args:
        condlist: arrays of bools.
        choicelist: as many arrays.
        default: what is taken where none is true.
    Returns: an array of the shape to which all broadcast, of the common dtype.
    Raises: ValueError if the lists differ in length, are empty, or do not broadcast; TypeError for
        conditions that are no bools.

    >>> import lazyarray as la
    >>> x = la.arange(5)
    >>> la.select([x < 2, x > 3], [x, x * 10], default=-1).asnumpy()
    array([ 0,  1, -1, -1, 40])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [*condlist]
    given: list[Any] = [*choicelist, default]
    arrays = operands(*conditions, *given)
    conditions, choices = arrays[: len(conditions)], arrays[len(conditions) :]
    dtype = common_dtype(given, choices)
    for i, condition in enumerate(conditions):
        if condition.dtype != np.bool_:
            raise TypeError(f"invalid entry {i} in condlist: should be boolean ndarray")
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    result = full(shape, choices.pop(), dtype, device=arrays[0].device)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        copyto(result, choice, where=condition)
    return result
