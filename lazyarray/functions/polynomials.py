"""Polynomials as vectors of coefficients, that of the highest power first."""

from __future__ import annotations

import functools
import operator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, SupportsInt, overload

import numpy as np

from lazyarray import _public
from lazyarray.functions import creation
from lazyarray.functions.joining import concatenate
from lazyarray.functions.manipulation import atleast_1d
from lazyarray.functions.products import dot, outer
from lazyarray.lazy._lazy import Tensor, Unheld
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import follows, refuse
from lazyarray.ops._layout import device_of, gil_op, looked_at, operands, values
from lazyarray.ops._rows import array, asarray, assign_to, astype, full, kept

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Polynomial

__all__ = [
    "poly",
    "poly1d",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
    "vander",
]

_divide, _multiply, _sqrt, _sum = op.divide, op.multiply, op.sqrt, op.sum


# ---- the class ----------------------------------------------------------------------------------


class _OneOfThem(type):
    """``isinstance`` takes a polynomial that NumPy or SciPy made, as it does their arrays."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is poly1d:
            return isinstance(instance, np.poly1d)
        return super().__instancecheck__(instance)


class poly1d(np.poly1d, metaclass=_OneOfThem):
    """A polynomial that can be called, printed and reckoned with: ``numpy.poly1d``.

    Its coefficients are a lazyarray; with ``r`` those given are its roots. Waits for the
    coefficients, from which leading zeros are dropped.

    Args:
        c_or_r: the coefficients, the highest power first; with ``r`` the roots.
        r: whether roots are given.
        variable: the letter that it is printed with; None: x.
    Raises: ValueError for coefficients of more than one axis.

    >>> import lazyarray as la
    >>> p = la.poly1d([1, 2, 3])
    >>> p(la.array([0, 1])).asnumpy(), p.deriv().coeffs.asnumpy()
    (array([3, 6]), array([2, 2]))
    """

    def __init__(self, c_or_r: Polynomial, r: bool = False, variable: str | None = None) -> None:
        given: Any = c_or_r
        if not isinstance(given, np.poly1d):
            with suppress(Unheld):  # then they are NumPy's
                given = atleast_1d(given)
        super().__init__(given, r, variable)

    def deriv(self, m: SupportsInt | SupportsIndex = 1) -> poly1d:
        """The derivative.

        Args:
            m: how often it is derived.
        Returns: a poly1d object.
        Raises: ValueError if ``m`` is negative.

        >>> import lazyarray as la
        >>> la.poly1d([1, 2, 3]).deriv()
        poly1d([2, 2])
        """
        derived: poly1d = _ours(super().deriv(m))
        return derived

    def integ(self, m: SupportsInt | SupportsIndex = 1, k: ArrayLike | None = 0) -> poly1d:
        """The integral.

        Args:
            m: how often it is integrated.
            k: the constants, one for each time; one number: for all.
        Returns: a poly1d object.
        Raises: ValueError if ``m`` is negative, or for another number of constants.

        >>> import lazyarray as la
        >>> la.poly1d([2, 2]).integ(k=3)
        poly1d([1., 2., 3.])
        """
        constants: Any = k
        integrated: poly1d = _ours(super().integ(m, constants))
        return integrated


def _ours(result: Any) -> Any:
    """What a method of NumPy's class gives, which makes NumPy's, of this class."""
    for p in result if isinstance(result, tuple) else (result,):
        if type(p) is np.poly1d:
            p.__class__ = poly1d
    return result


def _operator(name: str) -> Any:
    numpys = getattr(np.poly1d, name)
    return functools.wraps(numpys)(lambda *args: _ours(numpys(*args)))


for _name in """
    __neg__ __pos__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __pow__ __truediv__
    __rtruediv__""".split():
    setattr(poly1d, _name, _operator(_name))


def _as_given(result: NDArray, *given: Any) -> Any:
    """``result`` as NumPy gives it: a poly1d if one was given."""
    return poly1d(result) if any(isinstance(p, np.poly1d) for p in given) else result


# ---- arithmetic ---------------------------------------------------------------------------------


@overload
def polyadd(a1: np.poly1d, a2: Polynomial) -> poly1d: ...
@overload
def polyadd(a1: Polynomial, a2: np.poly1d) -> poly1d: ...
@overload
def polyadd(a1: ArrayLike, a2: ArrayLike) -> NDArray: ...
def polyadd(a1: Polynomial, a2: Polynomial) -> NDArray | poly1d:
    """The sum of two polynomials.

    Args:
        a1: coefficients, the highest power first, or a poly1d.
        a2: the other's.
    Returns: a vector of the longer one's length; a poly1d if one was given.
    Raises: TypeError for coefficients that are no numbers.

    >>> import lazyarray as la
    >>> la.polyadd(la.array([1, 2]), la.array([9, 5, 4])).asnumpy()
    array([9, 6, 6])
    """
    x, y = _padded(a1, a2)
    return _as_given(x + y, a1, a2)


@overload
def polysub(a1: np.poly1d, a2: Polynomial) -> poly1d: ...
@overload
def polysub(a1: Polynomial, a2: np.poly1d) -> poly1d: ...
@overload
def polysub(a1: ArrayLike, a2: ArrayLike) -> NDArray: ...
def polysub(a1: Polynomial, a2: Polynomial) -> NDArray | poly1d:
    """The difference of two polynomials.

    Args:
        a1: coefficients, the highest power first, or a poly1d.
        a2: those to subtract.
    Returns: a vector of the longer one's length; a poly1d if one was given.
    Raises: TypeError for coefficients that are no numbers.

    >>> import lazyarray as la
    >>> la.polysub(la.array([2, 10, -2]), la.array([3, 10, -4])).asnumpy()
    array([-1,  0,  2])
    """
    x, y = _padded(a1, a2)
    return _as_given(x - y, a1, a2)


def _padded(a1: Any, a2: Any) -> list[NDArray]:
    """Both, the shorter one with zeros in front."""
    pair: list[NDArray] = [atleast_1d(x) for x in operands(a1, a2)]
    most = max([len(x) for x in pair])
    return [
        concatenate([full((most - len(x),), 0, x.dtype, x.device), x]) if len(x) < most else x
        for x in pair
    ]


@overload
def polymul(a1: np.poly1d, a2: Polynomial) -> poly1d: ...
@overload
def polymul(a1: Polynomial, a2: np.poly1d) -> poly1d: ...
@overload
def polymul(a1: ArrayLike, a2: ArrayLike) -> NDArray: ...
def polymul(a1: Polynomial, a2: Polynomial) -> NDArray | poly1d:
    """The product of two polynomials, without leading zeros.

    Waits for the values: the number of leading zeros decides the length.

    Args:
        a1: coefficients, the highest power first, or a poly1d.
        a2: the other's.
    Returns: a vector; a poly1d if one was given.
    Raises: TypeError for coefficients that are no numbers.

    >>> import lazyarray as la
    >>> la.polymul(la.array([1, 2, 3]), la.array([9, 5, 1])).asnumpy()
    array([ 9, 23, 38, 17,  3])
    """
    device = device_of(a1, a2)
    refuse("polymul", a1, a2)
    y = values(a2, "polymul()")
    if isinstance(a1, Tensor):
        product = looked_at(a1, "polymul()", lambda x: _multiplied(x, y))
    else:
        product = _multiplied(values(a1, "polymul()"), y)
    return _as_given(kept(product, device), a1, a2)


def _multiplied(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``np.polymul``, which looks for leading zeros in all of ``x`` and ``y``."""
    if x.ndim == y.ndim == 1 and x.size and y.size and x[0] != 0 and y[0] != 0:
        return np.convolve(x, y)
    return np.polymul(x, y)


