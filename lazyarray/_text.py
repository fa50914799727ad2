"""How one number is written, as NumPy writes an array without axes: in a hundredth of the time."""

from __future__ import annotations

import numpy as np

_USUAL = np.get_printoptions()  # of any other NumPy itself is asked
_PRECISION = _USUAL["precision"]
_NO_NAME = ("?", "l", "d")  # dtypes that are not named


def repr_of_one(value: np.generic) -> str | None:
    """``repr(np.array(value))``; None for rarer dtypes, and where print options were set.

    >>> import numpy as np
    >>> from lazyarray._text import repr_of_one
    >>> repr_of_one(np.float64(1e300)), repr_of_one(np.int8(3))
    ('array(1.e+300)', 'array(3, dtype=int8)')
    """
    dtype = value.dtype
    if np.get_printoptions() != _USUAL:
        return None
    if dtype.char == "d":
        size = abs(float(value))
        if 1e-4 <= size < 1e8 or not size:
            text = np.format_float_positional(value, _PRECISION, trim=".")  # type: ignore[arg-type]
        elif size < np.inf:
            text = np.format_float_scientific(value, _PRECISION, trim=".")  # type: ignore[arg-type]
        else:
            return None
    elif dtype.kind in "biu":
        text = str(value)
    else:
        return None
    return f"array({text})" if dtype.char in _NO_NAME else f"array({text}, dtype={dtype.name})"
