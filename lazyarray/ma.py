"""``numpy.ma``: masked arrays, which are NumPy's, and its functions, which take lazyarrays, too.

What they give stays NumPy's (a mask may be a view of another). Functions of lazyarray that are
given a masked array leave it to NumPy, so they mind the mask.

>>> import lazyarray as la
>>> x = la.ma.masked_greater(la.array([1.0, 2.0, 99.0]), 10)
>>> x.mean(), la.sum(x).item()
(np.float64(1.5), 3.0)
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from numpy import ma as _numpys

import lazyarray.lib  # noqa: F401  as a whole: see polynomial
from lazyarray.lib.hosted import of_hosts

__all__ = [*_numpys.__all__]


def __getattr__(name: str) -> Any:
    found = getattr(_numpys, name)
    if isinstance(found, FunctionType):
        found = of_hosts(found)
    if not name.startswith("_"):
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__]
