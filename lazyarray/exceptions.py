"""``numpy.exceptions``: errors and warnings, which are NumPy's own.

>>> import lazyarray as la
>>> try:
...     la.ones(3).sum(axis=2)
... except la.exceptions.AxisError as exc:
...     print(exc)
axis 2 is out of bounds for array of dimension 1
"""

from __future__ import annotations

from numpy.exceptions import *  # noqa: F403
from numpy.exceptions import RankWarning as RankWarning  # which NumPy's own list lacks
from numpy.exceptions import __all__ as _numpys

__all__ = sorted({*_numpys, "RankWarning"})
