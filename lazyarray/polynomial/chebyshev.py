"""``numpy.polynomial.chebyshev``: functions of lazyarrays, which they wait for."""

from __future__ import annotations

from numpy.polynomial import chebyshev

from lazyarray.lib.hosted import names_of
from lazyarray.polynomial import series

Chebyshev = series.Chebyshev
__getattr__, __dir__ = names_of(chebyshev, globals())
