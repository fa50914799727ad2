"""Inverses of matrices and tensors, and linear equations."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from lazyarray.functions.creation import zeros_like
from lazyarray.functions.manipulation import matrix_transpose, permute_dims, ravel, reshape
from lazyarray.lazy._lazy import paused, returned
from lazyarray.linalg import adjoints
from lazyarray.linalg.decompositions import svd
from lazyarray.linalg.recording import matrices, matrix, record, square
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows, note
from lazyarray.ops._layout import Shape, operands, values
from lazyarray.ops._rows import empty
from lazyarray.ops.hosts import to_host
from lazyarray.ops.lapack import lapack

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["inv", "pinv", "solve", "lstsq", "tensorinv", "tensorsolve"]

_conjugate, _divide, _matmul, _max = op.conjugate, op.divide, op.matmul, op.max
_MISSING: Any = np._NoValue  # what help() shows: <no value>


def inv(a: ArrayLike) -> NDArray:
    """The inverse of square matrices.

    Args:
        a: matrices (..., N, N).
    Returns: an array (..., N, N).
    Raises: LinAlgError if they are not square, and at the wait if one is singular.

    >>> import lazyarray as la
    >>> la.linalg.inv(la.array([[2.0, 0.0], [0.0, 4.0]])).asnumpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    x, _, _ = square(a)
    return lapack("inv", x)


def pinv(
    a: ArrayLike,
    rcond: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rtol: ArrayLike | None = _MISSING,
) -> NDArray:
    """The Moore-Penrose inverse of matrices (..., M, N): shape (..., N, M).

    Args:
        rcond: singular values up to so much of the largest count as zero; None: 1e-15.
        hermitian: whether the matrices are Hermitian: that is faster.
        rtol: another name of ``rcond``, whose None means the longer side times the dtype's eps.
        a: matrices (..., M, N).
    Returns: an array (..., N, M).
    Raises: ValueError for both names; LinAlgError for fewer than two axes.

    >>> import lazyarray as la
    >>> la.linalg.pinv(la.array([[2.0], [0.0]])).asnumpy().round(6)
    array([[0.5, 0. ]])
    """
    x, stack, m, n = matrices(a)
    if rcond is not None and rtol is not _MISSING:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    cut = rcond is not None or (rtol is not _MISSING and rtol is not None)
    if rcond is None:
        rcond = 1e-15 if rtol is _MISSING else rtol
    if rcond is None:
        rcond = max(m, n) * np.finfo(x.dtype).eps
    if m == 0 or n == 0:
        return empty((*stack, n, m), x.dtype, x.device)
    if follows(x) and not cut:  # else the rank that is meant may not be the matrix's: by svd's rule
        with paused():
            found = pinv(x, rcond, hermitian)
        note("linalg.pinv", [adjoints.pinv], [x], [found])
        return found
    _, limit = operands(x, rcond)
    u, s, vh = svd(_conjugate(x), full_matrices=False, hermitian=hermitian)
    large = s > limit[..., None] * _max(s, -1, keepdims=True)
    s = _divide(1, s, where=large, out=zeros_like(s))
    return _matmul(matrix_transpose(vh), s[..., None] * matrix_transpose(u))


def solve(a: ArrayLike, b: ArrayLike) -> NDArray:
    """The solution x of ``a @ x == b`` for square ``a``; ``b`` is a vector or a stack of matrices.

    Args:
        a: matrices (..., N, N).
        b: a vector (N,), or matrices (..., N, K).
    Returns: an array (..., N) or (..., N, K).
    Raises: LinAlgError if the matrices are not square, and at the wait if one is singular;
        ValueError if the shapes do not fit.

    >>> import lazyarray as la
    >>> la.linalg.solve(la.array([[2.0, 0.0], [0.0, 4.0]]), la.array([1.0, 2.0])).asnumpy()
    array([0.5, 0.5])
    """
    y: NDArray
    x, y = operands(a, b)
    x, stack, n = square(x)
    core, name, sign = (
        (1, "solve1", "(m,m),(m)->(m)") if y.ndim == 1 else (2, "solve", "(m,m),(m,n)->(m,n)")
    )
    if y.ndim < core:
        raise ValueError(
            f"{name}: Input operand 1 does not have enough dimensions (has {y.ndim}, gufunc core "
            f"with signature {sign} requires {core})"
        )
    if y.shape[-core] != n:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
            f"signature {sign} (size {y.shape[-core]} is different from {n})"
        )
    np.broadcast_shapes(stack, y.shape[:-core])  # raises if they do not fit
    return lapack(name, x, y)


def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: float | None = None
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """The x that make ``|b - a @ x|`` least: (x, residuals, rank, singular values).

    Waits for the rank if M > N: the residuals' shape depends on it.

    Args:
        a: a matrix (M, N).
        b: a vector (M,) or a matrix (M, K).
        rcond: singular values below so much of the largest count as zero; None: the longer side
            times eps.
    Returns: the four (x, residuals, rank, singular values): x is (N,) or (N, K), the residuals (1,)
        or (K,), but (0,) where the rank is below N or M <= N.
    Raises: LinAlgError for other shapes, and at the wait if it does not converge.

    >>> import lazyarray as la
    >>> x, *_ = la.linalg.lstsq(la.array([[1.0, 0.0], [1.0, 1.0]]), la.array([1.0, 3.0]))
    >>> x.asnumpy().round(6)
    array([1., 2.])
    """
    x, residuals, rank, s = least_squares(a, b, rcond)
    (m, n), _ = _system(a, b)
    if m <= n or values(rank, "lstsq()") != n:
        residuals = empty((0,), residuals.dtype, residuals.device)
    return x, residuals, returned(rank), s


