"""Creation of arrays that are filled with one value, or with none."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import chosen
from lazyarray.functions.conversion import order_and_ctx, place_of, stacked
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _layout, _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike, ShapeLike
    from lazyarray.engine import Device

__all__ = ["empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like"]

Shape = tuple[int, ...]


_LIMIT = int(np.iinfo(np.intp).max)


def _lengths(shape: Any) -> Shape:
    if not isinstance(shape, (tuple, list)):
        try:
            return (_length(shape),)
        except TypeError:
            pass  # some other sequence, or an error
        kind = type(shape)  # NumPy asks it for its length, and for one after the other
        if not (hasattr(kind, "__getitem__") and hasattr(kind, "__len__")) or kind is dict:
            raise TypeError(f"expected a sequence of integers or a single integer, got {shape!r}")
        shape = [shape[i] for i in range(len(shape))]
    return tuple([_length(n) for n in shape])


def _length(n: Any) -> int:
    if type(n) is bool:
        raise TypeError("an integer is required")
    return operator.index(n)


def shape_of(shape: Any, dtype: np.dtype[Any]) -> Shape:
    """``shape`` as a tuple of lengths; NumPy's errors."""
    try:
        dims = _lengths(shape)
    except TypeError:
        np.empty(shape, dtype)  # raises
        raise
    size = dtype.itemsize
    for n in dims:
        if n < 0:
            raise ValueError("negative dimensions are not allowed")
        if n > _LIMIT:
            raise ValueError("Maximum allowed dimension exceeded")
        size *= n or 1
    if size > _LIMIT:
        raise ValueError(
            "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum "
            "possible size."
        )
    return dims


def new(shape: Any, dtype: Any, order: str, place: Device | None) -> NDArray:
    """An unwritten array in C or Fortran order."""
    dtype = np.dtype(dtype)
    dims = shape_of(shape, dtype)
    order = _layout.order_of(order)
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    if order == "C":
        return _rows.empty(dims, dtype, place)
    return _layout.new(dims, dtype, range(len(dims))[::-1], place)


def _unwritten(
    shape: Any, dtype: Any, ctx: Any, order: str, device: Any, like: Any = None
) -> NDArray:
    """What ``empty`` gives."""
    if ctx is device is like is None and order == "C":
        simple = _rows.unwritten(shape, dtype)
        if simple is not None:
            return simple
    order, ctx = order_and_ctx(order, ctx)
    return new(shape, dtype, order, place_of(ctx, device, like))


def _typed(obj: Any) -> Any:
    """``obj`` as what has a shape and a dtype: an NDArray or a NumPy array."""
    obj = _rows.own_array(obj)
    if isinstance(obj, Tensor):
        return obj
    return stacked(obj, None) if _rows.holds_arrays(obj) else np.asarray(obj)


def _fill(x: NDArray, value: Any) -> NDArray:
    """``x``, which nobody has seen yet, filled with a scalar or an array, as ``np.full`` does."""
    if not isinstance(value, Tensor):
        host = _typed(value)
        if isinstance(host, Tensor):
            value = host
        elif host.ndim == 0:
            one = np.empty(() if x.size else 0, x.dtype)
            np.copyto(one, value, casting="unsafe")  # here, so that its errors are raised here
            if not x.size:
                return x
            value = one[()]
    _rows.assign_to(x, value)
    return x


def empty(
    shape: int | Sequence[int],
    dtype: DTypeLike = None,
    ctx: DeviceLike = None,
    *,
    order: str = "C",
    device: DeviceLike = None,
    like: object = None,
) -> NDArray:
    """An array of any values: its memory is allocated by the first op that writes it.

    Args:
        dtype: the dtype; None: float64.
    Returns: an array of that shape.

    >>> import lazyarray as la
    >>> la.empty((2, 3), "int32").shape
    (2, 3)
    """
    return _unwritten(shape, dtype, ctx, order, device, like)


def zeros(
    shape: int | Sequence[int],
    dtype: DTypeLike = None,
    ctx: DeviceLike = None,
    *,
    order: str = "C",
    device: DeviceLike = None,
    like: object = None,
) -> NDArray:
    """An array of zeros.

    Args:
        dtype: the dtype; None: float64.
    Returns: an array of that shape.

    >>> import lazyarray as la
    >>> la.zeros(3).asnumpy()
    array([0., 0., 0.])
    """
    x = _unwritten(shape, dtype, ctx, order, device, like)
    _rows.assign_to(x, 0)
    return x


def ones(
    shape: int | Sequence[int],
    dtype: DTypeLike = None,
    ctx: DeviceLike = None,
    *,
    order: str = "C",
    device: DeviceLike = None,
    like: object = None,
) -> NDArray:
    """An array of ones.

    Args:
        dtype: the dtype; None: float64.
    Returns: an array of that shape.

    >>> import lazyarray as la
    >>> la.ones(2, dtype="int8").asnumpy()
    array([1, 1], dtype=int8)
    """
    x = _unwritten(shape, dtype, ctx, order, device, like)
    _rows.assign_to(x, 1)
    return x


