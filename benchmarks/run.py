"""``make bench``: the speed table. ``python -m benchmarks.run [--rounds N]``."""

from __future__ import annotations

import argparse

import numpy as np

import lazyarray as la
from benchmarks import overhead, parallel
from benchmarks.harness import installed, machine, measure, table


def main() -> None:
    """Prints the table and the single figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    others = installed("torch", "jax", "mxnet")
    print(f"{machine()}; NumPy {np.__version__}, {la.engine.get()!r}")
    print(f"minima of {args.rounds} rounds\n")
    rows = [*overhead.rows(), *parallel.rows()]
    measure(rows, args.rounds)
    print(table(rows, ["numpy", "lazyarray", *others]))
    print()
    for figure in (
        parallel.recording,
        parallel.pending_sync,
        parallel.push_time,
        parallel.busy_main,
    ):
        print("*", figure(args.rounds))


if __name__ == "__main__":
    main()
