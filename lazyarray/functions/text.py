"""Arrays and numbers as text, and NumPy's options for it: they hold for lazyarrays, too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._layout import looked_at, values

if TYPE_CHECKING:
    from lazyarray._types import ArrayLike

__all__ = [
    "array2string",
    "array_repr",
    "array_str",
    "format_float_positional",
    "format_float_scientific",
    "base_repr",
    "binary_repr",
    "set_printoptions",
    "get_printoptions",
    "printoptions",
]

base_repr = np.base_repr
binary_repr = np.binary_repr
set_printoptions = np.set_printoptions
get_printoptions = np.get_printoptions
printoptions = np.printoptions


def array2string(
    a: ArrayLike,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: Mapping[str, Callable[[Any], str]] | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sign: Literal["-", "+", " "] | None = None,
    floatmode: Literal["fixed", "unique", "maxprec", "maxprec_equal"] | None = None,
    suffix: str = "",
    legacy: Literal[False, "1.13", "1.21", "1.25", "2.1", "2.2"] | None = None,
) -> str:
    """An array's elements as text, in brackets. Waits for them.

    Args:
        max_line_width: the longest line; None: as :func:`set_printoptions` says, as for all that is
            None.
        precision: how many digits.
        suppress_small: whether tiny numbers are 0.
        separator: what is put between elements.
        prefix: what the text comes after, for the indents.
        formatter: functions by the kinds of dtypes.
        threshold: from how many elements on the middle is left out.
        edgeitems: how many are shown at each end then.
        sign: "+", "-" or " ", for positive numbers.
        floatmode: NumPy's way of choosing digits.
        suffix: what comes after the text, for the lines' length.
        legacy: the version of NumPy to print as.
    Returns: a str.

    >>> import lazyarray as la
    >>> la.array2string(la.array([1.0, 2.5]), separator=", ", precision=1)
    '[1. , 2.5]'
    """
    write: Any = functools.partial(
        np.array2string,
        max_line_width=max_line_width,
        precision=precision,
        suppress_small=suppress_small,
        separator=separator,
        prefix=prefix,
        formatter=formatter,  # type: ignore[arg-type]
        threshold=threshold,
        edgeitems=edgeitems,
        sign=sign,
        floatmode=floatmode,
        suffix=suffix,
        legacy=legacy,  # type: ignore[arg-type]
    )
    if formatter is not None:  # functions of the user's, which may do anything
        return write(values(a, "array2string()"))
    text: str = looked_at(a, "array2string()", write)
    return text


def array_repr(
    arr: ArrayLike,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """An array as NumPy's repr writes it. Waits for the values.

    Args:
        max_line_width: the longest line; None: as :func:`set_printoptions` says, as for all that is
            None.
        precision: how many digits.
        suppress_small: whether tiny numbers are 0.
    Returns: a str.

    >>> import lazyarray as la
    >>> la.array_repr(la.array([1.0, 2.5]))
    'array([1. , 2.5])'
    """
    named = getattr(arr, "_as_named", np.asarray)
    text: str = looked_at(
        arr,
        "array_repr()",
        lambda v: np.array_repr(named(v), max_line_width, precision, suppress_small),
    )
    return text


def array_str(
    a: ArrayLike,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """An array as NumPy's str writes it. Waits for the values.

    Args:
        max_line_width: the longest line; None: as :func:`set_printoptions` says, as for all that is
            None.
        precision: how many digits.
        suppress_small: whether tiny numbers are 0.
    Returns: a str.

    >>> import lazyarray as la
    >>> la.array_str(la.array([1.0, 2.5]))
    '[1.  2.5]'
    """
    text: str = looked_at(
        a, "array_str()", lambda v: np.array_str(v, max_line_width, precision, suppress_small)
    )
    return text


def format_float_positional(
    x: ArrayLike,
    precision: int | None = None,
    unique: bool = True,
    fractional: bool = True,
    trim: Literal["k", ".", "0", "-"] = "k",
    sign: bool = False,
    pad_left: int | None = None,
    pad_right: int | None = None,
    min_digits: int | None = None,
) -> str:
    """A number as text without an exponent. Waits for that of an NDArray.

    Args:
        x: a number.
        precision: how many digits; None: as many as needed.
        unique: whether the fewest digits that tell it from all others.
        fractional: whether ``precision`` counts from the point.
        trim: which zeros at the end go: "k", ".", "0" or "-".
        sign: whether positive numbers have a sign.
        pad_left: how many characters before the point, at least.
        pad_right: how many characters after the point, at least.
        min_digits: how many digits, at least.
    Returns: a str.
    Raises: ValueError for a precision that is not positive, unless ``unique``; TypeError for what
        is no number.

    >>> import lazyarray as la
    >>> la.format_float_positional(la.array(1e-5)), la.format_float_positional(0.1, 3, False)
    ('0.00001', '0.100')
    """
    return np.format_float_positional(
        _number(x), precision, unique, fractional, trim, sign, pad_left, pad_right, min_digits
    )


def format_float_scientific(
    x: ArrayLike,
    precision: int | None = None,
    unique: bool = True,
    trim: Literal["k", ".", "0", "-"] = "k",
    sign: bool = False,
    pad_left: int | None = None,
    exp_digits: int | None = None,
    min_digits: int | None = None,
) -> str:
    """A number as text with an exponent. Waits for that of an NDArray.

    Args:
        x: a number.
        precision: how many digits; None: as many as needed.
        unique: whether the fewest digits that tell it from all others.
        trim: which zeros at the end go: "k", ".", "0" or "-".
        sign: whether positive numbers have a sign.
        pad_left: how many characters before the point, at least.
        exp_digits: how many digits of the exponent, at least.
        min_digits: how many digits, at least.
    Returns: a str.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> la.format_float_scientific(la.array(1500.0))
    '1.5e+03'
    """
    return np.format_float_scientific(
        _number(x), precision, unique, trim, sign, pad_left, exp_digits, min_digits
    )


def _number(x: Any) -> Any:
    """A number of its own dtype: a float32's digits are not those of the float64."""
    if not isinstance(x, Tensor):
        return x
    found: Any = x
    return values(x, "format_float()")[()] if found.ndim else found._number("format_float()")
