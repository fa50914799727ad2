"""Comparisons of whole arrays, and tests for kinds of numbers, dtypes and layouts."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray import ops
from lazyarray.lazy._lazy import Tensor, Unheld, returned
from lazyarray.ops import elementwise, reductions
from lazyarray.ops._layout import device_of, operands, values
from lazyarray.ops._rows import asarray, full, holds_scalar, probe
from lazyarray.ops.creation import array
from lazyarray.ops.manipulation import copy, imag, real

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

_ops: Any = ops  # whose functions run at once where they can

__all__ = [
    "allclose",
    "isclose",
    "array_equal",
    "array_equiv",
    "isneginf",
    "isposinf",
    "isreal",
    "iscomplex",
    "real_if_close",
    "angle",
    "fix",
    "isscalar",
    "iterable",
    "common_type",
    "typename",
    "mintypecode",
    "min_scalar_type",
    "issubdtype",
    "broadcast_shapes",
    "broadcast",
    "isfortran",
    "require",
    "asarray_chkfinite",
]

typename = np.typename
mintypecode = np.mintypecode
issubdtype = np.issubdtype
broadcast_shapes = np.broadcast_shapes

_ufuncs = elementwise.TABLE
_all = reductions.TABLE["all"]


# ---- comparisons --------------------------------------------------------------------------------


def isclose(
    a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False
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
    given = (a, b, atol, rtol)
    weak = [isinstance(o, (int, float, complex)) for o in given]
    arrays = iter(operands(*[o for o, w in zip(given, weak, strict=True) if not w]))
    x, y, atol, rtol = [o if w else next(arrays) for o, w in zip(given, weak, strict=True)]
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
        close = _ufuncs["less_equal"](abs(x - y), atol + rtol * abs(y))
        numbers = not isinstance(x, Tensor) and not isinstance(y, Tensor)
        result = close & _is("isfinite", y) | (x == y if numbers else _ufuncs["equal"](x, y))
        if equal_nan:
            result = result | _is("isnan", x) & _is("isnan", y)
    return result


def _is(name: str, o: Any) -> Any:
    """What a test says of an array, or of a number: that belongs to no device."""
    return _ufuncs[name](o) if isinstance(o, Tensor) else bool(getattr(np, name)(o))


def _is_finite(tolerance: Any) -> bool:
    """Whether a tolerance is finite; one in an NDArray is not looked at, since that would wait."""
    return isinstance(tolerance, Tensor) or bool(np.all(np.isfinite(tolerance)))


def allclose(
    a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False
) -> NDArray:
    """Whether all elements are close (:func:`isclose`): an array without axes, so no wait.

    Args:
        rtol: how far apart, as a share of ``b``.
        atol: how far apart besides.
        equal_nan: whether NaNs are close to each other.
    Returns: an array of one bool, without axes.
    Raises: ValueError if the shapes do not broadcast.

    >>> import lazyarray as la
    >>> bool(la.allclose(la.array([1.0, 2.0]), [1.0, 2.0 + 1e-9]))
    True
    """
    return _all(isclose(a, b, rtol, atol, equal_nan))


def isscalar(element: Any) -> bool:
    """Whether ``element`` is a number, or what NumPy returns as a scalar: not so a 0-d array.

    Args:
        element: any object.
    Returns: a bool.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.isscalar(3.5), la.isscalar(la.ones(3).sum()), la.isscalar(la.ones(()))
    (True, True, False)
    """
    return holds_scalar(element) or np.isscalar(element)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> NDArray:
    """Whether the shapes and all elements are equal: an array without axes, so no wait.

    Args:
        equal_nan: whether NaNs are equal.
    Returns: an array of one bool, without axes.

    >>> import lazyarray as la
    >>> bool(la.array_equal(la.array([1, 2]), [1, 2])), bool(la.array_equal([1], [[1]]))
    (True, False)
    """
    pair = _pair(a1, a2)
    if not pair or pair[0].shape != pair[1].shape:
        return returned(full((), False, np.bool_, device_of(a1, a2)))
    x, y = pair
    if equal_nan and x is y:
        return returned(full((), True, np.bool_, x.device))
    same = _ufuncs["equal"](x, y)
    if equal_nan and {x.dtype.kind, y.dtype.kind} & {"f", "c"}:
        same = same | _ufuncs["isnan"](x) & _ufuncs["isnan"](y)
    return _all(same)


def array_equiv(a1: Any, a2: Any) -> NDArray:
    """Whether the shapes broadcast and all elements are equal: an array without axes, no wait.

    Returns: an array of one bool, without axes.

    >>> import lazyarray as la
    >>> bool(la.array_equiv(la.array([1, 2]), [[1, 2], [1, 2]]))
    True
    """
    pair = _pair(a1, a2)
    if pair:
        try:
            np.broadcast_shapes(*[x.shape for x in pair])
            return _all(_ufuncs["equal"](*pair))
        except ValueError:
            pass  # they don't
    return returned(full((), False, np.bool_, device_of(a1, a2)))


def _pair(a: Any, b: Any) -> list[NDArray]:
    """The two as arrays; nothing, if one can't be an array."""
    try:
        return operands(a, b)
    except Unheld:
        raise  # NumPy compares them
    except (TypeError, ValueError):
        return []


