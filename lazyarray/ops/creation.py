"""Creation of arrays: from other objects, and filled with one value."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import chosen
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor, Unheld
from lazyarray.ops import _layout, _rows, manipulation

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Device

__all__ = [
    "array",
    "asarray",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "empty",
    "zeros",
    "ones",
    "full",
    "empty_like",
    "zeros_like",
    "ones_like",
    "full_like",
]

Shape = tuple[int, ...]

# ---- from other objects -------------------------------------------------------------------------


def array(
    obj: Any,
    dtype: Any = None,
    ctx: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    ndmin: int = 0,
    device: Any = None,
) -> NDArray:
    """An array with a copy of ``obj``: an array, a number, or nested sequences of those.

    The values are copied at the call, so ``obj`` may change afterwards. Waits for arrays of this
    package inside a list.

    Args:
        obj: what the values are taken of.
        dtype: the result's dtype; None: the least that holds all values, as in NumPy.
        copy: None gives an NDArray back as it is where it fits; False forbids a copy.
        ndmin: the least number of axes: ones are put in front.
    Returns: an array of obj's shape.
    Raises: ValueError if the nested sequences are uneven, and for ``copy=False`` where a copy is
        needed, as it is for an array on another device than the one asked for; TypeError for what
        is no dtype.

    >>> import lazyarray as la
    >>> la.array([[1, 2], [3, 4]], dtype="float32").asnumpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if dtype is None and ctx is None and device is None and copy and order == "K" and not ndmin:
        simple = _rows.plain_array(obj)
        if simple is not None:
            return simple
    place = chosen(ctx, device)
    order = _layout.order_of(order, "K")
    if _rows.holds_arrays(obj):
        _rows.dtype_of(dtype)
        obj, copy = _stack(obj, dtype), copy and None  # a copy already
    if not isinstance(obj, Tensor):
        if copy is False:
            if not _rows.holdable(obj):
                raise Unheld("an array that is not to be copied is NumPy's")
            raise ValueError(
                "Unable to avoid copy while creating an array as requested: "
                "lazyarray.from_dlpack shares memory"
            )
        if order == "K" and not ndmin:
            return _rows.array(obj, dtype, place)
        # NumPy's dtypes include some that arrays here can't have: _rows.array says so.
        return _rows.array(np.array(obj, dtype, order=order, ndmin=ndmin, copy=None), None, place)  # type: ignore[call-overload]
    x: NDArray = _rows.array(obj, dtype, None, False)
    if place is not None and x.device != place:
        if copy is False:
            raise ValueError(
                f"Unable to avoid copy while creating an array as requested: it is on {x.device!r},"
                f" not on {place!r}"
            )
        x = _share.copied_to(x, place)
    fits = _in_order(x, order)
    if x is obj and _rows.holds_scalar(x):  # what an array is made of, not one
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        copy = True
    if x is obj and copy:
        x = manipulation.copy(x, order=order)
    elif not fits:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        x = manipulation.copy(x, order=order)
    elif x is not obj and copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if ndmin > x.ndim:
        x = manipulation.reshape(x, (1,) * (ndmin - x.ndim) + x.shape)
    return x


def _stack(obj: Any, dtype: Any) -> NDArray:
    """The array of a nested sequence that holds NDArrays: each is written by an op."""
    parts = [_stack(o, dtype) if _rows.holds_arrays(o) else o for o in obj]
    hosts: list[Any] = [o if isinstance(o, Tensor) else np.asarray(o, dtype) for o in parts]
    shape = hosts[0].shape
    if any(host.shape != shape for host in hosts):
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous "
            f"shape: its parts have the shapes {', '.join(sorted({str(h.shape) for h in hosts}))}"
        )
    if dtype is None:
        dtype = np.result_type(*[host.dtype for host in hosts])
    place = next(o.device for o in parts if isinstance(o, Tensor))
    result = _rows.empty((len(parts), *shape), dtype, place)
    for i, part in enumerate(parts):
        _rows.assign_to(result[i : i + 1], part)
    return result


_rows.teach(stack=_stack, array=array)


def _in_order(x: NDArray, order: str) -> bool:
    if order == "K":
        return True
    flags = _rows.probe(x).flags
    if order == "A":
        return bool(flags.c_contiguous or flags.f_contiguous)
    return bool(flags.c_contiguous if order == "C" else flags.f_contiguous)


def asarray(
    obj: Any,
    dtype: Any = None,
    ctx: Any = None,
    *,
    copy: bool | None = None,
    order: str = "K",
    device: Any = None,
) -> NDArray:
    """``obj`` itself if it is an array of that dtype, else a new array of its values.

    Args:
        obj: an array, a number, or nested sequences of those.
        dtype: the result's dtype; None: obj's own.
        copy: True always copies; False forbids a copy; None copies where it must.
    Returns: an array of obj's shape.
    Raises: ValueError if the nested sequences are uneven, and for ``copy=False`` where a copy is
        needed.

    >>> import lazyarray as la
    >>> x = la.ones(3)
    >>> la.asarray(x) is x, la.asarray(x, dtype="int32") is x
    (True, False)
    """
    return array(obj, dtype, ctx, copy=copy, order=order, device=device)


def asanyarray(obj: Any, dtype: Any = None, *, order: str = "K", device: Any = None) -> NDArray:
    """The same as :func:`asarray`.

    Args:
        obj: an array, a number, or nested sequences of those.
        dtype: the result's dtype; None: obj's own.
    Returns: an array of obj's shape.

    >>> import lazyarray as la
    >>> la.asanyarray([1, 2]).asnumpy()
    array([1, 2])
    """
    return array(obj, dtype, copy=None, order=order, device=device)


