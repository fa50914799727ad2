"""Arrays in pickles and in JSON."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.memory import on_memory
from lazyarray.lazy._lazy import Tensor, attach_leaf, returned
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike
    from lazyarray.engine import Device

    Laid = tuple[Any, str, tuple[int, ...], bool]  # a buffer, a dtype, a shape, whether transposed

__all__ = ["to_json"]


def rebuild(
    values: Any, device: Device, grad: NDArray | None = None, grad_req: str = "write"
) -> NDArray:
    """What pickle calls: an array of ``values``, or the scalar of one of NumPy's, on ``device``.

    With its gradient if it had one.
    """
    base: Any = getattr(values, "base", None)
    if type(values) is np.ndarray and type(base) is bytes and values.flags.writeable:
        # NumPy has just unpickled it, and made the pickle's own bytes its memory.
        return _collecting(_kept(values, device), grad, grad_req)
    x: NDArray = _rows.array(values, None, device)
    if isinstance(values, np.generic):
        returned(x)
    return _collecting(x, grad, grad_req)


def _kept(values: np.ndarray, device: Device) -> NDArray:
    """An array on memory that nobody else has."""
    if values.flags.f_contiguous and not values.flags.c_contiguous:
        return _rows.kept(values.T, device, alone=True).T
    return _rows.kept(values, device, alone=True)


def _collecting(x: NDArray, grad: NDArray | None, grad_req: str) -> NDArray:
    if grad is not None:
        attach_leaf(x, grad, grad_req)
    return x


def laid_out(values: np.ndarray) -> Laid:
    """What pickles hold of an array from protocol 5 on: its memory, if that is in one piece."""
    turned = values.flags.f_contiguous and not values.flags.c_contiguous
    rows: Any = values.T if turned else np.asarray(values, order="C")
    return pickle.PickleBuffer(rows), rows.dtype.str, rows.shape, turned


def on_buffer(
    laid: Laid, device: Device, grad: NDArray | None = None, grad_req: str = "write"
) -> NDArray:
    """What pickle calls from protocol 5 on: an array on a buffer, or of its values.

    A buffer that came beside the pickle is shared with whoever has it, as NumPy's, so each op on
    the array has run when its call returns. A ``bytearray`` is what one within the pickle comes as:
    it is copied, for ops to run later.
    """
    buffer, dtype, shape, turned = laid
    values: np.ndarray = np.ndarray(shape, dtype, buffer)
    if type(buffer) is bytearray:
        x: NDArray = _rows.array(values, None, device)
    else:
        x = on_memory(values, device)
    return _collecting(x.T if turned else x, grad, grad_req)


# The names in pickles, which outlive the files here.
rebuild.__module__, rebuild.__qualname__ = "lazyarray", "_rebuild"
on_buffer.__module__, on_buffer.__qualname__ = "lazyarray", "_on_buffer"


def to_json(o: ArrayLike) -> Any:
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
