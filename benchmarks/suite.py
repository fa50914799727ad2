"""The tables' rows and contestants: ``cpu``, ``ordinary``, and ``gpu:SCALE``, sizes times SCALE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import (
    broadcasting,
    elementwise,
    gpu_contestants,
    gpu_rows,
    learning,
    loops,
    ordinary,
    overhead,
    parallel,
    training,
)
from benchmarks import contestants as cpu_contestants
from benchmarks.contestants import Contestant, Library
from benchmarks.row import Row

ROWS: list[Row] = [
    *elementwise.ROWS,
    *broadcasting.ROWS,
    *learning.ROWS,
    *loops.ROWS,
    *training.ROWS,
    *parallel.ROWS,
    *overhead.ROWS,
]


@dataclass(frozen=True)
class Suite:
    """What a table is made of; ``name`` is how a contestant's process finds it."""

    name: str
    rows: Sequence[Row]
    contestants: Mapping[str, Contestant]
    open_library: Callable[[str], Library]


def suite(name: str) -> Suite:
    """The suite of this name, in its order."""
    kind, _, scale = name.partition(":")
    if kind == "gpu":
        there = gpu_contestants
        return Suite(name, gpu_rows.rows(float(scale)), there.CONTESTANTS, there.open_library)
    rows = ordinary.rows() if kind == "ordinary" else ROWS
    return Suite(name, rows, cpu_contestants.CONTESTANTS, cpu_contestants.open_library)
