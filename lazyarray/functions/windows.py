"""Window functions and other special functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.ranges import arange
from lazyarray.functions.searching import where
from lazyarray.lazy._lazy import Tensor, Unheld
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import differentiable
from lazyarray.ops._layout import cut_places, gil_op, operands, values
from lazyarray.ops._rows import asarray, astype, full, holdable
from lazyarray.ops.elementwise.slopes import conj

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser", "i0", "sinc"]

_cos, _sin, _sqrt = op.cos, op.sin, op.sqrt

# From so many numbers on threads share `i0`. NumPy's makes some 60 calls, and gives the GIL to the
# other thread in each: 20,000 numbers took 2.3 ms by two threads, 1.3 by one; 100,000 6.9 and 5.6;
# 200,000 10 and 14; a million 30 and 64.
_SHARED = 150_000


# ---- windows ------------------------------------------------------------------------------------


def _number(M: Any, name: str) -> Any:
    """A number of samples as a double, or a longer float; an array is waited for."""
    host = values(M, f"{name}()") if isinstance(M, Tensor) else M
    found = np.array([0.0, host])
    if not holdable(found):
        raise Unheld(f"lazyarray has no windows of dtype {found.dtype}")
    return found[1]


def _window(M: Any, name: str, shape: Callable[[NDArray, float], NDArray]) -> NDArray:
    """``shape(n, M)`` at the odd places n of a window of M samples; an array M is waited for."""
    count = _number(M, name)
    if count <= 1:
        return full((1 if count == 1 else 0,), 1.0, count.dtype)
    return shape(arange(1 - count, count, 2), count)


def bartlett(M: float) -> NDArray:
    """A window of ``M`` samples that rises and falls linearly.

    Args:
        M: how many samples.
    Returns: a vector (M,); of none if M is less than 1.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> la.bartlett(5).asnumpy()
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window(M, "bartlett", lambda n, m: where(n <= 0, 1 + n / (m - 1), 1 - n / (m - 1)))


def blackman(M: float) -> NDArray:
    """A window of ``M`` samples: three terms of cosines, with small side lobes.

    Args:
        M: how many samples.
    Returns: a vector (M,); of none if M is less than 1.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> la.blackman(3).asnumpy().round(3) + 0
    array([0., 1., 0.])
    """
    return _window(
        M,
        "blackman",
        lambda n, m: (
            0.42 + 0.5 * _cos(np.pi * n / (m - 1)) + 0.08 * _cos(2.0 * np.pi * n / (m - 1))
        ),
    )


def hamming(M: float) -> NDArray:
    """A window of ``M`` samples: a raised cosine that doesn't reach zero.

    Args:
        M: how many samples.
    Returns: a vector (M,); of none if M is less than 1.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> la.hamming(3).asnumpy().round(6)
    array([0.08, 1.  , 0.08])
    """
    return _window(M, "hamming", lambda n, m: 0.54 + 0.46 * _cos(np.pi * n / (m - 1)))


def hanning(M: float) -> NDArray:
    """A window of ``M`` samples: a raised cosine.

    Args:
        M: how many samples.
    Returns: a vector (M,); of none if M is less than 1.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> la.hanning(3).asnumpy()
    array([0., 1., 0.])
    """
    return _window(M, "hanning", lambda n, m: 0.5 + 0.5 * _cos(np.pi * n / (m - 1)))


def kaiser(M: float, beta: ArrayLike) -> NDArray:
    """A window of ``M`` samples: Bessel functions, the narrower the larger ``beta``.

    Args:
        M: how many samples.
        beta: the shape.
    Returns: a vector (M,); of none if M is less than 1.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> la.kaiser(3, 0.0).asnumpy()
    array([1., 1., 1.])
    """
    count = _number(M, "kaiser")
    b: Any = beta
    dtype = np.result_type(np.float64, count, b.dtype if isinstance(b, Tensor) else b)
    if count == 1:
        return full((1,), 1.0, dtype)
    b = astype(b, dtype) if isinstance(b, Tensor) else dtype.type(b)
    n = arange(0, dtype.type(count))
    alpha = (count - 1) / 2.0
    return i0(b * _sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / i0(b)


# ---- special functions --------------------------------------------------------------------------


def i0(x: ArrayLike) -> NDArray:
    """The modified Bessel function of the first kind, order 0.

    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.i0(la.array([0.0, 1.0])).asnumpy().round(6)
    array([1.      , 1.266066])
    """
    (v,) = operands(x)
    cut = cut_places(v.shape, 1) if v.size >= _SHARED else None
    return gil_op("i0", np.i0, [v], v.shape, cost=3000 + 60.0 * v.size, cut=cut)


def _sinc_slope(x: NDArray) -> NDArray:
    """The derivative: by the series near 0, where the quotient's terms cancel."""
    v = np.pi * x
    small = op.absolute(v) < 0.5
    t = where(small, v, 0) ** 2
    series: Any = 0.0
    for k in range(9, 0, -1):
        series = series * t + (-1) ** k * 2 * k / math.factorial(2 * k + 1)
    w = where(small, 1, v)
    return np.pi * where(small, v * series, (_cos(w) - _sin(w) / w) / w)


@differentiable(x=lambda g, x: g * conj(_sinc_slope(x)))
def sinc(x: ArrayLike) -> NDArray:
    """``sin(pi x) / (pi x)``, 1 at zero.

    Returns: an array of x's shape.

    >>> import lazyarray as la
    >>> la.sinc(la.array([0.0, 0.5])).asnumpy().round(6)
    array([1.     , 0.63662])
    """
    v = np.pi * asarray(x)
    tiny = np.finfo(v.dtype).eps if v.dtype.kind == "f" else 1e-20
    y = where(v, v, tiny)
    return _sin(y) / y
