"""Timing: the contestants of a row take turns, and the best round of each counts."""

from __future__ import annotations

import gc
import importlib.util
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Row:
    """One line of the table: the same work for several libraries.

    ``runs`` maps a library's name to a function that does the work ``per`` times and returns
    when it is complete. ``unit`` is what a figure is shown in.
    """

    name: str
    runs: dict[str, Callable[[], object]]
    per: int = 1
    unit: str = "us"
    target: str = ""
    best: dict[str, float] = field(default_factory=dict)


SCALE = {"us": 1e6, "ms": 1e3}


def measure(rows: list[Row], rounds: int) -> None:
    """Runs all rows ``rounds`` times, the libraries in turn, and keeps the minimum of each."""
    for row in rows:
        for run in row.runs.values():
            run()  # warm up: caches, pools, threads
    for _ in range(rounds):
        for row in rows:
            for library, run in row.runs.items():
                gc.collect()
                gc.disable()
                start = time.perf_counter()
                run()
                seconds = time.perf_counter() - start
                gc.enable()
                row.best[library] = min(row.best.get(library, float("inf")), seconds / row.per)


def table(rows: list[Row], libraries: list[str]) -> str:
    """The rows as a Markdown table; the last columns are lazyarray's ratio to NumPy and the aim."""
    head = ["what", "unit", *libraries, "lazyarray / numpy", "aim"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [row.name, row.unit]
        for library in libraries:
            t = row.best.get(library)
            cells.append("" if t is None else f"{t * SCALE[row.unit]:.3g}")
        ratio = ""
        if "numpy" in row.best and "lazyarray" in row.best:
            ratio = f"{row.best['lazyarray'] / row.best['numpy']:.2f}"
        lines.append("| " + " | ".join([*cells, ratio, row.target]) + " |")
    return "\n".join(lines)


def installed(*names: str) -> list[str]:
    """Which of the libraries can be imported."""
    return [n for n in names if importlib.util.find_spec(n) is not None]


def machine() -> str:
    """One line about where the figures come from."""
    model = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    return f"{model}, {os.cpu_count()} cores"
