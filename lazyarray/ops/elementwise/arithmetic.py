"""Rows of arithmetic."""

from __future__ import annotations

import cmath
import math
from functools import partial
from typing import Any

import numpy as np

from lazyarray.lazy._lazy import Tensor
from lazyarray.lazy.formulas import Formula, formula, function
from lazyarray.ops._rows import DIVMOD, FLOOR_DIVIDE, FMOD, NEGATIVE, POWER, REMAINDER
from lazyarray.ops.elementwise.op import CHEAP, QUOTIENT, ROOT, SLOW, SLOWEST, op
from lazyarray.ops.elementwise.slopes import call, choose, conj, equal, lost, nonzero

_op = partial(op, section="arithmetic")

_op(
    "add",
    cost=CHEAP,
    formula=formula(number="a + b", bool="a or b"),
    gradient=(lambda g: g, lambda g: g),
    exact=True,
    rows_alone="b",
    line="+",
    cupy="fdl",
)
_op(
    "subtract",
    cost=CHEAP,
    formula=formula(number="a - b"),
    gradient=(lambda g: g, lambda g: -g),
    exact=True,
    line="-",
    cupy="fdl",
)
_op(
    "multiply",
    cost=CHEAP,
    formula=formula(number="a * b", bool="a and b"),
    gradient=(lambda g, b: g * conj(b), lambda g, a: g * conj(a)),
    exact=True,
    rows_alone="b",
    line="*",
    cupy="fdl",
)
_op(
    "negative",
    cost=CHEAP,
    formula=formula(number="-a", half="half_negative(a)"),
    gradient=(lambda g: -g,),
    exact=True,
    mended=NEGATIVE,
    cupy="fd",
)
_op("positive", cost=CHEAP, formula=formula(number="a"), gradient=(lambda g: g,), exact=True)
_op(
    "absolute",
    cost=CHEAP,
    also="abs",
    formula=Formula(
        "a", "magnitude(a)", "a", "fabs(a)", "complex_abs(a)", half="half_magnitude(a)"
    ),
    gradient=(lambda g, a: g * call("sign", a),),
    smooth=((0.2, 2),),
    exact=True,
    no_minus_zero=True,
    cupy="fd",
)
_op(
    "fabs",
    cost=CHEAP,
    formula=Formula(real="fabs(a)"),
    gradient=(lambda g, a: g * call("sign", a),),
    smooth=((0.2, 2),),
    exact=True,
    no_minus_zero=True,
)
_op(
    "square",
    cost=CHEAP,
    formula=formula(number="a * a"),
    gradient=(lambda g, a: g * conj(2 * a),),
    exact=True,
    no_minus_zero=True,
)


# ---- the larger, the smaller --------------------------------------------------------------------


def _first_chosen(g: Any, a: Any, b: Any, y: Any) -> Any:
    """Where the inputs are equal each gets a half."""
    return choose(equal(a, b), 0.5 * g, choose(equal(a, y), g, lost(a, y)))


def _second_chosen(g: Any, a: Any, b: Any, y: Any) -> Any:
    return _first_chosen(g, b, a, y)


_chosen = partial(_op, cost=CHEAP, gradient=(_first_chosen, _second_chosen), rows_alone="biu")
_larger, _smaller = "a if a > b else b", "a if a < b else b"

_chosen(
    "maximum",
    line=">",
    formula=formula(
        integer=_larger,
        bool="a or b",
        real="larger(a, b)",
        complex="first_larger(a, b)",
        half="half_larger(a, b)",
    ),
)
_chosen(
    "minimum",
    line="<",
    formula=formula(
        integer=_smaller,
        bool="a and b",
        real="smaller(a, b)",
        complex="first_smaller(a, b)",
        half="half_smaller(a, b)",
    ),
)
_chosen("fmax", formula=formula(number="larger_number(a, b)", integer=_larger, bool="a or b"))
_chosen("fmin", formula=formula(number="smaller_number(a, b)", integer=_smaller, bool="a and b"))


# ---- signs --------------------------------------------------------------------------------------


def _unit(g: Any, a: Any, y: Any) -> Any:
    """Of complex numbers the part across their direction, over their length."""
    if a.dtype.kind != "c":
        return None
    across = (g - y * (conj(g) * y).real) / nonzero(call("absolute", a))
    return choose(equal(y, 0), 0.0, across)


_op(
    "copysign",
    cost=CHEAP,
    formula=Formula(real="copysign(a, b)"),
    gradient=(lambda g, a, y: g * (call("sign", a) * call("sign", y)), None),
    smooth=((0.2, 2), (0.2, 2)),
    exact=True,
)
_op(
    "sign",
    cost=CHEAP,
    formula=formula(
        integer="1 if a != 0 else 0",
        signed="(a > 0) - (a < 0)",
        real="signum(a)",
        complex="complex_sign(a)",
    ),
    gradient=(_unit,),
    smooth=((0.2, 2),),
)
_op(
    "conjugate",
    cost=CHEAP,
    also="conj",
    formula=formula(number="a", complex="conjugate(a)"),
    gradient=(lambda g: conj(g),),
    exact=True,
)
_op(
    "heaviside",
    cost=SLOW,
    formula=Formula(real="step_at_zero(a, b)"),
    gradient=(None, lambda g, a: g * (a == 0)),
    smooth=((0.1, 2), (0.1, 2)),
)


