"""Rows of trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from functools import partial

from lazyarray.lazy.formulas import Formula, function
from lazyarray.ops._rows import COSINE, HYPOT, SINE
from lazyarray.ops.elementwise.op import SLOW, SLOWEST, op
from lazyarray.ops.elementwise.slopes import call, conj, nonzero

_op = partial(op, section="trigonometry")
_DEGREE = math.pi / 180
_to_radians, _to_degrees = Formula(real="a * (pi / 180)"), Formula(real="a * (180 / pi)")

_op(
    "sin",
    cost=SLOW,
    formula=function("sin"),
    gradient=(lambda g, a: g * conj(call("cos", a)),),
    vectors=True,
    vector_of="f",
    mended=SINE,
)
_op(
    "cos",
    cost=SLOW,
    formula=function("cos"),
    gradient=(lambda g, a: -g * conj(call("sin", a)),),
    vectors=True,
    vector_of="f",
    mended=COSINE,
)
_op(
    "tan",
    cost=SLOWEST,
    formula=function("tan"),
    gradient=(lambda g, y: g * conj(1 + y * y),),
    smooth=((-1.2, 1.2),),
    vectors=True,
)
_op(
    "arcsin",
    cost=SLOW,
    also="asin",
    formula=function("asin", complex=False),
    gradient=(lambda g, a: g / conj(call("sqrt", 1 - a * a)),),
    smooth=((-0.9, 0.9),),
    vectors=True,
)
_op(
    "arccos",
    cost=SLOW,
    also="acos",
    formula=function("acos", complex=False),
    gradient=(lambda g, a: -g / conj(call("sqrt", 1 - a * a)),),
    smooth=((-0.9, 0.9),),
    vectors=True,
)
_op(
    "arctan",
    cost=SLOW,
    also="atan",
    formula=function("atan", complex=False),
    gradient=(lambda g, a: g / conj(1 + a * a),),
    vectors=True,
)
_op(
    "arctan2",
    cost=SLOWEST,
    also="atan2",
    formula=Formula(real="atan2(a, b)"),
    gradient=(
        lambda g, a, b: g * b / nonzero(a * a + b * b),
        lambda g, a, b: -g * a / nonzero(a * a + b * b),
    ),
    vectors=True,
)
_op(
    "hypot",
    cost=SLOW,
    formula=Formula(real="hypot(a, b)"),
    gradient=(lambda g, a, y: g * a / nonzero(y), lambda g, b, y: g * b / nonzero(y)),
    smooth=((0.3, 2), (0.3, 2)),
    mended=HYPOT,
)
_op(
    "sinh",
    cost=SLOW,
    formula=function("sinh"),
    gradient=(lambda g, a: g * conj(call("cosh", a)),),
    vectors=True,
)
_op(
    "cosh",
    cost=SLOW,
    formula=function("cosh"),
    gradient=(lambda g, a: g * conj(call("sinh", a)),),
    vectors=True,
)
_op(
    "tanh",
    cost=SLOW,
    formula=function("tanh"),
    gradient=(lambda g, y: g * conj(1 - y * y),),
    vectors=True,
)
_op(
    "arcsinh",
    cost=SLOWEST,
    also="asinh",
    formula=function("asinh", complex=False),
    gradient=(lambda g, a: g / conj(call("sqrt", a * a + 1)),),
    vectors=True,
)
_op(
    "arccosh",
    cost=SLOWEST,
    also="acosh",
    formula=function("acosh", complex=False),
    gradient=(lambda g, a: g / conj(call("sqrt", a - 1) * call("sqrt", a + 1)),),
    smooth=((1.1, 4),),
    example="[1.5, 2.5]",
    vectors=True,
)
_op(
    "arctanh",
    cost=SLOWEST,
    also="atanh",
    formula=function("atanh", complex=False),
    gradient=(lambda g, a: g / conj(1 - a * a),),
    smooth=((-0.9, 0.9),),
    vectors=True,
)
for _name in ("deg2rad", "radians"):
    _op(_name, cost=SLOW, formula=_to_radians, gradient=(lambda g: g * _DEGREE,))
for _name in ("rad2deg", "degrees"):
    _op(_name, cost=SLOW, formula=_to_degrees, gradient=(lambda g: g / _DEGREE,))
