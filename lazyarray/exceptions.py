"""``numpy.exceptions``: errors and warnings, which are NumPy's own.

>>> import lazyarray as la
>>> la.exceptions.AxisError(2, ndim=1)
AxisError('axis 2 is out of bounds for array of dimension 1')
"""

from __future__ import annotations

from numpy.exceptions import *  # noqa: F403
from numpy.exceptions import __all__ as __all__