# ---- kinds of numbers ---------------------------------------------------------------------------


def isposinf(x: Any, out: NDArray | None = None) -> NDArray:
    """Where an element is positive infinity.

    Returns: an array of bools, of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.isposinf(la.array([la.inf, -la.inf, 1.0])).asnumpy()
    array([ True, False, False])
    """
    return _is_inf(x, out, False)


def isneginf(x: Any, out: NDArray | None = None) -> NDArray:
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
    sign = _ufuncs["signbit"](x)
    return _ufuncs["logical_and"](_ufuncs["isinf"](x), sign if negative else ~sign, out=out)


def isreal(x: Any) -> NDArray:
    """Where the imaginary part is zero.

    Returns: an array of bools, of x's shape.

    >>> import lazyarray as la
    >>> la.isreal(la.array([1, 2j])).asnumpy()
    array([ True, False])
    """
    return _ufuncs["equal"](imag(x), 0)


def iscomplex(x: Any) -> NDArray:
    """Where the imaginary part is not zero.

    Returns: an array of bools, of x's shape.

    >>> import lazyarray as la
    >>> la.iscomplex(la.array([1, 2j])).asnumpy()
    array([False,  True])
    """
    x = asarray(x)
    if x.dtype.kind == "c":
        return _ufuncs["not_equal"](imag(x), 0)
    return full(x.shape, False, np.bool_, x.device)


def real_if_close(a: Any, tol: float = 100) -> NDArray:
    """The real part, if all imaginary parts are small.

    Waits for complex values: the result's dtype depends on them.

    Args:
        tol: how small: over one it is multiplied by the dtype's eps.
    Returns: an array of a's shape.

    >>> import lazyarray as la
    >>> la.real_if_close(la.array([2.1 + 4e-14j]), tol=1000).asnumpy()
    array([2.1])
    """
    x = asarray(a)
    if x.dtype.kind != "c":
        return x
    if tol > 1:
        tol = np.finfo(x.dtype).eps * tol
    small = _all(abs(imag(x)) < tol)
    return real(x) if values(small, "real_if_close()") else x


def angle(z: Any, deg: bool = False) -> NDArray:
    """The angle of complex numbers, in (-pi, pi], or in degrees.

    Args:
        z: an array.
        deg: whether the angles are degrees, not radians.
    Returns: an array of floats, of z's shape.

    >>> import lazyarray as la
    >>> la.angle(la.array([1, 1j, -1]), deg=True).asnumpy()
    array([  0.,  90., 180.])
    """
    x = asarray(z)
    rest = imag(x) if x.dtype.kind == "c" else 0
    result = _ufuncs["arctan2"](rest, real(x))
    return result * (180 / math.pi) if deg else result


def fix(x: Any, out: NDArray | None = None) -> NDArray:
    """Values rounded towards zero.

    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.fix(la.array([2.9, -2.9])).asnumpy()
    array([ 2., -2.])
    """
    return _ufuncs["trunc"](x, out=out)


# ---- dtypes and shapes --------------------------------------------------------------------------


def iterable(y: Any) -> bool:
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


def common_type(*arrays: Any) -> Any:
    """The inexact scalar type that holds the values of all arrays; their dtypes decide.

    Args:
        arrays: the arrays.
    Returns: a scalar type: ``float64`` for integers, else the largest of them.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> la.common_type(la.ones(1, la.float32), la.ones(1, la.complex64))
    <class 'numpy.complex64'>
    """
    return np.common_type(*[np.empty(0, a.dtype) if isinstance(a, Tensor) else a for a in arrays])


