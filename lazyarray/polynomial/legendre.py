"""``numpy.polynomial.legendre``: functions of lazyarrays, which they wait for."""

from __future__ import annotations

from numpy.polynomial import legendre

from lazyarray.lib.hosted import names_of
from lazyarray.polynomial import series

Legendre = series.Legendre
__getattr__, __dir__ = names_of(legendre, globals())
