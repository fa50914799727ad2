"""Indices and shapes, checked in NumPy's words."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.lazy._lazy import Tensor, shape_text
from lazyarray.ops._layout import Shape
from lazyarray.ops._rows import array, holds_scalar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lazyarray._ndarray import NDArray


_DEEPEST = 64  # axes that an array may have


def check_bounds(k: Any, shape: Shape, axis: int) -> None:
    """IndexError if an index of a NumPy array is out of bounds; an NDArray is checked later."""
    if isinstance(k, np.ndarray) and k.dtype.kind in "iu" and k.size:
        n = shape[axis]
        few = k.ravel().tolist() if k.size < 32 else (k.min(), k.max())
        if min(few) < -n or max(few) >= n:
            wrong = k[(k < -n) | (k >= n)][0]
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {n}")


def check_fits(value: Shape, shape: tuple[int | None, ...], whole: bool = False) -> None:
    """That a value of shape ``value`` can be stored in a selection of ``shape``."""
    if whole and len(value) > 1:
        raise TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input "
            f"has {len(value)} dimensions"
        )
    extra = max(len(value) - len(shape), 0)
    pairs = zip(reversed(value[extra:]), reversed(shape), strict=False)
    if any(n != 1 for n in value[:extra]) or any(
        n not in (1, m) and m is not None for n, m in pairs
    ):
        raise ValueError(
            f"shape mismatch: value array of shape {shape_text(value)} could not be broadcast to "
            f"indexing result of shape {shape_text(shape)}"
        )


def wrapped(i: np.ndarray, n: int, mode: str) -> np.ndarray:
    """For "wrap", indices from 0 to n: NumPy (2.4) takes a step of n at a time, however far."""
    if mode != "wrap" or not n or not i.size or not np.can_cast(i.dtype, np.intp):
        return i
    # One step each takes less than the divisions. (On a GPU to ask would be to wait.)
    if isinstance(i, np.ndarray) and -n <= i.min() and i.max() < 2 * n:
        return i
    return np.remainder(i, n, dtype=np.intp)


def indices_in(o: Any) -> Any:
    """What indexes, as a copy of NumPy's; or the array of ours that an object of a class gives."""
    own = hasattr(o, "__array__") and not isinstance(o, (np.ndarray, type))
    given = o.__array__() if own else o
    return given if isinstance(given, Tensor) else np.array(given)


def listed(indices: Any) -> Any:
    """As NumPy: a list of indices becomes integers, whatever it holds; an array must hold them."""
    indices = whole(indices)
    if isinstance(indices, (Tensor, np.ndarray)):
        return indices
    integer = hasattr(indices, "__index__") and not isinstance(indices, np.generic)
    if integer or isinstance(indices, (list, tuple, range, float)):
        return np.array(indices, np.intp)
    return indices_in(indices)


def whole(o: Any) -> Any:
    """A scalar of floats as the integer that NumPy takes it for; arrays of them it refuses."""
    scalar = holds_scalar(o) if isinstance(o, Tensor) else isinstance(o, np.floating)
    return o.astype(np.intp) if scalar and o.dtype.kind == "f" else o


def one_axis(axis: Any) -> int:
    """An axis as NumPy's functions in C take it: an integer, but no bool."""
    if isinstance(axis, bool):
        raise TypeError("an integer is required for the axis")
    return operator.index(axis)


def along(x: NDArray, index: NDArray, axis: int | None) -> Shape:
    """The shape of what indices along an axis select, or store."""
    if axis is None:
        return index.shape
    at = normalize_axis_index(axis, x.ndim)
    fixed = (*x.shape[:at], 1, *x.shape[at + 1 :])
    try:
        return np.broadcast_shapes(fixed, index.shape)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            f"{shape_text(fixed)} {shape_text(index.shape)} "
        ) from None


def goes_natively(x: NDArray, index: NDArray, axis: int | None) -> bool:
    """Whether the key of :func:`key_along` has a gather and a store of ours."""
    return axis is not None and x.device._on_host and index.ndim == x.ndim <= 3


def key_along(shape: Shape, index: NDArray, axis: int) -> tuple[Any, ...]:
    """The key that selects along an axis: positions along the others."""
    behind = [(1,) * (len(shape) - 1 - i) for i in range(len(shape))]
    key: list[Any] = [np.arange(n).reshape(n, *b) for n, b in zip(shape, behind, strict=True)]
    key[axis] = index
    return tuple(key)


def as_dtype_of(x: NDArray, v: Any) -> Any:
    """What is stored in ``x`` and is no array, of its dtype, as in NumPy.

    That is Python's numbers, lists of them, and objects that are asked for an array (pandas').

    Raises: OverflowError for an integer that it doesn't hold.
    """
    if _is_of_numbers(v, 0):
        return np.array(v, x.dtype)
    if hasattr(v, "__array__") and not isinstance(v, (Tensor, np.ndarray, np.generic)):
        return array(v, x.dtype, x.device, False)
    return v


def _is_of_numbers(v: Any, depth: int) -> bool:
    if type(v) is list or type(v) is tuple:  # perhaps one that is in itself
        return depth < _DEEPEST and all(_is_of_numbers(o, depth + 1) for o in v)
    return type(v) in (int, float, bool, complex, range)


def copy_mode(copy: Any) -> bool | None:
    """What ``copy`` means: True, False, None, what is true or not, or one of NumPy's modes."""
    if isinstance(copy, str):
        raise ValueError(f"copy is True, False or None, not {copy!r}")
    if copy is None or copy is np._CopyMode.IF_NEEDED:  # which has no truth
        return None
    return bool(copy)


def is_scalar(o: Any) -> bool:
    """Whether it is a scalar, one of ours or NumPy's."""
    return isinstance(o, np.generic) or holds_scalar(o)


def is_weak(o: Any) -> bool:
    """Whether it is a number of Python's, whose dtype gives way to that of arrays."""
    return type(o) in (int, float, complex)


def common_dtype(given: Iterable[Any], arrays: Iterable[NDArray]) -> np.dtype[Any]:
    """The dtype that holds all of ``given``, which ``arrays`` hold; Python's numbers are weak."""
    pairs = zip(given, arrays, strict=True)
    return np.result_type(*[o if is_weak(o) else x.dtype for o, x in pairs])
