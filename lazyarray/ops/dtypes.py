"""What is known of arrays without their values: dtypes, promotion, shapes, shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import as_device
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = [
    "astype",
    "can_cast",
    "isdtype",
    "iscomplexobj",
    "isrealobj",
    "may_share_memory",
    "ndim",
    "promote_types",
    "result_type",
    "shape",
    "shares_memory",
    "size",
]

isdtype = np.isdtype
promote_types = np.promote_types


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> NDArray:
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
        return _rows.astype(array, dtype, copy=copy)
    return _share.copied_to(_rows.astype(array, dtype, copy=False), place)


def _typed(x: Any) -> Any:
    """An array's dtype (also without axes: NumPy's scalars are strong, too); else ``x`` itself."""
    return x.dtype if isinstance(x, Tensor) else x


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
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
    return np.result_type(*[_typed(x) for x in arrays_and_dtypes])


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
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


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex.

    Returns: a bool; an array without imaginary parts may well be complex.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.iscomplexobj(la.ones(1, "complex64")), la.iscomplexobj(1.0)
    (True, False)
    """
    return bool(_rows.asarray(x).dtype.kind == "c")


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex.

    Returns: a bool.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.isrealobj(la.ones(1))
    True
    """
    return not iscomplexobj(x)


def _known(a: Any) -> Any:
    """What has the shape of an array-like, also of one that lazyarray can't hold."""
    if isinstance(a, Tensor):
        return a
    return _rows.asarray(a) if _rows.holds_arrays(a) else np.asanyarray(a)


def shape(a: Any) -> tuple[int, ...]:
    """The length of each axis.

    Args:
        a: an array.
    Returns: a tuple of ints.
    Raises: what :func:`array` raises for what is none.

    >>> import lazyarray as la
    >>> la.shape([[1, 2, 3]])
    (1, 3)
    """
    return _known(a).shape


def ndim(a: Any) -> int:
    """The number of axes.

    Args:
        a: an array.
    Returns: an int.
    Raises: what :func:`array` raises for what is none.

    >>> import lazyarray as la
    >>> la.ndim([[1, 2, 3]])
    2
    """
    return _known(a).ndim


def size(a: Any, axis: Any = None) -> int:
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
    x = _known(a)
    host = _rows.probe(x) if isinstance(x, Tensor) else x
    return x.size if axis is None else int(np.size(host, axis))


class _Place:
    """An array's layout for NumPy's functions that compare addresses; no memory is looked at."""

    def __init__(self, x: NDArray, address: int) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": x.shape,
            "strides": x.strides,
            "typestr": x.dtype.str,
            "data": (address, True),
        }


def _places(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """What NumPy can compare for two arrays; None if they have no memory in common."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.var == b.var:  # allocated or not
        first, second = [_Place(x, (1 << 40) + _share.offset(x)) for x in (a, b)]
        return np.asarray(first), np.asarray(second)
    found: list[np.ndarray] = []
    for x in (a, b):
        # Memory of others' and memory that was lent to them is compared where it lies.
        address = _share.address(x) if isinstance(x, Tensor) else None
        if isinstance(x, Tensor) and address is None:
            return None
        found.append(np.asarray(x if address is None else _Place(x, address)))
    return found[0], found[1]


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether the arrays' memory ranges overlap; see :func:`shares_memory`.

    Args:
        b: an array.
        max_work: for NumPy's signature; ranges are compared in any case.
    Returns: a bool.
    Raises: nothing.

    >>> import lazyarray as la
    >>> x = la.arange(4)
    >>> la.may_share_memory(x[::2], x[1::2])
    True
    """
    places = _places(a, b)
    return places is not None and np.may_share_memory(*places, max_work=max_work)


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether an element of one array is one of the other's.

    Args:
        b: an array.
        max_work: how long to look, as in NumPy.
    Returns: a bool.
    Raises: nothing for arrays; NumPy's TooHardError if ``max_work`` is exceeded.

    >>> import lazyarray as la
    >>> x = la.arange(4)
    >>> la.shares_memory(x[::2], x[1::2]), la.shares_memory(x[1:], x[:2])
    (False, True)
    """
    places = _places(a, b)
    return places is not None and np.shares_memory(*places, max_work=max_work)
