"""What is known of arrays without their values: dtypes, promotion, shapes."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import as_device
from lazyarray.functions._checks import is_scalar
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor, Unheld, returned
from lazyarray.ops import _rows
from lazyarray.ops._layout import gil_op, values

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike

__all__ = [
    "astype",
    "can_cast",
    "isdtype",
    "iscomplexobj",
    "isrealobj",
    "ndim",
    "promote_types",
    "result_type",
    "shape",
    "size",
    "common_type",
    "typename",
    "mintypecode",
    "min_scalar_type",
    "issubdtype",
]

isdtype = np.isdtype
promote_types = np.promote_types


def astype(
    x: ArrayLike, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike = None
) -> NDArray:
    """A copy of ``x`` with another dtype (or ``x`` itself if nothing changes and not ``copy``).

    Args:
        dtype: the new dtype.
        copy: whether it is a copy in any case.
        device: the device of the result; None: that of ``x``.
    Returns: an array of x's shape.
    Raises: TypeError for what is no dtype of arrays.

    >>> import lazyarray as la
    >>> la.astype(la.array([1.7, -1.7]), "int64").asnumpy()
    array([ 1, -1])
    """
    array = _rows.asarray(x)
    place = as_device(device)
    if place is None or place == array.device:
        cast = _rows.astype(array, dtype, copy=copy)
    else:
        cast = _share.copied_to(_rows.astype(array, dtype, copy=False), place)
    return cast if cast.ndim or not is_scalar(x) else returned(cast)


def _typed(x: Any) -> Any:
    """An array's dtype (also without axes: NumPy's scalars are strong, too); else ``x`` itself."""
    return x.dtype if isinstance(x, Tensor) else x


def result_type(*arrays_and_dtypes: ArrayLike | DTypeLike) -> np.dtype:
    """The dtype that the operands have in common; Python scalars are weak.

    Args:
        arrays_and_dtypes: arrays, dtypes and numbers.
    Returns: a dtype.
    Raises: ValueError for no operands; TypeError (a DTypePromotionError) if they have none in
        common.

    >>> import lazyarray as la
    >>> la.result_type(la.ones(1, "float32"), 2.5), la.result_type("int8", la.float16)
    (dtype('float32'), dtype('float16'))
    """
    return np.result_type(*[_rows.promoting(x) for x in arrays_and_dtypes])


def as_same_value(x: NDArray, dtype: DTypeLike) -> NDArray:
    """A copy with another dtype that holds the same values, or an error of its line (NumPy 2.4).

    The method ``x.astype(dtype, casting="same_value")``.
    """
    to = np.dtype(dtype)
    np.empty(0, x.dtype).astype(to, casting="same_value")
    result: NDArray = gil_op(
        "astype",
        lambda v: v.astype(to, casting="same_value"),
        [x],
        x.shape,
        to.str,
        mini=lambda v: v.astype(to),
    )
    return result


def can_cast(from_: ArrayLike | DTypeLike, to: DTypeLike, casting: str = "safe") -> bool:
    """Whether a dtype, or that of an array, can be cast to another under a rule.

    Args:
        from_: a dtype, or an array.
        to: a dtype.
        casting: the rule: "no", "equiv", "safe", "same_kind" or "unsafe".
    Returns: a bool.
    Raises: TypeError for a Python number, or what is no dtype; ValueError for another rule.

    >>> import lazyarray as la
    >>> la.can_cast("int32", "float64"), la.can_cast(la.ones(1), "float32")
    (True, False)
    """
    return np.can_cast(_typed(from_), to, casting)  # type: ignore[arg-type]


def iscomplexobj(x: ArrayLike) -> bool:
    """Whether the dtype is complex.

    Returns: a bool; an array without imaginary parts may well be complex.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.iscomplexobj(la.ones(1, "complex64")), la.iscomplexobj(1.0)
    (True, False)
    """
    return bool(_rows.asarray(x).dtype.kind == "c")


def isrealobj(x: ArrayLike) -> bool:
    """Whether the dtype is not complex.

    Returns: a bool.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.isrealobj(la.ones(1))
    True
    """
    return not iscomplexobj(x)


def _known(a: Any, what: str) -> Any:
    """What tells ``what`` of an array-like, also of one that lazyarray can't hold."""
    a = _rows.own_array(a)
    if isinstance(a, Tensor) or hasattr(a, what):
        return a
    if _rows.holds_arrays(a):
        with suppress(Unheld):
            return _rows.asarray(a)
    return np.asanyarray(a)


