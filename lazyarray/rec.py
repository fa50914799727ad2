"""``numpy.rec``: records whose fields are attributes. They are NumPy arrays.

>>> import lazyarray as la
>>> people = la.rec.fromarrays([la.array([36, 45]), ["ada", "bob"]], names="age, name")
>>> people.name[people.age > 40]
array(['bob'], dtype='<U3')
"""

from __future__ import annotations

from numpy import rec as _numpys

import lazyarray.lib  # noqa: F401  as a whole: see polynomial
from lazyarray.lib.hosted import names_of

__getattr__, __dir__ = names_of(_numpys, globals())
__all__ = [*_numpys.__all__]
