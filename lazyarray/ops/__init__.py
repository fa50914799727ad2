"""The op table: one row an op, grouped by the sections of the array API standard.

``table`` maps a name to its row. A row is the single source of an op's dispatch, loops, inference
and documentation; the functions of the other modules are composed of rows and of instructions
that take the GIL (``_rows.call``).

NDArray's methods find here, under one name each, what they call: the rows, and the functions that
the sections list in ``__all__`` and ``METHODS``.
"""

from __future__ import annotations

from lazyarray.ops import (
    awaiting,
    creation,
    dispatch,
    dtypes,
    elementwise,
    gradients,
    hosts,
    indexing,
    interop,
    joining,
    linear_algebra,
    manipulation,
    names,
    patterns,
    ranges,
    reductions,
    searching,
    sorting,
    statistical,
)
from lazyarray.ops._rows import assign_to
from lazyarray.ops._table import aliases, table

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
    hosts,
    interop,
    awaiting,
]

for _section in SECTIONS:
    for _name in (*_section.__all__, *getattr(_section, "METHODS", ())):
        globals()[_name] = getattr(_section, _name)

__all__ = [
    "SECTIONS",
    "aliases",
    "assign_to",
    "awaiting",
    "dispatch",
    "elementwise",
    "gradients",
    "hosts",
    "table",
]
