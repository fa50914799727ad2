"""Covariance and correlation."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.complex_numbers import imag, real
from lazyarray.functions.creation import zeros
from lazyarray.functions.joining import concatenate
from lazyarray.functions.manipulation import atleast_1d, atleast_2d, diagonal, squeeze
from lazyarray.functions.products import dot
from lazyarray.functions.searching import where
from lazyarray.functions.statistics import average
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import names as op
from lazyarray.ops._layout import gil_op, new_like, operands
from lazyarray.ops._rows import array, assign_to, astype, clamp

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DTypeLike

__all__ = ["cov", "corrcoef", "correlate", "convolve"]

_sum = op.sum
_divide, _sqrt, _conjugate = op.divide, op.sqrt, op.conjugate


# ---- covariance, as numpy/lib/_function_base_impl.py writes it, so that the bits are the same ----


def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike = None,
) -> NDArray:
    """The covariance matrix of variables, each a row of ``m`` (and of ``y``).

    Args:
        m: a matrix, or a vector (one variable).
        y: more variables, with as many observations.
        rowvar: whether each row is a variable; else each column.
        bias: whether to divide by n, not n - 1.
        ddof: divides by n - ddof; None: as ``bias`` says.
        fweights: how often each observation occurs: integers.
        aweights: what each observation weighs.
        dtype: what is computed in, and the result's dtype; None: float64 at least.
    Returns: a matrix with a row and a column for each variable; of one variable an array without
        axes.
    Raises: ValueError for more than two axes; ValueError, TypeError or RuntimeError for weights of
        another shape, negative ones, or no integers: at the wait if they are NDArrays.

    >>> import lazyarray as la
    >>> la.cov(la.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).asnumpy()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    given = operands(*[v for v in (m, y) if v is not None])
    for name, v in zip("my", given, strict=False):
        if v.ndim > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        np.cov(np.zeros((1, 2)), dtype=dtype)  # its error: means are no integers
    kind = np.result_type(*[v.dtype for v in given], np.float64) if dtype is None else dtype
    rows = [atleast_2d(astype(v, kind, copy=False)) for v in given]
    if not rowvar and given[0].ndim != 1:
        rows[0] = rows[0].T
    if not rows[0].shape[0]:
        return array(np.zeros((0, 0)), None, given[0].device)
    if not rowvar and y is not None and rows[1].shape[0] != 1:
        rows[1] = rows[1].T
    x = concatenate(rows, 0) if len(rows) > 1 else rows[0]
    if ddof is None:
        ddof = 0 if bias else 1
    count, device = x.shape[1], x.device
    f = None if fweights is None else _weights("fweights", fweights, count, device)
    w = a = None if aweights is None else _weights("aweights", aweights, count, device)
    if f is not None:
        w = f if a is None else f * a
    factor: Any
    if w is None:
        average_ = average(x, 1)
        factor = count - ddof
        if factor <= 0:
            warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
            factor = 0.0
        factor = np.true_divide(1, factor)
    else:
        average_, total = average(x, 1, w, True)
        factor = total = total[0]
        if ddof and a is not None:
            factor = total - ddof * _sum(op.multiply(w, a)) / total
        elif ddof:
            factor = total - ddof
        with np.errstate(all="ignore"):
            factor = where(factor <= 0, np.inf, _divide(1, factor))
    # NumPy subtracts in place: what weights made of the averages does not make x wider.
    x = astype(x - average_[:, None], x.dtype, copy=False)
    xt = x.T if w is None else (x * w).T
    result = dot(x, xt.conj() if xt.dtype.kind == "c" else xt)
    result *= factor
    return squeeze(result)


def _weights(name: str, given: Any, count: int, device: Any) -> NDArray:
    """The weights as floats; their values are looked at now, or at the wait if not known yet."""

    def check(v: np.ndarray) -> np.ndarray:
        if name == "fweights" and not np.all(v == np.around(v)):
            raise TypeError("fweights must be integer")
        if np.any(v < 0):
            raise ValueError(f"{name} cannot be negative")
        return v

    known = not isinstance(given, Tensor)
    w = array(given, np.float64, device) if known else astype(given, np.float64, copy=False)
    if known and np.ndim(given):
        check(np.asarray(given, float))
    if w.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.shape != (count,):
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    return w if known else gil_op(f"cov's {name}", check, [w], w.shape, gradient=(lambda g: g,))


