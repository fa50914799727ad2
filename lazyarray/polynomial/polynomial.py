"""``numpy.polynomial.polynomial``: functions of lazyarrays, which they wait for."""

from __future__ import annotations

from numpy.polynomial import polynomial

from lazyarray.lib.hosted import names_of
from lazyarray.polynomial import series

Polynomial = series.Polynomial
__getattr__, __dir__ = names_of(polynomial, globals())
