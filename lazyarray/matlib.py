"""``numpy.matlib``: all names of ``numpy``, of which some make NumPy's matrices, and ``repmat``.

>>> import lazyarray as la
>>> la.matlib.repmat(la.array([1, 2]), 2, 2)
array([[1, 2, 1, 2],
       [1, 2, 1, 2]])
>>> la.matlib.zeros((1, 2))
matrix([[0., 0.]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.matlib import empty, eye, identity, ones, zeros

from lazyarray import _public, random

if TYPE_CHECKING:
    from lazyarray._types import Array, ArrayLike, ShapeLike

__all__ = ["empty", "eye", "identity", "ones", "rand", "randn", "repmat", "zeros"]


def repmat(a: ArrayLike, m: int, n: int) -> Array:
    """``a`` as a matrix, ``m`` times below each other and ``n`` times beside each other.

    Args:
        a: a number, a vector, or a matrix.
        m: how often along the first axis.
        n: how often along the second one.
    Returns: an array of two axes; NumPy's matrix if ``a`` is one.
    Raises: ValueError for more than two axes.

    >>> import lazyarray as la
    >>> la.matlib.repmat(5, 1, 3)
    array([[5, 5, 5]])
    """
    x = _public.namespace.asanyarray(a)
    rows, columns = x.shape if x.ndim > 1 else (1, x.size)
    below = x.reshape(1, x.size).repeat(m, 0).reshape(rows * m, columns)
    return below.repeat(n, 0).reshape(rows * m, columns * n)


def rand(*args: ShapeLike) -> np.matrix:
    """A matrix of numbers in [0, 1), drawn as ``la.random.rand`` does.

    Args:
        *args: the lengths of the axes, or a tuple of them.
    Returns: NumPy's matrix.
    Raises: ValueError for more than two axes.

    >>> import lazyarray as la
    >>> la.matlib.rand(2, 3).shape
    (2, 3)
    """
    return np.asmatrix(random.rand(*_lengths(args)))


def randn(*args: ShapeLike) -> np.matrix:
    """A matrix of normal numbers, drawn as ``la.random.randn`` does.

    Args:
        *args: the lengths of the axes, or a tuple of them.
    Returns: NumPy's matrix.
    Raises: ValueError for more than two axes.

    >>> import lazyarray as la
    >>> la.matlib.randn((2, 3)).shape
    (2, 3)
    """
    return np.asmatrix(random.randn(*_lengths(args)))


def _lengths(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return args[0] if args and isinstance(args[0], tuple) else args


def __getattr__(name: str) -> Any:
    return getattr(_public.namespace, name)