def _system(a: Any, b: Any) -> tuple[Shape, Shape]:
    """The shapes of ``a`` and of ``b`` as a matrix; NumPy's errors."""
    x, y = operands(a, b)
    y = y[:, None] if y.ndim == 1 else y
    shapes = matrix(x).shape, matrix(y).shape
    if shapes[0][0] != shapes[1][0]:
        raise LinAlgError("Incompatible dimensions")
    return shapes


def least_squares(
    a: Any, b: Any, rcond: float | None = None, warning: str = ""
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """:func:`lstsq` without a wait: where NumPy would give no residuals, they are NaN.

    The worker gives ``warning`` as a RankWarning if the rank is below N.
    """
    x, y = operands(a, b)
    (m, n), (_, k) = _system(x, y)
    rcond = to_host(rcond, "lstsq()")  # for NumPy, which calls it on the worker

    def function(v: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, ...]:
        solution, residuals, rank, s = np.linalg.lstsq(v, w, rcond)
        if not residuals.size:
            residuals = np.full(k, np.nan, residuals.dtype)
        return solution, residuals, np.asarray(rank), s

    def run(v: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, ...]:
        results = function(v, w)
        if warning and results[2] != n:
            warnings.warn(warning, np.exceptions.RankWarning, stacklevel=2)
        return results

    solution = (n,) if y.ndim == 1 else (n, k)
    shapes: list[Shape] = [solution, (k,), (), (min(m, n),)]
    found: tuple[NDArray, NDArray, NDArray, NDArray]
    rules = _least(x.shape, y.ndim, rcond)
    found = tuple(record("lstsq", run, [x, y], shapes, rcond, function, gradient=rules))
    return found


def _least(shape: Shape, ndim: int, rcond: float | None) -> Any:
    """The gradient rules of least squares, where the rank stays; the residuals are |b - a @ x|^2.

    By x they don't change, for it makes them least.
    """
    cut = {"rtol": None} if rcond is None else {"rcond": rcond}

    def columns(v: NDArray) -> NDArray:
        return v[:, None] if v.ndim == 1 else v

    def rest(h: NDArray, a: NDArray, b: NDArray, y: NDArray) -> NDArray:
        return 2 * h * (columns(b) - a @ columns(y))

    def of_matrix(g: Any, h: Any, l: Any, a: Any, b: Any, y: Any) -> NDArray:
        inverse = pinv(a, **cut)
        found = adjoints.pinv(columns(g) @ adjoints.conjugated(columns(b)), a, inverse)
        u, _, vh = svd(a, full_matrices=False)
        found = found + adjoints.svdvals(l, u, vh)
        return found - rest(h, a, b, y) @ adjoints.conjugated(columns(y)) if over else found

    def of_values(g: Any, h: Any, a: Any, b: Any, y: Any) -> NDArray:
        found = adjoints.conjugated(pinv(a, **cut)) @ columns(g)
        found = found + rest(h, a, b, y) if over else found
        return found[:, 0] if ndim == 1 else found

    over = shape[0] > shape[1]
    return of_matrix, of_values


# ---- tensors ------------------------------------------------------------------------------------


def tensorinv(a: ArrayLike, ind: int = 2) -> NDArray:
    """The inverse of ``a`` as a map of tensors: ``tensordot(it, a, ind)`` is the identity.

    Args:
        a: an array whose first ``ind`` axes have as many elements as the others.
        ind: how many of the first axes the inverse has last.
    Returns: an array: a's last axes, then its first ``ind``.
    Raises: ValueError if ``ind`` isn't positive; LinAlgError if the two groups differ in size, and
        at the wait if ``a`` is singular.

    >>> import lazyarray as la
    >>> la.linalg.tensorinv(la.eye(4).reshape(4, 2, 2), ind=1).shape
    (2, 2, 4)
    """
    (x,) = operands(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    first, last = x.shape[:ind], x.shape[ind:]
    return reshape(inv(reshape(x, (math.prod(last), -1))), (*last, *first))


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> NDArray:
    """The x with ``tensordot(a, x, x.ndim) == b``; shape: the last axes of ``a``.

    Args:
        a: an array, whose first axes are b's.
        b: an array.
        axes: axes of ``a`` that are moved to its end first.
    Returns: an array: the last axes of ``a``.
    Raises: LinAlgError if the sizes don't fit, and at the wait if ``a`` is singular.

    >>> import lazyarray as la
    >>> la.linalg.tensorsolve(la.eye(4).reshape(2, 2, 4), la.ones((2, 2))).asnumpy()
    array([1., 1., 1., 1.])
    """
    x: NDArray
    x, y = operands(a, b)
    ndim = x.ndim
    if axes is not None:
        order = list(range(ndim))
        for axis in axes:
            order.remove(axis)
            order.insert(ndim, axis)
        x = permute_dims(x, order)
    shape = x.shape[-(ndim - y.ndim) :]
    n = math.prod(shape)
    if x.size != n**2:
        raise LinAlgError(
            "Input arrays must satisfy the requirement "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return reshape(solve(reshape(x, (n, n)), ravel(y)), shape)
