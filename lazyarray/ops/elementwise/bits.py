"""Rows of operations on bits."""

from __future__ import annotations

from functools import partial

from lazyarray.lazy.formulas import formula
from lazyarray.ops.elementwise.op import CHEAP, op

_op = partial(op, section="bits", cost=CHEAP)
_pair = partial(_op, exact=True, example="[12, 10], 6")
_shift = partial(_op, exact=True, example="[12, 10], 2")

_pair("bitwise_and", rows_alone="b", formula=formula(integer="a & b", bool="a and b"))
_pair("bitwise_or", rows_alone="b", formula=formula(integer="a | b", bool="a or b"))
_pair("bitwise_xor", formula=formula(integer="a ^ b", bool="a != b"))
_op(
    "invert",
    also="bitwise_invert bitwise_not",
    formula=formula(integer="~a", bool="not a"),
    exact=True,
    example="[12, 10]",
)
_shift("left_shift", also="bitwise_left_shift", formula=formula(integer="shift_left(a, b)"))
_shift("right_shift", also="bitwise_right_shift", formula=formula(integer="shift_right(a, b)"))
_op(
    "bitwise_count",
    formula=formula(integer="BIT_COUNT(a)", signed="BIT_COUNT(magnitude(a))"),
    example="[5, 7]",
)
