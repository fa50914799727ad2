"""Determinants, decompositions and eigenvalues of matrices."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from lazyarray.linalg import adjoints
from lazyarray.linalg.recording import matrices, record, square
from lazyarray.ops._differentiable import follows, refuse
from lazyarray.ops._layout import Shape, values
from lazyarray.ops._rows import array
from lazyarray.ops.lapack import lapack
from lazyarray.ops.lapack import qr as numpys_qr

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = [
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
]


if TYPE_CHECKING:  # with lazyarrays in them

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

else:  # programs ask whether a result is one of NumPy's
    from numpy.linalg._linalg import (
        EighResult,
        EigResult,
        QRResult,
        SlogdetResult,
        SVDResult,
    )


# ---- determinants -------------------------------------------------------------------------------


def det(a: ArrayLike) -> NDArray:
    """The determinant of square matrices.

    Args:
        a: matrices (..., N, N).
    Returns: an array (...).
    Raises: LinAlgError if they are not square.

    >>> import lazyarray as la
    >>> round(la.linalg.det(la.array([[1.0, 2.0], [3.0, 4.0]])).item(), 6)
    -2.0
    """
    x, _, _ = square(a)
    return lapack("det", x)


def slogdet(a: ArrayLike) -> SlogdetResult:
    """Sign and logarithm of the absolute determinant of square matrices.

    Args:
        a: matrices (..., N, N).
    Returns: the pair (sign, logabsdet), a named tuple of arrays (...).
    Raises: LinAlgError if they are not square.

    >>> import lazyarray as la
    >>> la.linalg.slogdet(la.array([[1.0, 0.0], [0.0, -1.0]])).sign.item()
    -1.0
    """
    x, stack, _ = square(a)
    rules = (adjoints.slogdet,)
    shapes: list[Shape] = [stack, stack]
    found = record(
        "slogdet",
        np.linalg.slogdet,
        [x],
        shapes,
        gradient=rules,
        shared=False,  # as det: see ops/lapack.py
    )
    return SlogdetResult(*found)


# ---- decompositions ----------------------------------------------------------------------------


def cholesky(a: ArrayLike, /, *, upper: bool = False) -> NDArray:
    """The Cholesky factor of positive definite matrices, lower triangular unless ``upper``.

    Args:
        a: matrices (..., N, N), Hermitian: only the triangle is read.
        upper: whether the factor is upper triangular.
    Returns: an array (..., N, N).
    Raises: LinAlgError if they are not square, and at the wait if one isn't positive definite.

    >>> import lazyarray as la
    >>> la.linalg.cholesky(la.array([[4.0, 2.0], [2.0, 5.0]])).asnumpy()
    array([[2., 0.],
           [1., 2.]])
    """
    x, _, _ = square(a)
    return lapack("cholesky_up" if upper else "cholesky_lo", x)


@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete"] = ...) -> QRResult: ...
@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> NDArray: ...
@overload
def qr(a: ArrayLike, mode: Literal["raw"]) -> tuple[NDArray, NDArray]: ...
def qr(a: ArrayLike, mode: str = "reduced") -> QRResult | NDArray | tuple[NDArray, NDArray]:
    """Matrices (..., M, N) as a product of orthonormal Q and upper triangular R: (Q, R).

    K is min(M, N) below.

    Args:
        a: matrices (..., M, N).
        mode: "reduced" gives Q (..., M, K) and R (..., K, N), "complete" (..., M, M) and (..., M,
            N), "r" R alone, "raw" LAPACK's (h, tau).
    Returns: the pair (Q, R), a named tuple; R alone for "r".
    Raises: ValueError for another ``mode``; LinAlgError for fewer than two axes.

    >>> import lazyarray as la
    >>> q, r = la.linalg.qr(la.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> abs(q @ r).asnumpy().round(6)
    array([[3., 1.],
           [4., 2.]])
    """
    if mode in ("f", "full"):
        warnings.warn(
            "The 'full' option is deprecated in favor of 'reduced'.\n"
            "For backward compatibility let mode default.",
            DeprecationWarning,
            stacklevel=2,
        )
        mode = "reduced"
    if mode in ("e", "economic"):
        warnings.warn("The 'economic' option is deprecated.", DeprecationWarning, stacklevel=2)
        mode = "economic"
    x, stack, m, n = matrices(a)
    k = min(m, n)
    shapes: dict[str, Shape | list[Shape]] = {
        "reduced": [(*stack, m, k), (*stack, k, n)],
        "complete": [(*stack, m, m), (*stack, m, n)],
        "r": (*stack, k, n),
        "economic": (*stack, m, n),
        "raw": [(*stack, n, m), (*stack, k)],
    }
    if mode not in shapes:
        raise ValueError(f"Unrecognized mode '{mode}'")
    rules: tuple[Any, ...] = (
        (adjoints.qr,) if mode == "reduced" or (mode == "complete" and m <= n) else ()
    )
    if mode == "r" and follows(x):
        return qr(x).R
    result = record(
        "qr",
        lambda v: numpys_qr(v, mode),
        [x],
        shapes[mode],
        mode,
        gradient=rules,
    )
    return (
        result
        if mode in ("r", "economic")
        else QRResult(*result)
        if mode != "raw"
        else tuple(result)
    )


@overload
def svd(
    a: ArrayLike, full_matrices: bool = ..., compute_uv: Literal[True] = ..., hermitian: bool = ...
) -> SVDResult: ...
@overload
def svd(
    a: ArrayLike, full_matrices: bool = ..., *, compute_uv: Literal[False], hermitian: bool = ...
) -> NDArray: ...
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> SVDResult | NDArray:
    """Singular values and vectors of matrices (..., M, N): (U, S, Vh).

    Args:
        a: matrices (..., M, N).
        full_matrices: whether U and Vh are square; else they have min(M, N) columns and rows.
        compute_uv: whether to give U and Vh.
        hermitian: whether the matrices are Hermitian: that is faster.
    Returns: the three (U, S, Vh), a named tuple: (..., M, M), (..., min(M, N)) in descending order,
        (..., N, N); without ``compute_uv`` S alone.
    Raises: LinAlgError for fewer than two axes, and at the wait if it does not converge.

    >>> import lazyarray as la
    >>> la.linalg.svd(la.array([[0.0, 2.0], [1.0, 0.0]])).S.asnumpy()
    array([2., 1.])
    """
    x, stack, m, n = matrices(a)
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    if compute_uv:
        rules: tuple[Any, ...] = (adjoints.svd,) if not full_matrices or m == n else ()
    else:
        rules = (lambda g, a: adjoints.svdvals(g, *svd(a, False, hermitian=hermitian)[::2]),)
    three: list[Shape] = [(*stack, m, rows), (*stack, k), (*stack, columns, n)]
    result = record(
        "svd",
        lambda v: np.linalg.svd(v, full_matrices, compute_uv, hermitian),  # type: ignore[call-overload]
        [x],
        three if compute_uv else three[1],
        (full_matrices, compute_uv, hermitian),
        gradient=rules,
    )
    return SVDResult(*result) if compute_uv else result


def svdvals(x: ArrayLike, /) -> NDArray:
    """The singular values of matrices, in descending order.

    Args:
        x: matrices (..., M, N).
    Returns: an array (..., min(M, N)).
    Raises: LinAlgError for fewer than two axes, and at the wait if it does not converge.

    >>> import lazyarray as la
    >>> la.linalg.svdvals(la.array([[0.0, 2.0], [1.0, 0.0]])).asnumpy()
    array([2., 1.])
    """
    return svd(x, compute_uv=False)


# ---- eigenvalues -------------------------------------------------------------------------------


def eigh(a: ArrayLike, UPLO: str = "L") -> EighResult:
    """Eigenvalues, ascending, and eigenvectors, as columns, of Hermitian matrices.

    Args:
        a: matrices (..., N, N).
        UPLO: which triangle is read, "L" or "U".
    Returns: the pair (eigenvalues, eigenvectors), a named tuple: (..., N) and (..., N, N).
    Raises: ValueError for another ``UPLO``; LinAlgError if they are not square, and at the wait if
        it does not converge.

    >>> import lazyarray as la
    >>> la.linalg.eigh(la.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.asnumpy()
    array([1., 2.])
    """
    x, stack, n = square(a)
    shapes = [(*stack, n), x.shape]
    rules = (adjoints.eigh,)
    found = record("eigh", lambda v: np.linalg.eigh(v, UPLO), [x], shapes, UPLO, gradient=rules)  # type: ignore[call-overload]
    return EighResult(*found)


def eigvalsh(a: ArrayLike, UPLO: str = "L") -> NDArray:
    """The eigenvalues of Hermitian matrices, ascending.

    Args:
        a: matrices (..., N, N).
        UPLO: which triangle is read, "L" or "U".
    Returns: an array (..., N).
    Raises: ValueError for another ``UPLO``; LinAlgError if they are not square, and at the wait if
        it does not converge.

    >>> import lazyarray as la
    >>> la.linalg.eigvalsh(la.array([[2.0, 0.0], [0.0, 1.0]])).asnumpy()
    array([1., 2.])
    """
    x, stack, n = square(a)
    return record(
        "eigvalsh",
        lambda v: np.linalg.eigvalsh(v, UPLO),  # type: ignore[call-overload]
        [x],
        (*stack, n),
        UPLO,
        gradient=(lambda g, a: adjoints.eigvalsh(g, eigh(a, UPLO).eigenvectors),),
    )


def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices.

    Complex matrices have complex ones. Waits for real matrices: whether theirs are real depends
    on the values.

    Args:
        a: matrices (..., N, N).
    Returns: the pair (eigenvalues, eigenvectors), a named tuple: (..., N) and (..., N, N).
    Raises: LinAlgError if they are not square or not finite.

    >>> import lazyarray as la
    >>> la.linalg.eig(la.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.real.asnumpy()
    array([2., 1.])
    """
    x, stack, n = square(a)
    if x.dtype.kind == "c":
        return EigResult(*record("eig", np.linalg.eig, [x], [(*stack, n), x.shape]))
    refuse("linalg.eig", x)
    return EigResult(*[array(v, None, x.device) for v in np.linalg.eig(values(x, "eig()"))])


def eigvals(a: ArrayLike) -> NDArray:
    """The eigenvalues of square matrices.

    Complex matrices have complex ones. Waits for real matrices: whether theirs are real depends
    on the values.

    Args:
        a: matrices (..., N, N).
    Returns: an array (..., N).
    Raises: LinAlgError if they are not square or not finite.

    >>> import lazyarray as la
    >>> la.linalg.eigvals(la.array([[2.0, 0.0], [0.0, 1.0]])).real.asnumpy()
    array([2., 1.])
    """
    x, stack, n = square(a)
    if x.dtype.kind == "c":
        return record("eigvals", np.linalg.eigvals, [x], (*stack, n))
    refuse("linalg.eigvals", x)
    return array(np.linalg.eigvals(values(x, "eigvals()")), None, x.device)
