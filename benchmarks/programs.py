"""``make bench-programs``: ordinary programs against NumPy (benchmarks/ordinary.py)."""

from __future__ import annotations

import argparse
import math
import sys
from contextlib import ExitStack

from benchmarks.harness import Failed, measure
from benchmarks.report import machine, table
from benchmarks.run import positive, start
from benchmarks.suite import suite

LIBRARIES = ["numpy", "lazyarray"]
AIM = 0.9  # of NumPy's speed, for each


def print_table(only: str, rounds: int) -> None:
    """Measures the programs with ``only`` in their names; the slowest come first."""
    chosen = suite("ordinary")
    indices = [i for i, row in enumerate(chosen.rows) if only in row.name]
    if not indices:
        raise Failed(f"no program's name has {only!r} in it")
    with ExitStack() as stack:
        workers = start(LIBRARIES, chosen, stack)
        print(f"{machine()}; minima of {rounds} rounds, each library in its own process\n")
        results = measure(workers, indices, rounds)
    ratios = {id(result): result.ratio("numpy") or math.nan for result in results}
    results.sort(key=lambda result: -ratios[id(result)])
    print(table(results, LIBRARIES, {"/ numpy": ("numpy",)}) + "\n")
    mean = math.exp(-sum(map(math.log, ratios.values())) / len(ratios))
    slow = sum(ratio > 1 / AIM for ratio in ratios.values())
    print(f"* NumPy's time over lazyarray's, geometric mean of {len(ratios)} programs: {mean:.2f}")
    print(f"* under {AIM} of NumPy's speed: {slow}; the slowest {1 / max(ratios.values()):.2f}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=positive, default=7, help="how often each is timed")
    parser.add_argument("--only", default="", metavar="TEXT", help="those with TEXT in their names")
    options = parser.parse_args()
    try:
        print_table(options.only, options.rounds)
    except Failed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