# ---- division -----------------------------------------------------------------------------------

_op(
    "divide",
    cost=QUOTIENT,
    also="true_divide",
    formula=Formula(real="a / b", complex="a / b"),
    gradient=(lambda g, b: g / conj(b), lambda g, b, y: -g * conj(y / b)),
    smooth=((-2, 2), (0.3, 2)),
    exact=True,
    line="/",
    cupy="fd",
)
_op(
    "floor_divide",
    cost=ROOT,
    formula=formula(integer="floor_quotient(a, b)", real="float_floor_quotient(a, b)"),
    gradient=(None, None),
    mended=FLOOR_DIVIDE,
    smooth=((2.3, 2.6), (1.5, 1.8)),
    x87=True,
)
_op(
    "remainder",
    cost=ROOT,
    also="mod",
    formula=formula(integer="floor_residue(a, b)", real="float_floor_residue(a, b)"),
    gradient=(lambda g: g, lambda g, a, b: -g * call("floor_divide", a, b)),
    mended=REMAINDER,
    quotients=np.floor_divide,
    smooth=((0.5, 0.9), (1, 2)),
)
_op(
    "divmod",
    cost=ROOT,
    formula=formula(
        integer="floor_quotient(a, b), floor_residue(a, b)",
        real="float_floor_quotient(a, b), float_floor_residue(a, b)",
    ),
    gradient=(lambda h: h, lambda h, y: -h * y),
    mended=DIVMOD,
    smooth=((2.3, 2.6), (1.5, 1.8)),
    x87=True,
)
_op(
    "fmod",
    cost=SLOW,
    formula=formula(integer="residue(a, b)", real="fmod(a, b)"),
    gradient=(lambda g: g, lambda g, a, b: -g * call("trunc", a / b)),
    mended=FMOD,
    smooth=((-0.9, -0.5), (1, 2)),
)
_op(
    "reciprocal",
    cost=ROOT,
    formula=formula(integer="integer_reciprocal(a)", real="1 / a", complex="reciprocal(a)"),
    gradient=(lambda g, y: -g * conj(y * y),),
    smooth=((0.2, 3),),
)
_op("gcd", cost=SLOW, formula=formula(integer="common_divisor(a, b)"), example="[12, 10], 6")
_op("lcm", cost=SLOW, formula=formula(integer="common_multiple(a, b)"), example="[12, 10], 6")


# ---- powers and roots ---------------------------------------------------------------------------


def _power_base(g: Any, a: Any, b: Any) -> Any:
    """b a^(b-1), and 0 where b is 0 (a may be 0, too)."""
    if not isinstance(b, Tensor):
        return g * conj(b * a ** (b - 1)) if b else g * 0
    return g * conj(choose(equal(b, 0), 0.0, b * a ** choose(equal(b, 0), 1.0, b - 1)))


def _power_exponent(g: Any, a: Any, b: Any, y: Any) -> Any:
    """a^b log(a), and 0 where a is 0."""
    if not isinstance(a, Tensor):
        if a == 0:
            return g * lost(b, y)
        if isinstance(a, (int, float)) and a < 0:
            return g * math.nan
        return g * conj(y * (cmath.log(a) if isinstance(a, complex) else math.log(a)))
    return g * conj(choose(equal(a, 0), lost(b, y), y * call("log", nonzero(a))))


_op(
    "power",
    cost=SLOWEST,
    also="pow",
    formula=formula(integer="integer_power(a, b)", real="pow(a, b)", complex="complex_pow(a, b)"),
    gradient=(_power_base, _power_exponent),
    smooth=((0.2, 3), (-2, 2)),
    vectors=True,
    exponents=True,
    mended=POWER,
)
_op(
    "float_power",
    cost=SLOWEST,
    formula=Formula(real="pow(a, b)", complex="complex_pow(a, b)"),
    gradient=(_power_base, _power_exponent),
    smooth=((0.2, 3), (-2, 2)),
)
_op(
    "sqrt",
    cost=ROOT,
    formula=function("sqrt"),
    gradient=(lambda g, y: g / conj(2 * y),),
    smooth=((0.2, 3),),
    exact=True,
    cupy="fd",
)
_op(
    "cbrt",
    cost=SLOW,
    formula=function("cbrt", complex=False),
    gradient=(lambda g, y: g / (3 * y * y),),
    smooth=((0.2, 3),),
    vectors=True,
)