def ascontiguousarray(obj: Any, dtype: Any = None, *, device: Any = None) -> NDArray:
    """The values in C order with at least one axis; ``obj`` itself if that is what it is.

    Args:
        obj: an array, a number, or nested sequences of those.
        dtype: the result's dtype; None: obj's own.
    Returns: an array of obj's shape, (1,) for a number.

    >>> import lazyarray as la
    >>> la.ascontiguousarray(la.ones((2, 3)).T).strides
    (16, 8)
    """
    return array(obj, dtype, copy=None, order="C", ndmin=1, device=device)


def asfortranarray(obj: Any, dtype: Any = None, *, device: Any = None) -> NDArray:
    """The values in Fortran order; ``obj`` itself if that is how it lies.

    Args:
        obj: an array, a number, or nested sequences of those.
        dtype: the result's dtype; None: obj's own.
    Returns: an array of obj's shape.

    >>> import lazyarray as la
    >>> la.asfortranarray(la.ones((2, 3))).strides
    (8, 16)
    """
    return array(obj, dtype, copy=None, order="F", device=device)


# ---- filled -------------------------------------------------------------------------------------


_LIMIT = int(np.iinfo(np.intp).max)


def _lengths(shape: Any) -> Shape:
    if not isinstance(shape, (tuple, list)):
        try:
            return (operator.index(shape),)
        except TypeError:
            pass  # some other sequence, or an error
    return tuple([operator.index(n) for n in shape])


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


def _unwritten(shape: Any, dtype: Any, ctx: Any, order: str, device: Any) -> NDArray:
    """What ``empty`` gives. NumPy's third argument is the order, so ``ctx`` may be one, too."""
    if ctx is None and device is None and order == "C":
        simple = _rows.unwritten(shape, dtype)
        if simple is not None:
            return simple
    if isinstance(ctx, str) and len(ctx) == 1:
        ctx, order = None, ctx
    return new(shape, dtype, order, chosen(ctx, device))


def _typed(obj: Any) -> Any:
    """``obj`` as what has a shape and a dtype: an NDArray or a NumPy array."""
    if isinstance(obj, Tensor):
        return obj
    return _stack(obj, None) if _rows.holds_arrays(obj) else np.asarray(obj)


def _fill(x: NDArray, value: Any) -> NDArray:
    """``x``, which nobody has seen yet, filled with a scalar or an array, as ``np.full`` does."""
    if not isinstance(value, Tensor):
        host = _typed(value)
        if isinstance(host, Tensor):
            value = host
        elif host.ndim == 0:
            one = np.empty((), x.dtype)
            np.copyto(one, value, casting="unsafe")  # here, so that its errors are raised here
            value = one[()]
    _rows.assign_to(x, value)
    return x


def empty(
    shape: int | Sequence[int],
    dtype: Any = None,
    ctx: Any = None,
    *,
    order: str = "C",
    device: Any = None,
) -> NDArray:
    """An array of any values: its memory is allocated by the first op that writes it.

    Args:
        dtype: the dtype; None: float64.
    Returns: an array of that shape.

    >>> import lazyarray as la
    >>> la.empty((2, 3), "int32").shape
    (2, 3)
    """
    return _unwritten(shape, dtype, ctx, order, device)


def zeros(
    shape: int | Sequence[int],
    dtype: Any = None,
    ctx: Any = None,
    *,
    order: str = "C",
    device: Any = None,
) -> NDArray:
    """An array of zeros.

    Args:
        dtype: the dtype; None: float64.
    Returns: an array of that shape.

    >>> import lazyarray as la
    >>> la.zeros(3).asnumpy()
    array([0., 0., 0.])
    """
    x = _unwritten(shape, dtype, ctx, order, device)
    _rows.assign_to(x, 0)
    return x


def ones(
    shape: int | Sequence[int],
    dtype: Any = None,
    ctx: Any = None,
    *,
    order: str = "C",
    device: Any = None,
) -> NDArray:
    """An array of ones.

    Args:
        dtype: the dtype; None: float64.
    Returns: an array of that shape.

    >>> import lazyarray as la
    >>> la.ones(2, dtype="int8").asnumpy()
    array([1, 1], dtype=int8)
    """
    x = _unwritten(shape, dtype, ctx, order, device)
    _rows.assign_to(x, 1)
    return x


def full(
    shape: int | Sequence[int],
    fill_value: Any,
    dtype: Any = None,
    ctx: Any = None,
    *,
    order: str = "C",
    device: Any = None,
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
    if dtype is None and type(fill_value) in (float, int, bool):
        simple = _unwritten(shape, type(fill_value), ctx, order, device)
        _rows.assign_to(simple, fill_value)
        return simple
    place = chosen(ctx, device)
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
        return _layout.new(dims, dtype, _layout.k_order([like], like.ndim), place)
    return new(dims, dtype, order, place)


def empty_like(
    prototype: Any,
    dtype: Any = None,
    order: str = "K",
    *,
    shape: Any = None,
    ctx: Any = None,
    device: Any = None,
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
    a: Any,
    dtype: Any = None,
    order: str = "K",
    *,
    shape: Any = None,
    ctx: Any = None,
    device: Any = None,
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
    a: Any,
    dtype: Any = None,
    order: str = "K",
    *,
    shape: Any = None,
    ctx: Any = None,
    device: Any = None,
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
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    *,
    shape: Any = None,
    ctx: Any = None,
    device: Any = None,
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
