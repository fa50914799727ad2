"""``numpy.dtypes``: the classes of NumPy's dtypes, which are NumPy's own.

>>> import lazyarray as la
>>> isinstance(la.ones(1).dtype, la.dtypes.Float64DType)
True
"""

from __future__ import annotations

from numpy.dtypes import *  # noqa: F403
from numpy.dtypes import __all__ as __all__
