"""``numpy.polynomial``: series of powers and of orthogonal polynomials, lowest degree first.

>>> import lazyarray as la
>>> p = la.polynomial.Polynomial([1, 0, 2])
>>> p(la.array([1.0, 2.0])).asnumpy()
array([3., 9.])
>>> la.polynomial.legendre.leggauss(2)[1].asnumpy()
array([1., 1.])
"""

from __future__ import annotations

from numpy.polynomial import set_default_printstyle

import lazyarray.lib  # noqa: F401  as a whole: what asks for a part first may deadlock threads
from lazyarray.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)
from lazyarray.polynomial.series import (
    Chebyshev,
    Hermite,
    HermiteE,
    Laguerre,
    Legendre,
    Polynomial,
)

__all__ = [
    "set_default_printstyle",
    "polynomial",
    "polyutils",
    "Polynomial",
    "chebyshev",
    "Chebyshev",
    "legendre",
    "Legendre",
    "hermite",
    "Hermite",
    "hermite_e",
    "HermiteE",
    "laguerre",
    "Laguerre",
]
