"""Arrays in pickles and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy._lazy import Tensor, attach_leaf, returned
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike
    from lazyarray.engine import Device

__all__ = ["to_json"]


def rebuild(
    values: Any, device: Device, grad: NDArray | None = None, grad_req: str = "write"
) -> NDArray:
    """What pickle calls: an array of ``values``, or the scalar of one of NumPy's, on ``device``.

    With its gradient if it had one.
    """
    x: NDArray = _rows.array(values, None, device)
    if isinstance(values, np.generic):
        returned(x)
    if grad is not None:
        attach_leaf(x, grad, grad_req)
    return x


# The name in pickles, which outlives the files here.
rebuild.__module__, rebuild.__qualname__ = "lazyarray", "_rebuild"


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
