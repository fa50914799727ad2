"""The op table: one row an op, grouped by the sections of the array API standard.

``table`` maps a name to its row. A row is the single source of an op's dispatch, loops, inference
and documentation; the functions of the other modules are composed of rows and of instructions
that take the GIL (``_rows.call``).

NDArray's methods find here, under one name each, what they call: the rows, and the functions that
the sections list in ``__all__`` and ``METHODS``.
"""

from __future__ import annotations

import numpy as np

from lazyarray.ops import elementwise, reductions
from lazyarray.ops._rows import MatMul, Row, assign_to

_MATMUL = """Matrix product; axes before the last two are a stack.

    >>> import lazyarray as la
    >>> la.matmul([[1, 2], [3, 4]], [1, 1]).asnumpy()
    array([3, 7])
    """

table: dict[str, Row] = {
    **elementwise.TABLE,
    **reductions.TABLE,
    "matmul": MatMul(np.matmul, section="linear algebra", doc=_MATMUL),
}
aliases: dict[str, str] = {**elementwise.ALIASES, **reductions.ALIASES}

from lazyarray.ops import (  # noqa: E402  (some of these look at the table)
    creation,
    dispatch,
    dtypes,
    indexing,
    interop,
    joining,
    linear_algebra,
    manipulation,
    names,
    patterns,
    ranges,
    searching,
    sorting,
    statistical,
)

SECTIONS = [
    names,
    reductions,
    creation,
    ranges,
    patterns,
    manipulation,
    joining,
    indexing,
    searching,
    sorting,
    statistical,
    linear_algebra,
    dtypes,
    interop,
]
from lazyarray.ops import gradients  # noqa: E402, F401  (teaches autograd the rows' rules)

for _section in SECTIONS:
    for _name in (*_section.__all__, *getattr(_section, "METHODS", ())):
        globals()[_name] = getattr(_section, _name)

__all__ = ["SECTIONS", "aliases", "assign_to", "dispatch", "table"]
