"""The op table: one row an op, grouped by the sections of the array API standard.

``table`` maps a name to its row. A row is the single source of an op's dispatch, loops, inference
and documentation; the functions of the other modules are composed of rows and of instructions
that take the GIL (``_rows.call``).
"""

from __future__ import annotations

from lazyarray.ops import elementwise, reductions
from lazyarray.ops._rows import (
    MatMul,
    Reduction,
    Row,
    Ufunc,
    array,
    asarray,
    assign_to,
    astype,
    call,
    empty,
    full,
)

import numpy as _np

table: dict[str, Row] = {
    **elementwise.TABLE,
    **reductions.TABLE,
    "matmul": MatMul(_np.matmul, section="linear algebra", doc="Matrix product."),
}
aliases: dict[str, str] = {**elementwise.ALIASES, **reductions.ALIASES}
