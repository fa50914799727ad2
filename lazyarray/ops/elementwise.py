"""Elementwise ops: rows that run the compiled loops of NumPy's ufuncs."""

from __future__ import annotations

import sys

import numpy as np

from lazyarray.ops._rows import Row, Ufunc

# Cost in nanoseconds an element (contiguous float64, one core): it decides who runs an op, not
# what it computes. By section of the array API standard, then what NumPy has beyond it.
_CHEAP, _ROOT, _SLOW, _SLOWEST = 0.4, 1.5, 6.0, 20.0
# ... and of these, for singles and doubles, where NumPy has vector loops (SVML, with AVX-512).
_VECTORS = frozenset(
    """exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan arcsin arccos arctan arctan2 sinh cosh
    tanh arcsinh arccosh arctanh power""".split()
)
_VECTOR = 2.5


def _has_vectors() -> bool:
    """Whether NumPy runs those loops here."""
    try:
        from numpy._core._multiarray_umath import (  # type: ignore[import-not-found]
            __cpu_features__,
        )
    except ImportError:  # a private name
        return False
    return bool(__cpu_features__.get("AVX512_SKX")) and sys.platform == "linux"


_SECTIONS: dict[str, dict[float, str]] = {
    "arithmetic": {
        _CHEAP: "add subtract multiply negative positive absolute fabs square maximum minimum "
        "fmax fmin copysign sign conjugate",
        _ROOT: "divide floor_divide remainder reciprocal sqrt divmod",
        _SLOW: "fmod cbrt gcd lcm heaviside",
        _SLOWEST: "power float_power",
    },
    "exponents and logarithms": {
        _SLOW: "exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 ldexp frexp",
    },
    "trigonometry": {
        _SLOW: "sin cos arcsin arccos arctan sinh cosh tanh hypot deg2rad rad2deg degrees radians",
        _SLOWEST: "tan arctan2 arcsinh arccosh arctanh",
    },
    "rounding": {_CHEAP: "floor ceil trunc rint", _SLOW: "modf spacing nextafter"},
    "comparison": {_CHEAP: "equal not_equal less less_equal greater greater_equal"},
    "logic": {
        _CHEAP: "logical_and logical_or logical_xor logical_not isfinite isinf isnan signbit"
    },
    "bits": {
        _CHEAP: "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bitwise_count"
    },
}

# The array API's and NumPy's other names.
ALIASES: dict[str, str] = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "mod": "remainder",
    "pow": "power",
    "true_divide": "divide",
}


def _rows() -> dict[str, Row]:
    rows: dict[str, Row] = {}
    vectors = _VECTORS if _has_vectors() else frozenset()
    for section, costs in _SECTIONS.items():
        for cost, names in costs.items():
            for name in names.split():
                ufunc = getattr(np, name)
                rows[name] = Ufunc(
                    ufunc,
                    name=name,
                    section=section,
                    doc=_doc(name, ufunc),
                    cost=cost,
                    vector=min(cost, _VECTOR) if name in vectors else cost,
                )
    return rows


# What the examples of the docstrings compute with; floats that suit most functions otherwise.
_EXAMPLES = {
    "arccosh": "[1.5, 2.5]",
    "bitwise_count": "[5, 7]",
    "bitwise_and": "[12, 10], 6",
    "bitwise_or": "[12, 10], 6",
    "bitwise_xor": "[12, 10], 6",
    "invert": "[12, 10]",
    "left_shift": "[12, 10], 2",
    "right_shift": "[12, 10], 2",
    "gcd": "[12, 10], 6",
    "lcm": "[12, 10], 6",
    "ldexp": "[0.25, 0.5], 3",
}


_NOTES = {
    "expm1": " Of complex infinities and NaNs it gives what C99\n    says, where NumPy gives NaN.",
}


def _doc(name: str, ufunc: np.ufunc) -> str:
    summary = (ufunc.__doc__ or name).split("\n\n")[1].split("\n")[0]
    given = _EXAMPLES.get(name, "[0.25, 0.5]" + ", 0.75" * (ufunc.nin - 1))
    part = "[0]" * (ufunc.nout > 1)
    shape = (
        "of x's shape" if ufunc.nin == 1 else "of the shape to which ``x1`` and ``x2`` broadcast"
    )
    pair = ufunc.nout > 1
    returns = f"a pair of arrays {shape}" if pair else f"an array {shape}"
    if all(types.endswith("?") for types in ufunc.types):
        returns += ", of bools"
    else:
        returns += f", of the dtype that ``numpy.{name}`` gives"
    outs = "\n        out: a pair of arrays of that shape, which are written and returned." * pair
    shapes = "" if ufunc.nin == 1 else "ValueError if the shapes do not broadcast; "
    return f"""{summary}

    Runs the loops of ``numpy.{name}``.{_NOTES.get(name, "")}

    Args:
        where: a mask that broadcasts to the result: elsewhere ``out`` keeps what it has.{outs}
    Returns: {returns}.
    Raises: {shapes}TypeError for dtypes that ``numpy.{name}`` has no loop for.

    >>> import numpy as np, lazyarray as la
    >>> la.{name}({given}){part}.asnumpy() == np.{name}({given}){part}
    array([ True,  True])
    """


TABLE: dict[str, Row] = _rows()
# The root of a sum of squares: at 0 its gradient is 0, as the squares' is.
root = Ufunc(np.sqrt, name="root", cost=_ROOT)
