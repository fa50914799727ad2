"""Comparisons of whole arrays, and tests for kinds of numbers and layouts."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.complex_numbers import imag
from lazyarray.lazy._lazy import Tensor, Unheld, returned
from lazyarray.ops import names as op
from lazyarray.ops._layout import operands
from lazyarray.ops._rows import Ufunc, asarray, full, holds_scalar, probe

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import Array, ArrayLike

__all__ = [
    "allclose",
    "isclose",
    "array_equal",
    "array_equiv",
    "isneginf",
    "isposinf",
    "isreal",
    "iscomplex",
    "isscalar",
    "iterable",
    "isfortran",
]

_all = op.all


# ---- comparisons --------------------------------------------------------------------------------


def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1.0e-5,
    atol: ArrayLike = 1.0e-8,
    equal_nan: bool = False,
) -> NDArray:
    """Where ``|a - b| <= atol + rtol * |b|``; the tolerances may be arrays, too.

    Infinities are close if they are equal.

    Args:
        rtol: the share of ``b``, a number or an array.
        atol: what is allowed besides, a number or an array.
        equal_nan: whether NaNs are close to each other.
    Returns: an array of bools, of the broadcast shape.
    Raises: ValueError if the shapes do not broadcast.

    >>> import lazyarray as la
    >>> la.isclose(la.array([1.0, 2.0]), [1.0 + 1e-9, 2.1]).asnumpy()
    array([ True, False])
    """
    given: tuple[Any, ...] = (a, b, atol, rtol)
    weak = [isinstance(o, (int, float, complex)) for o in given]
    arrays = iter(operands(*[o for o, w in zip(given, weak, strict=True) if not w]))
    x, y, near, share = [o if w else next(arrays) for o, w in zip(given, weak, strict=True)]
    if isinstance(y, Tensor):  # inexact, for abs() of the least integer
        y = y.astype(np.result_type(y.dtype, 1.0), copy=False)
    elif isinstance(y, int):
        y = float(y)
    if not all(_is_finite(o) for o in given[2:]):
        message = f"One of rtol or atol is not valid, atol: {given[2]}, rtol: {given[3]}"
        mode = np.geterr()["invalid"]
        if mode == "raise":
            raise FloatingPointError(message)
        if mode == "warn":
            warnings.warn(message, RuntimeWarning, stacklevel=2)
    with np.errstate(invalid="ignore"):
        close = op.less_equal(abs(x - y), near + share * abs(y))
        numbers = not isinstance(x, Tensor) and not isinstance(y, Tensor)
        result = close & _is(op.isfinite, y) | (x == y if numbers else op.equal(x, y))
        if equal_nan:
            result = result | _is(op.isnan, x) & _is(op.isnan, y)
    return result


def _is(test: Ufunc, o: Any) -> Any:
    """What a test says of an array, or of a number: that belongs to no device."""
    return test(o) if isinstance(o, Tensor) else bool(test.ufunc(o))


def _is_finite(tolerance: Any) -> bool:
    """Whether a tolerance is finite; one in an NDArray is not looked at, since that would wait."""
    return isinstance(tolerance, Tensor) or bool(np.all(np.isfinite(tolerance)))


def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1.0e-5,
    atol: ArrayLike = 1.0e-8,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements are close (:func:`isclose`); waits for them.

    Args:
        rtol: how far apart, as a share of ``b``.
        atol: how far apart besides.
        equal_nan: whether NaNs are close to each other.
    Returns: Python's bool, as NumPy's function; ``la.all(la.isclose(a, b))`` doesn't wait.
    Raises: ValueError if the shapes do not broadcast.

    >>> import lazyarray as la
    >>> la.allclose(la.array([1.0, 2.0]), [1.0, 2.0 + 1e-9])
    True
    """
    return bool(_all(isclose(a, b, rtol, atol, equal_nan)))


