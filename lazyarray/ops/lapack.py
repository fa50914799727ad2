"""LAPACK off the GIL: rows of the generalised ufuncs that ``numpy.linalg`` is made of.

They live in a private module of NumPy, ``numpy.linalg._umath_linalg``; tests/linalg/test_linalg.py
pins what they do. As in ``numpy.linalg``, everything is computed in double precision and the
result has the operands' precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
