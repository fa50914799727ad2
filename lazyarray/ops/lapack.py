"""LAPACK off the GIL: rows of the generalised ufuncs that ``numpy.linalg`` is made of.

They live in a private module of NumPy, ``numpy.linalg._umath_linalg``; tests/linalg/test_linalg.py
pins what they do. As in ``numpy.linalg``, everything is computed in double precision and the
result has the operands' precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import _umath_linalg

from lazyarray.ops._rows import Gufunc

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__: list[str] = []

_SINGULAR = "Singular matrix"
_INDEFINITE = "Matrix is not positive definite"

_SHARED = 8  # rows of matrices of which threads share a stack

TABLE = {
    name: Gufunc(
        getattr(_umath_linalg, name),
        name=f"linalg.{name}",
        section="linear algebra",
        doc=f"LAPACK through ``numpy.linalg``: {name}.",
        invalid=invalid,
        cost=cost,
        shared_from=least,
    )
    # Two threads in OpenBLAS's getrf or potrf of small matrices wait for each other: 20,000 times
    # cholesky of 4 x 4 takes 2.2 ms on one, and 3.9 on two; 100,000 times solve of 3 x 3 13 and 20.
    for name, invalid, cost, least in [
        ("inv", _SINGULAR, 1.0, _SHARED),
        ("solve", _SINGULAR, 0.5, _SHARED),
        ("solve1", _SINGULAR, 0.5, _SHARED),
        ("det", None, 0.4, None),
        ("cholesky_lo", _INDEFINITE, 0.2, None),
        ("cholesky_up", _INDEFINITE, 0.2, None),
    ]
}


def lapack(name: str, *arrays: NDArray) -> NDArray:
    """The row's result, in the precision of ``arrays``; TypeError for a dtype LAPACK lacks."""
    single, complex_ = True, False
    for x in arrays:
        if x.dtype.char not in "fdFD" and x.dtype.kind not in "biu":
            raise TypeError(f"array type {x.dtype.name} is unsupported in linalg")
        single = single and x.dtype.char in "fF"
        complex_ = complex_ or x.dtype.kind == "c"
    dtype = np.dtype(("F" if single else "D") if complex_ else ("f" if single else "d"))
    compute = "D" if complex_ else "d"
    result: NDArray = TABLE[name](*[x.astype(compute, copy=False) for x in arrays])
    return result.astype(dtype, copy=False)


# ---- tall matrices ------------------------------------------------------------------------------

_TALL = 4  # times the columns are fewer than the rows
_LARGE = 1 << 14  # elements
_COPIED = 4096  # elements of the rows that are turned round at once: both sides stay in the cache
_NAME = "qr_r_raw" if hasattr(_umath_linalg, "qr_r_raw") else "qr_r_raw_n"  # that of NumPy 2.0
_triangular: Any = getattr(_umath_linalg, _NAME)


def qr(a: np.ndarray, mode: str) -> Any:
    """``numpy.linalg.qr(a, mode)``, in less time where ``a`` is tall: bits and layout are the same.

    LAPACK goes by columns. NumPy copies a matrix to columns and back three times for it, a column
    at a time, which reads each line of the cache once for each element in it. Here columns are made
    once, and Q's rows at the end. (125,000 x 32: 103 and 82 ms; 31,250 x 32: 10.4 and 10.0; two
    thirds of it are LAPACK's.)
    """
    if (
        mode not in ("reduced", "r")
        or type(a) is not np.ndarray  # a GPU's
        or a.ndim != 2
        or a.dtype.char not in "fdFD"
        or a.size < _LARGE
        or a.shape[0] < _TALL * a.shape[1]
    ):
        return np.linalg.qr(a, mode)  # type: ignore[call-overload]
    (m, n), t = a.shape, "D" if a.dtype.kind == "c" else "d"
    columns = _turned(a, np.empty((m, n), t, "F"))
    # As NumPy: LAPACK computes with what is given, infinities and NaNs included.
    with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
        tau = _triangular(columns, signature=f"{t}->{t}")
        r = np.triu(columns[:n]).astype(a.dtype, copy=False)
        if mode == "r":
            return r
        q = np.empty((m, n), t, "F")
        _umath_linalg.qr_reduced(columns, tau, out=q, signature=f"{t}{t}->{t}")
    return _turned(q, np.empty((m, n), a.dtype)), r


def _turned(x: np.ndarray, to: np.ndarray) -> np.ndarray:
    """``to``, in which the elements of a matrix lie in another order."""
    rows = max(_COPIED // x.shape[1], 1)
    for i in range(0, len(x), rows):
        to[i : i + rows] = x[i : i + rows]
    return to
