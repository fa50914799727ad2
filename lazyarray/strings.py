"""``numpy.strings``: ufuncs of strings; the numbers that they give are lazyarrays.

>>> import numpy as np, lazyarray as la
>>> la.strings.find(np.array(["ada", "bob"]), "b")
array([-1,  0])
"""

from __future__ import annotations

from numpy import strings as _numpys

import lazyarray.lib  # noqa: F401  as a whole: see polynomial
from lazyarray.lib.hosted import names_of

__getattr__, __dir__ = names_of(_numpys, globals())
__all__ = [*_numpys.__all__]
