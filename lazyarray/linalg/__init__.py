"""Linear algebra: ``numpy.linalg`` as asynchronous ops, LAPACK's loops where NumPy has them.

Shapes and dtypes are known at the call, where wrong ones raise ``LinAlgError``, ValueError or
TypeError as NumPy's functions do; what depends on values (a singular matrix, no convergence) is a
``LinAlgError`` at the wait. Matrices are the last two axes; axes before them are a stack. LAPACK
runs without the GIL. All of the array API standard's extension (2025.12) is here, under its own
argument names, too; where NumPy differs (``eig`` may give real numbers) it is as in NumPy.
"""

from __future__ import annotations

import sys

from numpy.linalg import LinAlgError

from lazyarray import _direct
from lazyarray.functions.manipulation import matrix_transpose
from lazyarray.functions.products import tensordot, vecdot
from lazyarray.linalg.decompositions import (
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    slogdet,
    svd,
    svdvals,
)
from lazyarray.linalg.equations import inv, lstsq, pinv, solve, tensorinv, tensorsolve
from lazyarray.linalg.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from lazyarray.linalg.products import (
    cross,
    diagonal,
    matmul,
    matrix_power,
    multi_dot,
    outer,
    trace,
)

__all__ = [
    "LinAlgError",
    "inv",
    "pinv",
    "solve",
    "lstsq",
    "tensorinv",
    "tensorsolve",
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

_direct.in_linalg(sys.modules[__name__])
