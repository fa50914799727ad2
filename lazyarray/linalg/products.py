"""Products, powers and diagonals of matrices, in ``numpy.linalg``'s stricter forms."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from numpy.lib.array_utils import normalize_axis_index

from lazyarray.functions import manipulation, patterns, products
from lazyarray.lazy._lazy import returned
from lazyarray.linalg.equations import inv
from lazyarray.linalg.recording import matrix, square
from lazyarray.ops import names as op
from lazyarray.ops._layout import new_like, operands
from lazyarray.ops._rows import assign_to

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike

__all__ = ["matmul", "outer", "cross", "multi_dot", "matrix_power", "diagonal", "trace"]

matmul = op.matmul


def outer(x1: ArrayLike, x2: ArrayLike, /) -> NDArray:
    """All products of an element of one vector and one of another.

    Args:
        x1: a vector (M,).
        x2: a vector (N,).
    Returns: a matrix (M, N).
    Raises: ValueError for other arrays than vectors.

    >>> import lazyarray as la
    >>> la.linalg.outer(la.array([1, 2]), la.array([3, 4])).asnumpy()
    array([[3, 4],
           [6, 8]])
    """
    x, y = operands(x1, x2)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are "
            f"x1.ndim={x.ndim} and x2.ndim={y.ndim}."
        )
    return products.outer(x, y)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> NDArray:
    """The cross product of vectors of three, which lie along ``axis``; other axes broadcast.

    Args:
        axis: the axis along which the vectors lie.
    Returns: an array of the broadcast shape.
    Raises: ValueError for vectors of another length than three.

    >>> import lazyarray as la
    >>> la.linalg.cross(la.array([1, 0, 0]), la.array([0, 1, 0])).asnumpy()
    array([0, 0, 1])
    """
    x, y = operands(x1, x2)
    m = x.shape[normalize_axis_index(axis, x.ndim, "axisa")]
    n = y.shape[normalize_axis_index(axis, y.ndim, "axisb")]
    if m != 3 or n != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{m} and {n} dimensional instead."
        )
    return products.cross(x, y, axis=axis)


# ---- several factors ----------------------------------------------------------------------------


def multi_dot(arrays: Sequence[ArrayLike], *, out: NDArray | None = None) -> NDArray:
    """The product of several matrices (the first and last may be vectors), in the cheapest order.

    Args:
        arrays: two or more matrices; the first and the last may be vectors.
    Returns: a matrix; a vector or a number, if the ends are vectors.
    Raises: ValueError for fewer than two arrays, or lengths that differ; LinAlgError for other
        shapes.

    >>> import lazyarray as la
    >>> la.linalg.multi_dot([la.ones((2, 3)), la.ones((3, 4)), la.ones(4)]).asnumpy()
    array([12., 12.])
    """
    xs = operands(*list(arrays))  # what is no sequence is list()'s error
    if len(xs) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(xs) == 2:
        return products.dot(xs[0], xs[1], out)
    shape = (*xs[0].shape[: xs[0].ndim - 1], *xs[-1].shape[1:])
    if xs[0].ndim == 1:
        xs[0] = xs[0][None, :]
    if xs[-1].ndim == 1:
        xs[-1] = xs[-1][:, None]
    lengths = [matrix(x).shape[0] for x in xs] + [xs[-1].shape[1]]
    product = _multiplied(xs, _cuts(lengths), 0, len(xs) - 1)
    return products.into_exact(returned(product.reshape(shape)), out, "multi_dot")


def _cuts(lengths: list[int]) -> dict[tuple[int, int], int]:
    """After which factor the product of factors i to j is cut, so that it is cheapest.

    The n-th factor has ``lengths[n]`` rows and ``lengths[n + 1]`` columns; the first of equally
    cheap cuts is taken, as in NumPy.
    """
    n = len(lengths) - 1
    cost = {(i, i): 0 for i in range(n)}
    cuts = {}
    for wide in range(1, n):
        for i in range(n - wide):
            j = i + wide

            def price(k: int, i: int, j: int) -> int:
                both = cost[i, k] + cost[k + 1, j]
                return both + lengths[i] * lengths[k + 1] * lengths[j + 1]

            cuts[i, j] = min(range(i, j), key=partial(price, i=i, j=j))
            cost[i, j] = price(cuts[i, j], i, j)
    return cuts


def _multiplied(xs: list[NDArray], cuts: dict[tuple[int, int], int], i: int, j: int) -> NDArray:
    if i == j:
        return xs[i]
    k = cuts[i, j]
    return products.dot(_multiplied(xs, cuts, i, k), _multiplied(xs, cuts, k + 1, j))


def matrix_power(a: ArrayLike, n: int) -> NDArray:
    """Square matrices multiplied by themselves ``n`` times; a negative ``n`` inverts them.

    Args:
        a: matrices (..., N, N).
        n: how often.
    Returns: an array (..., N, N).
    Raises: TypeError if ``n`` is no integer; LinAlgError if they are not square, and at the wait if
        one is to be inverted and singular.

    >>> import lazyarray as la
    >>> la.linalg.matrix_power(la.array([[1, 1], [0, 1]]), 3).asnumpy()
    array([[1, 3],
           [0, 1]])
    """
    x, _, side = square(a)
    try:
        n = operator.index(n)
    except TypeError as exc:
        raise TypeError("exponent must be an integer") from exc
    if n == 0:
        one = new_like(x)
        assign_to(one, patterns.eye(side, dtype=x.dtype, device=x.device))
        return one
    if n < 0:
        x, n = inv(x), -n
    if n == 3:
        return matmul(matmul(x, x), x)
    result = None
    while n:  # by the bits of n, as NumPy
        n, bit = divmod(n, 2)
        if bit:
            result = x if result is None else matmul(result, x)
        x = matmul(x, x) if n else x
    assert result is not None
    return result


# ---- diagonals ----------------------------------------------------------------------------------


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> NDArray:
    """A view of the diagonal of matrices, the last two axes.

    Args:
        x: matrices (..., M, N).
        offset: which diagonal: 0 is the main one, positive ones lie above it.
    Returns: a read-only view (..., length of the diagonal).
    Raises: ValueError for fewer than two axes.

    >>> import lazyarray as la
    >>> la.linalg.diagonal(la.array([[1, 2], [3, 4]])).asnumpy()
    array([1, 4])
    """
    return manipulation.diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> NDArray:
    """The sum of the diagonal of matrices, the last two axes.

    Args:
        x: matrices (..., M, N).
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        dtype: what is added in, and the result's dtype.
    Returns: an array (...).
    Raises: ValueError for fewer than two axes.

    >>> import lazyarray as la
    >>> la.linalg.trace(la.array([[1, 2], [3, 4]])).item()
    5
    """
    return products.trace(x, offset, -2, -1, dtype)
