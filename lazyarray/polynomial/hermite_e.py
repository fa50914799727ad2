"""``numpy.polynomial.hermite_e``: functions of lazyarrays, which they wait for."""

from __future__ import annotations

from numpy.polynomial import hermite_e

from lazyarray.lib.hosted import names_of
from lazyarray.polynomial import series

HermiteE = series.HermiteE
__getattr__, __dir__ = names_of(hermite_e, globals())
