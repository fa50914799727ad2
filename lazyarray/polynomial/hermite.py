"""``numpy.polynomial.hermite``: functions of lazyarrays, which they wait for."""

from __future__ import annotations

from numpy.polynomial import hermite

from lazyarray.lib.hosted import names_of
from lazyarray.polynomial import series

Hermite = series.Hermite
__getattr__, __dir__ = names_of(hermite, globals())
