"""The op table: one row an op, grouped by the sections of the array API standard.

``table`` maps a name to its row. A row is the single source of an op's dispatch, loops, inference
and documentation; functions are composed of rows and of instructions that take the GIL
(``_rows.call``).
"""

from __future__ import annotations

from lazyarray.ops import elementwise, gradients, hosts, names
from lazyarray.ops._rows import assign_to
from lazyarray.ops._table import aliases, table

SECTIONS = [names, hosts]

__all__ = [
    "SECTIONS",
    "aliases",
    "assign_to",
    "elementwise",
    "gradients",
    "hosts",
    "table",
]
