"""LAPACK's generalised ufuncs by cuSOLVER and cuBLAS, with NumPy's errors, which are waited for.

Operands are float64 or complex128, as on the host.
"""

from __future__ import annotations

from numpy.linalg import LinAlgError

from lazyarray.lazy.cuda.library import calls
from lazyarray.lazy.cuda.library.calls import Array, Call, Hosted, failing, runs

_SINGULAR = "Singular matrix"
_INDEFINITE = "Matrix is not positive definite"


@runs("linalg.inv")
def inv(call: Call) -> None:
    """Inverses of square matrices."""
    a, out = call.arrays
    if out.size:
        with failing(_SINGULAR):
            out[...] = calls.cupy().linalg.inv(_whole(a))


@runs("linalg.solve")
def solve(call: Call) -> None:
    """Solutions of ``a @ x == b`` for matrices ``b``."""
    a, b, out = call.arrays
    if out.size:
        with failing(_SINGULAR):
            out[...] = calls.cupy().linalg.solve(_whole(a), _whole(b))


@runs("linalg.solve1")
def solve1(call: Call) -> None:
    """Solutions of ``a @ x == b`` for vectors ``b``."""
    a, b, out = call.arrays
    if out.size:
        with failing(_SINGULAR):
            out[...] = calls.cupy().linalg.solve(_whole(a), _whole(b[..., None]))[..., 0]


@runs("linalg.det")
def det(call: Call) -> None:
    """Determinants, as NumPy by their logarithms."""
    a, out = call.arrays
    if a.size == 0:
        out[...] = 1
    else:
        sign, logarithm = calls.cupy().linalg.slogdet(_whole(a))
        out[...] = sign * calls.cupy().exp(logarithm)


@runs("linalg.cholesky_lo")
def cholesky_lo(call: Call) -> None:
    """Lower factors of positive definite matrices, of which the lower triangle is read."""
    a, out = call.arrays
    if out.size:
        out[...] = _factor(_whole(a))


@runs("linalg.cholesky_up")
def cholesky_up(call: Call) -> None:
    """Upper factors of positive definite matrices, of which the upper triangle is read."""
    a, out = call.arrays
    if out.size:
        out[...] = _factor(_whole(a).swapaxes(-2, -1).conj()).swapaxes(-2, -1).conj()


def _factor(a: Array) -> Array:
    xp = calls.cupy()
    with failing(_INDEFINITE):
        factor = xp.linalg.cholesky(a)
    diagonal = xp.diagonal(factor, axis1=-2, axis2=-1).real
    if not bool((diagonal > 0).all()):
        if not bool(xp.isfinite(a).all()):  # LAPACK has its own results
            raise Hosted("numbers that are not finite")
        raise LinAlgError(_INDEFINITE)
    return factor


def _whole(a: Array) -> Array:
    """The array in C order: solvers take pointers, and overwrite no copy of ours."""
    return calls.cupy().ascontiguousarray(a)
