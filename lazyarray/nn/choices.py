"""Choices by index that are differentiable: elements of rows, and rows; each with its adjoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazyarray.functions.ranges import arange
from lazyarray.functions.selecting import take
from lazyarray.nn import _native
from lazyarray.nn.inputs import floats, integers, narrowed
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import differentiable, follows
from lazyarray.ops._layout import device_of
from lazyarray.ops._rows import asarray, astype

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike

__all__ = ["embedding", "one_hot"]


def _pick_gradient(g: Any, index: Any, n: int) -> Any:
    return spread(g, index, n)


@differentiable(x=_pick_gradient)
def pick(x: NDArray, index: NDArray, n: int) -> NDArray:
    """``x[b, index[b, j]]`` for x (b, n) and indices (b, m); 0 where one is outside."""
    return _native.pick(x, index)


@differentiable(values=lambda g, index, n: pick(g, index, n))
def spread(values: NDArray, index: NDArray, n: int) -> NDArray:
    """Rows of n, to whose elements ``index[b, j]`` are added ``values`` (b, m)."""
    return _native.spread(values, index, n)


@differentiable(rows=lambda g, index: take(g, index, axis=0))
def add_rows(rows: NDArray, index: NDArray, n: int) -> NDArray:
    """Zeros (n, k) to whose rows ``index[j]`` are added the ``rows`` (m, k)."""
    return _native.add_rows(rows, index, n)


def _embedding_gradient(g: Any, indices: Any, size: int) -> Any:
    g, dtype = floats("embedding", g)
    k = g.shape[-1]
    return narrowed(add_rows(g.reshape(indices.size, k), indices.reshape(-1), size), dtype)


@differentiable(weight=_embedding_gradient)
def _embedding(indices: Any, weight: Any, size: int) -> NDArray:
    return take(weight, indices, axis=0)


def embedding(indices: ArrayLike, weight: ArrayLike) -> NDArray:
    """Rows of a matrix by their indices.

    The gradient is dense: repeated indices add up.

    Args:
        indices: integers, an array (...).
        weight: a matrix (n, k).
    Returns: an array (..., k).
    Raises: IndexError at the wait for an index out of bounds; TypeError for indices that are no
        integers, and for weights of complex numbers or longdouble whose gradient is wanted;
        ValueError unless ``weight`` has two axes.

    >>> import lazyarray as la
    >>> la.nn.embedding([2, 0], la.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])).asnumpy()
    array([[4., 5.],
           [0., 1.]])
    """
    weight = asarray(weight, device_of(indices))
    if weight.ndim != 2:
        raise ValueError(f"embedding: the weight has two axes, not shape {weight.shape}")
    if weight.dtype.char not in "efd" and follows(weight):
        raise TypeError(
            "embedding has no gradient for weights of "
            f"{weight.dtype}, only for float16, float32 and float64"
        )
    return _embedding(integers("embedding", indices, weight), weight, weight.shape[0])


def one_hot(indices: ArrayLike, num_classes: int, dtype: DTypeLike = "int64") -> NDArray:
    """1 at each index and 0 elsewhere, along a new last axis.

    Args:
        indices: integers; one that is out of bounds gives a row of zeros.
        num_classes: how long that axis is.
        dtype: the result's dtype.
    Returns: an array: the shape of ``indices``, then ``num_classes``.
    Raises: TypeError for indices that are no integers.

    >>> import lazyarray as la
    >>> la.nn.one_hot([1, 0], 3).asnumpy()
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    x = integers("one_hot", indices)
    return astype(op.equal(x[..., None], arange(num_classes, device=x.device)), dtype)