def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike = None
) -> NDArray:
    """The correlation coefficients of variables: :func:`cov`, scaled to a diagonal of ones.

    Args:
        x: a matrix, or a vector (one variable).
        y: more variables, with as many observations.
        rowvar: whether each row is a variable; else each column.
        dtype: what is computed in, and the result's dtype; None: float64 at least.
    Returns: a matrix with a row and a column for each variable; of one variable an array without
        axes.
    Raises: ValueError for more than two axes.

    >>> import lazyarray as la
    >>> la.corrcoef(la.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).asnumpy()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = _sqrt(real(diagonal(c)))
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind != "c":
        return clamp(c, -1, 1)
    limited = new_like(c)
    for part, to in ((real(c), real(limited)), (imag(c), imag(limited))):
        assign_to(to, clamp(part, -1, 1))
    return limited


# ---- sequences ----------------------------------------------------------------------------------


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> NDArray:
    """The cross-correlation of two vectors: sums of products of ``a`` and the conjugate of ``v``.

    Args:
        a: a vector of N.
        v: a vector of M.
        mode: "full" takes every overlap, "same" as many as the longer vector is long, "valid" only
            the complete ones.
    Returns: a vector: of N + M - 1, max(N, M) or max(N, M) - min(N, M) + 1.
    Raises: ValueError for an empty vector, other arrays than vectors, or another ``mode``.

    >>> import lazyarray as la
    >>> la.correlate(la.array([1, 2, 3]), [0, 1, 2], "same").asnumpy()
    array([5, 8, 3])
    """
    return _slid("correlate", operands(a, v), mode)


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> NDArray:
    """The discrete convolution of two vectors; ``mode`` is that of :func:`correlate`.

    Args:
        a: a vector of N.
        v: a vector of M.
        mode: that of :func:`correlate`.
    Returns: a vector: of N + M - 1, max(N, M) or max(N, M) - min(N, M) + 1.
    Raises: ValueError for an empty vector, other arrays than vectors, or another ``mode``.

    >>> import lazyarray as la
    >>> la.convolve(la.array([1, 2, 3]), [0, 1]).asnumpy()
    array([0, 1, 2, 3])
    """
    return _slid("convolve", [atleast_1d(x) for x in operands(a, v)], mode)


def _slid(name: str, inputs: list[NDArray], mode: Any) -> NDArray:
    function = getattr(np, name)
    # What NumPy makes of vectors of 3 and 2 tells the mode, or that it is none.
    kind = np.correlate(np.ones(3), np.ones(2), mode).size
    short, long = sorted([x.size for x in inputs])
    length = {2: long - short + 1, 3: long, 4: long + short - 1}[kind]
    start = {2: short - 1, 3: (short - 1) // 2, 4: 0}[kind]
    if name == "correlate" and kind == 3 and inputs[0].size < inputs[1].size:
        start = short // 2
    return gil_op(
        name,
        lambda a, v: function(a, v, mode),
        inputs,
        (length,),
        kind,
        cost=3000 + 0.5 * short * long,
        gradient=_unslid(name, short + long - 1, start),
    )


def _unslid(name: str, full: int, start: int) -> Any:
    """The gradient rules of ``_slid``, which gives some of ``full`` results, from ``start`` on."""

    def whole(g: NDArray) -> NDArray:
        out = zeros((full,), g.dtype, device=g.device)
        assign_to(out[start : start + g.size], g)
        return out

    def of_first(g: NDArray, b: NDArray) -> NDArray:
        other = b if name == "convolve" else _conjugate(b[::-1])
        return correlate(whole(g), other, "valid")

    def of_second(g: NDArray, a: NDArray) -> NDArray:
        found = correlate(whole(g), a, "valid")
        return found if name == "convolve" else _conjugate(found)[::-1]

    return of_first, of_second
