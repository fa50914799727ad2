"""What runs through CuPy under a worker's stream: by the names of GUFUNC and PYTHON kernels.

Anything else, and whatever raises Hosted (before it writes), is the host's. Where results may
differ from the host's:

* Last bits, for another order of additions: products, running sums and products (which may overflow
  on the way where a line doesn't, and the reverse), sums, means, var, std, fft.
* Last bits, for another algorithm: inv, solve, det, slogdet, cholesky, qr, svd, eigh, eigvalsh.
  Vectors of svd and eigh may have other signs (phases), those of equal values be any basis.
* A product of halves adds up in single precision, as the host's, but may round parts of a long sum.
* argsort keeps equal elements in order always, as NumPy's stable sort; partition sorts. NaN that
  come out of sort are np.nan, not those put in.
* Draws: see draws.py.
* CuPy compiles its own kernels with -ftz=true: where it computes with (or compares) subnormal
  float32, they are zeros.

But for these, the same bits as the host's: take, scatter, masks, sorts, argmax, arange and the
kernels of la.nn.
"""

from __future__ import annotations

from collections.abc import Callable

from lazyarray.lazy.cuda.library import (
    along,  # noqa: F401  # these fill the tables of kernels and stand-ins
    decompositions,  # noqa: F401
    functions,  # noqa: F401
    indexing,  # noqa: F401
    linalg,  # noqa: F401
    products,  # noqa: F401
    windows,  # noqa: F401
)
from lazyarray.lazy.cuda.library.calls import GUFUNCS, SUPPORTED, Call, Hosted
from lazyarray.lazy.cuda.library.stand_ins import through
from lazyarray.lazy.formulas import CUPY, JOINS, running

__all__ = ["GUFUNCS", "PYTHON", "Call", "Hosted", "gufunc"]


def gufunc(call: Call) -> None:
    """Runs a GUFUNC instruction; Hosted if the host must, IndexError and LinAlgError as NumPy's."""
    function = GUFUNCS.get(call.name)
    if function is None or any(d.char not in SUPPORTED for d in call.dtypes):
        raise Hosted(call.name)
    function(call)


# No closure is called with CuPy's arrays as they are: NumPy's functions would go to CuPy's, whose
# results differ where no error tells it. The functions of these call nothing but NumPy's and change
# nothing but their outputs, so they may be tried here, and run on the host if that fails.
PYTHON: dict[str, Callable[..., None]] = dict.fromkeys(
    [
        *[name for name, join in JOINS.items() if not join.skips_nan],
        *running().values(),
        *("var", "std", "count_nonzero", "round", "median"),
        *CUPY,  # where a mask is true
        *("sort", "argsort", "partition", "argpartition", "lexsort"),
        *("argmax", "argmin", "searchsorted"),
        *("getitem", "setitem", "take", "take_along_axis", "put_along_axis", "delete"),
        *("dot", "vdot"),
        *[f"linalg.{name}" for name in ("slogdet", "qr", "svd", "eigh", "eigvalsh")],
        *[f"fft.{name}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")],
    ],
    through,
)
