"""Views with strides of one's own: ``numpy.lib.stride_tricks``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lazyarray import _direct
from lazyarray.ops._layout import viewed

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(
    x: ArrayLike,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    subok: bool = False,
    writeable: bool = True,
    *,
    check_bounds: bool | None = None,
) -> NDArray:
    """A view of x's memory with a shape and strides of one's own.

    Args:
        x: an array, or what :func:`array` makes one of.
        shape: the lengths of the axes; None: its own.
        strides: the bytes from one element of an axis to the next; None: its own.
        subok: for NumPy's signature: there are no subclasses.
        writeable: whether the view may be written to.
        check_bounds: for NumPy's signature: they always are.
    Returns: a view of shape ``shape``.
    Raises: ValueError if it reaches outside the memory, where NumPy's would read what lies there,
        for a negative length, and for another number of strides than of lengths.

    >>> import lazyarray as la
    >>> la.lib.stride_tricks.as_strided(la.arange(4), (3, 2), (8, 8)).asnumpy()
    array([[0, 1],
           [1, 2],
           [2, 3]])
    """
    tricks = np.lib.stride_tricks
    return viewed(x, tricks.as_strided, shape, strides, writeable=writeable)


def sliding_window_view(
    x: ArrayLike,
    window_shape: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> NDArray:
    """A view of all windows of a shape (along some axes): the windows' axes come last.

    Args:
        x: an array, or what :func:`array` makes one of.
        window_shape: the lengths of a window: an int, or a tuple of one for each axis.
        axis: the axes that it slides along; None: all.
        subok: for NumPy's signature: there are no subclasses.
        writeable: whether the view may be written to.
    Returns: a view of shape ``(*places, *window_shape)``.
    Raises: ValueError for a window that is longer than its axis, a negative length, or another
        number of lengths than of axes; AxisError (a ValueError and an IndexError) if there is no
        such axis.

    >>> import lazyarray as la
    >>> la.lib.stride_tricks.sliding_window_view(la.arange(4), 2).sum(axis=-1).asnumpy()
    array([1, 3, 5])
    """
    tricks = np.lib.stride_tricks
    return viewed(x, tricks.sliding_window_view, window_shape, axis, writeable=writeable)


_direct.register(sys.modules[__name__])
