"""Creation of arrays from what is there: lists, buffers, arrays of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray import _public
from lazyarray.context import chosen
from lazyarray.functions import manipulation
from lazyarray.functions._checks import copy_mode
from lazyarray.functions.manipulation import copy
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor, Unheld, is_capturing
from lazyarray.ops import _layout, _rows, hosts
from lazyarray.ops import names as op
from lazyarray.ops._rows import holds_scalar, probe

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike, Order
    from lazyarray.engine import Device

__all__ = [
    "array",
    "asarray",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "require",
    "asarray_chkfinite",
]

_all, _isfinite = op.all, op.isfinite


def array(
    object: ArrayLike,
    dtype: DTypeLike = None,
    ctx: DeviceLike = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    device: DeviceLike = None,
    like: ArrayLike | None = None,
) -> NDArray:
    """An array with a copy of ``object``: an array, a number, or nested sequences of those.

    The values are copied at the call, so ``object`` may change afterwards. Waits for arrays of this
    package inside a list.

    Args:
        object: what the values are taken of.
        dtype: the result's dtype; None: the least that holds all values, as in NumPy.
        copy: None gives an NDArray back as it is where it fits; False forbids a copy.
        subok: as NumPy's, for an array of a derived class.
        ndmin: the least number of axes: ones are put in front.
        ndmax: the most axes that sequences make, which NumPy makes objects of; 0: as many as are.
        like: an array, whose device the result is on unless ``device`` names one.
    Returns: an array of object's shape.
    Raises: ValueError if the nested sequences are uneven, and for ``copy=False`` where a copy is
        needed, as it is for an array on another device than the one asked for; TypeError for what
        is no dtype.

    >>> import lazyarray as la
    >>> la.array([[1, 2], [3, 4]], dtype="float32").asnumpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    obj: Any = object
    if (
        dtype is None
        and ctx is None
        and device is like is None
        and (copy is True or copy is None)
        and order == "K"
        and not (ndmin or ndmax)
    ):
        simple = _rows.plain_array(obj) if copy else None
        if simple is not None:
            return simple
        if _rows.is_of_strings(obj) and not is_capturing():
            return hosts.given(np.array(obj))
    copy = copy_mode(copy)
    if ndmax:
        raise Unheld("sequences within ndmax axes are objects")
    place, order = place_of(ctx, device, like), _layout.order_of(order, "K")
    if _rows.holds_arrays(obj):
        _rows.dtype_of(dtype)
        obj, copy = stacked(obj, dtype), copy and None  # a copy already
    if copy is False or order != "K" or ndmin:  # else it is found where NumPy refuses it
        obj = _rows.own_array(obj)
    if not isinstance(obj, Tensor):
        if copy is False:
            if not _rows.holdable(obj):
                raise Unheld("an array that is not to be copied is NumPy's")
            raise ValueError(
                "Unable to avoid copy while creating an array as requested: "
                "lazyarray.from_dlpack shares memory"
            )
        if order == "K" and not ndmin:
            return _rows.array(obj, dtype, place, copy is True)
        # NumPy's dtypes include some that arrays here can't have: _rows.array says so.
        return _rows.array(np.array(obj, dtype, order=order, ndmin=ndmin, copy=None), None, place)  # type: ignore[call-overload]
    x: NDArray = _rows.array(obj, dtype, None, False)
    if x is not obj and copy is not True and x.dtype == obj.dtype and not _rows.holds_scalar(obj):
        x = obj = obj.view(dtype)  # C's long as a long long
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


def order_and_ctx(order: Any, ctx: Any) -> tuple[Any, Any]:
    """The two, where NumPy's third argument, the order, may have come in the place of ``ctx``."""
    return (ctx, None) if isinstance(ctx, str) and len(ctx) == 1 else (order, ctx)


def place_of(ctx: Any, device: Any, like: Any) -> Device | None:
    """The device asked for, or that of ``like``."""
    place = chosen(ctx, device)
    return like.device if place is None and isinstance(like, Tensor) else place


def stacked(obj: Any, dtype: Any) -> NDArray:
    """The array of a nested sequence that holds NDArrays: each is written by an op."""
    parts = [stacked(o, dtype) if _rows.holds_arrays(o) else _rows.own_array(o) for o in obj]
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
    integers = result.ndim == 1 and np.dtype(dtype).kind in "iu"
    for i, part in enumerate(parts):
        if integers:
            result[i] = part  # a number that is none of the dtype's is an error
        else:
            _rows.assign_to(result[i : i + 1], part)
    return result


_rows.teach(stack=stacked, array=array)


def _in_order(x: NDArray, order: str) -> bool:
    if order in ("K", "A"):  # as it lies, also with gaps
        return True
    flags = _rows.probe(x).flags
    return bool(flags.c_contiguous if order == "C" else flags.f_contiguous)


def asarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    ctx: DeviceLike = None,
    *,
    copy: bool | None = None,
    order: str = "K",
    device: DeviceLike = None,
    like: ArrayLike | None = None,
) -> NDArray:
    """``a`` itself if it is an array of that dtype, else a new array of its values.

    Args:
        a: an array, a number, or nested sequences of those.
        dtype: the result's dtype; None: a's own.
        copy: True always copies; False forbids a copy; None copies where it must.
    Returns: an array of a's shape.
    Raises: ValueError if the nested sequences are uneven, and for ``copy=False`` where a copy is
        needed.

    >>> import lazyarray as la
    >>> x = la.ones(3)
    >>> la.asarray(x) is x, la.asarray(x, dtype="int32") is x
    (True, False)
    """
    order, ctx = order_and_ctx(order, ctx)
    return array(a, dtype, ctx, copy=copy, order=order, device=device, like=like)


def asanyarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
    like: ArrayLike | None = None,
) -> NDArray:
    """The same as :func:`asarray`.

    Args:
        a: an array, a number, or nested sequences of those.
        dtype: the result's dtype; None: a's own.
        copy: True always copies; False forbids a copy; None copies where it must.
    Returns: an array of a's shape.

    >>> import lazyarray as la
    >>> la.asanyarray([1, 2]).asnumpy()
    array([1, 2])
    """
    return array(a, dtype, copy=copy, order=order, device=device, like=like)


def ascontiguousarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    like: ArrayLike | None = None,
) -> NDArray:
    """The values in C order with at least one axis; ``a`` itself if that is what it is.

    Args:
        a: an array, a number, or nested sequences of those.
        dtype: the result's dtype; None: a's own.
    Returns: an array of a's shape, (1,) for a number.

    >>> import lazyarray as la
    >>> la.ascontiguousarray(la.ones((2, 3)).T).strides
    (16, 8)
    """
    return array(a, dtype, copy=None, order="C", ndmin=1, device=device, like=like)


def asfortranarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    like: ArrayLike | None = None,
) -> NDArray:
    """The values in Fortran order; ``a`` itself if that is how it lies.

    Args:
        a: an array, a number, or nested sequences of those.
        dtype: the result's dtype; None: a's own.
    Returns: an array of a's shape, (1,) for a number.

    >>> import lazyarray as la
    >>> la.asfortranarray(la.ones((2, 3))).strides
    (8, 16)
    """
    return array(a, dtype, copy=None, order="F", ndmin=1, device=device, like=like)


_FLAGS = {
    "C": "C_CONTIGUOUS CONTIGUOUS",
    "F": "F_CONTIGUOUS FORTRAN",
    "A": "ALIGNED",
    "W": "WRITEABLE",
    "O": "OWNDATA",
    "E": "ENSUREARRAY",
}
_REQUIREMENTS = {name: flag for flag, names in _FLAGS.items() for name in [flag, *names.split()]}


def require(
    a: ArrayLike,
    dtype: DTypeLike = None,
    requirements: Iterable[str] | None = None,
    *,
    like: object = None,
) -> NDArray:
    """``a`` as an array with the flags required (a name or several), copied if it lacks one.

    An array with memory of its own ("O") is a copy, always; aligned ("A") are all.

    Args:
        dtype: the result's dtype; None: a's own.
        requirements: the flags, a name or several: "C", "F", "A", "W", "O", "E".
    Returns: ``a`` itself where it fits, else a copy.
    Raises: KeyError for an unknown flag; ValueError for "C" and "F" together.

    >>> import lazyarray as la
    >>> la.isfortran(la.require(la.ones((2, 3)), requirements=["F"]))
    True
    """
    if not requirements and like is None:
        return _public.namespace.asanyarray(a, dtype)  # at once, where it can
    device = place_of(None, None, like)
    flags = {_REQUIREMENTS[name.upper()] for name in requirements or ()}
    if flags >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = next((f for f in "CF" if f in flags), "A" if flags else "K")
    plain = dtype is None and device is None
    if isinstance(a, Tensor) and plain and order in ("C", "F"):
        at_once = _public.namespace  # where it can
        if not a.ndim:  # in any order
            x = at_once.asanyarray(a)
        else:
            x = (at_once.asfortranarray if order == "F" else at_once.ascontiguousarray)(a)
    else:
        x = array(a, dtype, copy=None, order=order, device=device)
    if ("O" in flags and x is a) or ("W" in flags and not probe(x).flags.writeable):
        return copy(x, order)
    return x


def asarray_chkfinite(a: ArrayLike, dtype: DTypeLike = None, order: Order = None) -> NDArray:
    """``a`` as an array, if all its elements are finite.

    Waits for values that may be others: whether there is an error depends on them.

    Args:
        dtype: the result's dtype; None: a's own.
    Returns: an array of a's shape.
    Raises: ValueError if an element is infinite or NaN.

    >>> import lazyarray as la
    >>> la.asarray_chkfinite([1, 2]).asnumpy()
    array([1, 2])
    """
    plain = isinstance(a, Tensor) and dtype is order is None and not holds_scalar(a)
    x: Any = a if plain else array(a, dtype, copy=None, order=order or "K")
    finite: Any = x.dtype.kind not in "fc" or _all(_isfinite(x))
    if finite is not True and not finite._number("asarray_chkfinite()"):
        raise ValueError("array must not contain infs or NaNs")
    return x
