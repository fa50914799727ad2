"""Creation of arrays with a pattern: identities, diagonals, triangles, grids."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from lazyarray.context import chosen
from lazyarray.functions import broadcasting, manipulation
from lazyarray.functions.conversion import place_of
from lazyarray.functions.creation import new, shape_of, zeros
from lazyarray.functions.ranges import arange
from lazyarray.ops import _layout, _rows
from lazyarray.ops._layout import viewed

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike

__all__ = ["eye", "identity", "diag", "diagflat", "tri", "tril", "triu", "meshgrid", "indices"]


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    order: str = "C",
    *,
    device: DeviceLike = None,
    like: object = None,
    ctx: DeviceLike = None,
) -> NDArray:
    """``N`` x ``M`` zeros with ones on the ``k``-th diagonal.

    Args:
        N: how many rows.
        M: how many columns; None: N.
        dtype: the dtype.
    Returns: a matrix (N, M).
    Raises: ValueError for negative numbers, TypeError for what is no integer.

    >>> import lazyarray as la
    >>> la.eye(2, 3, k=1).asnumpy()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    place = place_of(ctx, device, like)
    x = zeros((N, N if M is None else M), dtype, order=order, device=place)
    _rows.assign_to(_diagonal(x, operator.index(k)), 1)
    return x


def _diagonal(x: NDArray, k: int) -> NDArray:
    """The ``k``-th diagonal of a new matrix, to be written (``np.diagonal``'s is read-only)."""
    (rows, columns), (down, right) = x.shape, x.strides
    n = max(0, min(rows, columns - k) if k >= 0 else min(rows + k, columns))
    start = (k * right if k >= 0 else -k * down) if n else 0
    return _rows.strided(x, (n,), (down + right,), start)


def identity(
    n: int,
    dtype: DTypeLike = None,
    *,
    like: object = None,
    ctx: DeviceLike = None,
    device: DeviceLike = None,
) -> NDArray:
    """The ``n`` x ``n`` identity matrix.

    Args:
        n: how many rows and columns.
        dtype: the dtype; None: float64.
    Returns: a matrix (n, n).
    Raises: ValueError for a negative number, TypeError for what is no integer.

    >>> import lazyarray as la
    >>> la.identity(2, dtype="int64").asnumpy()
    array([[1, 0],
           [0, 1]])
    """
    return eye(n, dtype=dtype, device=device, like=like, ctx=ctx)


def diag(v: ArrayLike, k: int = 0) -> NDArray:
    """The ``k``-th diagonal of a matrix (a view), or a matrix with a vector on it.

    Args:
        v: a matrix, or a vector.
    Returns: of a matrix a vector; of a vector of n a matrix (n + abs(k), n + abs(k)).
    Raises: ValueError unless ``v`` has one or two axes.

    >>> import lazyarray as la
    >>> la.diag(la.array([1, 2])).asnumpy()
    array([[1, 0],
           [0, 2]])
    >>> la.diag(la.array([[1, 2], [3, 4]])).asnumpy()
    array([1, 4])
    """
    x = _rows.asarray(v)
    if x.ndim == 2:
        return viewed(x, np.diagonal, k)
    if x.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = x.size + abs(operator.index(k))
    out = zeros((n, n), x.dtype, x.device)
    _rows.assign_to(_diagonal(out, operator.index(k)), x)
    return out


def diagflat(v: ArrayLike, k: int = 0) -> NDArray:
    """A matrix with all elements of ``v`` on its ``k``-th diagonal.

    Args:
        v: an array, which is flattened.
    Returns: a matrix (n + abs(k), n + abs(k)) for n elements.

    >>> import lazyarray as la
    >>> la.diagflat([[1, 2]], 1).asnumpy()
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return diag(manipulation.ravel(v), k)


def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    *,
    like: object = None,
    ctx: DeviceLike = None,
    device: DeviceLike = None,
) -> NDArray:
    """``N`` x ``M`` zeros with ones on and below the ``k``-th diagonal.

    Args:
        N: how many rows.
        M: how many columns; None: N.
        dtype: the dtype.
    Returns: a matrix (N, M); a negative number is taken for 0.
    Raises: TypeError for what is no integer.

    >>> import lazyarray as la
    >>> la.tri(2, 3, dtype="int64").asnumpy()
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    place = place_of(ctx, device, like)
    if M is None:
        M = N
    rows = arange(N, device=place)
    columns = arange(-k, M - k, dtype=np.intp, device=place)  # also for a float, as NumPy's
    mask = _outer_mask(rows, columns)
    return mask if np.dtype(dtype) == np.bool_ else mask.astype(dtype)


