"""Rows of exponents and logarithms."""

from __future__ import annotations

import math
from functools import partial

from lazyarray.lazy.formulas import Formula, function
from lazyarray.ops._rows import EXP, EXPM1
from lazyarray.ops.elementwise.op import SLOW, op
from lazyarray.ops.elementwise.slopes import apart, call, conj

_op = partial(op, section="exponents and logarithms", cost=SLOW)
_LN2, _LN10 = math.log(2.0), math.log(10.0)

_op(
    "exp",
    formula=function("exp"),
    gradient=(lambda g, y: g * conj(y),),
    vectors=True,
    x87=True,
    no_minus_zero=True,
    mended=EXP,
)
_op(
    "exp2",
    formula=function("exp2"),
    gradient=(lambda g, y: g * conj(y * _LN2),),
    vectors=True,
    no_minus_zero=True,
)
_op(
    "expm1",
    formula=function("expm1"),
    gradient=(lambda g, y: g * conj(y + 1),),
    vectors=True,
    mended=EXPM1,
    note=" Of complex infinities and NaNs it gives what C99\n    says, where NumPy gives NaN.",
)
_op(
    "log",
    formula=function("log"),
    gradient=(lambda g, a: g / conj(a),),
    smooth=((0.2, 3),),
    vectors=True,
)
_op(
    "log2",
    formula=function("log2"),
    gradient=(lambda g, a: g / conj(a * _LN2),),
    smooth=((0.2, 3),),
    vectors=True,
)
_op(
    "log10",
    formula=function("log10"),
    gradient=(lambda g, a: g / conj(a * _LN10),),
    smooth=((0.2, 3),),
    vectors=True,
)
_op(
    "log1p",
    formula=function("log1p"),
    gradient=(lambda g, a: g / conj(a + 1),),
    smooth=((-0.8, 3),),
    vectors=True,
)
_op(
    "logaddexp",
    formula=Formula(real="log_add_exp(a, b)"),
    gradient=(
        lambda g, a, y: g * call("exp", apart(a, y)),
        lambda g, b, y: g * call("exp", apart(b, y)),
    ),
)
_op(
    "logaddexp2",
    formula=Formula(real="log_add_exp2(a, b)"),
    gradient=(
        lambda g, a, y: g * call("exp2", apart(a, y)),
        lambda g, b, y: g * call("exp2", apart(b, y)),
    ),
)
_op(
    "ldexp",
    formula=Formula(real="ldexp(a, clamped(b))"),
    gradient=(lambda g, b: call("ldexp", g, b), None),
    example="[0.25, 0.5], 3",
    x87=True,
)
_op(
    "frexp",
    formula=Formula(real="mantissa(a), exponent_of(a)"),
    gradient=(lambda g, z: call("ldexp", g, -z),),
    smooth=((1.1, 1.9),),
)
