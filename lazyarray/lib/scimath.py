"""``numpy.emath``: functions that give complex results where real ones will not do.

They wait for the values, which decide the dtype.
"""

from __future__ import annotations

import numpy as np

from lazyarray.lib.hosted import names_of

__getattr__, __dir__ = names_of(np.emath, globals())
__all__ = [*np.emath.__all__]
