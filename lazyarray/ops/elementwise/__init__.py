"""Elementwise ops: rows that run the compiled loops of NumPy's ufuncs.

``op.py`` says what a row has. The rows stand in a file a section of the array API standard.
"""

from __future__ import annotations

from lazyarray.ops._rows import SCALAR_MAGNITUDE, SCALAR_POWER, SCALAR_PRODUCT
from lazyarray.ops.elementwise import (  # noqa: F401  # they fill the table
    arithmetic,
    bits,
    comparison,
    exponentials,
    rounding,
    trigonometry,
)
from lazyarray.ops.elementwise.op import ALIASES, GRADIENTS, TABLE
from lazyarray.ops.elementwise.slopes import conj, nonzero

__all__ = [
    "ALIASES",
    "GRADIENTS",
    "TABLE",
    "root",
    "scalar_magnitude",
    "scalar_power",
    "scalar_product",
    "weighted",
]

# ``**`` of two scalars, which NumPy has computed by the C library.
scalar_power = TABLE["power"].named("power", SCALAR_POWER)
# ``*`` and ``abs`` of complex ones, which are not there yet.
scalar_product = TABLE["multiply"].named("multiply", SCALAR_PRODUCT)
scalar_magnitude = TABLE["absolute"].named("absolute", SCALAR_MAGNITUDE)

# The weighted average: a sum by the sum of the weights.
weighted = TABLE["divide"].named("divide", weights=True)

# The root of a sum of squares: at 0 its gradient is 0, as the squares' is.
root = TABLE["sqrt"].named("root")
GRADIENTS[root.name] = (lambda g, y: g / conj(2 * nonzero(y)),)