@overload
def polydiv(u: np.poly1d, v: Polynomial) -> tuple[poly1d, poly1d]: ...
@overload
def polydiv(u: Polynomial, v: np.poly1d) -> tuple[poly1d, poly1d]: ...
@overload
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[NDArray, NDArray]: ...
def polydiv(u: Polynomial, v: Polynomial) -> tuple[NDArray, NDArray] | tuple[poly1d, poly1d]:
    """Quotient and remainder of two polynomials.

    Waits for the values: the remainder has no leading zeros.

    Args:
        u: the dividend's coefficients, the highest power first.
        v: the divisor's.
    Returns: the pair (quotient, remainder) of vectors; of poly1d if one was given.
    Raises: ValueError for other arrays than vectors.

    >>> import lazyarray as la
    >>> [x.asnumpy().tolist() for x in la.polydiv(la.array([3.0, 5, 2]), la.array([2.0, 1]))]
    [[1.5, 1.75], [0.25]]
    """
    device = device_of(u, v)
    refuse("polydiv", u, v)
    quotient, rest = np.polydiv(values(u, "polydiv()"), values(v, "polydiv()"))
    first, second = [_as_given(array(x, None, device), u, v) for x in (quotient, rest)]
    return first, second


@overload
def polyder(p: np.poly1d, m: int = ...) -> poly1d: ...
@overload
def polyder(p: ArrayLike, m: int = ...) -> NDArray: ...
def polyder(p: Polynomial, m: int = 1) -> NDArray | poly1d:
    """The ``m``-th derivative.

    Args:
        p: coefficients, the highest power first, or a poly1d.
        m: how often.
    Returns: a vector, shorter by ``m``; a poly1d if ``p`` is one.
    Raises: ValueError if ``m`` is negative.

    >>> import lazyarray as la
    >>> la.polyder(la.array([1, 1, 1, 1])).asnumpy()
    array([3, 2, 1])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    x = asarray(p)
    degree = len(x) - 1
    for i in range(min(m, degree + 1)):
        x = x[:-1] * array(np.arange(degree - i, 0, -1), None, x.device)
    if m and degree < 0:  # of nothing, as if it were multiplied, too
        x = x * array(np.arange(0), None, x.device)
    return _as_given(x, p)


@overload
def polyint(p: np.poly1d, m: int = ..., k: ArrayLike | None = ...) -> poly1d: ...
@overload
def polyint(p: ArrayLike, m: int = ..., k: ArrayLike | None = ...) -> NDArray: ...
def polyint(p: Polynomial, m: int = 1, k: ArrayLike | None = None) -> NDArray | poly1d:
    """The ``m``-th antiderivative.

    Args:
        p: coefficients, the highest power first, or a poly1d.
        m: how often.
        k: the constants: one for all, or one each; None: 0.
    Returns: a vector, longer by ``m``; a poly1d if ``p`` is one.
    Raises: ValueError if ``m`` is negative or there are too few constants.

    >>> import lazyarray as la
    >>> la.polyint(la.array([3, 2, 1]), k=5).asnumpy()
    array([1., 1., 1., 5.])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    x: NDArray
    x, constants = operands(p, np.zeros(m) if k is None else k)
    constants = atleast_1d(constants)
    if len(constants) == 1 and m > 1:
        constants = constants[0] * full((m,), 1.0, np.float64, x.device)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for i in range(m):
        powers = array(np.arange(len(x), 0, -1), None, x.device)
        x = concatenate([x / powers, constants[i : i + 1]])
    return _as_given(x, p)


