"""Arrays in pickles and in JSON."""

from __future__ import annotations

import functools
import pickle
from sys import getrefcount
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lazyarray.context import as_device, cpu
from lazyarray.functions.memory import on_memory
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor, attach_leaf, returned
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike
    from lazyarray.engine import Device

    # ..., a buffer, a dtype, a shape, and the axes to put in order; True: backwards
    Laid = tuple["_Last | None", Any, str, tuple[int, ...], tuple[int, ...] | bool]

__all__ = ["to_json"]


def rebuild(
    values: Any, device: Device, grad: NDArray | None = None, grad_req: str = "write"
) -> NDArray:
    """What pickle calls: an array of ``values``, or the scalar of one of NumPy's, on ``device``.

    With its gradient if it had one. RuntimeError for a GPU that is not there.
    """
    device = cast("Device", as_device(device))
    if isinstance(values, Copied):  # by hand, not by pickle
        values = values.array()
    base: Any = getattr(values, "base", None)
    if type(values) is np.ndarray and type(base) is bytes and values.flags.writeable:
        # NumPy has just unpickled it, and made the pickle's own bytes its memory.
        return _collecting(_rows.kept(values, device, alone=True), grad, grad_req)
    x: NDArray = _rows.array(values, None, device)
    if isinstance(values, np.generic):
        returned(x)
    return _collecting(x, grad, grad_req)


def _collecting(x: NDArray, grad: NDArray | None, grad_req: str) -> NDArray:
    if grad is not None:
        attach_leaf(x, grad, grad_req)
    return x


class Copied:
    """What NumPy pickles for an array, values included: they are copied by now."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return self.parts

    def array(self) -> np.ndarray:
        make, arguments, state = self.parts
        made: np.ndarray = make(*arguments)
        made.__setstate__(state)
        return made


class _Last:
    """In a pickle before a buffer: unpicklers let go of it after all else.

    So it sees whether somebody has a ``bytearray`` beside an array that was made on it. Nobody has
    one that came within the pickle, and then the array is like any other.
    """

    __slots__ = ("array", "buffer")

    def __reduce__(self) -> tuple[type[_Last], tuple[()]]:
        return _Last, ()

    def on(self, buffer: bytearray, dtype: str, shape: Any, device: Device) -> NDArray:
        """An array that shares the buffer until it turns out that nobody else has it."""
        self.array = on_memory(np.ndarray(shape, dtype, buffer), device)
        self.buffer = buffer
        return self.array

    def holders(self) -> int:
        return getrefcount(self.buffer)

    def __del__(self) -> None:
        if hasattr(self, "buffer") and self.holders() == _holders_alone():
            _share.own(self.array)


@functools.cache
def _holders_alone() -> int:
    """How many references to a buffer there are when nobody else has it."""
    last = _Last()
    last.on(bytearray(1), "u1", 1, cpu(0))
    count = last.holders()
    del last.buffer
    return count


def laid_out(values: np.ndarray) -> Laid:
    """What pickles hold of an array from protocol 5 on: its memory, if that is in one piece."""
    places = range(values.ndim)
    axes = sorted(places, key=values.strides.__getitem__, reverse=True)
    rows: Any = values.transpose(axes)  # as they lie
    back: Any = tuple(sorted(places, key=axes.__getitem__))
    if values.flags.c_contiguous:
        rows, back = values, False
    buffer: Any
    if rows.flags.c_contiguous:
        buffer = pickle.PickleBuffer(rows)
    else:  # a copy goes within the pickle, as NumPy's: beside it, it might come as `bytes`
        rows, back = np.ascontiguousarray(values), False
        buffer = bytearray(rows)
    last = _Last() if rows.nbytes >= _LARGE else None
    return last, buffer, rows.dtype.str, rows.shape, back


_LARGE = 1 << 18  # bytes: less is copied before all that is gone through


def on_buffer(
    laid: Laid, device: Device, grad: NDArray | None = None, grad_req: str = "write"
) -> NDArray:
    """What pickle calls from protocol 5 on: an array on a buffer, or of its values.

    A buffer that came beside the pickle is shared with whoever has it, as NumPy's, so each op on
    the array has run when its call returns. RuntimeError for a GPU that is not there.
    """
    last, buffer, dtype, shape, back = laid
    device = cast("Device", as_device(device))
    if type(buffer) is bytearray and last is not None:
        x = last.on(buffer, dtype, shape, device)
    else:
        values: np.ndarray = np.ndarray(shape, dtype, buffer)
        small = type(buffer) is bytearray
        x = _rows.array(values, None, device) if small else on_memory(values, device)
    if back:
        x = x.T if back is True else x.transpose(back)
    return _collecting(x, grad, grad_req)


# The names in pickles, which outlive the files here.
rebuild.__module__, rebuild.__qualname__ = "lazyarray", "_rebuild"
on_buffer.__module__, on_buffer.__qualname__ = "lazyarray", "_on_buffer"
_Last.__module__ = "lazyarray"


def to_json(o: ArrayLike) -> object:
    """``json.dumps(..., default=la.to_json)``: arrays as nested lists, their scalars as numbers.

    NumPy's, too. Waits for the values.

    Args:
        o: an array.
    Returns: nested lists of its shape, or a number: of Python's.
    Raises: TypeError, as json's own, for anything else.

    >>> import json, lazyarray as la
    >>> x = la.array([1.0, 2.5])
    >>> json.dumps({"mean": x.mean(), "values": x}, default=la.to_json)
    '{"mean": 1.75, "values": [1.0, 2.5]}'
    """
    if isinstance(o, (Tensor, np.ndarray, np.generic)):
        array: Any = o
        return array.tolist()
    raise TypeError(f"Object of type {type(o).__name__} is not JSON serializable")
