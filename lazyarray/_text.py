"""How one number is written, as NumPy writes an array without axes: in a hundredth of the time."""

from __future__ import annotations

import numpy as np

_USUAL = np.get_printoptions()  # of any other NumPy itself is asked
try:  # what they are made of: a private name, but to make them takes longer than to write a number
    from numpy._core.printoptions import format_options as _options
except ImportError:
    _options = None  # type: ignore[assignment]
_USUAL_OPTIONS = None if _options is None else _options.get()
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
    if _options is None or _options.get() is not _USUAL_OPTIONS:
        if np.get_printoptions() != _USUAL:
            return None
    if dtype.char == "d":
        number = float(value)
        size = abs(number)
        if 1e-4 <= size < 1e8 or not size:
            text = repr(number)
            whole, _, part = text.partition(".")
            if len(part) <= _PRECISION and "e" not in part:  # the shortest digits are all of them
                return f"array({whole}.)" if part == "0" else f"array({text})"
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
