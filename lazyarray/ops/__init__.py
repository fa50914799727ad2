"""The op table: one row an op, grouped by the sections of the array API standard.

``table`` maps a name to its row. A row is the single source of an op's dispatch, loops, inference
and documentation; the functions of the other modules are composed of rows and of instructions
that take the GIL (``_rows.call``).
"""

from __future__ import annotations

import importlib
import importlib.util

import numpy as _np

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

table: dict[str, Row] = {
    **elementwise.TABLE,
    **reductions.TABLE,
    "matmul": MatMul(_np.matmul, section="linear algebra", doc="Matrix product."),
}
aliases: dict[str, str] = {**elementwise.ALIASES, **reductions.ALIASES}

# What NDArray's methods and the public namespace are made of, besides the table.
SECTIONS = [
    name
    for name in (
        "names",
        "reductions",
        "creation",
        "ranges",
        "patterns",
        "manipulation",
        "joining",
        "indexing",
        "searching",
        "sorting",
        "statistical",
        "linear_algebra",
        "dtypes",
        "interop",
        "dispatch",
    )
    if importlib.util.find_spec(f"lazyarray.ops.{name}")
]
for _name in SECTIONS:
    _module = importlib.import_module(f"lazyarray.ops.{_name}")
    # METHODS: what only NDArray's methods call.
    for _public in (*getattr(_module, "__all__", ()), *getattr(_module, "METHODS", ())):
        globals()[_public] = getattr(_module, _public)
for _public in ("mean", "var", "std"):
    globals()[_public] = getattr(reductions, _public)
