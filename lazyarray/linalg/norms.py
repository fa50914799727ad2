"""Norms, condition numbers and ranks, composed as ``numpy.linalg`` computes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from numpy.linalg import LinAlgError

from lazyarray.functions import manipulation, products, searching
from lazyarray.functions.ranges import known
from lazyarray.lazy._lazy import returned
from lazyarray.linalg.decompositions import svd, svdvals
from lazyarray.linalg.equations import inv
from lazyarray.linalg.recording import matrices, record
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import gil_op, operands
from lazyarray.ops._rows import astype, normalize_axes, reduced_shape
from lazyarray.ops.elementwise import root

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["norm", "matrix_norm", "vector_norm", "cond", "matrix_rank"]

_abs, _any, _max, _min, _sum = op.absolute, op.any, op.max, op.min, op.sum


def norm(
    x: ArrayLike,
    ord: float | str | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> NDArray:
    """A norm over one axis (of vectors), two (of matrices), or of all elements.

    Args:
        ord: as in ``numpy.linalg.norm``; None is the root of the sum of squares.
        axis: one axis (of vectors), two (of matrices); None: all elements.
    Returns: an array without these axes.
    Raises: ValueError for an order or a number of axes that there is no norm of.

    >>> import lazyarray as la
    >>> la.linalg.norm(la.array([3.0, 4.0])).item()
    5.0
    """
    v: NDArray
    (v,) = operands(x)
    if v.dtype.kind not in "fc":
        v = astype(v, np.float64)
    if axis is None:
        frobenius = v.ndim == 2 and ord in ("f", "fro")
        if ord is None or frobenius or (v.ndim == 1 and ord == 2):
            result = _whole_norm(v)
            return result.reshape((1,) * v.ndim) if keepdims else result
        axis = tuple(range(v.ndim))
    elif not isinstance(axis, tuple):
        try:
            axis = (int(axis),)
        except Exception as exc:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from exc
    if len(axis) == 1:
        return _vector_norm(v, known(ord), axis, keepdims)
    if len(axis) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    rows, columns = [normalize_axis_index(i, v.ndim) for i in axis]
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    result = _matrix_norm(v, ord, rows, columns)
    return result.reshape(reduced_shape(v.shape, (rows, columns), True)) if keepdims else result


def _whole_norm(x: NDArray) -> NDArray:
    """The root of the sum of all squares, in the order of memory.

    As in NumPy, BLAS gets a contiguous vector: it sums one with gaps in another order.
    """
    flat = manipulation.ravel(x, "K")
    parts = [flat.real, flat.imag] if x.dtype.kind == "c" else [flat]
    squares = [products.dot(v, v) for v in parts]
    return root(squares[0] + squares[1] if len(squares) == 2 else squares[0])


def _squared(x: NDArray) -> NDArray:
    return (x.conj() * x).real if x.dtype.kind == "c" else x * x


def _largest(x: NDArray, axis: tuple[int, ...], keepdims: bool = False) -> NDArray:
    """The maximum of what isn't negative, 0 of nothing."""
    axis = normalize_axes(axis, x.ndim)
    start = None if all(x.shape[i] for i in axis) else 0
    return _max(x, axis, keepdims=keepdims, initial=start)


