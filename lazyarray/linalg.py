"""Linear algebra: ``numpy.linalg`` as asynchronous ops, LAPACK's loops where NumPy has them.

Shapes and dtypes are known at the call, where wrong ones raise ``LinAlgError``, ValueError or
TypeError as NumPy's functions do; what depends on values (a singular matrix, no convergence) is a
``LinAlgError`` at the wait. Matrices are the last two axes; axes before them are a stack. LAPACK
runs without the GIL.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from lazyarray import ops
from lazyarray.ops._layout import Shape, gil_op, operands, probe, values
from lazyarray.ops._rows import array, normalize_axes, reduced_shape
from lazyarray.ops.lapack import lapack
from lazyarray.ops.linear_algebra import cross, multi_dot, outer, tensordot, vecdot
from lazyarray.ops.manipulation import matrix_transpose

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = [
    "LinAlgError",
    "inv",
    "pinv",
    "solve",
    "det",
    "slogdet",
    "cholesky",
    "qr",
    "svd",
    "svdvals",
    "eigh",
    "eigvalsh",
    "eig",
    "eigvals",
    "norm",
    "matrix_norm",
    "vector_norm",
    "cond",
    "matrix_rank",
    "matrix_power",
    "multi_dot",
    "cross",
    "diagonal",
    "matmul",
    "matrix_transpose",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
]

matmul = ops.table["matmul"]
_abs, _max, _min, _sqrt, _sum = [ops.table[n] for n in ("absolute", "max", "min", "sqrt", "sum")]


class SlogdetResult(NamedTuple):
    """What :func:`slogdet` gives."""

    sign: NDArray
    logabsdet: NDArray


class QRResult(NamedTuple):
    """What :func:`qr` gives."""

    Q: NDArray
    R: NDArray


class SVDResult(NamedTuple):
    """What :func:`svd` gives."""

    U: NDArray
    S: NDArray
    Vh: NDArray


class EighResult(NamedTuple):
    """What :func:`eigh` gives."""

    eigenvalues: NDArray
    eigenvectors: NDArray


class EigResult(NamedTuple):
    """What :func:`eig` gives."""

    eigenvalues: NDArray
    eigenvectors: NDArray


# ---- how an op is recorded ----------------------------------------------------------------------


def _regular(a: np.ndarray) -> np.ndarray:
    """A miniature with values that every function accepts: an identity."""
    a = np.zeros_like(a)
    if a.ndim >= 2:
        i = np.arange(min(a.shape[-2:]))
        a[..., i, i] = 1
    return a


def _op(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[NDArray],
    shapes: Shape | list[Shape],
    key: Hashable = (),
) -> Any:
    return gil_op(
        f"linalg.{name}",
        function,
        inputs,
        shapes,
        key,
        mini=lambda *arrays: function(*map(_regular, arrays)),
        cost=10_000 + inputs[0].size * min(inputs[0].shape[-2:], default=1),
    )


def _matrices(a: Any) -> tuple[NDArray, Shape, int, int]:
    """An array of matrices, the shape of the stack, and the matrices' rows and columns."""
    (x,) = operands(a)
    if x.ndim < 2:
        raise LinAlgError(
            f"{x.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    return x, x.shape[:-2], x.shape[-2], x.shape[-1]


def _square(a: Any) -> tuple[NDArray, Shape, int]:
    x, stack, m, n = _matrices(a)
    if m != n:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return x, stack, n


# ---- inverses and equations ---------------------------------------------------------------------


def inv(a: Any) -> NDArray:
    """The inverse of square matrices; LinAlgError at the wait if one is singular.

    >>> import lazyarray as la
    >>> la.linalg.inv(la.array([[2.0, 0.0], [0.0, 4.0]])).asnumpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    x, _, _ = _square(a)
    return lapack("inv", x)


def pinv(
    a: Any, rcond: float | None = None, hermitian: bool = False, *, rtol: float | None = None
) -> NDArray:
    """The Moore-Penrose inverse of matrices (..., M, N): shape (..., N, M).

    Singular values below ``rcond`` (or ``rtol``) times the largest count as zero.

    >>> import lazyarray as la
    >>> la.linalg.pinv(la.array([[2.0], [0.0]])).asnumpy().round(6)
    array([[0.5, 0. ]])
    """
    x, stack, m, n = _matrices(a)
    kwargs = {"rcond": rcond} if rtol is None else {"rtol": rtol}
    return _op(
        "pinv",
        lambda v: np.linalg.pinv(v, hermitian=hermitian, **kwargs),
        [x],
        (*stack, n, m),
        (hermitian, *kwargs.items()),
    )


def solve(a: Any, b: Any) -> NDArray:
    """The solution x of ``a @ x == b`` for square ``a``; ``b`` is a vector or a stack of matrices.

    LinAlgError at the wait if a matrix is singular.

    >>> import lazyarray as la
    >>> la.linalg.solve(la.array([[2.0, 0.0], [0.0, 4.0]]), la.array([1.0, 2.0])).asnumpy()
    array([0.5, 0.5])
    """
    y: NDArray
    x, y = operands(a, b)
    x, stack, n = _square(x)
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


def matrix_power(a: Any, n: int) -> NDArray:
    """Square matrices multiplied by themselves ``n`` times; a negative ``n`` inverts them.

    >>> import lazyarray as la
    >>> la.linalg.matrix_power(la.array([[1, 1], [0, 1]]), 3).asnumpy()
    array([[1, 3],
           [0, 1]])
    """
    x, _, _ = _square(a)
    try:
        n = operator.index(n)
    except TypeError as exc:
        raise TypeError("exponent must be an integer") from exc
    return _op("matrix_power", lambda v: np.linalg.matrix_power(v, n), [x], x.shape, n)


# ---- determinants, decompositions ---------------------------------------------------------------


def det(a: Any) -> NDArray:
    """The determinant of square matrices: shape (...).

    >>> import lazyarray as la
    >>> round(la.linalg.det(la.array([[1.0, 2.0], [3.0, 4.0]])).item(), 6)
    -2.0
    """
    x, _, _ = _square(a)
    return lapack("det", x)


def slogdet(a: Any) -> SlogdetResult:
    """Sign and logarithm of the absolute determinant of square matrices: (sign, logabsdet).

    >>> import lazyarray as la
    >>> la.linalg.slogdet(la.array([[1.0, 0.0], [0.0, -1.0]])).sign.item()
    -1.0
    """
    x, stack, _ = _square(a)
    return SlogdetResult(*_op("slogdet", np.linalg.slogdet, [x], [stack, stack]))


def cholesky(a: Any, /, *, upper: bool = False) -> NDArray:
    """The Cholesky factor of positive definite matrices, lower triangular unless ``upper``.

    LinAlgError at the wait if a matrix isn't positive definite.

    >>> import lazyarray as la
    >>> la.linalg.cholesky(la.array([[4.0, 2.0], [2.0, 5.0]])).asnumpy()
    array([[2., 0.],
           [1., 2.]])
    """
    x, _, _ = _square(a)
    return lapack("cholesky_up" if upper else "cholesky_lo", x)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Matrices (..., M, N) as a product of orthonormal Q and upper triangular R: (Q, R).

    With K = min(M, N), ``mode`` "reduced" gives Q (..., M, K) and R (..., K, N), "complete"
    (..., M, M) and (..., M, N), "r" R alone, "raw" LAPACK's (h, tau). ValueError for another.

    >>> import lazyarray as la
    >>> q, r = la.linalg.qr(la.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> abs(q @ r).asnumpy().round(6)
    array([[3., 1.],
           [4., 2.]])
    """
    x, stack, m, n = _matrices(a)
    k = min(m, n)
    shapes: dict[str, Shape | list[Shape]] = {
        "reduced": [(*stack, m, k), (*stack, k, n)],
        "complete": [(*stack, m, m), (*stack, m, n)],
        "r": (*stack, k, n),
        "raw": [(*stack, n, m), (*stack, k)],
    }
    if mode not in shapes:
        raise ValueError(f"Unrecognized mode '{mode}'")
    result = _op("qr", lambda v: np.linalg.qr(v, mode), [x], shapes[mode], mode)  # type: ignore[call-overload]
    return result if mode == "r" else QRResult(*result) if mode != "raw" else tuple(result)


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular values and vectors of matrices (..., M, N): (U, S, Vh).

    U is (..., M, M), S (..., min(M, N)) in descending order, Vh (..., N, N); without
    ``full_matrices`` U and Vh have min(M, N) columns and rows. Without ``compute_uv``: S alone.

    >>> import lazyarray as la
    >>> la.linalg.svd(la.array([[0.0, 2.0], [1.0, 0.0]])).S.asnumpy()
    array([2., 1.])
    """
    x, stack, m, n = _matrices(a)
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    three: list[Shape] = [(*stack, m, rows), (*stack, k), (*stack, columns, n)]
    result = _op(
        "svd",
        lambda v: np.linalg.svd(v, full_matrices, compute_uv, hermitian),  # type: ignore[call-overload]
        [x],
        three if compute_uv else three[1],
        (full_matrices, compute_uv, hermitian),
    )
    return SVDResult(*result) if compute_uv else result


def svdvals(x: Any, /) -> NDArray:
    """The singular values of matrices (..., M, N), in descending order: (..., min(M, N)).

    >>> import lazyarray as la
    >>> la.linalg.svdvals(la.array([[0.0, 2.0], [1.0, 0.0]])).asnumpy()
    array([2., 1.])
    """
    return svd(x, compute_uv=False)


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues, ascending, and eigenvectors, as columns, of Hermitian matrices.

    Only the triangle ``UPLO`` ("L" or "U") is read.

    >>> import lazyarray as la
    >>> la.linalg.eigh(la.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.asnumpy()
    array([1., 2.])
    """
    x, stack, n = _square(a)
    shapes = [(*stack, n), x.shape]
    return EighResult(*_op("eigh", lambda v: np.linalg.eigh(v, UPLO), [x], shapes, UPLO))  # type: ignore[call-overload]


def eigvalsh(a: Any, UPLO: str = "L") -> NDArray:
    """The eigenvalues of Hermitian matrices, ascending: shape (..., N).

    >>> import lazyarray as la
    >>> la.linalg.eigvalsh(la.array([[2.0, 0.0], [0.0, 1.0]])).asnumpy()
    array([1., 2.])
    """
    x, stack, n = _square(a)
    return _op("eigvalsh", lambda v: np.linalg.eigvalsh(v, UPLO), [x], (*stack, n), UPLO)  # type: ignore[call-overload]


def eig(a: Any) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices. Waits: the dtype depends on the values.

    >>> import lazyarray as la
    >>> la.linalg.eig(la.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.asnumpy()
    array([2., 1.])
    """
    x, _, _ = _square(a)
    return EigResult(*[array(v, None, x.device) for v in np.linalg.eig(values(x, "eig()"))])


def eigvals(a: Any) -> NDArray:
    """The eigenvalues of square matrices. Waits: the dtype depends on the values.

    >>> import lazyarray as la
    >>> la.linalg.eigvals(la.array([[2.0, 0.0], [0.0, 1.0]])).asnumpy()
    array([2., 1.])
    """
    x, _, _ = _square(a)
    return array(np.linalg.eigvals(values(x, "eigvals()")), None, x.device)


# ---- norms and other numbers --------------------------------------------------------------------


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> NDArray:
    """A norm over one axis (of vectors), two (of matrices), or of all elements.

    ``ord`` as in ``numpy.linalg.norm``; None is the root of the sum of squares.

    >>> import lazyarray as la
    >>> la.linalg.norm(la.array([3.0, 4.0])).item()
    5.0
    """
    (v,) = operands(x)
    result = _vector_norm(v, ord, axis, keepdims)
    if result is not None:
        return result
    return _norm("norm", np.linalg.norm, v, axis, keepdims, ord=ord)


def _vector_norm(x: NDArray, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The common norms of real vectors, as ``numpy.linalg.norm`` computes them; None: others."""
    if x.dtype.kind in "iu":
        x = x.astype(np.float64)
    if x.dtype.char not in "fd" or not x.size or isinstance(ord, str):
        return None
    if axis is None and (ord is None or (ord == 2 and x.ndim == 1)):
        whole = next((v for v in (x, x.T) if probe(v).flags.c_contiguous), None)
        if whole is None:
            return None
        flat = whole.reshape(-1)
        result = _sqrt(flat @ flat)
        return result.reshape((1,) * x.ndim) if keepdims else result
    if axis is None and x.ndim == 1:
        axis = 0
    if type(axis) is not int or x.ndim == 0:
        return None
    if ord is None or ord == 2:
        return _sqrt(_sum(x * x, axis, keepdims=keepdims))
    reduce = {1: _sum, math.inf: _max, -math.inf: _min}.get(ord)
    return None if reduce is None else reduce(_abs(x), axis, keepdims=keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> NDArray:
    """A norm of matrices, the last two axes.

    >>> import lazyarray as la
    >>> la.linalg.matrix_norm(la.array([[3.0, 0.0], [0.0, 4.0]])).item()
    5.0
    """
    return _norm("norm", np.linalg.norm, x, (-2, -1), keepdims, ord=ord)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> NDArray:
    """A norm of vectors along the axes given, or of all elements.

    >>> import lazyarray as la
    >>> la.linalg.vector_norm(la.array([[3.0, 4.0], [6.0, 8.0]]), axis=1).asnumpy()
    array([ 5., 10.])
    """

    def function(v: np.ndarray, axis: Any, keepdims: bool, ord: Any) -> np.ndarray:
        return np.linalg.vector_norm(v, axis=axis, keepdims=keepdims, ord=ord)

    return _norm("vector_norm", function, x, axis, keepdims, ord=ord)


def _norm(
    name: str, function: Callable[..., Any], a: Any, axis: Any, keepdims: bool, *, ord: Any
) -> NDArray:
    (x,) = operands(a)
    given = tuple(axis) if isinstance(axis, (tuple, list)) else axis
    shape = reduced_shape(x.shape, normalize_axes(axis, x.ndim), keepdims)
    return gil_op(
        f"linalg.{name}",
        lambda v: function(v, axis=given, keepdims=keepdims, ord=ord),
        [x],
        shape,
        (given, keepdims, type(ord), ord),
    )


def cond(x: Any, p: Any = None) -> NDArray:
    """The condition number of matrices in the norm ``p`` (None: 2): shape (...).

    >>> import lazyarray as la
    >>> la.linalg.cond(la.array([[2.0, 0.0], [0.0, 1.0]])).item()
    2.0
    """
    v, stack, _, _ = _matrices(x)
    return _op("cond", lambda a: np.linalg.cond(a, p), [v], stack, p)


def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, rtol: float | None = None
) -> NDArray:
    """How many singular values of matrices exceed the tolerance: shape (...).

    >>> import lazyarray as la
    >>> la.linalg.matrix_rank(la.array([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    x, *given = operands(A) if tol is None else operands(A, tol)
    if x.ndim < 2:
        stack: Shape = ()
    else:
        stack = np.broadcast_shapes(x.shape[:-2], *[t.shape for t in given])

    def function(v: np.ndarray, *t: np.ndarray) -> np.ndarray:
        return np.linalg.matrix_rank(v, t[0] if t else None, hermitian, rtol=rtol)

    return _op("matrix_rank", function, [x, *given], stack, (hermitian, rtol))


# ---- diagonals ----------------------------------------------------------------------------------


def diagonal(x: Any, /, *, offset: int = 0) -> NDArray:
    """A view of the diagonal of matrices, the last two axes.

    >>> import lazyarray as la
    >>> la.linalg.diagonal(la.array([[1, 2], [3, 4]])).asnumpy()
    array([1, 4])
    """
    return ops.manipulation.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> NDArray:
    """The sum of the diagonal of matrices, the last two axes.

    >>> import lazyarray as la
    >>> la.linalg.trace(la.array([[1, 2], [3, 4]])).item()
    5
    """
    return ops.statistical.trace(x, offset, -2, -1, dtype)
