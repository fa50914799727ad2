"""Where arrays lie: on the memory of others, on each other's, on which device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import as_device, cpu, current_context
from lazyarray.functions import creation
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows
from lazyarray.ops._rows import holdable
from lazyarray.ops.hosts import given

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike, Memory
    from lazyarray.engine import Device

__all__ = ["frombuffer", "may_share_memory", "shares_memory"]


def frombuffer(
    buffer: Memory,
    dtype: DTypeLike = float,
    count: int = -1,
    offset: int = 0,
    *,
    like: object = None,
) -> NDArray:
    """A vector on the memory of a buffer, read-only if the buffer is.

    Ops on shared memory have run when their call returns, as with :func:`from_dlpack`; on that of
    ``bytes``, which never changes, they run as on any array. A copy where the memory isn't aligned
    for the dtype, and on another device than the host.

    Args:
        buffer: bytes, or an object with a buffer.
        dtype: what the bytes are.
        count: how many elements; -1: all.
        offset: where they begin, in bytes.
    Returns: a vector.
    Raises: ValueError if the buffer is too short, or its length is no multiple of an element's.

    >>> import lazyarray as la
    >>> la.frombuffer(b"\\x01\\x02", dtype=la.uint8).asnumpy()
    array([1, 2], dtype=uint8)
    >>> memory = bytearray(3)
    >>> la.frombuffer(memory, dtype=la.uint8)[1:] = 7
    >>> memory
    bytearray(b'\\x00\\x07\\x07')
    """
    device = like.device if isinstance(like, Tensor) else None
    lent: Any = buffer
    if isinstance(lent, Tensor):
        mine: Any = lent
        lent = mine.data
    host = np.frombuffer(lent, dtype, count, offset)
    return on_memory(host, device) if holdable(host) else given(host, device)


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


def may_share_memory(a: ArrayLike, b: ArrayLike, max_work: int | None = None) -> bool:
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
    return places is not None and np.may_share_memory(*places, max_work=max_work)  # type: ignore[arg-type]


def shares_memory(a: ArrayLike, b: ArrayLike, max_work: int | None = None) -> bool:
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
    return places is not None and np.shares_memory(*places, max_work=max_work)  # type: ignore[arg-type]


# ---- devices -------------------------------------------------------------------------------------


def copyto(x: NDArray, other: Any) -> NDArray:
    """Copies ``x`` into array ``other``, or to a new array on device ``other``; returns that array.

    An array may have another dtype, which the values are cast to, but not another shape
    (ValueError). Recorded like any op, also where it crosses devices.

    >>> import lazyarray as la
    >>> la.ones(2).copyto(la.cpu(1)).ctx
    cpu(1)
    """
    if isinstance(other, Tensor):
        to: NDArray = other
        if to.shape != x.shape:
            raise ValueError(f"copyto: shape {x.shape} can't be copied to shape {to.shape}")
        _share.copy_across(to, x)
        return to
    device = as_device(other) if other is not None else None
    if device is None:
        raise TypeError("copyto copies to an NDArray or a Context, not to None")
    return _rows.scalar_like(_share.copied_to(x, device), x)


@_rows.public("to_device")
def to_device(x: NDArray, device: Any) -> NDArray:
    """``x`` itself if it is on ``device``, else a copy of it there.

    >>> import lazyarray as la
    >>> x = la.ones(2)
    >>> x.to_device(la.cpu(0)) is x, x.to_device("cpu:1").device
    (True, cpu(1))
    """
    place = as_device(device)
    if place is None:
        raise TypeError("a device is a Context, not NoneType")
    return x if x.device == place else _rows.scalar_like(_share.copied_to(x, place), x)


def made(shape: Any, dtype: Any, buffer: Any, offset: int, strides: Any, order: Any) -> NDArray:
    """What ``la.ndarray(...)`` is: a new array, or one on the memory of ``buffer``."""
    if isinstance(buffer, Tensor):
        x: NDArray = buffer
        whole = _rows.probe(x)
        r: np.ndarray = np.ndarray(shape, dtype, whole, offset, strides, order)
        base = _rows.retype(x, r.dtype, r.shape, r.strides)
        return _rows.strided(base, r.shape, r.strides, r.ctypes.data - whole.ctypes.data)
    if buffer is None and strides is None:
        return creation.empty(shape, dtype, order=order or "C")
    return on_memory(np.ndarray(shape, dtype, buffer, offset, strides, order))


def on_memory(host: np.ndarray, device: Device | None = None) -> NDArray:
    """An array on the memory of a new NumPy view of somebody's buffer; read-only if that is.

    A copy where ops can't run on that memory, or for another device than its own.
    """
    if unusable(host):
        copy: NDArray = _rows.array(host, None, device or near())
    else:
        x: NDArray = _share.adopt(host, device)
        if device is None or x.device == device:
            return x
        copy = _share.copied_to(x, device)
    copy.setflags(write=host.flags.writeable)
    return copy


def near() -> Device:
    """The current device, or the host where that is a GPU."""
    device = current_context()
    return device if device._on_host else cpu(0)


def unusable(host: np.ndarray) -> str:
    """Why ops can't run on a NumPy array's memory; empty if they can."""
    if not host.flags.aligned:
        return "it is not aligned"
    if not host.dtype.isnative:
        return "its byte order is not the machine's"
    return ""
