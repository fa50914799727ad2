"""``numpy.ctypeslib``: arrays for foreign functions. ``as_ctypes`` gives the array's own memory.

The functions are NumPy's own: ``as_array`` gives one of its arrays, on the memory that it is given.

>>> import lazyarray as la
>>> x = la.array([1.0, 2.0])
>>> la.ctypeslib.as_ctypes(x)[1] = 5.0
>>> x
array([1., 5.])
"""

from __future__ import annotations

from numpy.ctypeslib import (
    as_array,
    as_ctypes,
    as_ctypes_type,
    c_intp,
    load_library,
    ndpointer,
)

__all__ = ["load_library", "ndpointer", "c_intp", "as_ctypes", "as_array", "as_ctypes_type"]
