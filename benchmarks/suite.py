"""All rows of the table, in its order."""

from __future__ import annotations

from benchmarks import broadcasting, elementwise, learning, overhead, parallel, training
from benchmarks.row import Row

ROWS: list[Row] = [
    *elementwise.ROWS,
    *broadcasting.ROWS,
    *learning.ROWS,
    *training.ROWS,
    *parallel.ROWS,
    *overhead.ROWS,
]