@overload
def polyval(p: Polynomial, x: np.poly1d) -> poly1d: ...
@overload
def polyval(p: Polynomial, x: ArrayLike) -> NDArray: ...
def polyval(p: Polynomial, x: Polynomial) -> NDArray | poly1d:
    """The polynomial's values at ``x``, by Horner's rule.

    Args:
        p: coefficients, the highest power first, or a poly1d.
        x: where it is asked for; a poly1d gives a poly1d.
    Returns: an array of x's shape.

    >>> import lazyarray as la
    >>> la.polyval([3, 0, 1], la.array([5, 6])).asnumpy()
    array([ 76, 109])
    """
    # Coefficients of another kind of sequence are constants of the fused expression.
    coefficients = asarray(p) if isinstance(p, Tensor) else np.asarray(p)
    if isinstance(x, np.poly1d):
        of: Any = poly1d([0])
        for i in range(len(coefficients)):
            of = of * x + coefficients[i]
        return poly1d(of)
    v = operands(x, *([p] if isinstance(p, Tensor) else []))[0]
    y = creation.zeros_like(v)
    for i in range(len(coefficients)):
        y = y * v + coefficients[i]
    return y


# ---- roots --------------------------------------------------------------------------------------


def roots(p: ArrayLike) -> NDArray:
    """The polynomial's roots, as the eigenvalues of its companion matrix.

    Waits for the values: zeros at either end are left out, and real roots have a real dtype.

    Args:
        p: a vector of coefficients, the highest power first.
    Returns: a vector, of as many as there are roots.
    Raises: ValueError for other arrays than vectors.

    >>> import lazyarray as la
    >>> la.roots(la.array([1.0, -3.0, 2.0])).asnumpy()
    array([2., 1.])
    """
    refuse("roots", p)
    return array(np.roots(values(p, "roots()")), None, device_of(p))


