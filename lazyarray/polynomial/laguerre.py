"""``numpy.polynomial.laguerre``: functions of lazyarrays, which they wait for."""

from __future__ import annotations

from numpy.polynomial import laguerre

from lazyarray.lib.hosted import names_of
from lazyarray.polynomial import series

Laguerre = series.Laguerre
__getattr__, __dir__ = names_of(laguerre, globals())