def _outer_mask(rows: NDArray, columns: NDArray) -> NDArray:
    return viewed(rows, np.expand_dims, 1) >= columns


def _triangle(m: NDArray, k: int) -> NDArray:
    if not m.ndim:
        raise TypeError("a triangle of an array without axes")
    rows, columns = (m.shape * 2)[-2:]
    return tri(rows, columns, k=k, dtype=bool, device=m.device)


def tril(m: ArrayLike, k: int = 0) -> NDArray:
    """A copy of (a stack of) matrices with zeros above the ``k``-th diagonal.

    Args:
        m: a matrix, or a stack of them: the last two axes.
    Returns: an array of m's shape; of a vector it is a matrix, each row of which is the vector.
    Raises: TypeError for an array without axes.

    >>> import lazyarray as la
    >>> la.tril(la.ones((2, 3)), 1).asnumpy()
    array([[1., 1., 0.],
           [1., 1., 1.]])
    """
    x = _rows.asarray(m)
    return _rows.select(_triangle(x, k), x, x.dtype.type(0))


def triu(m: ArrayLike, k: int = 0) -> NDArray:
    """A copy of (a stack of) matrices with zeros below the ``k``-th diagonal.

    Args:
        m: a matrix, or a stack of them: the last two axes.
    Returns: an array of m's shape; of a vector it is a matrix, each row of which is the vector.
    Raises: TypeError for an array without axes.

    >>> import lazyarray as la
    >>> la.triu(la.ones((2, 3)), 1).asnumpy()
    array([[0., 1., 1.],
           [0., 0., 1.]])
    """
    x = _rows.asarray(m)
    return _rows.select(_triangle(x, k - 1), x.dtype.type(0), x)


def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[NDArray, ...]:
    """Coordinate arrays from coordinate vectors; ``copy=False`` gives views of them.

    Args:
        xi: the coordinates along each axis.
        copy: whether each array has memory of its own, else they are views.
        sparse: whether they have length one along all axes but their own.
        indexing: "xy" (the first vector runs along axis 1, the second along axis 0) or "ij".
    Returns: a tuple of arrays, one for each vector, all of the grid's shape.
    Raises: ValueError for another ``indexing``.

    >>> import lazyarray as la
    >>> x, y = la.meshgrid([1, 2, 3], [4, 5])
    >>> x.asnumpy(), y.asnumpy()
    (array([[1, 2, 3],
           [1, 2, 3]]), array([[4, 4, 4],
           [5, 5, 5]]))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = _layout.operands(*xi)
    axes = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        axes[:2] = 1, 0
    shape = tuple([vectors[axis].size for axis in axes])
    out = []
    for x, axis in zip(vectors, axes, strict=True):
        dims = [1] * len(vectors)
        dims[axis] = x.size
        grid = x.reshape(dims)
        if not sparse and grid.shape != shape:
            grid = broadcasting.broadcast_to(grid, shape)
        out.append(grid.copy("C") if copy else grid)
    return tuple(out)


@overload
def indices(
    dimensions: Sequence[int],
    dtype: DTypeLike = ...,
    sparse: Literal[False] = ...,
    *,
    device: DeviceLike = ...,
) -> NDArray: ...
@overload
def indices(
    dimensions: Sequence[int],
    dtype: DTypeLike,
    sparse: Literal[True],
    *,
    device: DeviceLike = ...,
) -> tuple[NDArray, ...]: ...
@overload
def indices(
    dimensions: Sequence[int],
    dtype: DTypeLike = ...,
    *,
    sparse: Literal[True],
    device: DeviceLike = ...,
) -> tuple[NDArray, ...]: ...
def indices(
    dimensions: Sequence[int],
    dtype: DTypeLike = int,
    sparse: bool = False,
    *,
    device: DeviceLike = None,
) -> NDArray | tuple[NDArray, ...]:
    """For each axis of a grid, the index along it at each place, as one array.

    Args:
        dimensions: the grid's lengths.
        dtype: the dtype of the indices.
        sparse: whether to give arrays that broadcast against each other.
    Returns: an array (number of axes, ...) with the grid's lengths; with ``sparse`` a tuple of
        arrays.
    Raises: ValueError for a negative length.

    >>> import lazyarray as la
    >>> la.indices((2, 2)).asnumpy().tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    dims = shape_of(tuple(dimensions), np.dtype(dtype))
    place = chosen(None, device)
    grids = meshgrid(
        *[arange(n, dtype=dtype, device=place) for n in dims],
        copy=False,
        sparse=True,
        indexing="ij",
    )
    if sparse:
        return grids
    out = new((len(dims), *dims), dtype, "C", place)
    for i, grid in enumerate(grids):
        _rows.assign_to(out[i] if dims else out, grid)
    return out