def poly(seq_of_zeros: ArrayLike) -> NDArray:
    """The coefficients of the polynomial with these roots, or of a matrix's characteristic one.

    Waits for complex values: where all come in conjugate pairs the result is real.

    Args:
        seq_of_zeros: a vector of roots, or a square matrix.
    Returns: a vector of n + 1, the highest power first.
    Raises: ValueError for other shapes.

    >>> import lazyarray as la
    >>> la.poly(la.array([1.0, 2.0])).asnumpy()
    array([ 1., -3.,  2.])
    """
    x = atleast_1d(asarray(seq_of_zeros))
    is_matrix = x.ndim == 2 and x.shape[0] == x.shape[1] != 0
    if x.ndim != 1 and not is_matrix:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if x.size == 0:
        one: NDArray = full((), 1.0, np.float64, x.device)[()]  # a scalar
        return one
    if x.dtype.kind == "c":
        refuse("poly", x)
        return array(np.poly(values(x, "poly()")), None, x.device)
    # Of one root, or of a real one, to learn the dtype: a real matrix's are conjugate pairs.
    return gil_op(
        "poly",
        np.poly,
        [x],
        (len(x) + 1,),
        mini=lambda v: np.poly(np.eye(2, dtype=v.dtype) if is_matrix else v),
    )


