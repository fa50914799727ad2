"""What stands for numpy.linalg's decompositions and numpy.fft's transforms; see stand_ins.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from lazyarray.lazy.cuda.library import calls
from lazyarray.lazy.cuda.library.calls import Array, Hosted, failing
from lazyarray.lazy.cuda.library.stand_ins import FUNCTIONS, stands_for

# ---- linear algebra -----------------------------------------------------------------------------


def _double(a: Array) -> Array:
    """In the precision that numpy.linalg computes in; in C order."""
    if a.size == 0:
        raise Hosted("matrices without elements")
    return calls.cupy().ascontiguousarray(a, dtype="D" if a.dtype.kind == "c" else "d")


def _finite(values: Array, given: Array, message: str) -> None:
    xp = calls.cupy()
    if not bool(xp.isfinite(values).all()):
        if not bool(xp.isfinite(given).all()):  # LAPACK has its own results
            raise Hosted("numbers that are not finite")
        raise LinAlgError(message)


@stands_for(np.linalg.slogdet)
def _slogdet(a: Array) -> tuple[Array, Array]:
    sign, logarithm = calls.cupy().linalg.slogdet(_double(a))
    return sign, logarithm


@stands_for(np.linalg.qr)
def _qr(a: Array, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise Hosted("qr as LAPACK gives it")
    with failing("QR factorization failed"):
        found = calls.cupy().linalg.qr(_double(a), mode)
    return found if mode == "r" else tuple(found)


@stands_for(np.linalg.svd)
def _svd(
    a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if hermitian:
        raise Hosted("svd of Hermitian matrices")
    with failing("SVD did not converge"):
        found = calls.cupy().linalg.svd(_double(a), full_matrices, compute_uv)
    _finite(found[1] if compute_uv else found, a, "SVD did not converge")
    return tuple(found) if compute_uv else found


@stands_for(np.linalg.eigh)
def _eigh(a: Array, UPLO: str = "L") -> tuple[Array, Array]:
    with failing("Eigenvalues did not converge"):
        values, vectors = calls.cupy().linalg.eigh(_double(a), UPLO.upper())
    _finite(values, a, "Eigenvalues did not converge")
    return values, vectors


@stands_for(np.linalg.eigvalsh)
def _eigvalsh(a: Array, UPLO: str = "L") -> Array:
    with failing("Eigenvalues did not converge"):
        values = calls.cupy().linalg.eigvalsh(_double(a), UPLO.upper())
    _finite(values, a, "Eigenvalues did not converge")
    return values


# ---- transforms ---------------------------------------------------------------------------------


def _transform(name: str) -> Callable[..., Array]:
    def transform(
        a: Array, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
    ) -> Array:
        if a.size == 0 or a.dtype.char not in "bBhHiIlLqQefdFD?":
            raise Hosted(f"fft.{name}")
        if name not in ("fft", "ifft", "irfft", "hfft") and a.dtype.kind == "c":
            raise Hosted(f"fft.{name} of complex numbers")
        found = getattr(calls.cupy().fft, name)(a, n, axis, norm)
        if out is None:
            return found
        out[...] = found
        return out

    return transform


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    FUNCTIONS[getattr(np.fft, _name)] = _transform(_name)
