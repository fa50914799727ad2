"""``numpy.ctypeslib``: arrays for foreign functions. ``as_ctypes`` gives the array's own memory.

Most functions are NumPy's own: ``as_array`` gives one of its arrays, on the memory that it gets.

>>> import lazyarray as la
>>> x = la.array([1.0, 2.0])
>>> la.ctypeslib.as_ctypes(x)[1] = 5.0
>>> x
array([1., 5.])
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.ctypeslib import as_array, as_ctypes, as_ctypes_type, c_intp, load_library

from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ctypes import c_void_p

    from lazyarray._flat import flagsobj
    from lazyarray._types import DTypeLike, ShapeLike

__all__ = ["load_library", "ndpointer", "c_intp", "as_ctypes", "as_array", "as_ctypes_type"]


def ndpointer(
    dtype: DTypeLike = None,
    ndim: int | None = None,
    shape: ShapeLike | None = None,
    flags: str | Sequence[str] | int | flagsobj | None = None,
) -> type[c_void_p]:
    """A type for ``argtypes`` and ``restype`` of foreign functions, as NumPy's ``ndpointer``.

    An array is given as its own memory. It waits for it, and ops on it are synchronous during the
    call.

    Args:
        dtype: the dtype that arrays must have; None: any.
        ndim: how many axes they must have; None: any.
        shape: the shape that they must have; None: any.
        flags: what their flags must say, such as "C_CONTIGUOUS"; None: anything.
    Returns: a class, the same object for the same arguments.
    Raises: TypeError for what is no dtype or no flags; a call with an argument that doesn't fit
        raises an error of ``ctypes``.

    >>> import ctypes, lazyarray as la
    >>> fill = ctypes.CDLL(None).memset
    >>> fill.argtypes = [la.ctypeslib.ndpointer("f8"), ctypes.c_int, ctypes.c_size_t]
    >>> x = la.ones(3)
    >>> _ = fill(x, 0, 16)
    >>> x
    array([0., 0., 1.])
    """
    numpys: Any = np.ctypeslib.ndpointer
    return _taking(numpys(dtype, ndim, shape, flags))


@cache
def _taking(numpys: Any) -> type[c_void_p]:
    def from_param(cls: Any, o: Any) -> Any:
        return numpys.from_param(_share.export(o, "?ctypes") if isinstance(o, Tensor) else o)

    return type(numpys.__name__, (numpys,), {"from_param": classmethod(from_param)})
