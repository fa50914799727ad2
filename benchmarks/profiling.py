"""What the profiler costs an op, off and on: ``python -m benchmarks.profiling ROUNDS``."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import threading
import time

from benchmarks.row import Array, Module


def inline(la: Module, x: Array, y: Array, count: int) -> float:
    """Complete operands: each op runs in the caller's thread."""
    start = time.perf_counter()
    for _ in range(count):
        x += y
    return time.perf_counter() - start


def recorded(la: Module, x: Array, y: Array, count: int, bulk: int = 256) -> float:
    """A pending operand: each op is recorded, and run with its neighbours as one operator."""
    gate = threading.Event()
    la.engine.get().push_sync(lambda rc: gate.wait(), la.cpu(), mutable_vars=(x.var,))
    with la.engine.bulk(bulk):
        start = time.perf_counter()
        for _ in range(count):
            x += y
        recording = time.perf_counter() - start
    gate.set()
    start = time.perf_counter()
    x.wait_to_read()
    return recording + time.perf_counter() - start


def alone(la: Module, x: Array, y: Array, count: int) -> float:
    """The same, where each op is an operator of its own."""
    return recorded(la, x, y, count, bulk=1)


def element(la: Module, x: Array, y: Array, count: int) -> float:
    """Single elements, which while profiling go the way of other ops."""
    start = time.perf_counter()
    for _ in range(count // 2):
        x[3] = x[4]
    return time.perf_counter() - start


KINDS = {
    "x += y, 10 elements, complete": inline,
    "the same, pending": recorded,
    "the same, each an operator of its own": alone,
    "x[i] = x[j]": element,
}


def main() -> None:
    """Prints an item of a list: each kind of op with the profiler off and on."""
    la = importlib.import_module("lazyarray")
    count, rounds = 20_000, int(sys.argv[1])
    best: dict[tuple[str, bool], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for on in (False, True):
                if on:
                    la.profiler.set_config(filename=os.path.join(folder, "trace.json"))
                    la.profiler.start()
                for name, body in KINDS.items():
                    x, y = la.ones(10), la.ones(10)
                    took = body(la, x, y, count) / count
                    best[name, on] = min(best.get((name, on), took), took)
                if on:
                    la.profiler.dump()
    for name in KINDS:
        off, on = best[name, False] * 1e6, best[name, True] * 1e6
        print(
            f"* profiling {name}: {off:.3f} us an op with it off, {on:.3f} on: "
            f"{on - off:+.3f} (aim: under 0.5 us more)"
        )


if __name__ == "__main__":
    main()
