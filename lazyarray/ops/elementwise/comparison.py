"""Rows of comparisons, truth values and predicates of floats."""

from __future__ import annotations

from functools import partial

from lazyarray.lazy.formulas import Formula, formula
from lazyarray.ops.elementwise.op import CHEAP, COMPARED, op

_compare = partial(op, section="comparison", cost=COMPARED, exact=True, compares=True)

_compare("equal", formula=formula("a == b"))
_compare("not_equal", formula=formula("a != b"))
_compare("less", formula=formula("a < b"))
_compare("less_equal", formula=formula("a <= b"))
_compare("greater", formula=formula("a > b"))
_compare("greater_equal", formula=formula("a >= b"))

_logic = partial(op, section="logic", cost=CHEAP, exact=True)

_logic("logical_and", rows_alone="b", formula=formula("truth(a) and truth(b)"))
_logic("logical_or", rows_alone="b", formula=formula("truth(a) or truth(b)"))
_logic("logical_xor", formula=formula("truth(a) != truth(b)"))
_logic("logical_not", formula=formula("not truth(a)"))

# NumPy's loops for these write a strided boolean output wrongly.
_of_floats = partial(op, section="logic", cost=COMPARED, bad_strided=True)

_of_floats(
    "isfinite",
    formula=formula(
        integer="True",
        bool="True",
        real="is_finite(a)",
        complex="is_finite(a.re) and is_finite(a.im)",
    ),
)
_of_floats(
    "isinf",
    formula=formula(
        integer="False", bool="False", real="is_inf(a)", complex="is_inf(a.re) or is_inf(a.im)"
    ),
)
_of_floats(
    "isnan",
    formula=formula(
        integer="False", bool="False", real="is_nan(a)", complex="is_nan(a.re) or is_nan(a.im)"
    ),
)
_of_floats("signbit", formula=Formula(real="has_sign(a)"))
