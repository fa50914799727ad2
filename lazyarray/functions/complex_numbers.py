"""Complex numbers: their parts and angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from lazyarray.functions._checks import is_scalar
from lazyarray.functions.conversion import array as made
from lazyarray.lazy._lazy import returned
from lazyarray.ops import _layout
from lazyarray.ops import names as op
from lazyarray.ops._layout import values
from lazyarray.ops._rows import asarray, assign_to, holds_scalar, probe, retype, strided

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["real", "imag", "real_if_close", "angle"]

_all = op.all
_NUMBERS = (bool, int, float, complex)  # whose parts are numbers, as NumPy's functions give them


@overload
def real(val: np.generic) -> NDArray: ...
@overload
def real(val: complex) -> float: ...  # type: ignore[overload-overlap]
@overload
def real(val: ArrayLike) -> NDArray: ...
def real(val: ArrayLike) -> NDArray | float:
    """The real part: a view of a complex array, the array itself otherwise.

    Args:
        val: an array.
    Returns: an array of val's shape and of floats, if ``val`` is complex; of a number a number.

    >>> import lazyarray as la
    >>> la.real(la.array([1 + 2j])).asnumpy()
    array([1.])
    """
    if type(val) in _NUMBERS:
        number: Any = val
        return number.real
    x = asarray(val)
    part = _part(x, 0) if x.dtype.kind == "c" else x
    return returned(part) if is_scalar(val) else part


@overload
def imag(val: np.generic) -> NDArray: ...
@overload
def imag(val: complex) -> float: ...  # type: ignore[overload-overlap]
@overload
def imag(val: ArrayLike) -> NDArray: ...
def imag(val: ArrayLike) -> NDArray | float:
    """The imaginary part: a view of a complex array, new zeros otherwise.

    Args:
        val: an array.
    Returns: an array of val's shape and of floats, if ``val`` is complex; of a number a number.

    >>> import lazyarray as la
    >>> la.imag(la.array([1 + 2j])).asnumpy()
    array([2.])
    """
    if type(val) in _NUMBERS:
        number: Any = val
        return number.imag
    x = asarray(val)
    if x.dtype.kind == "c":
        return returned(_part(x, 1)) if is_scalar(val) else _part(x, 1)
    order = range(x.ndim)[::-1] if probe(x).flags.fnc else None
    zeros = _layout.new(x.shape, x.dtype, order, x.device)
    assign_to(zeros, 0)
    zeros.setflags(write=False)  # as NumPy's: they are no part of the array
    return returned(zeros) if is_scalar(val) else zeros


def _part(x: NDArray, index: int) -> NDArray:
    dtype = np.dtype(x.dtype.char.lower())
    return strided(retype(x, dtype, x.shape, x.strides), x.shape, x.strides, index * dtype.itemsize)


def real_if_close(a: ArrayLike, tol: float = 100) -> NDArray:
    """The real part, if all imaginary parts are small.

    Waits for complex values: the result's dtype depends on them.

    Args:
        tol: how small: over one it is multiplied by the dtype's eps.
    Returns: an array of a's shape.

    >>> import lazyarray as la
    >>> la.real_if_close(la.array([2.1 + 4e-14j]), tol=1000).asnumpy()
    array([2.1])
    """
    x = made(a) if holds_scalar(a) else asarray(a)
    if x.dtype.kind != "c":
        return x
    if tol > 1:
        tol = np.finfo(x.dtype).eps * tol
    small = _all(abs(imag(x)) < tol)
    return real(x) if values(small, "real_if_close()") else x


def angle(z: ArrayLike, deg: bool = False) -> NDArray:
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
    result = op.arctan2(rest, real(x))
    return result * (180 / math.pi) if deg else result
