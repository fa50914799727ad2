"""``numpy.polynomial.polyutils``: what series are made of; functions wait for lazyarrays.

>>> import lazyarray as la
>>> from lazyarray.polynomial import polyutils
>>> polyutils.trimseq(la.array([1.0, 2.0, 0.0]))
array([1., 2.])
"""

from __future__ import annotations

from numpy.polynomial import polyutils

from lazyarray.lib.hosted import names_of

__getattr__, __dir__ = names_of(polyutils, globals())
__all__ = [*polyutils.__all__]
