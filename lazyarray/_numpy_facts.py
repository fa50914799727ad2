"""What differs between the NumPys that lazyarray runs on: each fact is named here, once.

Results and errors are the installed NumPy's wherever its own code makes them. These are the places
where we do what it does by other means, and it did otherwise before.
"""

from __future__ import annotations

import re

import numpy as np

VERSION = tuple(map(int, re.findall(r"\d+", np.__version__)[:2]))

if VERSION < (2, 0):
    raise ImportError(
        f"lazyarray needs NumPy 2.0 or newer, and this is {np.__version__}: pip install -U numpy"
    )

# ---- numbers ------------------------------------------------------------------------------------

# The iterator hands views of several axes to a loop by way of a buffer, where that pays. Before, it
# did so wherever they don't come down to one axis, and cut sums of rows each 8192 elements.
BUFFERS_WHERE_IT_PAYS = VERSION >= (2, 3)
# `a ** b` heeds the dtype of a scalar `b` that is 2, 1, 0.5, 0 or -1. Before, NumPy's own scalars,
# too, were taken for Python's there.
POWERS_KEEP_DTYPES = VERSION >= (2, 3)
# Before, `reduce` mixed up its elements where the input goes backwards and an `out` is given.
REDUCES_INTO_OUT = VERSION >= (2, 2)
# `rfftn` transforms the axes in the order of `fftn`: from the last to the first.
RFFTN_FROM_THE_LAST = VERSION >= (2, 1)
# `eig` and `eigvals` give complex numbers always. Before, real ones where all of them are.
EIG_IS_COMPLEX = VERSION >= (2, 5)

# ---- what functions take ------------------------------------------------------------------------

SAVEZ_ALLOWS_PICKLE = VERSION >= (2, 2)  # before, an array of that name was written
UNIQUE_UNSORTED = VERSION >= (2, 3)  # before, it always sorted
RESHAPE_COPY = VERSION >= (2, 1)
CROSS_OF_THREE = VERSION >= (2, 5)  # and no more of vectors of two
TAKES_INTO_ANY = VERSION >= (2, 5)  # before, into an `out` to which the result's dtype casts safely
DLPACK_VERSIONS = VERSION >= (2, 1)  # `max_version`, `copy` and the newer capsules
DLPACK_WRITABLE = VERSION >= (2, 2)  # before, `np.from_dlpack` gave arrays that are read-only