def shape(a: ArrayLike) -> tuple[int, ...]:
    """The length of each axis.

    Args:
        a: an array.
    Returns: a tuple of ints.
    Raises: what :func:`array` raises for what is none.

    >>> import lazyarray as la
    >>> la.shape([[1, 2, 3]])
    (1, 3)
    """
    shape: tuple[int, ...] = _known(a, "shape").shape
    return shape


def ndim(a: ArrayLike) -> int:
    """The number of axes.

    Args:
        a: an array.
    Returns: an int.
    Raises: what :func:`array` raises for what is none.

    >>> import lazyarray as la
    >>> la.ndim([[1, 2, 3]])
    2
    """
    axes: int = _known(a, "ndim").ndim
    return axes


def size(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> int:
    """The number of elements, in all or along ``axis``.

    Args:
        a: an array.
        axis: the axis, or several; None: all.
    Returns: an int.
    Raises: AxisError if there is no such axis.

    >>> import lazyarray as la
    >>> la.size([[1, 2, 3]]), la.size([[1, 2, 3]], 0)
    (3, 1)
    """
    if axis is None:
        elements: int = _known(a, "size").size
        return elements
    x = _known(a, "shape")
    return int(np.size(_rows.probe(x) if isinstance(x, Tensor) else x, axis))


typename = np.typename
mintypecode = np.mintypecode


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> bool:
    """Whether the first dtype is the second, or one of that kind.

    Args:
        arg1: a dtype, a scalar type, or what names one; the type of a lazyarray's scalar counts as
            the kind that it holds, ``numpy.integer`` and the like.
        arg2: a dtype, a scalar type, or what names one.
    Returns: a bool.
    Raises: TypeError for what is no dtype.

    >>> import lazyarray as la
    >>> la.issubdtype(la.float32, la.floating), la.issubdtype(type(la.sum([1, 2])), la.integer)
    (True, True)
    """
    if isinstance(arg1, type):
        arg1 = getattr(arg1, "_kind", arg1)
    return np.issubdtype(arg1, arg2)


def common_type(*arrays: ArrayLike) -> type[np.inexact]:
    """The inexact scalar type that holds the values of all arrays; their dtypes decide.

    Args:
        arrays: the arrays.
    Returns: a scalar type: ``float64`` for integers, else the largest of them.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> la.common_type(la.ones(1, la.float32), la.ones(1, la.complex64))
    <class 'numpy.complex64'>
    """
    return _common_type(*[a.dtype for a in arrays])  # type: ignore[union-attr]


@lru_cache(1024)
def _common_type(*dtypes: Any) -> type[np.inexact]:
    return np.common_type(*[np.empty(0, dtype) for dtype in dtypes])


def min_scalar_type(a: ArrayLike, /) -> np.dtype:
    """For a number the smallest dtype that holds it, for an array its dtype.

    Waits for an array without axes: the value decides.

    Returns: a dtype.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.min_scalar_type(-260), la.min_scalar_type(la.ones(2))
    (dtype('int16'), dtype('float64'))
    """
    if isinstance(a, Tensor):
        x: NDArray = a
        return x.dtype if x.ndim else np.min_scalar_type(values(x, "min_scalar_type()"))
    return np.min_scalar_type(a)  # type: ignore[arg-type]