def full(
    shape: int | Sequence[int],
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    ctx: DeviceLike = None,
    *,
    order: str = "C",
    device: DeviceLike = None,
    like: object = None,
) -> NDArray:
    """An array filled with ``fill_value``, a scalar or an array that broadcasts to ``shape``.

    Args:
        fill_value: a number, or an array that broadcasts to ``shape``.
        dtype: the dtype; None: that of ``fill_value``.
    Returns: an array of that shape.
    Raises: ValueError if ``fill_value`` does not broadcast.

    >>> import lazyarray as la
    >>> la.full((2, 2), [1, 2]).asnumpy()
    array([[1, 2],
           [1, 2]])
    """
    number: Any = fill_value
    kind = type(number)
    if dtype is None and (kind in (float, bool) or (kind is int and abs(number) < 2**63)):
        simple = _unwritten(shape, kind, ctx, order, device, like)
        _rows.assign_to(simple, number)
        return simple
    order, ctx = order_and_ctx(order, ctx)
    place = place_of(ctx, device, like)
    value = _typed(fill_value)
    if isinstance(value, Tensor):
        fill_value, place = value, place or value.device
    if dtype is None:
        dtype = value.dtype
    return _fill(new(shape, dtype, order, place), fill_value)


def _new_like(prototype: Any, dtype: Any, order: str, shape: Any, ctx: Any, device: Any) -> NDArray:
    if order == "K" and dtype is None and shape is None and ctx is None and device is None:
        simple = _rows.unwritten_like(prototype)
        if simple is not None:
            return simple
    order = _layout.order_of(order, "K")
    place = chosen(ctx, device)
    like = _typed(prototype)
    if isinstance(like, Tensor):
        place = place or like.device
    dtype = like.dtype if dtype is None else np.dtype(dtype)
    dims = like.shape if shape is None else shape_of(shape, dtype)
    if order == "A":
        flags = (_rows.probe(like) if isinstance(like, Tensor) else like).flags
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    if order == "K":
        if len(dims) != like.ndim:
            return new(dims, dtype, "C", place)
        return _layout.new(dims, dtype, _layout.k_order(like), place)
    return new(dims, dtype, order, place)


def empty_like(
    prototype: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    ctx: DeviceLike = None,
    device: DeviceLike = None,
) -> NDArray:
    """An array of any values with the shape, dtype, memory order and device of another.

    Args:
        prototype: the array to be like.
        dtype: the dtype; None: that of the array.
        shape: another shape.
        ctx: another device.
    Returns: an array of the same shape, or of ``shape``.

    >>> import lazyarray as la
    >>> la.empty_like(la.ones((2, 3)), dtype="int64").dtype
    dtype('int64')
    """
    return _new_like(prototype, dtype, order, shape, ctx, device)


def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    ctx: DeviceLike = None,
    device: DeviceLike = None,
) -> NDArray:
    """Zeros with the shape, dtype, memory order and device of another array.

    Args:
        a: the array to be like.
        dtype: the dtype; None: that of the array.
        shape: another shape.
        ctx: another device.
    Returns: an array of the same shape, or of ``shape``.

    >>> import lazyarray as la
    >>> la.zeros_like(la.arange(3)).asnumpy()
    array([0, 0, 0])
    """
    x = _new_like(a, dtype, order, shape, ctx, device)
    _rows.assign_to(x, 0)
    return x


def ones_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    ctx: DeviceLike = None,
    device: DeviceLike = None,
) -> NDArray:
    """Ones with the shape, dtype, memory order and device of another array.

    Args:
        a: the array to be like.
        dtype: the dtype; None: that of the array.
        shape: another shape.
        ctx: another device.
    Returns: an array of the same shape, or of ``shape``.

    >>> import lazyarray as la
    >>> la.ones_like([1.5, 2.5]).asnumpy()
    array([1., 1.])
    """
    x = _new_like(a, dtype, order, shape, ctx, device)
    _rows.assign_to(x, 1)
    return x


def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    ctx: DeviceLike = None,
    device: DeviceLike = None,
) -> NDArray:
    """One value with the shape, dtype, memory order and device of another array.

    Args:
        a: the array to be like.
        fill_value: a number, or an array that broadcasts to the shape.
        dtype: the dtype; None: that of the array.
        shape: another shape.
        ctx: another device.
    Returns: an array of the same shape, or of ``shape``.
    Raises: ValueError if ``fill_value`` does not broadcast.

    >>> import lazyarray as la
    >>> la.full_like(la.arange(3), 7).asnumpy()
    array([7, 7, 7])
    """
    return _fill(_new_like(a, dtype, order, shape, ctx, device), fill_value)