def isscalar(element: ArrayLike) -> bool:
    """Whether ``element`` is a number, or what NumPy returns as a scalar: not so a 0-d array.

    Args:
        element: any object.
    Returns: a bool.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.isscalar(3.5), la.isscalar(la.ones(3).sum()), la.isscalar(la.ones(()))
    (True, True, False)
    """
    if isinstance(element, Tensor):
        return holds_scalar(element)
    return np.isscalar(element)


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> bool:
    """Whether the shapes and all elements are equal; waits for them.

    Args:
        equal_nan: whether NaNs are equal.
    Returns: Python's bool, as NumPy's function.

    >>> import lazyarray as la
    >>> la.array_equal(la.array([1, 2]), [1, 2]), la.array_equal([1], [[1]])
    (True, False)
    """
    pair = _pair(a1, a2)
    if not pair or pair[0].shape != pair[1].shape:
        return False
    x, y = pair
    if equal_nan and x is y:
        return True
    same = op.equal(x, y)
    if equal_nan and {x.dtype.kind, y.dtype.kind} & {"f", "c"}:
        same = same | op.isnan(x) & op.isnan(y)
    return bool(_all(same))


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool:
    """Whether the shapes broadcast and all elements are equal; waits for them.

    Returns: Python's bool, as NumPy's function.

    >>> import lazyarray as la
    >>> la.array_equiv(la.array([1, 2]), [[1, 2], [1, 2]])
    True
    """
    pair = _pair(a1, a2)
    if pair:
        try:
            np.broadcast_shapes(*[x.shape for x in pair])
        except ValueError:
            return False
        return bool(_all(op.equal(*pair)))
    return False


def _pair(a: Any, b: Any) -> list[NDArray]:
    """The two as arrays; nothing, if one can't be an array."""
    try:
        return operands(a, b)
    except Unheld:
        raise  # NumPy compares them
    except Exception:  # also an object's own, as in NumPy
        return []


# ---- kinds of numbers ---------------------------------------------------------------------------


def isposinf(x: ArrayLike, out: NDArray | None = None) -> NDArray:
    """Where an element is positive infinity.

    Returns: an array of bools, of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.isposinf(la.array([la.inf, -la.inf, 1.0])).asnumpy()
    array([ True, False, False])
    """
    return _is_inf(x, out, False)


def isneginf(x: ArrayLike, out: NDArray | None = None) -> NDArray:
    """Where an element is negative infinity.

    Returns: an array of bools, of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.isneginf(la.array([la.inf, -la.inf, 1.0])).asnumpy()
    array([False,  True, False])
    """
    return _is_inf(x, out, True)


def _is_inf(x: Any, out: NDArray | None, negative: bool) -> NDArray:
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(
            f"This operation is not supported for {x.dtype} values because it would be ambiguous."
        )
    sign = op.signbit(x)
    return op.logical_and(op.isinf(x), sign if negative else ~sign, out=out)


def isreal(x: ArrayLike) -> NDArray:
    """Where the imaginary part is zero.

    Returns: an array of bools, of x's shape.

    >>> import lazyarray as la
    >>> la.isreal(la.array([1, 2j])).asnumpy()
    array([ True, False])
    """
    return op.equal(imag(x), 0)


def iscomplex(x: ArrayLike) -> NDArray:
    """Where the imaginary part is not zero.

    Returns: an array of bools, of x's shape.

    >>> import lazyarray as la
    >>> la.iscomplex(la.array([1, 2j])).asnumpy()
    array([False,  True])
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        return op.not_equal(imag(x), 0)
    return returned(full(x.shape, False, np.bool_, x.device))


# ---- objects and layouts -------------------------------------------------------------------------


def iterable(y: ArrayLike) -> bool:
    """Whether one can iterate over an object: not over an array without axes.

    Args:
        y: any object.
    Returns: a bool.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.iterable(la.ones(2)), la.iterable(la.array(2))
    (True, False)
    """
    return y.ndim > 0 if isinstance(y, Tensor) else bool(np.iterable(y))


def isfortran(a: Array) -> bool:
    """Whether the memory is in Fortran order and not in C order, too.

    Returns: a bool; not so for vectors.
    Raises: AttributeError for what is no array, as NumPy's.

    >>> import lazyarray as la
    >>> la.isfortran(la.ones((2, 3), order="F")), la.isfortran(la.ones(3))
    (True, False)
    """
    return bool((probe(a) if isinstance(a, Tensor) else a).flags.fnc)