def _vector_norm(x: NDArray, ord: Any, axis: tuple[int, ...], keepdims: bool) -> NDArray:
    if ord is None or ord == 2:
        return root(_sum(_squared(x), axis, keepdims=keepdims))
    if ord == 0:
        return _sum(astype(x != 0, x.real.dtype), axis, keepdims=keepdims)
    if ord == 1:
        return _sum(_abs(x), axis, keepdims=keepdims)
    if ord == math.inf:
        return _largest(_abs(x), axis, keepdims)
    if ord == -math.inf:
        return _min(_abs(x), axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    powers = _abs(x)
    powers **= ord
    result: NDArray = _sum(powers, axis, keepdims=keepdims)
    if np.ndim(ord):  # numbers for a norm each, say
        return result ** np.reciprocal(ord, dtype=result.dtype)
    power = np.reciprocal(ord, dtype=result.dtype)
    if result.ndim == 0:  # a scalar in NumPy, whose power may round otherwise
        rules = (lambda g, a: g * (power * searching.where(a == 0, 1.0, a) ** (power - 1)),)
        return gil_op("power", lambda v: v[()] ** power, [result], (), gradient=rules)
    if ord > 0 and follows(result):  # of zeros the gradient is 0, as the powers' is
        none = result == 0
        return searching.where(none, 0.0, searching.where(none, 1.0, result) ** power)
    result **= power
    return result


def _matrix_norm(x: NDArray, ord: Any, rows: int, columns: int) -> NDArray:
    if ord in (None, "fro", "f"):
        return root(_sum(_squared(x), (rows, columns)))
    if ord in (1, -1, math.inf, -math.inf):
        summed, rest = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = _sum(_abs(x), summed)
        rest -= rest > summed
        return _largest(sums, (rest,)) if ord > 0 else _min(sums, rest)
    if ord not in (2, -2, "nuc"):
        raise ValueError("Invalid norm order for matrices.")
    s = svdvals(manipulation.moveaxis(x, (rows, columns), (-2, -1)))
    if ord == -2:
        return _min(s, -1)
    return _largest(s, (-1,)) if ord == 2 else _sum(s, -1)


def matrix_norm(
    x: ArrayLike, /, *, keepdims: bool = False, ord: float | str | None = "fro"
) -> NDArray:
    """A norm of matrices, the last two axes.

    Args:
        x: matrices (..., M, N).
        ord: "fro", "nuc", 1, -1, 2, -2, inf or -inf.
    Returns: an array (...).
    Raises: ValueError for another order.

    >>> import lazyarray as la
    >>> la.linalg.matrix_norm(la.array([[3.0, 0.0], [0.0, 4.0]])).item()
    5.0
    """
    return norm(x, ord, (-2, -1), keepdims)


def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> NDArray:
    """A norm of vectors along the axes given, or of all elements.

    Args:
        axis: the axis, or several as a tuple; None: all.
        ord: any number.
    Returns: an array without these axes.
    Raises: ValueError for an order that is no number.

    >>> import lazyarray as la
    >>> la.linalg.vector_norm(la.array([[3.0, 4.0], [6.0, 8.0]]), axis=1).asnumpy()
    array([ 5., 10.])
    """
    v: NDArray
    (v,) = operands(x)
    given, along = v.shape, axis
    if axis is None:
        v, along = manipulation.ravel(v), 0
    elif isinstance(axis, tuple):
        axes = normalize_axis_tuple(axis, v.ndim)
        rest = [i for i in range(v.ndim) if i not in axes]
        lengths = [v.shape[i] for i in rest]
        v = manipulation.permute_dims(v, [*axes, *rest])
        v, along = v.reshape((math.prod([given[i] for i in axes]), *lengths)), 0
    result = norm(v, ord, along)
    if keepdims:
        axes = tuple(range(len(given))) if axis is None else normalize_axis_tuple(axis, len(given))
        result = result.reshape(reduced_shape(given, axes, True))
    return result


# ---- other numbers of a matrix ------------------------------------------------------------------


def cond(x: ArrayLike, p: float | Literal["fro", "nuc"] | None = None) -> NDArray:
    """The condition number of matrices.

    Args:
        x: matrices (..., M, N); square ones unless ``p`` is None, 2 or -2.
        p: the norm; None: 2.
    Returns: an array (...); a singular matrix has an infinite number.
    Raises: LinAlgError for matrices without elements, or that are not square.

    >>> import lazyarray as la
    >>> la.linalg.cond(la.array([[2.0, 0.0], [0.0, 1.0]])).item()
    2.0
    """
    v, stack, m, n = matrices(x)
    if v.size == 0 and (m == 0 or n == 0):
        raise LinAlgError("cond is not defined on empty arrays")
    if follows(v):
        return _condition(v, p)
    return record("cond", lambda a: np.linalg.cond(a, p), [v], stack, p)


def _condition(x: NDArray, p: Any) -> NDArray:
    """The condition number composed of what has gradient rules."""
    if p in (None, 2, -2):
        s = svdvals(x)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return norm(x, p, (-2, -1)) * norm(inv(x), p, (-2, -1))


def matrix_rank(
    A: ArrayLike,
    tol: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rtol: ArrayLike | None = None,
) -> NDArray:
    """How many singular values of matrices exceed the tolerance.

    Args:
        A: matrices (..., M, N); a vector has rank 1 unless it is zero.
        tol: the tolerance.
        hermitian: whether the matrices are Hermitian: that is faster.
        rtol: the tolerance as a share of the largest singular value; by default the longer side
            times the dtype's eps.
    Returns: an array of integers (...).
    Raises: ValueError for both tolerances.

    >>> import lazyarray as la
    >>> la.linalg.matrix_rank(la.array([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    x: NDArray
    (x,) = operands(A)
    if x.ndim < 2:
        return returned(astype(_any(x != 0), np.intp))
    s: NDArray = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        limit = operands(s, tol)[1][..., None]
    else:
        if rtol is None:
            rtol = max(x.shape[-2:]) * np.finfo(s.dtype).eps
        else:
            rtol = operands(s, rtol)[1][..., None]
        limit = _largest(s, (-1,), True) * rtol
    return searching.count_nonzero(s > limit, -1)