def min_scalar_type(a: Any, /) -> np.dtype[Any]:
    """For a number the smallest dtype that holds it, for an array its dtype.

    Waits for an array without axes: the value decides.

    Returns: a dtype.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.min_scalar_type(-260), la.min_scalar_type(la.ones(2))
    (dtype('int16'), dtype('float64'))
    """
    if isinstance(a, Tensor):
        x: NDArray = a
        return x.dtype if x.ndim else np.min_scalar_type(values(x, "min_scalar_type()"))
    return np.min_scalar_type(a)


class broadcast:
    """The broadcasting of arrays against each other: the common shape, and tuples of elements.

    The shape is known at once. Waits for the values where it is iterated: for NumPy's scalars.

    >>> import lazyarray as la
    >>> b = la.broadcast(la.array([[1], [2]]), [3, 4])
    >>> b.shape, [u * v for u, v in b]
    ((2, 2), [np.int64(3), np.int64(4), np.int64(6), np.int64(8)])
    """

    def __init__(self, *arrays: Any) -> None:
        self._arrays = operands(*arrays)
        self._shown = np.broadcast(*map(probe, self._arrays))
        self._walk: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The common shape."""
        return self._shown.shape

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return self._shown.ndim

    nd = ndim

    @property
    def size(self) -> int:
        """The number of tuples."""
        return self._shown.size

    @property
    def numiter(self) -> int:
        """The number of arrays."""
        return self._shown.numiter

    @property
    def index(self) -> int:
        """How many tuples were given so far."""
        return 0 if self._walk is None else int(self._walk.index)

    def reset(self) -> None:
        """Starts again."""
        self._walk = None

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Any, ...]:
        if self._walk is None:
            self._walk = np.broadcast(*[values(x, "broadcast()") for x in self._arrays])
        return next(self._walk)


# ---- layouts ------------------------------------------------------------------------------------


def isfortran(a: Any) -> bool:
    """Whether the memory is in Fortran order and not in C order, too.

    Returns: a bool; not so for vectors.
    Raises: AttributeError for what is no array, as NumPy's.

    >>> import lazyarray as la
    >>> la.isfortran(la.ones((2, 3), order="F")), la.isfortran(la.ones(3))
    (True, False)
    """
    return bool((probe(a) if isinstance(a, Tensor) else a).flags.fnc)


_FLAGS = {
    "C": "C_CONTIGUOUS CONTIGUOUS",
    "F": "F_CONTIGUOUS FORTRAN",
    "A": "ALIGNED",
    "W": "WRITEABLE",
    "O": "OWNDATA",
    "E": "ENSUREARRAY",
}
_REQUIREMENTS = {name: flag for flag, names in _FLAGS.items() for name in [flag, *names.split()]}


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> NDArray:
    """``a`` as an array with the flags required (a name or several), copied if it lacks one.

    An array with memory of its own ("O") is a copy, always; aligned ("A") are all.

    Args:
        dtype: the result's dtype; None: a's own.
        requirements: the flags, a name or several: "C", "F", "A", "W", "O", "E".
    Returns: ``a`` itself where it fits, else a copy.
    Raises: KeyError for an unknown flag; ValueError for "C" and "F" together.

    >>> import lazyarray as la
    >>> la.isfortran(la.require(la.ones((2, 3)), requirements=["F"]))
    True
    """
    device = like.device if isinstance(like, Tensor) else None
    flags = {_REQUIREMENTS[name.upper()] for name in requirements or ()}
    if flags >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = next((f for f in "CF" if f in flags), "A" if flags else "K")
    if isinstance(a, Tensor) and a.ndim and dtype is device is None and order in ("C", "F"):
        x = (_ops.asfortranarray if order == "F" else _ops.ascontiguousarray)(a)
    else:
        x = array(a, dtype, copy=None, order=order, device=device)
    if ("O" in flags and x is a) or ("W" in flags and not probe(x).flags.writeable):
        return copy(x, order)
    return x


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> NDArray:
    """``a`` as an array, if all its elements are finite.

    Waits for values that may be others: whether there is an error depends on them.

    Args:
        dtype: the result's dtype; None: a's own.
    Returns: an array of a's shape.
    Raises: ValueError if an element is infinite or NaN.

    >>> import lazyarray as la
    >>> la.asarray_chkfinite([1, 2]).asnumpy()
    array([1, 2])
    """
    plain = isinstance(a, Tensor) and dtype is order is None
    x: Any = a if plain else array(a, dtype, copy=None, order=order or "K")
    if x.dtype.kind in "fc" and not _all(_ufuncs["isfinite"](x))._number("asarray_chkfinite()"):
        raise ValueError("array must not contain infs or NaNs")
    return x
