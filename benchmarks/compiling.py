"""What compiled loops cost a process that begins: ``python -m benchmarks.compiling ROUNDS``.

The first runs of rows of work, each in a fresh process: with the tier off, on with nothing on disk,
and on with all loops on disk. Then what the loops took to compile, and their size.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks.contestants import open_library
from benchmarks.suite import ROWS

NAMES = ("4M float64", "Black-Scholes", "two float64", "Jacobi", "k-means", "n-body", "layer norm")
RUNS = (1, 10)  # what is timed: the first, and so many together


def child(name: str) -> None:
    """Prints the times of a row's runs, and what was compiled for it."""
    library = open_library("lazyarray")
    row = next(row for row in ROWS if name in row.name)
    run = library.prepare("lazyarray", row)
    assert run is not None
    library.wait(None)
    times = []
    for count in RUNS:
        start = time.perf_counter()
        for _ in range(count):
            run()
            library.wait(None)
        times.append(time.perf_counter() - start)
    tier: Any = __import__("lazyarray.lazy.cpu.jit._tier", fromlist=["_tier"])
    loops = tier.compiled_loops()
    print(json.dumps({"times": times, "loops": loops["ready"] + loops["compiled"]}))


def measured(name: str, jit: str, directory: str) -> dict[str, Any]:
    """A fresh process's figures."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.compiling", "of", name],
        env={**os.environ, "LAZYARRAY_JIT": jit, "LAZYARRAY_CACHE_DIR": directory},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compile_times(directory: pathlib.Path) -> tuple[list[float], list[int]]:
    """What the loops of a chain took to compile, in seconds, and the bytes of all on disk."""
    from lazyarray.lazy.cpu.jit.compiler import Compiler

    os.environ["LAZYARRAY_CACHE_DIR"] = "0"
    compiler = Compiler()
    times = []
    for n in (2, 5, 10, 20, 40):
        ops = [f"multiply ddd {'a0' if i == 0 else f't{i - 1}'} a1 t{i}" for i in range(n)]
        text = f"1|d r d,d r d,d w d|{','.join(ops)}|t{n - 1}:a2"
        start = time.perf_counter()
        compiler.compile(text)
        times.append(time.perf_counter() - start)
    return times, [file.stat().st_size for file in (directory / "loops").glob("*.o")]


def main() -> None:
    """Prints items of a list."""
    if sys.argv[1] == "of":
        child(sys.argv[2])
        return
    rounds = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as kept:
        for name in NAMES:
            found: dict[str, list[list[float]]] = {"off": [], "cold": [], "on disk": []}
            measured(name, "1", kept)
            for _ in range(rounds):
                with tempfile.TemporaryDirectory() as empty:
                    found["off"].append(measured(name, "0", kept)["times"])
                    found["cold"].append(measured(name, "1", empty)["times"])
                    found["on disk"].append(measured(name, "1", kept)["times"])
            parts = []
            for k, count in enumerate(RUNS):
                off, *others = (statistics.median(t[k] for t in times) for times in found.values())
                ratios = ", ".join(
                    f"{other / off:.2f} {word}"
                    for other, word in zip(others, list(found)[1:], strict=True)
                )
                what = "the first run" if count == 1 else f"the next {count}"
                parts.append(f"{what} {off * 1e3:.3g} ms with the tier off, {ratios}")
            print(f"* a new process, {name}: {'; '.join(parts)}", flush=True)
        times, sizes = compile_times(pathlib.Path(kept))
    each = ", ".join(f"{t * 1e3:.1f}" for t in times)
    print(f"* compiling a chain of 2, 5, 10, 20, 40 products: {each} ms, beside the program")
    print(f"* {len(sizes)} loops on disk: {min(sizes)} to {max(sizes)} bytes")


if __name__ == "__main__":
    main()
