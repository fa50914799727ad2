"""``numpy.char``: operations on arrays of strings, elementwise; those on numbers are lazyarrays.

>>> import numpy as np, lazyarray as la
>>> names = np.array(["  ada", "bob "])
>>> la.char.upper(la.char.strip(names))
array(['ADA', 'BOB'], dtype='<U5')
>>> la.char.str_len(names)
array([5, 4])
"""

from __future__ import annotations

from numpy import char as _numpys

import lazyarray.lib  # noqa: F401  as a whole: see polynomial
from lazyarray.lib.hosted import names_of

__getattr__, __dir__ = names_of(_numpys, globals())
__all__ = [*_numpys.__all__]
