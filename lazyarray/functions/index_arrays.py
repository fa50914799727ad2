"""Indices of flattened arrays, diagonals and triangles.

What is made of Python numbers alone is known at the call. An index out of bounds is an error at
the call in a list or NumPy array, at the wait in an NDArray.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.creation import ones
from lazyarray.functions.ranges import arange
from lazyarray.functions.searching import nonzero
from lazyarray.lazy._lazy import Giving, Tensor, returned
from lazyarray.ops._layout import device_of, gil_op, operands
from lazyarray.ops._rows import array, call

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Device

__all__ = [
    "unravel_index",
    "ravel_multi_index",
    "diag_indices",
    "diag_indices_from",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "mask_indices",
]


def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[NDArray, ...]:
    """Indices of a flattened array as indices along each axis of a ``shape``.

    Args:
        indices: integers, an array of any shape.
        shape: the lengths of the axes.
        order: which axis runs fastest: the last one ("C") or the first ("F").
    Returns: a tuple of arrays, one for each axis, of the shape of ``indices``.
    Raises: ValueError for an index out of bounds: at the wait if it is not computed yet; TypeError
        for what is no integer.

    >>> import lazyarray as la
    >>> [i.item() for i in la.unravel_index(la.argmax(la.array([[1, 2], [9, 4]])), (2, 2))]
    [1, 0]
    """
    dims = shape if isinstance(shape, (int, np.integer)) else tuple(shape)
    if not isinstance(indices, Tensor):
        found = np.unravel_index(indices, dims, order)
        return tuple([returned(array(i)) if isinstance(i, np.generic) else array(i) for i in found])
    x: NDArray = indices
    return tuple(
        gil_op(
            "unravel_index",
            lambda i: np.unravel_index(i, dims, order),
            [x],
            [x.shape] * (len(dims) if isinstance(dims, tuple) else 1),
            (dims, order),
            mini=lambda i: np.unravel_index(np.zeros_like(i), dims, order),
        )
    )


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C"
) -> NDArray:
    """Indices along each axis of a shape ``dims`` as indices of the flattened array.

    Args:
        multi_index: a tuple of arrays of integers, one for each axis.
        dims: the lengths of the axes.
        mode: for indices out of bounds: "raise", "wrap" or "clip", or one of these for each axis.
        order: which axis runs fastest: the last one ("C") or the first ("F").
    Returns: an array of integers, of the arrays' shape.
    Raises: ValueError for an index out of bounds: at the wait if it is not computed yet; TypeError
        for what is no integer.

    >>> import lazyarray as la
    >>> la.ravel_multi_index(la.array([[0, 1], [2, 0]]), (2, 3)).asnumpy()
    array([2, 3])
    """
    parts = list(multi_index)
    given = dims if isinstance(dims, (int, np.integer)) else tuple(dims)
    modes: Any = mode if isinstance(mode, str) else tuple(mode)
    if not any(isinstance(i, Tensor) for i in parts):
        return returned(array(np.ravel_multi_index(tuple(parts), given, modes, order)))

    def ravelled(*i: Any) -> Any:
        return np.ravel_multi_index(i, given, modes, order)

    xs = operands(*parts)
    return gil_op(
        "ravel_multi_index",
        ravelled,
        xs,
        np.broadcast_shapes(*[x.shape for x in xs]),
        (given, modes, order),
        mini=lambda *i: ravelled(*[np.zeros_like(v) for v in i]),
    )


def diag_indices(n: int, ndim: int = 2) -> tuple[NDArray, ...]:
    """The indices of the main diagonal of an array with ``ndim`` axes of length ``n``.

    Args:
        n: the length of each axis.
        ndim: how many axes.
    Returns: a tuple of ``ndim`` vectors of ``n``.
    Raises: TypeError for what is no integer.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.diag_indices(3)]
    [[0, 1, 2], [0, 1, 2]]
    """
    return (arange(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[NDArray, ...]:
    """:func:`diag_indices` for an array of two or more axes, all of one length.

    Args:
        arr: an array of two or more axes, all of one length.
    Returns: a tuple of vectors, one for each axis.
    Raises: ValueError for another array.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.diag_indices_from(la.ones((2, 2)))]
    [[0, 1], [0, 1]]
    """
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    check_cube(arr)
    return (arange(arr.shape[0], device=device_of(arr)),) * arr.ndim


def check_cube(x: Any) -> None:
    if len({*x.shape}) > 1:
        raise ValueError("All dimensions of input must be of equal length")


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[NDArray, NDArray]:
    """The indices on and below the ``k``-th diagonal of an ``n`` x ``m`` matrix.

    Args:
        n: how many rows.
        m: how many columns; None: n.
    Returns: a pair of vectors: rows and columns.
    Raises: TypeError for what is no integer.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle("tril_indices", n, k, m, None)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[NDArray, NDArray]:
    """The indices on and above the ``k``-th diagonal of an ``n`` x ``m`` matrix.

    Args:
        n: how many rows.
        m: how many columns; None: n.
    Returns: a pair of vectors: rows and columns.
    Raises: TypeError for what is no integer.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return _triangle("triu_indices", n, k, m, None)


def _triangle(
    name: str, n: int, k: int, m: int | None, device: Device | None
) -> tuple[NDArray, NDArray]:
    rows, columns = max(n, 0), max(n if m is None else m, 0)
    upper = name == "triu_indices"
    within = np.clip(np.arange(rows) + k + (not upper), 0, columns)  # left of it, in each row
    count = rows * columns - int(within.sum()) if upper else int(within.sum())

    run = Giving(lambda: getattr(np, name)(rows, k, columns))
    targets = [((count,), np.dtype(np.intp))] * 2
    results = call(name, run, [], targets, device=device, cost=9000 + 9.0 * count)
    return results[0], results[1]


def tril_indices_from(arr: Any, k: int = 0) -> tuple[NDArray, NDArray]:
    """:func:`tril_indices` for a matrix.

    Args:
        arr: a matrix.
    Returns: a pair of vectors: rows and columns.
    Raises: ValueError unless it has two axes.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.tril_indices_from(la.ones((2, 1)))]
    [[0, 1], [0, 0]]
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _triangle("tril_indices", arr.shape[-2], k, arr.shape[-1], device_of(arr))


def triu_indices_from(arr: Any, k: int = 0) -> tuple[NDArray, NDArray]:
    """:func:`triu_indices` for a matrix.

    Args:
        arr: a matrix.
    Returns: a pair of vectors: rows and columns.
    Raises: ValueError unless it has two axes.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.triu_indices_from(la.ones((2, 1)))]
    [[0], [0]]
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _triangle("triu_indices", arr.shape[-2], k, arr.shape[-1], device_of(arr))


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[NDArray, ...]:
    """The indices of an ``n`` x ``n`` matrix that ``mask_func(matrix, k)`` doesn't make zero.

    Waits for what that function makes of ones: how many there are depends on it.

    Args:
        n: how many rows and columns.
        mask_func: a function as :func:`triu`.
        k: its second argument.
    Returns: a pair of vectors: rows and columns.
    Raises: what the function raises.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.mask_indices(2, la.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(mask_func(ones((n, n), int), k) != 0)