# ---- fitting ------------------------------------------------------------------------------------


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> NDArray:
    """The powers of a vector as the columns of a matrix (len(x), N), by default from the highest.

    Args:
        x: a vector.
        N: how many powers; None: as many as elements.
        increasing: whether the powers go up from left to right.
    Returns: a matrix (len(x), N).
    Raises: ValueError for other arrays than vectors.

    >>> import lazyarray as la
    >>> la.vander(la.array([1, 2, 3]), 3).asnumpy()
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    v = asarray(x)
    if v.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = len(v) if N is None else operator.index(N)
    dtype = np.promote_types(v.dtype, int)
    if dtype.kind == "c" and not follows(v):  # a running product of NumPy's has bits of its own
        key = n, increasing
        return gil_op("vander", lambda a: np.vander(a, *key), [v], (len(v), n), key)
    matrix = creation.empty((len(v), n), dtype, device=v.device)
    columns = matrix if increasing else matrix[:, ::-1]
    v = astype(v, matrix.dtype, copy=False)
    power: Any = 1
    for i in range(n):
        assign_to(columns[:, i], power)
        power = v if i == 0 else power * v
    return matrix


def _in_place(row: Any, x: NDArray, y: NDArray) -> NDArray:
    """``row(x, y)``, written into ``x`` unless a gradient needs that as it is."""
    found: NDArray = row(x, y, out=None if follows(x, y) else x)
    return found


@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = ...,
    full: Literal[False] = ...,
    w: ArrayLike | None = ...,
    cov: Literal[False] = ...,
) -> NDArray: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = ...,
    *,
    full: Literal[True],
    w: ArrayLike | None = ...,
    cov: bool | str = ...,
) -> tuple[NDArray, NDArray, NDArray, NDArray, float]: ...
@overload
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = ...,
    full: Literal[False] = ...,
    w: ArrayLike | None = ...,
    *,
    cov: Literal[True, "unscaled"],
) -> tuple[NDArray, NDArray]: ...
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool | str = False,
) -> NDArray | tuple[NDArray, NDArray] | tuple[NDArray, NDArray, NDArray, NDArray, float]:
    """The polynomial of degree ``deg`` that fits points best: shape (deg + 1,) or (deg + 1, K).

    Without ``full`` a worker warns (RankWarning) when it finds the rank too low. Waits for the rank
    if ``full`` and there are more points than coefficients: the residuals' shape depends on it.

    Args:
        x: the points' coordinates (M,).
        y: their values, (M,) or (M, K).
        deg: the degree.
        rcond: singular values below it, as a share of the largest, count as zero; None: M times
            eps.
        full: whether to give what the solution found.
        w: weights (M,).
        cov: whether to give the covariance matrix, scaled by the residuals unless it is "unscaled";
            NaN where the rank is too low to have any.
    Returns: coefficients (deg + 1,) or (deg + 1, K), the highest power first; with ``cov`` (p,
        covariance); with ``full`` (p, residuals, rank, singular values, rcond).
    Raises: TypeError for points of other shapes; ValueError for a negative degree, or too few
        points to scale a covariance.

    >>> import lazyarray as la
    >>> la.polyfit(la.array([0.0, 1.0, 2.0]), la.array([1.0, 3.0, 5.0]), 1).asnumpy().round(6)
    array([2., 1.])
    """
    order = int(deg) + 1
    a: NDArray
    b: NDArray
    a, b = [v + 0.0 for v in operands(x, y)]
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if a.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if a.size == 0:
        raise TypeError("expected non-empty vector for x")
    equations = _public.namespace.linalg.equations
    if b.ndim < 1 or b.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if len(a) != len(b):
        raise TypeError("expected x and y to have same length")
    if rcond is None:
        rcond = len(a) * np.finfo(a.dtype).eps
    left = vander(a, order)
    if w is not None:
        weights: NDArray = operands(a, w)[1] + 0.0
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if len(weights) != len(b):
            raise TypeError("expected w and y to have the same length")
        left = _in_place(_multiply, left, weights[:, None])
        b = _in_place(_multiply, b, weights[:, None] if b.ndim == 2 else weights)
    scale = _sqrt(_sum(left * left, 0))
    left = _in_place(_divide, left, scale)
    if full:
        c, residuals, rank, s = equations.lstsq(left, b, rcond)
        return (c.T / scale).T, residuals, rank, s, rcond
    if cov and cov != "unscaled" and len(a) <= order:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    c, residuals, _, _ = equations.least_squares(
        left, b, rcond, "Polyfit may be poorly conditioned"
    )
    c = (c.T / scale).T
    if not cov:
        return c
    base = _in_place(_divide, equations.inv(dot(left.T, left)), outer(scale, scale))
    if b.ndim == 2:
        base = base[:, :, None]
    factor: Any = 1 if cov == "unscaled" else residuals / (len(a) - order)
    return c, base * factor
