"""Rows of rounding, and of the numbers next to a number."""

from __future__ import annotations

from functools import partial

from lazyarray.lazy.formulas import Formula, function
from lazyarray.ops.elementwise.op import CHEAP, SLOW, op

_op = partial(op, section="rounding", smooth=((0.1, 0.4),))
_flat = partial(_op, gradient=(None,))  # constant between its steps

for _name in ("floor", "ceil", "trunc"):
    _flat(_name, cost=CHEAP, formula=Formula("a", "a", "a", f"{_name}(a)"), exact=True)
_flat("rint", cost=CHEAP, formula=function("rint"), exact=True)
_op("modf", cost=SLOW, formula=Formula(real="fraction(a), trunc(a)"), gradient=(lambda g: g,))
_flat("spacing", cost=SLOW, formula=Formula(real="spacing_of(a)", half="half_spacing(a)"))
_op(
    "nextafter",
    cost=SLOW,
    formula=Formula(real="nextafter(a, b)", half="next_half(a, b)"),
    gradient=(lambda g: g, None),
    smooth=(),
)
